"""Operands of instructions and initializers, and their PTX text.

`layout` holds the formatting of an operand that was not written canonically; it takes no part in comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import assert_never

from pyptx._frozen import frozen
from pyptx.ir.formatting import Layout, SyntaxToken, collapse_trivia, join_tokens, strip_trivia

__all__ = [
    "AddressOperand",
    "FieldOperand",
    "ImmediateOperand",
    "LabelOperand",
    "NegatedOperand",
    "NegativeOperand",
    "Operand",
    "ParenthesizedOperand",
    "PipeOperand",
    "RegisterOperand",
    "SubscriptOperand",
    "VectorOperand",
    "operand_text",
]


@frozen
class RegisterOperand:
    """Register name with a percent sign, including its selector (`%v.x`) if any."""

    name: str


@frozen
class LabelOperand:
    """Name without a percent sign: a label, variable, parameter, function, `_`, or a register declared that way.

    A symbol or register plus a constant (`dyn_smem+64`, `%r1+1`) and `generic(symbol)` are names too.
    """

    name: str
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class ImmediateOperand:
    """Literal or constant expression, as text."""

    text: str
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class VectorOperand:
    """Brace vector `{a, b}`."""

    elements: tuple[Operand, ...]
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class ParenthesizedOperand:
    """Parenthesized list `(a, b)`, the arguments or results of a call."""

    elements: tuple[Operand, ...]
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class AddressOperand:
    """Address `[base+offset]`. `offset` is text without a leading plus, or None.

    Tensor addresses `[map, {c0, c1}]` keep everything after the base in `offset`, including the comma. `suffix` is
    `.unified` in `ld [a].unified`.
    """

    base: str
    offset: str | None = None
    suffix: str = field(default="", kw_only=True)
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class SubscriptOperand:
    """Element of a variable, `name[index]`."""

    name: str
    index: str
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class NegatedOperand:
    """Negated predicate `!p`."""

    operand: Operand
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class NegativeOperand:
    """Negated source `-r` of a video instruction."""

    operand: Operand
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class PipeOperand:
    """Pair of destinations `d|p`."""

    left: Operand
    right: Operand
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class FieldOperand:
    """Field `name = value` in the initializer of a sampler."""

    name: str
    value: Operand
    layout: Layout | None = field(default=None, compare=False, repr=False, kw_only=True)


Operand = (
    RegisterOperand
    | LabelOperand
    | ImmediateOperand
    | VectorOperand
    | ParenthesizedOperand
    | AddressOperand
    | SubscriptOperand
    | NegatedOperand
    | NegativeOperand
    | PipeOperand
    | FieldOperand
)


def operand_text(operand: Operand) -> str:
    """Return the operand as PTX text."""
    if isinstance(operand, RegisterOperand):
        return operand.name
    layout = operand.layout
    if layout is not None:
        return _formatted(operand, layout)
    if type(operand) is AddressOperand:
        offset = operand.offset
        if offset is None:
            return f"[{operand.base}]{operand.suffix}"
        plus = "" if offset[:1] == "," else "+"  # ptxas takes [%rd1+-8], not [%rd1-8]
        return f"[{operand.base}{plus}{offset}]{operand.suffix}"
    if type(operand) is ImmediateOperand:
        return operand.text
    if type(operand) is LabelOperand:
        return operand.name
    if isinstance(operand, VectorOperand):
        return (
            "{" + ", ".join([e.name if type(e) is RegisterOperand else operand_text(e) for e in operand.elements]) + "}"
        )
    if isinstance(operand, ParenthesizedOperand):
        return "(" + ", ".join(map(operand_text, operand.elements)) + ")"
    return join_tokens(_tokens(operand, {}), ())


def _formatted(operand: Operand, layout: Layout) -> str:
    """Return the text of an operand with its layout; a spelling that no longer matches the value is ignored."""
    spellings = dict(layout)
    match operand:
        case LabelOperand(name):
            text = spellings.get("=text")
            return text if text is not None and strip_trivia(text) == name else name
        case ImmediateOperand(value):
            text = spellings.get("=text")
            return text if text is not None and collapse_trivia(text) == value else value
        case _:
            return join_tokens(_tokens(operand, spellings), layout)


def _tokens(operand: Operand, spellings: Mapping[str, str]) -> Iterator[SyntaxToken]:
    match operand:
        case VectorOperand(elements):
            yield from _list("{", elements, "}")
        case ParenthesizedOperand(elements):
            yield from _list("(", elements, ")")
        case AddressOperand(base, offset):
            yield SyntaxToken("[", "[")
            yield SyntaxToken("base", _either(base, spellings.get("=base")), "")
            if offset is not None:
                if offset[:1] != ",":
                    yield SyntaxToken("+", "+", "", "optional" if offset[:1] == "-" else "")
                yield SyntaxToken("tail", _either(offset, spellings.get("=tail")), "")
            yield SyntaxToken("]", "]", "")
            yield SyntaxToken("suffix", operand.suffix, "")
        case SubscriptOperand(name, index):
            yield SyntaxToken("name", name)
            yield SyntaxToken("[", "[", "")
            yield SyntaxToken("tail", _either(index, spellings.get("=tail")), "")
            yield SyntaxToken("]", "]", "")
        case NegatedOperand(inner):
            yield SyntaxToken("!", "!")
            yield SyntaxToken("item", operand_text(inner), "")
        case NegativeOperand(inner):
            yield SyntaxToken("-", "-")
            yield SyntaxToken("item", operand_text(inner), "")
        case PipeOperand(left, right):
            yield SyntaxToken("left", operand_text(left))
            yield SyntaxToken("|", "|", "")
            yield SyntaxToken("right", operand_text(right), "")
        case FieldOperand(name, value):
            yield SyntaxToken("name", name)
            yield SyntaxToken("=", "=")
            yield SyntaxToken("value", operand_text(value))
        case RegisterOperand(text) | LabelOperand(text) | ImmediateOperand(text):
            yield SyntaxToken("text", text)
        case _:
            assert_never(operand)


def _either(text: str, spelling: str | None) -> str:
    """Return the source spelling if it still matches `text`, else `text`."""
    return spelling if spelling is not None and strip_trivia(spelling) == text else text


def _list(opening: str, elements: tuple[Operand, ...], closing: str) -> Iterator[SyntaxToken]:
    yield SyntaxToken(opening, opening)
    for i, element in enumerate(elements):
        if i:
            yield SyntaxToken(f",{i}", ",", "")
        yield SyntaxToken(f"item{i}" if i else "first", operand_text(element), " " if i else "")
    yield SyntaxToken(closing, closing, "")
