"""Conversion of Python values to PTX operands and addresses.

Classes of pyptx convert themselves: `__ptx_operand__()` returns an operand, `__ptx_address__()` an address. All other
values a kernel author can pass are converted here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from operator import index
from typing import SupportsIndex, cast, get_args

from pyptx._lazy import pattern
from pyptx.errors import OperandError
from pyptx.ir.formatting import strip_trivia
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    LabelOperand,
    Operand,
    ParenthesizedOperand,
    RegisterOperand,
    VectorOperand,
)

__all__ = ["address", "float_literal", "half_bits", "operand", "shifted"]

_NODES = frozenset(get_args(Operand))
_NONE = "; an instruction returns its destination if one is passed: x = ptx.inst.mul.f32(reg.scalar(f32), a, b)"


def operand(value: object, float_bits: int = 32) -> Operand:
    """Convert a Python value to an operand.

    Args:
        value: register, number, text (a literal when it starts with a digit or a minus, else a name), list (a brace
            vector), tuple (a call list), a shared-memory or tensor handle, or a node of the tree.
        float_bits: width of the hexadecimal literal for a Python float: 32 or 64.
    Raises:
        TypeError: no operand corresponds to the value.
    """
    if value.__class__ is int:
        return ImmediateOperand(str(value))
    if value.__class__ in _NODES:
        return cast(Operand, value)
    convert: Callable[[], Operand] | None = getattr(value, "__ptx_operand__", None)
    if convert is not None:
        return convert()
    if isinstance(value, int):  # True is 1
        return ImmediateOperand(str(int(value)))
    if isinstance(value, float):
        return ImmediateOperand(float_literal(value, float_bits))
    if isinstance(value, str):
        return _named(value)
    if isinstance(value, list):
        return VectorOperand(tuple(operand(v, float_bits) for v in value))
    if isinstance(value, tuple):
        return ParenthesizedOperand(tuple(operand(v, float_bits) for v in value))
    if isinstance(value, SupportsIndex):  # numpy integers
        return ImmediateOperand(str(index(value)))
    raise OperandError(
        f"{value!r} ({type(value).__name__}) is not a PTX operand; expected a register, a number, a name, a "
        "list of them, a shared-memory or tensor handle" + _NONE * (value is None)
    )


_WORD = pattern(r"%?[\w$][\w$.]*|-[\w.]+", re.ASCII)


def _named(text: str) -> Operand:
    """Parse text as an operand; text that is not an operand is passed through unchanged."""
    if _WORD.fullmatch(text) is None or text == "WARP_SZ":
        from pyptx.parser.operands import parse_operand_text  # most kernels need no parser

        node = parse_operand_text(text)
        if node is not None:
            return node
    if text[:1].isdigit() or text[:1] == "-":
        return ImmediateOperand(text)
    return RegisterOperand(text) if text.startswith("%") else LabelOperand(text)


def float_literal(value: float, bits: int) -> str:
    """Return the exact hexadecimal literal of a float, NaN and infinities included.

    Args:
        value: the number; rounded to nearest for 32 bits.
        bits: 32 for `0f` and 8 digits, 64 for `0d` and 16.
    Raises:
        OverflowError: the finite value rounds to infinity as f32.
    """
    if bits == 64:
        return "0d" + struct.pack(">d", value).hex().upper()
    return "0f" + struct.pack(">f", value).hex().upper()


def half_bits(name: str, value: float) -> int:
    """Return the bits of a number of type f16, bf16, f16x2 or bf16x2 (in both halves), rounded to nearest even.

    Raises:
        OverflowError: the finite value rounds to infinity as f16.
    """
    if name.startswith("bf16"):
        wide = int(float_literal(value, 32)[2:], 16)
        bits = wide >> 16 if value != value else (wide + 0x7FFF + (wide >> 16 & 1)) >> 16
    else:
        bits = int.from_bytes(struct.pack("<e", value), "little")
    return bits << 16 | bits if name.endswith("x2") else bits


def address(value: object, offset: object = None) -> AddressOperand:
    """Return the address `[value+offset]`.

    Args:
        value: a register, a name, an address, or an object in memory.
        offset: bytes (int), a register, or text; a list makes `[value, {a, b}]`, a tuple `[value, a, b]`, and text
            starting with ", " either of them.
    Raises:
        TypeError: `value` cannot be the base of an address.
    """
    convert = getattr(value, "__ptx_address__", None)
    if convert is not None:
        base = convert()
    elif isinstance(value, AddressOperand):
        base = value
    elif isinstance(value, str):
        name, plus, constant = value.partition("+")  # dyn_smem+4096
        base = AddressOperand(name, constant) if plus else AddressOperand(value)
    else:
        node = operand(value)
        if not isinstance(node, (RegisterOperand, LabelOperand)):
            raise OperandError(f"{value!r} cannot be the base of an address; expected a register, a name or a handle")
        base = AddressOperand(node.name)
    return base if offset is None else shifted(base, offset)


def shifted(base: AddressOperand, offset: object) -> AddressOperand:
    """Return the address moved by `offset`; constants are folded."""
    if type(offset) is int or (isinstance(offset, int) and not isinstance(offset, bool)):
        if base.offset is None:
            return base if offset == 0 else AddressOperand(base.base, str(offset))
        if base.offset.lstrip("-").isdigit():
            return AddressOperand(base.base, str(int(base.offset) + offset))
        return AddressOperand(base.base, f"{base.offset}+{offset}")
    if isinstance(offset, list):
        text = ", {" + ", ".join(map(_offset_text, offset)) + "}"
    elif isinstance(offset, tuple):
        text = "".join(", " + _offset_text(part) for part in offset)
    else:
        text = strip_trivia(offset) if isinstance(offset, str) else _offset_text(offset)
    if base.offset is None:
        return AddressOperand(base.base, text.removeprefix("+"))
    return AddressOperand(base.base, base.offset + (text if text[:1] in ",+-" else "+" + text))


def _offset_text(offset: object) -> str:
    node = operand(offset)
    match node:
        case RegisterOperand(name) | LabelOperand(name):
            return name
        case ImmediateOperand(text):
            return text
    raise OperandError(f"{offset!r} cannot be an address offset; expected an int, a register or text")
