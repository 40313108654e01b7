"""Operands of the tree, and how each is spelled.

`layout` holds the spelling of an operand that was not written canonically; it takes no part in equality.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import assert_never

from pyptx._value import value
from pyptx.ir.formatting import Layout, Piece, collapsed, tight, weave

__all__ = ["AddressOperand", "FieldOperand", "ImmediateOperand", "LabelOperand", "NegatedOperand", "NegativeOperand",
           "Operand", "ParenthesizedOperand", "PipeOperand", "RegisterOperand", "SubscriptOperand", "VectorOperand",
           "operand_text"]


_SPELLING = {"default": None, "compare": False, "repr": False, "kw_only": True}


@value
class RegisterOperand:
    """A register spelled with a percent sign, with its selector (`%v.x`) if it has one."""

    name: str


@value
class LabelOperand:
    """A bare name: a label, a variable, a parameter, a function, `_`, a register spelled without a percent sign.

    A symbol plus a constant (`dyn_smem+64`) and `generic(symbol)` are names too.
    """

    name: str
    layout: Layout | None = field(**_SPELLING)


@value
class ImmediateOperand:
    """A literal or constant expression, as text."""

    text: str
    layout: Layout | None = field(**_SPELLING)


@value
class VectorOperand:
    elements: tuple[Operand, ...]
    layout: Layout | None = field(**_SPELLING)


@value
class ParenthesizedOperand:
    elements: tuple[Operand, ...]
    layout: Layout | None = field(**_SPELLING)


@value
class AddressOperand:
    """`[base+offset]`; `offset` is text without a leading plus, None when there is none.

    Tensor addresses `[map, {c0, c1}]` keep everything after the base in `offset`, comma included. `suffix` is
    `.unified` in `ld [a].unified`.
    """

    base: str
    offset: str | None = None
    suffix: str = field(default="", kw_only=True)
    layout: Layout | None = field(**_SPELLING)


@value
class SubscriptOperand:
    """`name[index]`, an element of a variable."""

    name: str
    index: str
    layout: Layout | None = field(**_SPELLING)


@value
class NegatedOperand:
    """`!p`"""

    operand: Operand
    layout: Layout | None = field(**_SPELLING)


@value
class NegativeOperand:
    """`-r`, the negated source of a video instruction."""

    operand: Operand
    layout: Layout | None = field(**_SPELLING)


@value
class PipeOperand:
    left: Operand
    right: Operand
    layout: Layout | None = field(**_SPELLING)


@value
class FieldOperand:
    """`name = value` in the initialiser of a sampler."""

    name: str
    value: Operand
    layout: Layout | None = field(**_SPELLING)


Operand = (RegisterOperand | LabelOperand | ImmediateOperand | VectorOperand | ParenthesizedOperand | AddressOperand
           | SubscriptOperand | NegatedOperand | NegativeOperand | PipeOperand | FieldOperand)


def operand_text(operand: Operand) -> str:
    """The operand as PTX text."""
    kind = type(operand)
    if kind is RegisterOperand:
        return operand.name
    layout = operand.layout
    if layout is not None:
        return _spelled(operand, layout)
    if kind is LabelOperand:
        return operand.name
    if kind is ImmediateOperand:
        return operand.text
    if kind is AddressOperand:
        offset = operand.offset
        if offset is None:
            return f"[{operand.base}]{operand.suffix}"
        plus = "" if offset[:1] == "," else "+"             # ptxas takes [%rd1+-8], not [%rd1-8]
        return f"[{operand.base}{plus}{offset}]{operand.suffix}"
    if kind is VectorOperand:
        return "{" + ", ".join(map(operand_text, operand.elements)) + "}"
    if kind is ParenthesizedOperand:
        return "(" + ", ".join(map(operand_text, operand.elements)) + ")"
    return weave(_pieces(operand, {}), ())


def _spelled(operand: Operand, layout: Layout) -> str:
    """A name or an expression written with other blanks, if it is still the same one; else the pieces woven."""
    match operand:
        case LabelOperand(name):
            text = dict(layout)["=text"]
            return text if tight(text) == name else name
        case ImmediateOperand(value):
            text = dict(layout)["=text"]
            return text if collapsed(text) == value else value
        case _:
            return weave(_pieces(operand, dict(layout)), layout)


def _pieces(operand: Operand, spelled: dict[str, str]) -> Iterator[Piece]:
    match operand:
        case VectorOperand(elements):
            yield from _list("{", elements, "}")
        case ParenthesizedOperand(elements):
            yield from _list("(", elements, ")")
        case AddressOperand(base, offset):
            yield Piece("[", "[")
            yield Piece("base", _either(base, spelled.get("=base")), "")
            if offset is not None:
                if offset[:1] != ",":
                    yield Piece("+", "+", "", "optional" if offset[:1] == "-" else "")
                yield Piece("tail", _either(offset, spelled.get("=tail")), "")
            yield Piece("]", "]", "")
            yield Piece("suffix", operand.suffix, "")
        case SubscriptOperand(name, index):
            yield Piece("name", name)
            yield Piece("[", "[", "")
            yield Piece("tail", _either(index, spelled.get("=tail")), "")
            yield Piece("]", "]", "")
        case NegatedOperand(inner):
            yield Piece("!", "!")
            yield Piece("item", operand_text(inner), "")
        case NegativeOperand(inner):
            yield Piece("-", "-")
            yield Piece("item", operand_text(inner), "")
        case PipeOperand(left, right):
            yield Piece("left", operand_text(left))
            yield Piece("|", "|", "")
            yield Piece("right", operand_text(right), "")
        case FieldOperand(name, value):
            yield Piece("name", name)
            yield Piece("=", "=")
            yield Piece("value", operand_text(value))
        case RegisterOperand(text) | LabelOperand(text) | ImmediateOperand(text):
            yield Piece("text", text)
        case _:
            assert_never(operand)


def _either(text: str, spelled: str | None) -> str:
    """How the text was spelled, if that still says the same."""
    return spelled if spelled is not None and tight(spelled) == text else text


def _list(opening: str, elements: tuple[Operand, ...], closing: str) -> Iterator[Piece]:
    yield Piece(opening, opening)
    for i, element in enumerate(elements):
        if i:
            yield Piece(f",{i}", ",", "")
        yield Piece(f"item{i}" if i else "first", operand_text(element), " " if i else "")
    yield Piece(closing, closing, "")
