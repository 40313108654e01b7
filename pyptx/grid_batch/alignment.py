"""Alignment that an entry may require of the addresses of its arrays."""

from __future__ import annotations

from collections.abc import Collection

from pyptx.errors import PtxError
from pyptx.grid_batch.provenance import Provenance
from pyptx.ir.nodes import Function, Instruction, Module, VectorOperand
from pyptx.ir.visit import instructions
from pyptx.types import from_name

__all__ = ["alignments"]

_FIXED = {"cp": 16, "wmma": 32, "discard": 128, "applypriority": 128}
_BITWISE = frozenset({"and", "or", "xor", "not", "cnot", "bfi", "bfe", "shr"})
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_BITS, _UNKNOWN = 16, 32


def alignments(module: Module, entry: Function, arrays: Collection[str]) -> dict[str, int]:
    """Return the alignment in bytes that an entry may require of the address of each array.

    It is that of the widest access through the address, or the declared one. If the bits of the address are used, such as
    by `or` in place of `add`, it is 16 or more, the alignment of the widest access up to sm_90.
    """
    known = Provenance(module, entry, arrays)
    found = {param.name: param.ptr_alignment or 1 for param in entry.params if param.name in arrays}
    for access in known.accesses():
        for name in access.arrays:
            found[name] = max(found[name], _width(access.instruction))
    for function in module.functions:
        for one in instructions(function):
            for name in known.arrays_of(function, one.operands[1:]) if _sees_bits(one) else ():
                found[name] = max(found[name], _BITS)
    return found


def _width(one: Instruction) -> int:
    """Return the bytes of an access."""
    if one.opcode in _FIXED:
        return _FIXED[one.opcode]
    try:
        bits = from_name(one.modifiers[-1]).bits
    except (PtxError, IndexError):
        return _UNKNOWN
    count = next((_VECTORS[m] for m in one.modifiers if m in _VECTORS), 1)
    return max(1, bits // 8 * count)


def _sees_bits(one: Instruction) -> bool:
    if one.modifiers[-1:] not in ((".b64",), (".u64",), (".s64",)):
        return False
    if one.opcode == "cvt":  # a truncation
        return not any(m.endswith("64") for m in one.modifiers[:-1])
    return one.opcode in _BITWISE or (one.opcode == "mov" and isinstance(one.operands[0], VectorOperand))
