"""PTX literals as bits of a type."""

from __future__ import annotations

import re
import struct

from pyptx.errors import SimulationError
from pyptx.ir.constants import constant_value

__all__ = ["bits_of", "integer"]

_HEX_FLOAT = re.compile(r"0([fFdD])([0-9a-fA-F]+)")
_DECIMAL = re.compile(r"-?(\d+\.\d*|\.\d+|\d+[eE][+-]?\d+|\d+\.\d*[eE].*)")


def integer(text: str) -> int:
    """Evaluate an integer literal or constant expression.

    Raises:
        SimulationError: the text is neither.
    """
    value = constant_value(text)
    if value is None:
        raise SimulationError(f"{text!r} is not an integer constant")
    return value


def bits_of(text: str, type_name: str, width: int) -> int:
    """Return the bits of a literal for an operand of the type, as an integer of `width` bits."""
    text = text.strip()
    found = _HEX_FLOAT.fullmatch(text)
    if found and not (found[1] in "fF" and len(found[2]) != 8):
        value = int(found[2], 16)
        if found[1] in "fF" and type_name == "f64":
            return struct.unpack("<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", value))[0]))[0]
        if found[1] in "dD" and width == 32:
            return _float32(struct.unpack("<d", struct.pack("<Q", value))[0])
        return value & ((1 << width) - 1)
    if type_name in ("f32", "f64", "f16", "bf16", "tf32") or _DECIMAL.fullmatch(text):
        value = float(text)
        if width == 64:
            return struct.unpack("<Q", struct.pack("<d", value))[0]
        if width == 32:
            return _float32(value)
        raise SimulationError(f"a floating-point literal cannot be a .{type_name} of {width} bits")
    return integer(text) & ((1 << width) - 1)


def _float32(value: float) -> int:
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000
