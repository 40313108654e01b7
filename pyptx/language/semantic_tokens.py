"""Semantic tokens: the class of every word, for highlighting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pyptx.isa import registers
from pyptx.isa._types import TYPE_WORDS
from pyptx.language.symbols import Index
from pyptx.language.text import Document, Token

__all__ = ["MODIFIERS", "TYPES", "SemanticToken", "classify"]

TYPES = ("keyword", "modifier", "type", "macro", "variable", "parameter", "function", "label", "number", "string", "comment", "operator")  # fmt: skip
MODIFIERS = ("declaration", "readonly", "defaultLibrary")

_SIMPLE = {"comment": "comment", "string": "string", "integer": "number", "float": "number", "operator": "operator"}
_SYMBOLS = {
    "register": "variable",
    "variable": "variable",
    "parameter": "parameter",
    "function": "function",
    "entry": "function",
    "label": "label",
    "targets": "label",
    "prototype": "label",
}


class SemanticToken(NamedTuple):
    """A span with its class, one of TYPES, and some of MODIFIERS."""

    start: int
    end: int
    type: str
    modifiers: tuple[str, ...] = ()


def classify(document: Document, index: Index) -> Iterator[SemanticToken]:
    """Yield the class of each word, number, string and comment, in source order; punctuation has none."""
    mnemonic = False
    for token in document.all_tokens:
        if token.kind == "directive":
            yield SemanticToken(token.start, token.end, _directive(token, mnemonic))
            continue
        mnemonic = token.start in index.opcodes
        if mnemonic:
            yield SemanticToken(token.start, token.end, "keyword")
        elif token.kind in _SIMPLE:
            yield SemanticToken(token.start, token.end, _SIMPLE[token.kind])
        elif token.kind in ("register", "identifier"):
            yield from _name(token, index)


def _directive(token: Token, mnemonic: bool) -> str:
    return "type" if token.text in TYPE_WORDS else "modifier" if mnemonic else "macro"


def _name(token: Token, index: Index) -> Iterator[SemanticToken]:
    found = index.by_start.get(token.start)
    if found is not None and found.symbol is not None:
        modifiers = ("declaration",) if found.declares else ()
        yield SemanticToken(found.start, found.end, _SYMBOLS[found.symbol.kind], modifiers)
    elif token.text == "WARP_SZ" or registers.lookup(token.text) is not None:
        yield SemanticToken(token.start, token.end, "variable", ("readonly", "defaultLibrary"))
