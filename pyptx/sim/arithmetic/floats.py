"""Floating-point formats with exact integers: sign and mantissa * 2**exponent, rounded once per operation."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

from pyptx.errors import InputError

__all__ = [
    "FORMATS",
    "Format",
    "Number",
    "add",
    "classify",
    "compare",
    "divide",
    "from_float",
    "fused",
    "integral",
    "multiply",
    "number",
    "root",
    "rounded",
    "stochastic",
    "to_float",
    "truncated",
]


@dataclass(frozen=True)
class Format:
    """Floating-point format: mantissa bits, exponent range, special codes without sign."""

    mantissa: int
    low: int
    high: int
    infinity: int | None
    nan: int
    largest: int
    sign: int


FORMATS = {
    "f16": Format(10, -14, 15, 0x7C00, 0x7FFF, 0x7BFF, 0x8000),
    "bf16": Format(7, -126, 127, 0x7F80, 0x7FFF, 0x7F7F, 0x8000),
    "tf32": Format(10, -126, 127, 0x3FC00, 0x3FFFF, 0x3FBFF, 0x40000),
    "f32": Format(23, -126, 127, 0x7F800000, 0x7FFFFFFF, 0x7F7FFFFF, 1 << 31),
    "f64": Format(52, -1022, 1023, 0x7FF << 52, 0x7FFF_FFFF_FFFF_FFFF, 0x7FEF_FFFF_FFFF_FFFF, 1 << 63),
    "e4m3": Format(3, -6, 8, None, 0x7F, 0x7E, 0x80),
    "e5m2": Format(2, -14, 15, 0x7C, 0x7F, 0x7B, 0x80),
    "e2m3": Format(3, 0, 2, None, 0x1F, 0x1F, 0x20),
    "e3m2": Format(2, -2, 4, None, 0x1F, 0x1F, 0x20),
    "e2m1": Format(1, 0, 2, None, 0x7, 0x7, 0x8),
}


class Number(NamedTuple):
    """Exact number.

    Attributes:
        kind: "finite", "inf" or "nan".
        sign: 0 or 1.
        mantissa, exponent: value = mantissa * 2**exponent.
        more: the value is slightly larger (sticky bit).
    """

    kind: str
    sign: int
    mantissa: int = 0
    exponent: int = 0
    more: bool = False


NAN = Number("nan", 0)


def number(bits: int, type_name: str) -> Number:
    """Decode bits of a format."""
    f = FORMATS[type_name]
    if type_name == "tf32":
        return number(bits, "f32")
    sign, magnitude = int(bits & f.sign != 0), bits & (f.sign - 1)
    if f.infinity is not None and magnitude >= f.infinity:
        return Number("inf" if magnitude == f.infinity else "nan", sign)
    if type_name == "e4m3" and magnitude == f.nan:
        return Number("nan", sign)
    exponent, mantissa = magnitude >> f.mantissa, magnitude & ((1 << f.mantissa) - 1)
    if exponent:
        return Number("finite", sign, mantissa | 1 << f.mantissa, exponent - 1 + f.low - f.mantissa)
    return Number("finite", sign, mantissa, f.low - f.mantissa)


def rounded(x: Number, type_name: str, mode: str = "rn", *, satfinite: bool = False) -> int:
    """Encode a number in a format, rounded once; NaN is canonical."""

    def up(kept: int, cut: int, dropped: int) -> bool:
        half, rest = 0, x.more
        if cut > 0:
            half, rest = dropped >> (cut - 1), x.more or bool(dropped & ((1 << (cut - 1)) - 1))
        match mode:
            case "rn":
                return bool(half and (rest or kept & 1))
            case "rna":
                return bool(half)
            case "rz":
                return False
            case "rm":
                return bool(x.sign and (half or rest))
            case "rp":
                return bool(not x.sign and (half or rest))
        raise InputError(mode)

    down = mode == "rz" or (mode == "rm" and not x.sign) or (mode == "rp" and bool(x.sign))
    return _placed(x, type_name, up, satfinite=satfinite, down=down)


def stochastic(x: Number, type_name: str, random: int, bits: int, *, satfinite: bool = False) -> int:
    """Round stochastically: away from zero if adding `random` to the top discarded bits carries."""

    def up(_kept: int, cut: int, dropped: int) -> bool:
        return cut > 0 and dropped + (random << cut >> bits) >= 1 << cut

    return _placed(x, type_name, up, satfinite=satfinite)


def _placed(
    x: Number, type_name: str, up: Callable[[int, int, int], bool], *, satfinite: bool, down: bool = False
) -> int:
    """`up(kept, cut, dropped)` says whether the magnitude grows: the mantissa kept, and the bits cut off.

    `down`: numbers too large become the largest one, not infinity; `satfinite`: infinities as well. Of the formats
    without infinity e4m3 has a NaN for them, the others their largest number.
    """
    f = FORMATS[type_name]
    sign = f.sign if x.sign else 0
    if x.kind == "nan":
        return f.nan
    beyond = f.infinity if f.infinity is not None else f.largest
    if x.kind == "inf":
        return f.nan if type_name == "e4m3" and not satfinite else sign | (f.largest if satfinite else beyond)
    if not x.mantissa:
        return sign
    top = x.mantissa.bit_length() - 1 + x.exponent
    cut = max(top, f.low) - f.mantissa - x.exponent  # bits to drop
    kept = x.mantissa << -cut if cut <= 0 else x.mantissa >> cut
    kept += up(kept, cut, x.mantissa & ((1 << cut) - 1) if cut > 0 else 0)
    bits = kept if top < f.low else ((top - f.low) << f.mantissa) + kept
    if bits > f.largest:
        if type_name == "e4m3" and not (satfinite or down):
            return f.nan
        bits = f.largest if satfinite or down else beyond
    return sign | bits


def multiply(a: Number, b: Number) -> Number:
    sign = a.sign ^ b.sign
    if "nan" in (a.kind, b.kind):
        return NAN
    if "inf" in (a.kind, b.kind):
        zero = (a.kind == "finite" and not a.mantissa) or (b.kind == "finite" and not b.mantissa)
        return NAN if zero else Number("inf", sign)
    return Number("finite", sign, a.mantissa * b.mantissa, a.exponent + b.exponent)


def add(a: Number, b: Number, mode: str = "rn") -> Number:
    """Add exactly; the sign of an exact zero depends on the rounding."""
    if "nan" in (a.kind, b.kind):
        return NAN
    if a.kind == "inf":
        return NAN if b.kind == "inf" and a.sign != b.sign else a
    if b.kind == "inf":
        return b
    exponent = min(a.exponent, b.exponent)
    x = (-1) ** a.sign * (a.mantissa << (a.exponent - exponent))
    y = (-1) ** b.sign * (b.mantissa << (b.exponent - exponent))
    total = x + y
    if total == 0:
        if not x and not y:
            sign = a.sign if a.sign == b.sign else int(mode == "rm")
        else:
            sign = int(mode == "rm")
        return Number("finite", sign, 0, exponent)
    return Number("finite", int(total < 0), abs(total), exponent)


def fused(a: Number, b: Number, c: Number, mode: str = "rn") -> Number:
    return add(multiply(a, b), c, mode)


def divide(a: Number, b: Number) -> Number:
    sign = a.sign ^ b.sign
    if "nan" in (a.kind, b.kind) or (a.kind == b.kind == "inf"):
        return NAN
    if a.kind == "inf":
        return Number("inf", sign)
    if b.kind == "inf":
        return Number("finite", sign)
    if not b.mantissa:
        return Number("inf", sign) if a.mantissa else NAN
    shift = 80 + max(0, b.mantissa.bit_length() - a.mantissa.bit_length())
    quotient, rest = divmod(a.mantissa << shift, b.mantissa)
    return Number("finite", sign, quotient, a.exponent - b.exponent - shift, rest != 0)


def root(a: Number) -> Number:
    if a.kind == "nan" or (a.sign and (a.kind == "inf" or a.mantissa)):
        return NAN
    if a.kind == "inf" or not a.mantissa:
        return a
    shift = 160 + (a.exponent & 1)
    value = a.mantissa << shift
    r = isqrt(value)
    return Number("finite", 0, r, (a.exponent - shift) // 2, r * r != value)


def compare(a: Number, b: Number) -> int:
    """1 less, 2 equal, 4 greater, 8 unordered."""
    if "nan" in (a.kind, b.kind):
        return 8
    x, y = _key(a), _key(b)
    exponent = min(a.exponent, b.exponent)
    if x[0] == y[0] == 0:
        p = (-1) ** a.sign * (a.mantissa << (a.exponent - exponent))
        q = (-1) ** b.sign * (b.mantissa << (b.exponent - exponent))
    else:
        p, q = x[0], y[0]
    return 1 if p < q else 2 if p == q else 4


def _key(a: Number) -> tuple[int]:
    return ((-1) ** a.sign if a.kind == "inf" else 0,)


def integral(a: Number, mode: str) -> Number:
    """Round to an integral value: rn (ties to even), rz, rm, rp."""
    if a.kind != "finite" or a.exponent >= 0:
        return a
    cut = -a.exponent
    kept, half = a.mantissa >> cut, a.mantissa >> (cut - 1) & 1
    rest = bool(a.mantissa & ((1 << (cut - 1)) - 1))
    up = {
        "rn": half and (rest or kept & 1),
        "rz": False,
        "rm": a.sign and (half or rest),
        "rp": not a.sign and (half or rest),
    }[mode]
    return Number("finite", a.sign, kept + bool(up), 0)


def truncated(a: Number) -> int:
    """Convert an integral finite number to int."""
    value = a.mantissa << a.exponent if a.exponent >= 0 else a.mantissa >> -a.exponent
    return -value if a.sign else value


def classify(a: Number, type_name: str) -> int:
    """1 zero, 2 subnormal, 4 normal, 8 infinite, 16 NaN."""
    if a.kind != "finite":
        return 8 if a.kind == "inf" else 16
    f = FORMATS[type_name]
    if not a.mantissa:
        return 1
    return 4 if a.mantissa >> f.mantissa else 2


def to_float(a: Number) -> float:
    """Convert to a Python float; exact for formats up to f64."""
    return struct.unpack("<d", struct.pack("<Q", 0x7FF8 << 48 if a.kind == "nan" else rounded(a, "f64")))[0]


def from_float(value: float) -> Number:
    return number(struct.unpack("<Q", struct.pack("<d", value))[0], "f64")
