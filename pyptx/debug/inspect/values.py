"""Values: bits of registers and memory decoded as PTX types, and numbers as text."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.sim.actions import Reg
from pyptx.sim.arithmetic import floats
from pyptx.sim.value_types import width

__all__ = ["TYPES", "bits_of", "decoded", "element_bytes", "number_text", "packed", "typed"]

_NUMPY = {
    "f32": "<f4",
    "f64": "<f8",
    "s8": "i1",
    "s16": "<i2",
    "s32": "<i4",
    "s64": "<i8",
    "u8": "u1",
    "u16": "<u2",
    "u32": "<u4",
    "u64": "<u8",
    "b8": "u1",
    "b16": "<u2",
    "b32": "<u4",
    "b64": "<u8",
    "f16": "<f2",
    "tf32": "<f4",
}
_NARROW_FLOATS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")  # in a byte each
_ADDRESSES = 1 << 40  # larger 64-bit values are addresses and descriptors, printed in hexadecimal
TYPES = {
    name: width(name) if name == "pred" else max(8, width(name))
    for name in (*_NUMPY, "bf16", *_NARROW_FLOATS, "f16x2", "bf16x2", "pred", "b128")
}


def bits_of(machine_offsets: dict[int, int], registers: np.ndarray, register: Reg) -> np.ndarray:
    """Return the bits of a warp's register in each lane; of a 128-bit register, two words [half][lane]."""
    place = machine_offsets[register.index]
    if register.width == 1:
        word = int(registers[place : place + 4].view(np.uint32)[0])
        return (word >> np.arange(32) & 1).astype(np.uint32)
    if register.width <= 32:
        return registers[place : place + 128].view(np.uint32).copy()
    rows = registers[place : place + 4 * register.width].view(np.uint64)
    return rows.copy() if register.width == 64 else rows.reshape(-1, 32).copy()


def decoded(raw: np.ndarray, type_name: str) -> np.ndarray:
    """Return elements of a type decoded from bytes, whose last axis is memory.

    Raises:
        DebugError: the type is unknown.
    """
    if type_name in _NUMPY:
        return raw.view(_NUMPY[type_name])
    if type_name == "bf16":
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    if type_name in _NARROW_FLOATS:
        return _table(type_name)[raw]
    if type_name in ("f16x2", "bf16x2"):
        return decoded(raw, type_name[:-2])
    raise DebugError(f"unknown type {type_name!r}; expected one of {', '.join(TYPES)}")


def element_bytes(type_name: str) -> int:
    """Return the size of one element of a type in bytes; the halves of packed types count as elements.

    Raises:
        DebugError: the type is unknown.
    """
    return 16 // decoded(np.zeros(16, np.uint8), type_name).size


@cache
def _table(type_name: str) -> np.ndarray:
    """Return the value of each byte in a narrow floating-point format."""
    f = floats.FORMATS[type_name]
    return np.array(
        [floats.to_float(floats.number(code & (2 * f.sign - 1), type_name)) for code in range(256)], np.float32
    )


def typed(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Return the 32 lanes of a register as a type; packed types as [half][lane], untyped bits as unsigned."""
    kind = type_name.lstrip(".")
    if kind == "pred":
        return bits.astype(bool)
    if kind == "b128" or bits.ndim == 2:
        return bits
    if bits.dtype == np.uint64:
        return bits.view({"f64": np.float64, "s64": np.int64}.get(kind, np.uint64))
    if kind in ("f16x2", "bf16x2"):
        return packed(bits, kind[:-2])
    if kind == "tf32" or TYPES.get(kind) == 32:
        return bits.view(_NUMPY[kind])
    narrow = bits.astype({8: np.uint8, 16: np.uint16}.get(TYPES.get(kind, 32), np.uint32))
    return decoded(np.ascontiguousarray(narrow).view(np.uint8), kind) if kind in TYPES else narrow


def packed(bits: np.ndarray, type_name: str) -> np.ndarray:
    """Return the elements [element][lane] packed in a 32-bit register, from the low bits up."""
    raw = np.ascontiguousarray(bits.astype(np.uint32)).view(np.uint8)
    return decoded(raw, type_name).reshape(32, -1).T


def number_text(value: Any, *, base: str = "") -> str:
    """Return a number as text: floats with six digits, large 64-bit integers in hexadecimal.

    Args:
        base: "x" or "b" for the bits in hexadecimal or binary, "d" for decimal integers.
    """
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (float, np.floating)):
        if base in ("x", "b"):
            size = np.asarray(value).dtype.itemsize
            bits = int(np.asarray(value).view(f"<u{size}"))
            return f"0x{bits:0{2 * size}x}" if base == "x" else f"0b{bits:0{8 * size}b}"
        number = float(value)
        if number != number:
            return "nan"
        text = f"{number:.6g}"
        return text if any(c in text for c in ".en") else text + ".0"
    if isinstance(value, (int, np.integer)):
        bits = int(value)
        if base == "x" or (not base and bits >= _ADDRESSES and _is_uint64(value)):
            size = np.asarray(value).dtype.itemsize if isinstance(value, np.generic) else 8
            return hex(bits & (1 << 8 * size) - 1)
        return bin(bits) if base == "b" else str(bits)
    return str(value)


def _is_uint64(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype == np.uint64
