"""Parsing of operands: registers, names, literals and constant expressions, vectors, addresses, lists, pairs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar

from pyptx.ir.formatting import LayoutEntries, collapse_trivia, compress_layout, strip_trivia
from pyptx.ir.nodes import (
    AddressOperand,
    FieldOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    NegativeOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    SubscriptOperand,
    VectorOperand,
)
from pyptx.ir.operands import operand_text
from pyptx.parser.cursor import MAX_DEPTH, Cursor, Source
from pyptx.parser.errors import ParseError
from pyptx.parser.lexer import FLOAT, INTEGER, NAME, REGISTER

__all__ = ["parse_operand", "parse_operand_text", "parse_simple_operand", "skip_expression"]

_BINARY = frozenset("+-*/%&|^<>")
_SHORT = re.compile(
    rf"({REGISTER})|({NAME})|(-?(?:{FLOAT}|{INTEGER})(?![\w$.]))|\[(%[\w$]++|{NAME})(?:\+(-?{INTEGER}(?![\w$.])))?\]",
    re.ASCII,
)

_FLAT = re.compile(r"\{[^{};]+\}")


def parse_simple_operand(text: str, known: dict[str, Operand]) -> Operand | None:
    """Parse `text` as an operand; None when it is not one, or when its meaning depends on the statement.

    Args:
        known: operands parsed so far, by their text; extended with the elements of vectors.
    """
    match = _SHORT.fullmatch(text)
    if match:
        register, name, literal, base, offset = match.groups()
        if register:
            return RegisterOperand(register)
        if name:
            return ImmediateOperand(name) if name == "WARP_SZ" else LabelOperand(name)
        if literal:
            return ImmediateOperand(literal)
        return AddressOperand(base, offset)
    if text[:1] == "{" and text[-1:] == "}":
        vector = parse_flat_vector(text, known)
        if vector is not None:
            return vector
    if not text or "(" in text:  # a list or an expression, depending on the opcode
        return None
    try:
        cursor = Cursor(Source(text))
        if cursor.trivia:
            return None
        node = parse_operand(cursor)
    except ParseError:
        return None
    return node if cursor.kind == "end" and cursor.previous_end == len(text) else None


def parse_operand_text(text: str) -> Operand | None:
    """Parse `text` as an operand; None when it is not one."""
    try:
        cursor = Cursor(Source(text))
        node = parse_operand(cursor)
    except ParseError:
        return None
    return node if cursor.kind == "end" else None


def parse_flat_vector(text: str, known: dict[str, Operand]) -> VectorOperand | None:
    """Parse `{a, b, c}` with simple elements and uniform separators; None for any other text."""
    inner = text[1:-1]
    layout = None
    words = inner.split(", ")
    if inner.count(",") != len(words) - 1:
        words, layout = inner.split(","), (("item", ""),)
    elements = []
    for word in words:
        element = known.get(word)
        if element is None:
            element = parse_simple_operand(word, known) if _SHORT.fullmatch(word) else None
            if element is None:
                return None
            known[word] = element
        elements.append(element)
    return VectorOperand(tuple(elements), layout=layout)


def parse_operand(c: Cursor, *, call: bool = False) -> Operand:
    """Parse the operand at the cursor.

    Args:
        call: parentheses enclose a list, as in `call (r), f, (a, b)`; otherwise `(1+2)` is an expression.
    """
    start, depth = c.start, c.depth
    node = _single(c, call)
    while c.word == "|":
        c.deeper()
        layout = [("|", c.trivia)]
        c.advance()
        layout.append(("right", c.trivia))
        node = _formatted(PipeOperand(node, _single(c, call)), layout, start, c)
    c.depth = depth
    return node


_Formatted = TypeVar(
    "_Formatted",
    AddressOperand,
    FieldOperand,
    NegatedOperand,
    NegativeOperand,
    ParenthesizedOperand,
    PipeOperand,
    SubscriptOperand,
    VectorOperand,
)


def _formatted(node: _Formatted, layout: LayoutEntries, start: int, c: Cursor) -> _Formatted:
    """Attach the layout to the node unless the source is canonical."""
    if operand_text(node) == c.text[start : c.previous_end]:
        return node
    return replace(node, layout=compress_layout(layout))


def _single(c: Cursor, call: bool) -> Operand:
    kind, word = c.kind, c.word
    if kind == "register":
        start = c.start
        c.advance()
        return RegisterOperand(word) if c.word != "+" else _sum(c, start)
    if kind == "identifier" and word != "WARP_SZ":
        return _named(c)
    if kind in ("integer", "float", "identifier"):
        return _constant(c)
    if kind == "punctuator":
        if word == "{":
            return _vector(c)
        if word == "[":
            return _address(c)
        if word == "(":
            return _parenthesized(c, call)
        if word in "!-":
            return _signed(c)
        if word in "~+":
            return _constant(c)
    c.fail("expected an operand")


def _named(c: Cursor) -> Operand:
    start, name = c.start, c.take()
    if c.kind == "directive" and not c.trivia:  # a selector: v.x
        while c.kind == "directive" and not c.trivia:
            name += c.take()
        return LabelOperand(name)
    if c.word == "[":
        return _subscript(c, start, name)
    if c.word == "(" or (c.word in _BINARY and c.word != "|") or c.kind == "operator":
        return _sum(c, start)
    return LabelOperand(name)


def _sum(c: Cursor, start: int) -> LabelOperand:
    """Parse a register or symbol plus a constant, `generic(symbol)`, or another expression that starts with a name."""
    c.seek(start)
    skip_expression(c)
    text = c.text[start : c.previous_end]
    name = strip_trivia(text)
    return LabelOperand(name, layout=None if name == text else (("=text", text),))


def _constant(c: Cursor) -> ImmediateOperand:
    start = c.start
    skip_expression(c)
    text = c.text[start : c.previous_end]
    value = collapse_trivia(text)
    return ImmediateOperand(value, layout=None if value == text else (("=text", text),))


def _signed(c: Cursor) -> Operand:
    """Parse `!p`, `-r`, or a constant expression that starts with a sign."""
    start, sign = c.start, c.word
    c.deeper()
    c.advance()
    if c.kind == "register" or (c.kind == "identifier" and c.word != "WARP_SZ"):
        layout: LayoutEntries = [("item", c.trivia)]
        inner = RegisterOperand(c.take()) if c.kind == "register" else _named(c)
        c.depth -= 1
        if sign == "!":
            return _formatted(NegatedOperand(inner), layout, start, c)
        return _formatted(NegativeOperand(inner), layout, start, c)
    c.seek(start)
    c.depth -= 1
    return _constant(c)


def _vector(c: Cursor) -> Operand:
    start = c.start
    flat = _FLAT.match(c.text, start)
    if flat is not None:
        vector = parse_flat_vector(flat[0], c.source.operands)
        if vector is not None:
            c.seek(flat.end())
            return vector
    elements, layout = _elements(c, "}", fields=True)
    return _formatted(VectorOperand(elements), layout, start, c)


def _elements(c: Cursor, closing: str, *, fields: bool = False) -> tuple[tuple[Operand, ...], LayoutEntries]:
    """Parse a bracketed list of operands, starting at its opening bracket."""
    c.deeper()
    c.advance()
    elements: list[Operand] = []
    layout: LayoutEntries = []
    if c.word != closing:
        while True:
            layout.append((f"item{len(elements)}" if elements else "first", c.trivia))
            start = c.start
            element = parse_operand(c)
            if fields and c.word == "=" and isinstance(element, LabelOperand):
                inside = [("=", c.trivia)]
                c.advance()
                inside.append(("value", c.trivia))
                element = _formatted(FieldOperand(element.name, parse_operand(c)), inside, start, c)
            elements.append(element)
            if c.word != ",":
                break
            layout.append((f",{len(elements)}", c.trivia))
            c.advance()
    layout.append((closing, c.expect(closing, "or ',' after an element of the list")))
    c.depth -= 1
    return tuple(elements), layout


def _parenthesized(c: Cursor, call: bool) -> Operand:
    start = c.start
    refused = None
    if not call and c.backtracks < 8:  # each trial may read on to the end of the statement
        try:
            node = _constant(c)
            if not _is_list(node.text):
                return node
        except ParseError as error:
            c.backtracks += 1
            refused = error
        c.seek(start)
    try:
        elements, layout = _elements(c, ")")
    except ParseError as error:
        raise refused if refused is not None and refused.offset >= error.offset else error from None
    return _formatted(ParenthesizedOperand(elements), layout, start, c)


_LIST = re.compile(rf"\(\s*(?:{REGISTER}|{NAME})\s*\)", re.ASCII)


def _is_list(text: str) -> bool:
    return text != "(WARP_SZ)" and _LIST.fullmatch(text) is not None


def _address(c: Cursor) -> Operand:
    start = c.start
    c.deeper()
    c.advance()
    layout = [("base", c.trivia)]
    base_start, base = c.start, ""
    if c.kind in ("register", "identifier", "integer"):
        base = c.take()
        if c.word == "(":  # generic(x)
            c.seek(base_start)
    if c.start == base_start:
        skip_expression(c)
        text = c.text[base_start : c.previous_end]
        base = strip_trivia(text)
        if base != text:
            layout.append(("=base", text))
    tail = None
    if c.word in ("+", "-", ","):
        plus = c.word == "+"
        if plus:
            layout.append(("+", c.trivia))
            c.advance()
            layout.append(("tail", c.trivia))
        else:
            layout += [("=+", ""), ("tail", c.trivia)]
        tail_start = c.start
        if plus or c.word != ",":
            skip_expression(c)
        while c.word == ",":
            c.advance()
            parse_operand(c)
        tail = _tail(c, tail_start, layout)
    layout.append(("]", c.expect("]", "at the end of the address")))
    c.depth -= 1
    suffix = ""
    if c.kind == "directive":  # [a].unified
        layout.append(("suffix", c.trivia))
        suffix = c.take()
    return _formatted(AddressOperand(base, tail, suffix=suffix), layout, start, c)


def _tail(c: Cursor, start: int, layout: LayoutEntries) -> str:
    text = c.text[start : c.previous_end]
    value = strip_trivia(text)
    if value != text:
        layout.append(("=tail", text))
    return value


def _subscript(c: Cursor, start: int, name: str) -> Operand:
    layout = [("[", c.trivia)]
    c.deeper()
    c.advance()
    layout.append(("tail", c.trivia))
    index_start = c.start
    skip_expression(c)
    index = _tail(c, index_start, layout)
    layout.append(("]", c.expect("]", "at the end of the index")))
    c.depth -= 1
    return _formatted(SubscriptOperand(name, index), layout, start, c)


def skip_expression(c: Cursor) -> None:
    """Skip a constant expression: values with operators, parentheses, casts `(.s64)`, `?:`, `generic(symbol)`.

    Registers are accepted as values, for addresses; `pyptx.validate` checks the expression.
    """
    pending = [0]  # question marks without their colon, per parenthesis
    wanted = True  # expect a value, not an operator
    while True:
        kind, word = c.kind, c.word
        if wanted:
            if kind == "punctuator" and word in "+-~!":
                c.advance()
            elif word == "(":
                c.advance()
                if c.kind == "directive":
                    c.advance()
                    c.expect(")", "after the type of a cast")
                else:
                    _open(c, pending)
            elif kind in ("integer", "float", "identifier", "register"):
                c.advance()
                wanted = False
                if c.word == "(" and kind != "register":
                    c.advance()
                    _open(c, pending)
                    wanted = True
            else:
                c.fail("expected a value")
        elif word == ")" and len(pending) > 1:
            pending.pop()
            c.advance()
        elif kind == "operator" or (kind == "punctuator" and word in _BINARY):
            c.advance()
            wanted = True
        elif word == "?" or (word == ":" and pending[-1]):
            pending[-1] += 1 if word == "?" else -1
            c.advance()
            wanted = True
        elif len(pending) > 1:
            c.fail("expected ')' or an operator")
        else:
            return


def _open(c: Cursor, pending: list[int]) -> None:
    pending.append(0)
    if len(pending) > MAX_DEPTH:
        raise c.source.error(f"nested more than {MAX_DEPTH} levels deep", c.start)
