"""Foldable ranges: bodies and blocks, debug sections, and comments of several lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pyptx.language.text import Document

__all__ = ["Fold", "find_folds"]


class Fold(NamedTuple):
    """0-based lines that fold into the first; `kind` is "block" or "comment"."""

    first: int
    last: int
    kind: str


def find_folds(document: Document) -> list[Fold]:
    """Return the ranges of more than one line, in the order of their first lines."""
    return sorted({*_braces(document), *_comments(document)})


def _braces(document: Document) -> Iterator[Fold]:
    opened: list[int] = []
    for token in document.tokens:
        if token.kind != "punctuator":
            continue
        if token.text == "{":
            opened.append(document.line_of(token.start))
        elif token.text == "}" and opened:
            first, last = opened.pop(), document.line_of(token.start) - 1  # the closing brace stays visible
            if last > first:
                yield Fold(first, last, "block")


def _comments(document: Document) -> Iterator[Fold]:
    """Yield block comments of several lines, and runs of line comments that have their lines for themselves."""
    first = last = -2
    previous = -1  # line of the last token that is not a comment
    for token in document.all_tokens:
        if token.kind == "newline":
            continue
        line, end = document.line_of(token.start), document.line_of(token.end)
        if token.kind == "comment" and end > line:
            yield Fold(line, end, "comment")
        if token.kind == "comment" and token.text.startswith("//") and line != previous:
            if line != last + 1:
                if last > first:
                    yield Fold(first, last, "comment")
                first = line
            last = line
        elif token.kind != "comment":
            previous = line
    if last > first:
        yield Fold(first, last, "comment")
