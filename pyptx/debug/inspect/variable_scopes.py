"""Scopes of C++ code with their variables, and where these are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyptx.debug.inspect.c_types import CType

__all__ = ["CodeScope", "InMemory", "InRegister", "SourceVariable"]


@dataclass(frozen=True, slots=True)
class InRegister:
    """A register by its PTX name."""

    name: str


@dataclass(frozen=True, slots=True)
class InMemory:
    """Memory `offset` bytes after a symbol."""

    space: str
    symbol: str
    offset: int


@dataclass(frozen=True, slots=True)
class SourceVariable:
    """A variable with its locations: the first instruction, the one after the last, and where it is."""

    name: str
    type: CType
    line: int
    is_parameter: bool
    always: InRegister | InMemory | None
    places: tuple[tuple[int, int, InRegister | InMemory], ...] = ()

    def at(self, instruction: int) -> InRegister | InMemory | None:
        """Return where the variable is at an instruction; None: nowhere."""
        found = (place for first, end, place in self.places if first <= instruction < end)
        return next(found, self.always)


@dataclass(frozen=True, slots=True)
class CodeScope:
    """A function or block: its range of instructions, its variables, and the blocks in it."""

    first: int
    end: int
    variables: tuple[SourceVariable, ...]
    inner: tuple[CodeScope, ...]

    def holds(self, instruction: int) -> bool:
        return self.first <= instruction < self.end

    def walk(self) -> Iterator[CodeScope]:
        """Yield this scope and those in it, outer ones first."""
        yield self
        for scope in self.inner:
            yield from scope.walk()
