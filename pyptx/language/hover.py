"""Hover text: instructions, special registers, directives, and declared names with their type. Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyptx import isa
from pyptx.isa import registers
from pyptx.isa._schema import MANUAL
from pyptx.isa.directives import SUMMARIES
from pyptx.language.symbols import Index, Symbol
from pyptx.language.text import Document, Token

__all__ = ["Hover", "describe", "describe_instruction", "hover"]


class Hover(NamedTuple):
    """Markdown for the text from `start` to `end`."""

    start: int
    end: int
    text: str


def hover(document: Document, index: Index, offset: int) -> Hover | None:
    """Return the help for the word at an offset; None for a word without help."""
    token = document.token_at(offset)
    if token is None or token.kind not in ("register", "identifier", "directive"):
        return None
    return _instruction(document, index, token) or _name(index, token) or _directive(token)


def describe(symbol: Symbol) -> str:
    """Return the declaration of a symbol on one line, such as ".reg .b32 %r<10>"."""
    if symbol.kind in ("label", "targets", "prototype"):
        return f"{symbol.name}: {symbol.detail}".rstrip()
    detail, bracket, size = symbol.detail.partition("[")
    count = "" if symbol.count is None else f"<{symbol.count}>"
    return f"{detail} {symbol.name}{count}{bracket}{size}"


def _instruction(document: Document, index: Index, token: Token) -> Hover | None:
    """Return the help for an opcode or one of its modifiers."""
    at = document.index_at(token.start)
    while at > 0 and document.tokens[at].kind == "directive":
        at -= 1
    opcode = document.tokens[at]
    words = index.opcodes.get(opcode.start)
    if words is None:
        return None
    text = describe_instruction(words)
    return None if text is None else Hover(opcode.start, document.tokens[at + len(words) - 1].end, text)


def describe_instruction(words: Sequence[str]) -> str | None:
    """Return the help for an opcode and its modifiers, which have dots; None for an unknown opcode."""
    text = isa.hover("".join(words)) or isa.hover(words[0])
    if not text:
        return None
    *lines, sections = text.split("\n")
    anchors = [word.strip("#") for word in sections.removeprefix("PTX ISA: ").split(", ")]
    links = ", ".join(f"[{anchor}]({MANUAL}#{anchor})" for anchor in anchors)
    summary, forms = lines[0], "\n".join(line.removeprefix("    ") for line in lines[1:])
    return f"{_escaped(summary)}\n\n```ptx\n{forms}\n```\n\nPTX ISA: {links}"


def _name(index: Index, token: Token) -> Hover | None:
    found = index.at(token.start)
    if found is not None and found.symbol is not None:
        symbol = found.symbol
        where = f" of `{symbol.scope.function.name}`" if symbol.scope.function is not None else ""
        return Hover(found.start, found.end, f"```ptx\n{describe(symbol)}\n```\n\n{symbol.kind}{where}")
    row = registers.lookup(token.text)
    if row is None:
        return None
    needs = f", needs {row.needs.text}" if row.needs.text else ""
    return Hover(token.start, token.end, f"`{row.name}`: {row.summary}\n\nspecial register, `.{row.types[0]}`{needs}")


def _directive(token: Token) -> Hover | None:
    summary = SUMMARIES.get(token.text) if token.kind == "directive" else None
    return None if summary is None else Hover(token.start, token.end, f"`{token.text}`: {summary}")


def _escaped(text: str) -> str:
    return "".join("\\" + c if c in "\\`*_[]<>" else c for c in text)
