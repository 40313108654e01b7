"""cvt between integers and formats, on exact numbers."""

from __future__ import annotations

from pyptx.sim.means import Apply
from pyptx.sim.reference import numbers as fp
from pyptx.sim.reference.bits import signed, width

__all__ = ["convert"]


def convert(node: Apply, bits: int) -> int:
    """`node.type` to `node.result`; flags: rounding, ftz, sat, relu, satfinite, "whole" (to an integral value)."""
    source, target, flags = node.type, node.result, node.flags
    mode = next((m for m in ("rz", "rm", "rp", "rna") if m in flags), "rn")
    if source not in fp.FORMATS:
        value = signed(bits, width(source)) if source[0] == "s" else bits
        if target not in fp.FORMATS:
            return _clamped(value, target) if "sat" in flags else value & ((1 << width(target)) - 1)
        if "sat" in flags:
            value = min(max(value, 0), 1)
        return fp.rounded(fp.Number("finite", int(value < 0), abs(value), 0), target, mode)
    x = fp.number(bits, source)
    if "ftz" in flags and source == "f32" and x.kind == "finite" and fp.classify(x, "f32") == 2:
        x = fp.Number("finite", x.sign)
    if target not in fp.FORMATS:
        return _to_integer(x, source, target, mode)
    if "whole" in flags:
        x = fp.integral(x, mode)
    if "sat" in flags:
        x = _unit(x)
    if "relu" in flags and x.sign and x.kind != "nan":
        x = fp.Number("finite", 0)
    if x.kind == "nan" and target == "f64":
        return _wide_nan(bits, source)
    if x.kind == "nan" and source == "f64" and target == "f32":
        return bits >> 32 & 1 << 31 | 0x7FC00000 | bits >> 29 & 0x3FFFFF
    result = fp.rounded(x, target, mode, satfinite="satfinite" in flags)
    if "ftz" in flags and target == "f32" and result & 0x7F800000 == 0:
        result &= 1 << 31
    if target == "tf32":
        result = 0x7FFFFFFF if x.kind == "nan" else result << 13
    return result


def _wide_nan(bits: int, source: str) -> int:
    """A NaN as f64: its payload, quiet; that of 16-bit formats comes by way of f32 and so is the canonical one."""
    if source == "f64":
        return bits | 1 << 51
    if source in ("f16", "bf16"):
        return 0x7FFFFFFF_E0000000
    f = fp.FORMATS[source]
    return (1 << 63 if bits & f.sign else 0) | 0x7FF8 << 48 | (bits & ((1 << f.mantissa) - 1)) << (52 - f.mantissa)


def _unit(x: fp.Number) -> fp.Number:
    if x.kind == "nan" or x.sign:
        return fp.Number("finite", 0)
    one = fp.Number("finite", 0, 1, 0)
    return one if x.kind == "inf" or fp.compare(x, one) == 4 else x


def _to_integer(x: fp.Number, source: str, target: str, mode: str) -> int:
    n = width(target)
    if x.kind == "nan":
        return 1 << (n - 1) if source == "f64" or n == 64 else 0
    if x.kind == "inf":
        return _clamped((-1) ** x.sign << 70, target)
    return _clamped(fp.truncated(fp.integral(x, mode)), target)


def _clamped(value: int, target: str) -> int:
    n = width(target)
    low, high = (-(1 << n - 1), (1 << n - 1) - 1) if target[0] == "s" else (0, (1 << n) - 1)
    return min(max(value, low), high) & ((1 << n) - 1)
