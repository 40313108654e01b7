"""Shapes of instructions: all that the checks of an instruction depend on, if it names nothing but registers.

A check in `_checker` that reads more of an instruction than its shape holds needs it in the shape, or no shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from functools import lru_cache

from pyptx import isa
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import (
    AddressOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    Operand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.isa import registers
from pyptx.isa.targets import Target
from pyptx.validate._operand_kinds import TypeOf
from pyptx.validate._symbols import Scope

__all__ = ["instruction_shape", "valid_shapes"]

_LARGEST = 65_536  # shapes of a target and version; more are of a generated module, whose numbers all differ
_DIGITS = 9  # of a number that fits in 32 bits

_valid: defaultdict[tuple[str, tuple[int, int]], set[Hashable]] = defaultdict(set)


def valid_shapes(chip: Target, version: tuple[int, int]) -> set[Hashable]:
    """Return the shapes of instructions that were found valid for a target and version; the caller adds to them."""
    found = _valid[chip.name, version]
    if len(found) > _LARGEST:
        found.clear()
    return found


def instruction_shape(node: Instruction, scope: Scope) -> Hashable | None:
    """Return the mnemonic with the type of each register and each number; None for other operands.

    Two instructions of one shape are both valid for a target and version, or neither is. Small numbers are equal unless
    the form restricts them. A label, variable, parameter or call depends on its declaration and has no shape.
    """
    known, type_of = scope.known, scope.type_of
    shape: list[Hashable] = [node.opcode, node.modifiers]
    if node.predicate is not None:
        shape.append(("@", type_of(node.predicate.register)))
    for operand in node.operands:
        if type(operand) is RegisterOperand:
            part = known.get(operand.name)
        elif type(operand) is AddressOperand:
            part = _address(operand, known.get(operand.base))
        else:
            part = None
        if part is None and (part := _part(operand, type_of, node)) is None:
            return None
        shape.append(part)
    return tuple(shape)


@lru_cache(maxsize=4096)
def _restricts_numbers(opcode: str, modifiers: tuple[str, ...]) -> bool:
    """Return True if an operand of the mnemonic takes only some numbers."""
    forms = [match.form for match in isa.match(opcode, modifiers)]
    return any(operand.values for form in forms for operand in form.operands.values())


def _address(operand: AddressOperand, type_name: str | None) -> str | None:
    """Return the shape of an address whose base has a type: "[" and the type."""
    if type_name is None or operand.suffix or (operand.offset is not None and not _is_small(operand.offset)):
        return None
    return _ADDRESSES.get(type_name) or _ADDRESSES.setdefault(type_name, "[" + type_name)


_ADDRESSES: dict[str, str] = {}  # a text that is kept is hashed once


def _part(operand: Operand, type_of: TypeOf, node: Instruction) -> Hashable | None:
    """Return the shape of an operand: a type, the name of a special register, or its kind with what it consists of."""
    if isinstance(operand, (RegisterOperand, LabelOperand)):
        name = operand.name
        return type_of(name) or (name if registers.lookup(name) is not None else None)
    if isinstance(operand, AddressOperand):
        return _address(operand, type_of(operand.base))
    if isinstance(operand, ImmediateOperand):
        free = _is_small(operand.text) and not _restricts_numbers(node.opcode, node.modifiers)
        return ("#", "int" if free else operand.text)
    if isinstance(operand, VectorOperand):
        return _parts("{", operand.elements, type_of, node)
    if isinstance(operand, PipeOperand):
        return _parts("|", (operand.left, operand.right), type_of, node)
    if isinstance(operand, NegatedOperand):
        return _parts("!", (operand.operand,), type_of, node)
    return None


def _parts(kind: str, elements: tuple[Operand, ...], type_of: TypeOf, node: Instruction) -> Hashable | None:
    parts = [_part(element, type_of, node) for element in elements]
    return None if None in parts else (kind, *parts)


def _is_small(text: str) -> bool:
    """Return True for a decimal number that fits in 32 bits; the value of such a number is not checked further."""
    return text.isdecimal() and text.isascii() and len(text) <= _DIGITS and (text[0] != "0" or text == "0")
