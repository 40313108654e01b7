"""Reading one operand: registers, names, literals and constant expressions, vectors, addresses, lists, pairs."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from pyptx.ir.formatting import Layout, collapsed, tight
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

__all__ = ["compressed", "expression", "operand", "read_operand", "short_operand"]

_BINARY = frozenset("+-*/%&|^<>")
_SHORT = re.compile(
    rf"({REGISTER})|({NAME})|(-?(?:{FLOAT}|{INTEGER})(?![\w$.]))|\[(%[\w$]++|{NAME})(?:\+(-?{INTEGER}(?![\w$.])))?\]",
    re.ASCII)

_FLAT = re.compile(r"\{[^{};]+\}")


def short_operand(text: str, known: dict[str, Operand]) -> Operand | None:
    """The operand that is all of `text`; None when it is none, or one that only the whole statement can tell."""
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
        vector = flat_vector(text, known)
        if vector is not None:
            return vector
    if not text or "(" in text:                             # a list or an expression, as the opcode says
        return None
    try:
        cursor = Cursor(Source(text))
        if cursor.gap:
            return None
        node = operand(cursor)
    except ParseError:
        return None
    return node if cursor.kind == "end" and cursor.last == len(text) else None


def read_operand(text: str) -> Operand | None:
    """The operand that is all of `text`, or None when it is none."""
    try:
        cursor = Cursor(Source(text))
        node = operand(cursor)
    except ParseError:
        return None
    return node if cursor.kind == "end" else None


def flat_vector(text: str, known: dict[str, Operand]) -> VectorOperand | None:
    """`{a, b, c}` whose elements are short and all separated alike; None for anything else."""
    inner = text[1:-1]
    layout = None
    words = inner.split(", ")
    if inner.count(",") != len(words) - 1:
        words, layout = inner.split(","), (("item", ""),)
    elements = []
    for word in words:
        element = known.get(word)
        if element is None:
            match = _SHORT.fullmatch(word)
            if match is None:
                return None
            element = known[word] = short_operand(word, known)
        elements.append(element)
    return VectorOperand(tuple(elements), layout=layout)


def operand(c: Cursor, *, call: bool = False) -> Operand:
    """The operand at the cursor, which ends behind it.

    Args:
        call: parentheses hold a list, as in `call (r), f, (a, b)`; otherwise `(1+2)` is an expression.
    """
    start = c.start
    node = _single(c, call)
    while c.word == "|":
        layout = [("|", c.gap)]
        c.advance()
        layout.append(("right", c.gap))
        node = _fitted(PipeOperand(node, _single(c, call)), layout, start, c)
    return node


def compressed(layout: list[tuple[str, str]]) -> Layout:
    """The layout with one entry for all pieces of a list that have the same gap."""
    return _compressed(tuple(layout)) if len(layout) < 64 else _compressed.__wrapped__(tuple(layout))


@lru_cache(4096)
def _compressed(layout: Layout) -> Layout:
    stems: dict[str, set[str]] = {}
    for role, gap in layout:
        stem = role.rstrip("0123456789")
        if stem != role and role[0] != "=":
            stems.setdefault(stem, set()).add(gap)
    uniform = {stem: gaps.pop() for stem, gaps in stems.items() if len(gaps) == 1}
    if not uniform:
        return layout
    kept = [(role, gap) for role, gap in layout if role[0] == "=" or role.rstrip("0123456789") not in uniform]
    return (*kept, *uniform.items())


def _fitted(node: Operand, layout: list[tuple[str, str]], start: int, c: Cursor) -> Operand:
    """The node, with its spelling when it is not written canonically."""
    if operand_text(node) == c.text[start:c.last]:
        return node
    return replace(node, layout=compressed(layout))


def _single(c: Cursor, call: bool) -> Operand:
    kind, word = c.kind, c.word
    if kind == "register":
        c.advance()
        return RegisterOperand(word)
    if kind == "identifier" and word != "WARP_SZ":
        return _named(c)
    if kind in ("integer", "float", "identifier"):
        return _constant(c)
    if kind == "mark":
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
    if c.kind == "directive" and not c.gap:                 # a selector: v.x
        while c.kind == "directive" and not c.gap:
            name += c.take()
        return LabelOperand(name)
    if c.word == "[":
        return _subscript(c, start, name)
    if c.word == "(" or (c.word in _BINARY and c.word != "|") or c.kind == "operator":
        c.seek(start)
        expression(c)
        text = c.text[start:c.last]
        name = tight(text)
        return LabelOperand(name, layout=None if name == text else (("=text", text),))
    return LabelOperand(name)


def _constant(c: Cursor) -> ImmediateOperand:
    start = c.start
    expression(c)
    text = c.text[start:c.last]
    value = collapsed(text)
    return ImmediateOperand(value, layout=None if value == text else (("=text", text),))


def _signed(c: Cursor) -> Operand:
    """`!p`, `-r`, or a constant expression that starts with a sign."""
    start, sign = c.start, c.word
    c.deeper()
    c.advance()
    if c.kind == "register" or (c.kind == "identifier" and c.word != "WARP_SZ"):
        layout = [("item", c.gap)]
        inner = RegisterOperand(c.take()) if c.kind == "register" else _named(c)
        node = _fitted(NegatedOperand(inner) if sign == "!" else NegativeOperand(inner), layout, start, c)
    else:
        c.seek(start)
        node = _constant(c)
    c.depth -= 1
    return node


def _vector(c: Cursor) -> Operand:
    start = c.start
    flat = _FLAT.match(c.text, start)
    if flat is not None:
        vector = flat_vector(flat[0], c.source.operands)
        if vector is not None:
            c.seek(flat.end())
            return vector
    elements, layout = _elements(c, "}", fields=True)
    return _fitted(VectorOperand(elements), layout, start, c)


def _elements(c: Cursor, closing: str, *, fields: bool = False) -> tuple[tuple[Operand, ...], list[tuple[str, str]]]:
    """Operands between brackets, the opening one included."""
    c.deeper()
    c.advance()
    elements: list[Operand] = []
    layout: list[tuple[str, str]] = []
    if c.word != closing:
        while True:
            layout.append((f"item{len(elements)}" if elements else "first", c.gap))
            start = c.start
            element = operand(c)
            if fields and c.word == "=" and isinstance(element, LabelOperand):
                inside = [("=", c.gap)]
                c.advance()
                inside.append(("value", c.gap))
                element = _fitted(FieldOperand(element.name, operand(c)), inside, start, c)
            elements.append(element)
            if c.word != ",":
                break
            layout.append((f",{len(elements)}", c.gap))
            c.advance()
    layout.append((closing, c.expect(closing, "or ',' after an element of the list")))
    c.depth -= 1
    return tuple(elements), layout


def _parenthesized(c: Cursor, call: bool) -> Operand:
    start = c.start
    refused = None
    if not call and c.trials < 8:                           # each trial may read on to the end of the statement
        try:
            node = _constant(c)
            if not _is_list(node.text):
                return node
        except ParseError as error:
            c.trials += 1
            refused = error
        c.seek(start)
    try:
        elements, layout = _elements(c, ")")
    except ParseError as error:
        raise refused if refused is not None and refused.offset >= error.offset else error from None
    return _fitted(ParenthesizedOperand(elements), layout, start, c)


_LIST = re.compile(rf"\(\s*(?:{REGISTER}|{NAME})\s*\)", re.ASCII)


def _is_list(text: str) -> bool:
    return text != "(WARP_SZ)" and _LIST.fullmatch(text) is not None


def _address(c: Cursor) -> Operand:
    start = c.start
    c.deeper()
    c.advance()
    layout = [("base", c.gap)]
    base_start = c.start
    if c.kind in ("register", "identifier", "integer"):
        base = c.take()
        if c.word == "(":                                   # generic(x)
            c.seek(base_start)
    if c.start == base_start:
        expression(c)
        text = c.text[base_start:c.last]
        base = tight(text)
        if base != text:
            layout.append(("=base", text))
    tail = None
    if c.word in ("+", "-", ","):
        plus = c.word == "+"
        if plus:
            layout.append(("+", c.gap))
            c.advance()
            layout.append(("tail", c.gap))
        else:
            layout += [("=+", ""), ("tail", c.gap)]
        tail_start = c.start
        if plus or c.word != ",":
            expression(c)
        while c.word == ",":
            c.advance()
            operand(c)
        tail = _tail(c, tail_start, layout)
    layout.append(("]", c.expect("]", "at the end of the address")))
    c.depth -= 1
    suffix = ""
    if c.kind == "directive":                               # [a].unified
        layout.append(("suffix", c.gap))
        suffix = c.take()
    return _fitted(AddressOperand(base, tail, suffix=suffix), layout, start, c)


def _tail(c: Cursor, start: int, layout: list[tuple[str, str]]) -> str:
    text = c.text[start:c.last]
    value = tight(text)
    if value != text:
        layout.append(("=tail", text))
    return value


def _subscript(c: Cursor, start: int, name: str) -> Operand:
    layout = [("[", c.gap)]
    c.deeper()
    c.advance()
    layout.append(("tail", c.gap))
    index_start = c.start
    expression(c)
    index = _tail(c, index_start, layout)
    layout.append(("]", c.expect("]", "at the end of the index")))
    c.depth -= 1
    return _fitted(SubscriptOperand(name, index), layout, start, c)


def expression(c: Cursor) -> None:
    """Read a constant expression: values with operators, parentheses, casts `(.s64)`, `?:`, `generic(symbol)`.

    Registers pass too, for addresses; what may stand where is the assembler's to say.
    """
    pending = [0]                                           # question marks without their colon, per parenthesis
    wanted = True                                           # a value, not an operator
    while True:
        kind, word = c.kind, c.word
        if wanted:
            if kind == "mark" and word in "+-~!":
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
        elif kind == "operator" or (kind == "mark" and word in _BINARY):
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
