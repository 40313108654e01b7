"""Alignment that a module may require of the addresses of arrays."""

from __future__ import annotations

from pyptx.errors import PtxError
from pyptx.ir.nodes import Instruction, Module, VectorOperand
from pyptx.ir.visit import instructions
from pyptx.types import from_name

__all__ = ["access_alignment"]

_ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red"})
_OTHER_ACCESSES = {"cp": 16, "wmma": 32, "discard": 128, "applypriority": 128}
_OTHER_SPACES = (".shared", ".local", ".const", ".param")
_BITWISE = frozenset({"and", "or", "xor", "not", "cnot", "bfi", "bfe", "shr"})
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_ADDRESS = 16  # bytes, for modules that look at the bits of addresses


def access_alignment(module: Module) -> int:
    """Return the alignment in bytes that a module may require of the address of an array.

    It is that of the widest access to global memory. A module with bitwise operations on 64-bit values may use them on
    addresses, such as `or` in place of `add`; it gets 16 bytes or more, the alignment of the widest basic access.
    """
    return max((_required(one) for function in module.functions for one in instructions(function)), default=1)


def _required(one: Instruction) -> int:
    if one.opcode in _OTHER_ACCESSES:
        return _OTHER_ACCESSES[one.opcode]
    if one.opcode in _ACCESSES:
        return 1 if any(m.startswith(_OTHER_SPACES) for m in one.modifiers) else _width(one)
    return _ADDRESS if _sees_bits(one) else 1


def _width(one: Instruction) -> int:
    """Return the bytes of an access."""
    try:
        bits = from_name(one.modifiers[-1]).bits
    except (PtxError, IndexError):
        return 2 * _ADDRESS
    count = next((_VECTORS[m] for m in one.modifiers if m in _VECTORS), 1)
    return max(1, bits // 8 * count)


def _sees_bits(one: Instruction) -> bool:
    wide = one.modifiers[-1:] in ((".b64",), (".u64",), (".s64",))
    if not wide:
        return False
    if one.opcode == "cvt":  # a truncation
        return not any(m.endswith("64") for m in one.modifiers[:-1])
    return one.opcode in _BITWISE or (one.opcode == "mov" and isinstance(one.operands[0], VectorOperand))
