"""The source lines that PTX from a compiler names: `.file` and `.loc` as places of its lines."""

from __future__ import annotations

import re
from dataclasses import replace

from pyptx._loc import Place
from pyptx.compiled import Compiled
from pyptx.history._places import StoredCode

__all__ = ["source_places", "with_sources"]

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_FUNCTION = re.compile(r"\s*(?:\.\w+\s+)*\.(?:entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$%]+)")

Spot = tuple[str, int, int]                             # file, line, column


def with_sources(compiled: Compiled) -> Compiled:
    """The Compiled with places from the `.loc` of its text, unless its lines have places already."""
    if any(compiled.places):
        return compiled
    places = source_places(compiled.ptx)
    return replace(compiled, places=places) if any(places) else compiled


def source_places(ptx: str) -> tuple[Place | None, ...]:
    """For each line of PTX the source line that the `.loc` in front of it names, with the callers of what was inlined.

    A `.loc` holds until the next, or the end of the function.
    """
    rows = ptx.split("\n")
    files = {int(found[1]): found[2].replace("\\\\", "\\") for found in map(_FILE.match, rows) if found}
    chains: list[tuple[Spot, ...]] = []                 # of each row, innermost first
    names: dict[tuple[Spot, ...], str] = {}
    outer: dict[Spot, tuple[Spot, ...]] = {}            # a spot that something was inlined at, with its own callers
    function, now = "", ()
    for row in rows:
        if found := _FUNCTION.match(row):
            function, now, outer = found[1], (), {}
        if found := _LOC.match(row):
            file, line, column = files.get(int(found[1]), f"file {found[1]}"), int(found[2]), int(found[3])
            spot = file, line, column
            callers = ()
            if found[4]:
                at = files.get(int(found[4]), f"file {found[4]}"), int(found[5]), int(found[6])
                callers = outer.get(at, (at,))
            now = (spot, *callers) if line else ()
            outer[spot] = now
            names.setdefault(now, function)
            chains.append(())
            continue
        if row.startswith("}"):
            now = ()
        chains.append(now if row.strip() and ";" in row else ())
    return _places(chains, names)


def _places(chains: list[tuple[Spot, ...]], names: dict[tuple[Spot, ...], str]) -> tuple[Place | None, ...]:
    spots: dict[tuple[str, str], dict[tuple[int, int], int]] = {}       # (file, function) -> (line, column) -> number
    for chain in filter(None, chains):
        for file, line, column in chain:
            own = spots.setdefault((file, names[chain]), {})
            own.setdefault((line, column), len(own))
    codes = {(file, function): StoredCode(file, "<source>", function, min(line for line, _ in own),
                                          tuple((line, line, None, None) for line, _ in own))
             for (file, function), own in spots.items()}
    made: dict[tuple[Spot, ...], Place] = {}
    for chain in filter(None, chains):
        place = None
        for depth in reversed(range(len(chain))):
            part, (file, line, column) = chain[depth:], chain[depth]
            if part not in made:
                key = file, names[chain]
                made[part] = Place(codes[key], 2 * spots[key][line, column], place)
            place = made[part]
    return tuple(made[chain] if chain else None for chain in chains)
