"""Outline of a document: functions with their parameters, registers, variables and labels; module variables."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.language.symbols import Index, Symbol

__all__ = ["Entry", "outline"]


class Entry(NamedTuple):
    """A symbol and the symbols in its body."""

    symbol: Symbol
    children: list[Entry]


def outline(index: Index) -> list[Entry]:
    """Return the symbols of the module in source order; those in blocks belong to their function."""
    inside: dict[int, list[Entry]] = {}
    for scope in index.scopes:
        if scope is not index.module:
            inside.setdefault(id(scope.function), []).extend(Entry(symbol, []) for symbol in scope.symbols)
    return [_entry(symbol, inside) for symbol in _sorted(index.module.symbols)]


def _entry(symbol: Symbol, inside: dict[int, list[Entry]]) -> Entry:
    within = inside.get(id(symbol), []) if symbol.body is not None else []
    own = [entry for entry in within if symbol.start <= entry.symbol.start <= symbol.end]
    return Entry(symbol, sorted(own, key=lambda entry: entry.symbol.start))


def _sorted(symbols: list[Symbol]) -> list[Symbol]:
    return sorted(symbols, key=lambda symbol: symbol.start)
