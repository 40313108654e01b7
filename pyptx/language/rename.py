"""Renaming of symbols: all references change together, and no other name changes its meaning."""

from __future__ import annotations

import re

from pyptx.errors import InputError
from pyptx.isa import registers
from pyptx.language.indexing import build_index
from pyptx.language.symbols import Index, Occurrence, Symbol
from pyptx.language.text import Document, TextEdit, apply
from pyptx.parser.lexer import NAME
from pyptx.validate._symbols import Scope as NameTable

__all__ = ["rename", "renamed_span"]

_NAME = re.compile(rf"%[\w$]+|{NAME}", re.ASCII)


def renamed_span(index: Index, offset: int) -> tuple[int, int] | None:
    """Return the offsets of the name that `rename` changes: of `%r5` from `%r<10>`, the `%r`. None without a symbol."""
    found = index.at(offset)
    if found is None or found.symbol is None:
        return None
    return found.start, found.start + len(found.symbol.name)


def rename(document: Document, index: Index, offset: int, name: str) -> list[TextEdit]:
    """Return the edits that rename the symbol at an offset.

    A family such as `%r<10>` is renamed as a whole: `%x` gives `%x<10>`, and `%x5` for `%r5`. At `%r5`, the name `%x5`
    does the same.

    Raises:
        InputError: The offset is not at a declared name, or the name is not valid, or has another meaning in a scope.
    """
    found = index.at(offset)
    if found is None or found.symbol is None:
        word = document.token_at(offset)
        what = "nothing" if word is None or not word.text.strip() else repr(word.text)
        raise InputError(f"{what} here is not a declared name and cannot be renamed")
    symbol = found.symbol
    number = document.text[found.start + len(symbol.name) : found.end] if not found.declares else ""
    if symbol.count is not None and number and name.endswith(number) and name != number:
        name = name.removesuffix(number)
    if not _NAME.fullmatch(name) or registers.lookup(name) is not None:
        raise InputError(f"{name!r} is not a valid name", hint="letters, digits, _ and $; registers may start with %")
    if any(_overlap(name, symbol.count, other) for other in symbol.scope.symbols if other is not symbol):
        raise _taken(name)
    edits = [TextEdit(o.start, o.start + len(symbol.name), name) for o in index.of(symbol)]
    _require_same_meaning(document, index, edits, name)
    return edits


def _require_same_meaning(document: Document, index: Index, edits: list[TextEdit], name: str) -> None:
    """Compare which declaration each name refers to, before and after the edits."""
    after = build_index(Document(apply(document.text, edits)))
    if _targets(index) != _targets(after):
        raise _taken(name)


def _taken(name: str) -> InputError:
    return InputError(f"{name} is already a name in one of the scopes", hint="choose another name")


def _overlap(name: str, count: int | None, other: Symbol) -> bool:
    """Return True if `name`, or the family `name<count>`, declares a name that `other` declares."""
    if count is None or other.count is not None:
        return name == other.name if count is not None else other.names(name)
    return NameTable.in_family(other.name, name, count) if other.name.startswith(name) else False


def _targets(index: Index) -> list[int | None]:
    """Return, for each name in the text, the position in source order of the declaration that it refers to."""
    numbers: dict[int, int] = {}
    for number, one in enumerate(index.occurrences):
        if one.declares and one.symbol is not None:
            numbers.setdefault(id(one.symbol), number)
    return [_target(one, numbers) for one in index.occurrences]


def _target(one: Occurrence, numbers: dict[int, int]) -> int | None:
    return None if one.symbol is None else numbers[id(one.symbol)]
