"""Conversion of example statements to nodes without the parser, which is tested separately."""

from __future__ import annotations

import re

from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    NegatedOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)

__all__ = ["instruction", "type_of"]


def type_of(name: str) -> str | None:
    """Return the type with which the oracle declares a register: %f32_7 is .f32."""
    found = re.fullmatch(r"%([a-z]+\d*(?:x2)?)_\d+", name)
    return found[1] if found else None


def instruction(text: str) -> Instruction:
    """Convert a statement such as `add.f32 %f32_0, %f32_1, 1.0;` to a node."""
    mnemonic, _, rest = text.rstrip(";").partition(" ")
    opcode, *words = mnemonic.split(".")
    return Instruction(opcode, tuple("." + word for word in words), tuple(map(_operand, _split(rest))))


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "[{(") - (char in "]})")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _operand(text: str) -> Operand:
    if text.startswith("["):
        base, _, offset = text[1 : text.rindex("]")].partition(",")
        return AddressOperand(base.strip(), "," + offset if offset else None)
    if text.startswith("("):
        return ParenthesizedOperand(tuple(map(_operand, _split(text[1:-1]))))
    if "|" in text:
        left, _, right = text.rpartition("|")
        return PipeOperand(_operand(left), _operand(right))
    if text.startswith("{"):
        return VectorOperand(tuple(map(_operand, _split(text[1:-1]))))
    if text.startswith("!"):
        return NegatedOperand(_operand(text[1:]))
    if text[0].isdigit() or text[0] == "-":
        return ImmediateOperand(text)
    return RegisterOperand(text) if text.startswith("%") else LabelOperand(text)
