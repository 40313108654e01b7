"""Symbols of a text: registers, variables, parameters, labels and functions, each in its scope, with its references."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pyptx.validate._symbols import Scope as NameTable

__all__ = ["Index", "Occurrence", "Scope", "Symbol"]

HOISTED = ("label", "targets", "prototype")  # may be used before they are declared
_MOST_DIGITS = 20


@dataclass(eq=False)
class Symbol:
    """A declared name.

    Attributes:
        kind: "register", "variable", "parameter", "label", "function", "entry", "prototype" or "targets".
        detail: the declaration without the name, such as ".reg .b32" or ".shared .align 16 .b8".
        count: number of registers of a family, `%r<10>`; None for a single one.
        declared: offsets of the names in its declarations, the definition last.
        end: offset of the end of the statement, or of the body of a function.
    """

    name: str
    kind: str
    detail: str
    scope: Scope
    start: int
    end: int
    count: int | None = None
    body: Scope | None = None
    declared: list[int] = field(default_factory=list)

    def names(self, name: str) -> bool:
        """Return True if the symbol declares the name: `%r3` of `%r<10>`."""
        if self.count is None:
            return name == self.name
        return name.startswith(self.name) and NameTable.in_family(name, self.name, self.count)


@dataclass(eq=False)
class Scope:
    """Names of the module, a function or a block, from `start` to `end`."""

    start: int
    end: int
    outer: Scope | None = None
    function: Symbol | None = None
    single: dict[str, list[Symbol]] = field(default_factory=dict)
    families: dict[str, list[Symbol]] = field(default_factory=dict)
    symbols: list[Symbol] = field(default_factory=list)

    def add(self, symbol: Symbol) -> None:
        self.symbols.append(symbol)
        (self.single if symbol.count is None else self.families).setdefault(symbol.name, []).append(symbol)

    def find(self, name: str, at: int) -> Symbol | None:
        """Return the symbol that a name at an offset refers to, in this scope or an outer one."""
        later: Symbol | None = None
        scope: Scope | None = self
        while scope is not None:
            for symbol in scope._declarations(name):
                if symbol.kind in HOISTED or symbol.start <= at:
                    return symbol
                later = later or symbol
            scope = scope.outer
        return later  # used before its declaration, which `diagnostics` reports

    def _declarations(self, name: str) -> Iterator[Symbol]:
        """Yield the first declaration of a name, alone and in families."""
        yield from self.single.get(name, ())[:1]
        digits = len(name) - len(name.rstrip("0123456789"))
        for length in range(1, min(digits, _MOST_DIGITS) + 1 if self.families else 1):
            yield from (one for one in self.families.get(name[:-length], ())[:1] if one.names(name))


class Occurrence(NamedTuple):
    """A name in the text, and the symbol it declares or refers to; None for a name that is not declared."""

    start: int
    end: int
    symbol: Symbol | None
    declares: bool


@dataclass
class Index:
    """All symbols and occurrences of a document, in source order.

    Attributes:
        opcodes: offset of an opcode -> opcode and modifiers.
        resolve: returns the occurrences; called on first use, because completion does not need them.
    """

    module: Scope
    scopes: list[Scope]
    opcodes: dict[int, tuple[str, ...]]
    resolve: Callable[[], list[Occurrence]]

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        return self.resolve()

    @cached_property
    def _starts(self) -> list[int]:
        return [one.start for one in self.occurrences]

    @cached_property
    def by_start(self) -> dict[int, Occurrence]:
        return {one.start: one for one in self.occurrences}

    def at(self, offset: int) -> Occurrence | None:
        """Return the name that contains the offset or ends at it."""
        last = bisect_right(self._starts, offset) - 1
        if last >= 0 and offset <= self.occurrences[last].end:
            return self.occurrences[last]
        return None

    def of(self, symbol: Symbol) -> list[Occurrence]:
        """Return the occurrences of a symbol, its declarations included."""
        return [one for one in self.occurrences if one.symbol is symbol]

    def scope_at(self, offset: int) -> Scope:
        """Return the innermost scope that contains the offset."""
        inside = [scope for scope in self.scopes if scope.start <= offset <= scope.end]
        return max(reversed(inside), key=lambda scope: scope.start, default=self.module)  # outer scopes are first

    def visible(self, offset: int) -> list[Symbol]:
        """Return the symbols that may be used at an offset, innermost scope first, without shadowed names."""
        found: dict[str, Symbol] = {}
        scope: Scope | None = self.scope_at(offset)
        while scope is not None:
            for symbol in scope.symbols:
                if symbol.kind in HOISTED or symbol.start <= offset:
                    found.setdefault(symbol.name, symbol)
            scope = scope.outer
        return list(found.values())
