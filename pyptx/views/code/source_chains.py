"""Chains of source locations: what `.loc` directives say about PTX, and the places they become.

A chain is a location and those of the calls it is inlined at, innermost first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pyptx._loc import SourceLocation, StoredCode

__all__ = ["MAX_DEPTH", "Chain", "Function", "Location", "chain_places", "source_chains", "source_files"]

MAX_DEPTH = 64  # of inlined calls

_NUMBER = r"(\d{1,9})\b"  # int() rejects thousands of digits
_FILE = re.compile(rf'\s*\.file\s+{_NUMBER}\s+"((?:[^"\\]|\\.)*)"')
_LOC = re.compile(
    rf"\s*\.loc\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}(?:.*?inlined_at\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER})?"
)
_ASSEMBLY = ("// begin inline asm", "// end inline asm")
_CALL = re.compile(r"\s*(?:@!?[\w$%]+\s+)?call\b")  # nvcc writes a call in several lines
_FUNCTION = re.compile(r"\s*(?:\.\w+\s+)*\.(?:entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$%]+)")

Location = tuple[str, int, int]  # file, line, column
Chain = tuple[Location, ...]


class Function(NamedTuple):
    """The function of a location, as views and messages show it.

    Attributes:
        file: its name in `linecache`.
        name: as shown.
        kind: the `co_name` of its code: its name, or a mark such as `FOREIGN`.
        first: its first line, with decorators; None: the first line that is located.
        with_columns: the columns of its locations are those of the source, counted from 1.
    """

    file: str
    name: str
    kind: str
    first: int | None = None
    with_columns: bool = False


def chain_places(
    chains: Iterable[Chain], function_of: Callable[[Location, Chain], Function]
) -> dict[Chain, SourceLocation | None]:
    """Return the place of each chain; None for the empty one. Locations in one function share a code object.

    Args:
        function_of: the function of a location in a chain.
    """
    named = {chain: tuple(function_of(at, chain) for at in chain) for chain in dict.fromkeys(chains)}
    inside: dict[Function, dict[tuple[int, int], int]] = {}  # (line, column) -> number
    for chain, functions in named.items():
        for function, (_, line, column) in zip(functions, chain, strict=True):
            own = inside.setdefault(function, {})
            own.setdefault((line, column), len(own))
    codes = {function: _code(function, own) for function, own in inside.items()}
    made: dict[tuple[tuple[Function, Location], ...], SourceLocation] = {}
    found: dict[Chain, SourceLocation | None] = {}
    for chain, functions in named.items():
        whole, place = tuple(zip(functions, chain, strict=True)), None
        for depth in reversed(range(len(whole))):
            part, (function, (_, line, column)) = whole[depth:], whole[depth]
            if part not in made:
                made[part] = SourceLocation(codes[function], 2 * inside[function][line, column], place)
            place = made[part]
        found[chain] = place
    return found


def _code(function: Function, locations: Iterable[tuple[int, int]]) -> StoredCode:
    first = min(line for line, _ in locations) if function.first is None else function.first
    spans = tuple(
        (line, line, max(column - 1, 0) if function.with_columns else None, None) for line, column in locations
    )
    return StoredCode(function.file, function.kind, function.name, first, spans)


def source_files(ptx: str) -> dict[int, str]:
    """Return the paths of the `.file` directives by number."""
    return {int(found[1]): found[2].replace("\\\\", "\\") for found in map(_FILE.match, ptx.split("\n")) if found}


def source_chains(ptx: str) -> tuple[list[Chain], list[str]]:
    """Return for each PTX line its source location and those of the calls it is inlined at, innermost first, and the
    function of the PTX that the chain was first seen in; () and "" for lines without a location."""
    files = source_files(ptx)
    chains: list[Chain] = []
    names: dict[Chain, str] = {(): ""}
    outer: dict[Location, Chain] = {}  # callers of a location that a function was inlined at
    function, now, in_assembly = "", (), False

    def path(number: str) -> str:
        return files.get(int(number), f"file {number}")

    for row in ptx.split("\n"):
        if found := _FUNCTION.match(row):
            function, now, outer = found[1], (), {}
        if row.endswith(_ASSEMBLY):  # LLVM counts the lines of the assembly as lines of the source file
            in_assembly = "begin" in row
        if found := not in_assembly and _LOC.match(row):
            location = path(found[1]), int(found[2]), int(found[3])
            callers = ()
            if found[4]:
                at = path(found[4]), int(found[5]), int(found[6])
                callers = outer.get(at, (at,))
            now = (location, *callers[: MAX_DEPTH - 1]) if location[1] else ()
            outer[location] = now
            names.setdefault(now, function)
            chains.append(())
            continue
        if row.startswith("}"):
            now = ()
        chains.append(now if ";" in row or _CALL.match(row) else ())
    return chains, [names[chain] for chain in chains]
