"""Completion: opcodes, modifiers, directives, types, and the names that are visible at the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyptx import isa
from pyptx.isa import registers
from pyptx.isa._types import DECLARABLE
from pyptx.isa.directives import SUMMARIES
from pyptx.language.hover import describe
from pyptx.language.symbols import Index, Symbol
from pyptx.language.text import Document

__all__ = ["Completion", "Offer", "complete"]

MAX_FAMILY = 64  # registers offered of `%r<1000>`, from the first


class Offer(NamedTuple):
    """A text that may stand at the cursor.

    Attributes:
        kind: "opcode", "modifier", "directive", "type", "special", or the kind of a symbol.
        detail: one line of help.
    """

    text: str
    kind: str
    detail: str


class Completion(NamedTuple):
    """Offers that replace the text from `start` to the cursor."""

    start: int
    offers: list[Offer]


_STATEMENT = re.compile(
    r"\s*(?:[\w$%]+\s*:\s*)*(?:@\s*!?\s*[\w$%]+\s+)?(?P<words>[a-z]\w*(?:\.[\w:]*)*|\.[\w:]*)?", re.ASCII
)
_TYPED = re.compile(
    r"(?:^|[\s(,])\.(?:reg|param|shared|global|const|local)(?:\s+\.(?:align\s+\d+|v[248]|ptr))*\s+(\.\w*)$", re.ASCII
)
_DIRECTIVE = re.compile(r"(?:^|[\s(),])(\.\w*)$", re.ASCII)
_WORD = re.compile(r"(?:%[\w$]*(?:\.\w*)?|[A-Za-z_$][\w$]*)?$", re.ASCII)
_OPERANDS = {
    "bra": ("label",),
    "brx": ("register", "targets"),
    "call": ("function", "register", "parameter", "variable"),
}


def complete(document: Document, index: Index, offset: int) -> Completion | None:
    """Return what may stand at an offset; None in comments and strings, and where nothing is known."""
    token = document.token_at(offset)
    if token is not None and token.start < offset and token.text.startswith(("//", "/*", "#", '"')):
        closed = token.kind != "bad" and not token.text.startswith(("//", "#"))
        if offset < token.end or not closed:
            return None
    before = _without_comments(document, _statement_start(document, offset), offset)
    if typed := _TYPED.search(before):
        return _matching((Offer(f".{name}", "type", "") for name in DECLARABLE), typed[1], offset)
    head = _STATEMENT.match(before)
    words = head["words"] if head is not None else None
    if head is not None and head.end() == len(before) and not before.endswith(":") and words:
        return _mnemonic(words, offset)
    if head is not None and head.end() == len(before) and (not before.strip() or before.rstrip().endswith(":")):
        return Completion(offset, [*_opcodes(), *_directives()])
    if directive := _DIRECTIVE.search(before):
        return _matching(_directives(), directive[1], offset)
    word = _WORD.search(before)
    opcode = words.partition(".")[0] if words else ""
    return _matching(_operands(index, offset, opcode), word[0] if word else "", offset)


def _without_comments(document: Document, start: int, end: int) -> str:
    """Return a part of the text with blanks in place of comments."""
    text = document.text[start:end]
    for token in document.between(start, end):
        if token.kind == "comment" and token.end <= end:
            text = text[: token.start - start] + " " * len(token.text) + text[token.end - start :]
    return text


def _statement_start(document: Document, offset: int) -> int:
    """Return the offset after the last semicolon or brace of a block before the offset."""
    at = document.index_at(offset)
    depth = 0
    for token in reversed(document.tokens[max(at - 400, 0) : at]):
        if token.kind != "punctuator" or token.end > offset:
            continue
        if token.text in ";":
            return token.end
        if token.text == "}":
            depth += 1
        elif token.text == "{":
            if depth == 0:
                at = document.index_at(token.start)
                previous = document.tokens[at - 1] if at else None
                if previous is None or not (previous.text in (",", "(", "[", "=") or previous.kind == "directive"):
                    return token.end  # of a block; another brace opens a vector
            else:
                depth -= 1
    return 0 if at <= 400 else document.tokens[at - 400].start


def _mnemonic(words: str, offset: int) -> Completion | None:
    opcode, dot, rest = words.partition(".")
    if not opcode:
        return _matching(_directives(), words, offset)
    if not dot:
        return _matching(_opcodes(), opcode, offset)
    *done, last = ("." + word for word in rest.split("."))
    help_line = isa.hover(opcode + "".join(done)).partition("\n")[0]
    return _matching((Offer(w, "modifier", help_line) for w in isa.complete(opcode, tuple(done))), last, offset)


def _matching(offers: Iterable[Offer], word: str, offset: int) -> Completion | None:
    found = [offer for offer in offers if offer.text.startswith(word) and offer.text != word]
    return Completion(offset - len(word), found) if found else None


def _opcodes() -> Iterator[Offer]:
    for name, op in isa.OPS.items():
        yield Offer(name, "opcode", op.summary)


def _directives() -> Iterator[Offer]:
    for name, summary in SUMMARIES.items():
        yield Offer(name, "directive", summary)


def _operands(index: Index, offset: int, opcode: str) -> Iterator[Offer]:
    kinds = _OPERANDS.get(opcode)
    for symbol in index.visible(offset):
        if kinds is None or symbol.kind in kinds:
            yield from _offers(symbol)
    if kinds is None:
        for row in registers.SPECIAL.values():
            for suffix in [f".{c}" for c in row.components[:3]] or [""]:
                yield Offer(row.name + suffix, "special", row.summary)


def _offers(symbol: Symbol) -> Iterator[Offer]:
    names = (
        [symbol.name] if symbol.count is None else [f"{symbol.name}{i}" for i in range(min(symbol.count, MAX_FAMILY))]
    )
    for name in names:
        yield Offer(name, symbol.kind, describe(symbol))
