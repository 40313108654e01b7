"""Conversions (cvt) between integers and floating-point formats, on exact numbers."""

from __future__ import annotations

from pyptx.sim.actions import Apply
from pyptx.sim.arithmetic import floats as fp
from pyptx.sim.arithmetic.bits import signed
from pyptx.sim.value_types import width

__all__ = ["convert"]


def convert(node: Apply, bits: int, operand: int | None = None) -> int:
    """`node.type` to `node.result`; flags: rounding, ftz, sat, relu, satfinite, pzo, "whole" (to an integral value).

    `operand`: of cvtrandom the random bits (`node.number` of them), of cvtscaled a ue8m0 scale (`number` 1: it
    multiplies, 0: it divides).
    """
    if node.result == "s2f6" or node.result == "ue8m0" or node.type in ("s2f6", "ue8m0") or operand is not None:
        return _special(node, bits, operand)
    result = _convert(node, bits)
    return _without_minus(result, node) if "pzo" in node.flags else result


def _without_minus(result: int, node: Apply) -> int:
    sign = 1 << 31 if node.result == "tf32" else fp.FORMATS[node.result].sign
    return 0 if result == sign else result


def _special(node: Apply, bits: int, operand: int | None) -> int:
    """Convert with a scale, in fixed point, or with stochastic rounding."""
    flags, target = node.flags, node.result
    mode = next((m for m in ("rz", "rm", "rp", "rna") if m in flags), "rn")
    x = _number(bits, node.type)
    if operand is not None and node.op == "cvtscaled":
        if operand == 255:
            x = fp.NAN
        elif x.kind == "finite":
            x = x._replace(exponent=x.exponent + (operand - 127 if node.number else 127 - operand))
    if target == "ue8m0":
        return _to_scale(x, mode, "satfinite" in flags)
    if "relu" in flags and x.sign and x.kind != "nan":
        x = fp.Number("finite", 0)
    if target == "s2f6":
        if x.kind != "finite":
            return 0x80 if x.kind == "inf" and x.sign else 0x7F
        whole = fp.integral(x._replace(exponent=x.exponent + 6), mode)
        return min(max(fp.truncated(whole), -128), 127) & 255
    if operand is not None and node.op == "cvtrandom":
        return fp.stochastic(x, target, operand, node.number, satfinite="satfinite" in flags)
    result = fp.rounded(x, target, mode, satfinite="satfinite" in flags)
    return _without_minus(result, node) if "pzo" in flags else result


def _number(bits: int, source: str) -> fp.Number:
    if source == "ue8m0":
        return fp.NAN if bits == 255 else fp.Number("finite", 0, 1, bits - 127)
    if source == "s2f6":
        value = signed(bits, 8)
        return fp.Number("finite", int(value < 0), abs(value), -6)
    return fp.number(bits, source)


def _to_scale(x: fp.Number, mode: str, satfinite: bool) -> int:
    """Convert to ue8m0: the exponent; rp rounds up unless the number is a power of two."""
    if x.kind == "nan":
        return 255
    if x.kind == "inf":
        return 254 if satfinite else 255
    if not x.mantissa:
        return 0
    top = x.mantissa.bit_length() - 1
    exponent = top + x.exponent + (mode == "rp" and x.mantissa != 1 << top)
    return min(max(exponent + 127, 0), 254 if satfinite else 255)


def _convert(node: Apply, bits: int) -> int:
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
    """Convert a NaN to f64: quiet, with its payload; NaNs of 16-bit formats pass through f32 and become canonical."""
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
