"""Bits of registers and memory as numbers of a PTX type, and numbers as text."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.sim.actions.basic import Reg
from pyptx.sim.reference import numbers

__all__ = ["TYPES", "bits_of", "decoded", "packed", "shown", "typed"]

_NUMPY = {"f32": "<f4", "f64": "<f8", "s8": "i1", "s16": "<i2", "s32": "<i4", "s64": "<i8", "u8": "u1", "u16": "<u2",
          "u32": "<u4", "u64": "<u8", "b8": "u1", "b16": "<u2", "b32": "<u4", "b64": "<u8", "f16": "<f2", "tf32": "<f4"}
_CODED = {"e4m3": 8, "e5m2": 8, "e2m3": 8, "e3m2": 8, "e2m1": 8}
_ADDRESSES = 1 << 40                                    # 64-bit registers beyond hold addresses and descriptors
TYPES = {**{name: 8 * np.dtype(kind).itemsize for name, kind in _NUMPY.items()}, "bf16": 16, **_CODED, "f16x2": 32,
         "bf16x2": 32, "pred": 1, "b128": 128}


def bits_of(machine_offsets: dict[int, int], registers: np.ndarray, register: Reg) -> np.ndarray:
    """The bits of a register of a warp in each lane; of 128 bits, two words [half][lane]."""
    place = machine_offsets[register.index]
    if register.width == 1:
        word = int(registers[place:place + 4].view(np.uint32)[0])
        return (word >> np.arange(32) & 1).astype(np.uint32)
    if register.width <= 32:
        return registers[place:place + 128].view(np.uint32).copy()
    rows = registers[place:place + 4 * register.width].view(np.uint64)
    return rows.copy() if register.width == 64 else rows.reshape(-1, 32).copy()


def decoded(raw: np.ndarray, type_name: str) -> np.ndarray:
    """Elements of a type, from as many bytes each (an array of bytes whose last axis is memory).

    Raises:
        DebugError: there is no such type.
    """
    if type_name in _NUMPY:
        return raw.view(_NUMPY[type_name])
    if type_name == "bf16":
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    if type_name in _CODED:
        return _table(type_name)[raw]
    if type_name in ("f16x2", "bf16x2"):
        return decoded(raw, type_name[:-2])
    raise DebugError(f"there is no type {type_name!r} to show memory as; expected one of {', '.join(TYPES)}")


@cache
def _table(type_name: str) -> np.ndarray:
    """What each byte stands for in a narrow format."""
    f = numbers.FORMATS[type_name]
    return np.array([numbers.to_float(numbers.number(code & (2 * f.sign - 1), type_name)) for code in range(256)],
                    np.float32)


def typed(bits: np.ndarray, type_name: str) -> np.ndarray:
    """The 32 lanes of a register as its type says; of packed types [half][lane]; bits without a type are unsigned."""
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
    """The elements in each 32-bit register [element][lane], from the low bits."""
    raw = np.ascontiguousarray(bits.astype(np.uint32)).view(np.uint8)
    return decoded(raw, type_name).reshape(32, -1).T


def shown(value: Any, *, base: str = "") -> str:
    """One number as text: shortest floats, `base` "x" and "b" for bits, "d" for whole numbers; large 64-bit ones, which
    are addresses and descriptors, in hexadecimal.
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
        if base == "x" or (not base and bits >= _ADDRESSES and isinstance(value, np.uint64)):
            size = np.asarray(value).dtype.itemsize if isinstance(value, np.generic) else 8
            return hex(bits & (1 << 8 * size) - 1)
        return bin(bits) if base == "b" else str(bits)
    return str(value)


