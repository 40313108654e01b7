"""Elementary functions, step by step as in core/src/approximations.h, for bit-identical results; in double but for `ex2_f32`."""

from __future__ import annotations

import math
import struct

__all__ = ["cos", "ex2", "ex2_f32", "lg2", "sin", "tanh"]

_EX2_F32 = tuple(
    map(
        float.fromhex,
        ("0x1.41fbbcp-13", "0x1.5f3e54p-10", "0x1.3b2d4cp-7", "0x1.c6aee8p-5", "0x1.ebfbdcp-3", "0x1.62e43p-1", "1"),
    )
)

_EX2 = (
    1.3344183651550012e-06,
    1.5314209231429897e-05,
    0.00015403098285999696,
    0.001333343415753163,
    0.009618129558839315,
    0.05550410959228833,
    0.2402265069474259,
    0.6931471805412327,
    1.0,
)
_COS = (-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0)
_SIN = (1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0)


def ex2(v: float) -> float:
    if v != v:
        return v
    if v > 1000.0:
        return math.inf
    if v < -1000.0:
        return 0.0
    n = round(v)
    t, p = v - n, _EX2[0]
    for k in _EX2[1:]:
        p = p * t + k
    return p * math.ldexp(1.0, n)


def ex2_f32(v: float) -> float:
    """Return 2^v for a number `v` of type f32; exact up to the rounding of a subnormal result to f32."""
    w = min(max(v, -1000.0), 1000.0)
    n = round(w)
    t, p = w - n, _EX2_F32[0]
    for k in _EX2_F32[1:]:
        p = _to_f32(_to_f32(p * t) + k)
    return math.ldexp(p, n)


def _to_f32(v: float) -> float:
    return struct.unpack("<f", struct.pack("<f", v))[0]


def lg2(v: float) -> float:
    if v != v or v < 0.0:
        return math.nan
    if v == 0.0:
        return -math.inf
    if v == math.inf:
        return v
    u = struct.unpack("<Q", struct.pack("<d", v))[0]
    e = (u >> 52) - 1023
    m = struct.unpack("<d", struct.pack("<Q", (u & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000))[0]
    if m > 1.4142135623730951:
        m, e = m * 0.5, e + 1
    s = (m - 1.0) / (m + 1.0)
    q, p = s * s, 1.0 / 25.0
    for i in range(23, 0, -2):
        p = p * q + 1.0 / i
    return e + s * p * 2.8853900817779268


def sin(v: float) -> float:
    return _sincos(v, 0)


def cos(v: float) -> float:
    return _sincos(v, 1)


def _sincos(v: float, cosine: int) -> float:
    if v != v or math.isinf(v):
        return math.nan
    if v > 100000.0 or v < -100000.0:
        v = math.fmod(v, 6.283185307179586)
    n = float(math.floor(v * 0.6366197723675814 + 0.5))
    r = v - n * 1.5707963267341256 - n * 6.077100506303966e-11 - n * 2.0222662487959506e-21
    q, turn = r * r, (int(n) + cosine) & 3
    if turn & 1:
        p = 1.0 / 20922789888000.0
        for k in _COS:
            p = p * q + k
    else:
        p = -1.0 / 1307674368000.0
        for k in _SIN:
            p = p * q + k
        p = p * r
    return -p if turn & 2 else p


def tanh(v: float) -> float:
    if v != v:
        return v
    if v > 20.0:
        return 1.0
    if v < -20.0:
        return -1.0
    q = v * v
    if q < 0.00390625:
        return v * (((q * (-17.0 / 315.0) + 2.0 / 15.0) * q + -1.0 / 3.0) * q + 1.0)
    e = ex2(v * 2.8853900817779268)
    return (e - 1.0) / (e + 1.0)
