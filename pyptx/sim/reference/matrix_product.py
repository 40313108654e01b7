"""Matrix products with NumPy, bit-identical to core/src/matrix_product.c, and conversion of elements to numbers."""

from __future__ import annotations

from functools import cache

import numpy as np

from pyptx.sim.actions import Product
from pyptx.sim.arithmetic import floats as fp
from pyptx.sim.arithmetic.bits import signed
from pyptx.sim.layouts.fragments import BITS

__all__ = ["decode", "encode", "expand", "multiply"]

_NAN = 0x7FFFFFFF
# bits of mantissa, least exponent; and what a zero's exponent counts as
_RANGES = {
    "f16": (10, -14),
    "bf16": (7, -126),
    "tf32": (10, -126),
    "e4m3": (3, -6),
    "e5m2": (2, -14),
    "e3m2": (2, -2),
    "e2m3": (3, 0),
    "e2m1": (1, 0),
    "e2m1x8": (1, 0),
    "f32": (23, -126),
    "ue8m0": (0, -127),
    "ue4m3": (3, -6),
}
_OF_ZERO = -126


@cache
def _table(type_name: str) -> np.ndarray:
    """Values of the 256 bytes of a format, as f64."""

    def one(v: int) -> float:
        match type_name:
            case "s8" | "s4":
                bits = BITS[type_name]
                return signed(v & (1 << bits) - 1, bits)
            case "u8" | "u4":
                return v & (1 << BITS[type_name]) - 1
            case "ue8m0":
                return float("nan") if v == 255 else 2.0 ** (v - 127)
            case "ue4m3":
                return fp.to_float(fp.number(v & 127, "e4m3"))
            case "e2m1":
                return fp.to_float(fp.number(v >> 2 & 15, "e2m1"))
            case "e2m1x8":
                return fp.to_float(fp.number(v & 15, "e2m1"))
        return fp.to_float(fp.number(v & (63 if type_name in ("e3m2", "e2m3") else 255), type_name))

    return np.array([one(v) for v in range(256)], np.float64)


def decode(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Convert elements to f32 (f64 for f64, integers for s32 and the words of b1); `bits` has one element per entry."""
    bits = np.asarray(bits, np.uint64)
    match type_name:
        case "f64":
            return bits.view(np.float64)
        case "s32":
            return bits.astype(np.uint32).view(np.int32).astype(np.int64)
        case "b1":
            return bits.astype(np.uint32)
        case "f32":
            return bits.astype(np.uint32).view(np.float32)
        case "tf32":
            return (bits & 0xFFFFE000).astype(np.uint32).view(np.float32)
        case "f16":
            return bits.astype(np.uint16).view(np.float16).astype(np.float32)
        case "bf16":
            return (bits.astype(np.uint32) << 16).view(np.float32)
    return _table(type_name)[bits & 255].astype(np.float32)


def encode(values: np.ndarray, type_name: str) -> np.ndarray:
    """Convert results to bits of f32, f16 (to nearest), s32 (wrapped) or f64, with canonical NaNs."""
    match type_name:
        case "f64":
            return np.where(np.isnan(values), np.uint64(0x7FFFFFFF_FFFFFFFF), values.view(np.uint64))
        case "s32":
            return values.astype(np.int64).astype(np.uint64) & 0xFFFFFFFF
        case "f16":
            with np.errstate(all="ignore"):
                bits = values.astype(np.float16).view(np.uint16)
            return np.where(np.isnan(values), 0x7FFF, bits).astype(np.uint64)
    return np.where(np.isnan(values), _NAN, values.astype(np.float32).view(np.uint32)).astype(np.uint64)


def expand(stored: np.ndarray, codes: np.ndarray, type_name: str) -> np.ndarray:
    """Expand sparse A [rows][columns / 2]; `codes` [rows][chunks] are the four metadata bits of each chunk.

    The low index of a pair comes first; where both name one place, which the manual does not allow, the second stays.
    """
    rows, half = stored.shape
    dense = np.zeros((rows, 2 * half), stored.dtype)
    row = np.arange(rows)
    for chunk in range(codes.shape[1]):
        low, high = codes[:, chunk] & 3, codes[:, chunk] >> 2
        if type_name == "tf32":  # 0b0100: the first of two columns, 0b1110: the second
            dense[row, 2 * chunk + (high == 3)] = stored[:, chunk]
        elif BITS[type_name] == 4:
            for index, at in ((low, 4 * chunk), (high, 4 * chunk + 2)):
                for j in range(2):
                    dense[row, 8 * chunk + 2 * index + j] = stored[:, at + j]
        else:
            dense[row, 4 * chunk + low] = stored[:, 2 * chunk]
            dense[row, 4 * chunk + high] = stored[:, 2 * chunk + 1]
    return dense


def multiply(
    p: Product,
    c: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    scale_a: np.ndarray | None = None,
    scale_b: np.ndarray | None = None,
    *,
    hardware: bool = False,
) -> np.ndarray:
    """Compute C + A [m][k] * B [k][n] in f32 (f16 results are rounded by `encode`), int64 or f64.

    Scales are [m][k / scale] and [n][k / scale]. Of b1, A is [m][words] and B [words][n].
    """
    with np.errstate(all="ignore"):
        if p.a == "b1":
            return c + _bits(p, a, b)
        if p.d == "s32":
            return _integers(p, c, a, b)
        if p.d == "f64":
            return _double(p, c, a, b)
        c = c.astype(np.float32)
        if hardware:
            return _hardware(p, c, a, b, scale_a, scale_b)
        if p.scale:
            return _scaled(p, c, a, b, scale_a, scale_b)
        return _accumulate(c, a, b)


def _accumulate(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sequence of f32 FMAs."""
    for k in range(a.shape[1]):
        c = _fused(a[:, k, None].astype(np.float64) * b[None, k, :].astype(np.float64), c)
    return c


def _fused(product: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Add an exact product and c, rounded once to f32: the sum in f64 is rounded to odd first."""
    wide = c.astype(np.float64)
    total = product + wide
    back = total - product
    error = (product - (total - back)) + (wide - back)
    inexact = np.isfinite(total) & (error != 0) & (total.view(np.uint64) & 1 == 0)
    return np.where(inexact, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total).astype(np.float32)


def _scaled(p: Product, c, a, b, scale_a, scale_b) -> np.ndarray:
    for q in range(p.k // p.scale):
        at = slice(q * p.scale, (q + 1) * p.scale)
        total = _accumulate(np.zeros_like(c), a[:, at], b[at]).astype(np.float64)
        scale = scale_a[:, q, None].astype(np.float64) * scale_b[None, :, q].astype(np.float64)
        c = (total * scale + c.astype(np.float64)).astype(np.float32)
    return c


def _integers(p: Product, c, a, b) -> np.ndarray:
    total = c + a.astype(np.int64) @ b.astype(np.int64)
    if p.saturate:
        return np.clip(total, -1 << 31, (1 << 31) - 1)
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32).astype(np.int64)


def _bits(p: Product, a, b) -> np.ndarray:
    words = a[:, :, None] ^ b[None] if p.bits == "xor" else a[:, :, None] & b[None]
    return np.bitwise_count(words).astype(np.int64).sum(axis=1)


def _double(p: Product, c, a, b) -> np.ndarray:
    result = np.empty_like(c)
    for i in range(p.m):
        for j in range(p.n):
            total = fp.from_float(c[i, j])
            for k in range(p.k):
                total = fp.fused(fp.from_float(a[i, k]), fp.from_float(b[k, j]), total, p.rounding)
                total = fp.number(fp.rounded(total, "f64", p.rounding), "f64")
            result[i, j] = fp.to_float(total)
    return result


# the model of the hardware ------------------------------------------------------------------------------------------


def _parts(values: np.ndarray, type_name: str) -> tuple[np.ndarray, np.ndarray]:
    """Split into mantissa * 2**(exponent - bits), with exponents of at least the minimum of the format."""
    bits, least = _RANGES[type_name]
    values = values.astype(np.float64)
    exponent = np.maximum(np.frexp(values)[1] - 1, least)
    mantissa = np.where(np.isfinite(values), np.ldexp(values, bits - exponent), 0).astype(np.int64)
    return mantissa, np.where(mantissa == 0, _OF_ZERO, exponent).astype(np.int64)


def _aligned(mantissa: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Compute mantissa * 2**shift, truncated towards zero."""
    size = np.abs(mantissa)
    right = np.where(shift <= -63, 0, size >> np.clip(-shift, 0, 62))
    return np.sign(mantissa) * np.where(shift >= 0, size << np.clip(shift, 0, 40), right)


def _rounded(total: np.ndarray, exponent: np.ndarray, result: str) -> np.ndarray:
    value = np.ldexp(total.astype(np.float64), exponent)
    if result == "f16":
        return value.astype(np.float16).astype(np.float32)
    unit = np.maximum(np.frexp(value)[1] - 1, -126) - (13 if result == "e8m13" else 23)
    return np.where(total == 0, 0.0, np.ldexp(np.trunc(np.ldexp(value, -unit)), unit)).astype(np.float32)


def _sum(p: Product, c: np.ndarray, mantissas: list[np.ndarray], exponents: list[np.ndarray], bits: int) -> np.ndarray:
    """Align, add and round C and terms mantissa * 2**(exponent - bits)."""
    assert p.model is not None
    mc, ec = _parts(c, "f32")
    used = [np.where(m == 0, _OF_ZERO, e) for m, e in zip(mantissas, exponents, strict=True)]
    keep = p.model.fraction - np.max([ec, *used], axis=0)
    total = _aligned(mc, keep - 23 + ec)
    for m, e in zip(mantissas, exponents, strict=True):
        total = total + _aligned(m, keep - bits + e)
    return _rounded(total, -keep, p.model.result)


def _hardware(p: Product, c, a, b, scale_a, scale_b) -> np.ndarray:
    assert p.model is not None
    if p.a == "e2m1x8":
        return _grouped(p, c, a, b, scale_a, scale_b)
    extra, nan = np.zeros(c.shape, np.int64), np.zeros(c.shape, bool)
    if p.scale:  # ue8m0, one per row
        extra = _parts(scale_a[:, 0], "ue8m0")[1][:, None] + _parts(scale_b[:, 0], "ue8m0")[1][None]
        nan = np.isnan(scale_a[:, 0])[:, None] | np.isnan(scale_b[:, 0])[None]
    (ma, ea), (mb, eb) = _parts(a, p.a), _parts(b, p.b)
    bits = _RANGES[p.a][0] + _RANGES[p.b][0]
    for first in range(0, p.k, p.model.step):
        columns = range(first, first + p.model.step)
        special = c.astype(np.float64)
        for k in columns:
            special = special + a[:, k, None].astype(np.float64) * b[None, k].astype(np.float64)
        total = _sum(
            p,
            c,
            [ma[:, k, None] * mb[None, k] for k in columns],
            [ea[:, k, None] + eb[None, k] + extra for k in columns],
            bits,
        )
        c = np.where(np.isfinite(special), total, special).astype(np.float32)
    return np.where(nan, np.float32(np.nan), c)


def _grouped(p: Product, c, a, b, scale_a, scale_b) -> np.ndarray:
    """Scaled fp4: groups of 16 columns are added exactly and multiplied by the significands of their scales."""
    group, mantissas, exponents = 16, [], []
    (ma, ea), (mb, eb) = _parts(scale_a, p.scale_type), _parts(scale_b, p.scale_type)
    for first in range(0, p.k, group):
        q, at = first // p.scale, slice(first, first + group)
        quarters = (4 * (a[:, at].astype(np.float64) @ b[at].astype(np.float64))).astype(np.int64)
        mantissas.append(quarters * ma[:, q, None] * mb[None, :, q])
        exponents.append(ea[:, q, None] + eb[None, :, q])
    total = _sum(p, c, mantissas, exponents, 2 + 2 * _RANGES[p.scale_type][0])
    nan = np.isnan(scale_a).any(axis=1)[:, None] | np.isnan(scale_b).any(axis=1)[None] | np.isnan(c)
    return np.where(nan, np.float32(np.nan), np.where(np.isinf(c), c, total))
