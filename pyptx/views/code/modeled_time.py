"""Modeled time of the rows of a linked view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyptx.errors import ShapeError
from pyptx.toolchain import SassLine

if TYPE_CHECKING:
    from pyptx.analysis.model.attribution import Attribution, InstructionTime

__all__ = ["PARTS", "modeled_rows", "stall_sources", "stall_texts"]

PARTS = 1_000_000  # the whole time of a launch
_SMALL = 5e-4  # of the time; shorter stalls are not listed


def modeled_rows(attribution: Attribution, sass: Sequence[SassLine]) -> tuple[int, ...]:
    """Return the modeled time of each machine instruction, issue and stalls, in millionths of the launch's time.

    Raises:
        ShapeError: the time was modeled for other machine code.
    """
    rows = [0] * len(sass)
    for one in attribution.instructions:
        if one.index >= len(sass) or sass[one.index].text != one.text:
            raise ShapeError(f"the modeled time of {attribution.entry} belongs to other machine code than the view")
        rows[one.index] = round(PARTS * one.seconds / attribution.seconds)
    return tuple(rows)


def stall_texts(attribution: Attribution, sass: Sequence[SassLine]) -> tuple[str, ...]:
    """Return for each machine instruction its stalls as text: "scoreboard 4.1 % (01c0), MIO 1.2 %"."""
    rows = [""] * len(sass)
    for one in attribution.instructions:
        rows[one.index] = _text(one, attribution.seconds, {row: sass[row].address for row in one.waits_for})
    return tuple(rows)


def stall_sources(attribution: Attribution, sass: Sequence[SassLine]) -> tuple[tuple[int, ...], ...]:
    """Return for each machine instruction the distances, in rows above, to those it waits for, longest wait first."""
    rows: list[tuple[int, ...]] = [()] * len(sass)
    for one in attribution.instructions:
        longest = sorted(one.waits_for, key=lambda row: -one.waits_for[row])
        rows[one.index] = tuple(
            one.index - row for row in longest if one.waits_for[row] >= _SMALL * attribution.seconds
        )
    return tuple(rows)


def _text(one: InstructionTime, seconds: float, addresses: Mapping[int, int]) -> str:
    parts = []
    for reason, time in one.stalls.items():
        if time < _SMALL * seconds:
            continue
        waited = ", ".join(f"{address:04x}" for address in list(addresses.values())[:2])
        parts.append(f"{reason} {time / seconds:.1%}" + (f" ({waited})" if reason == "scoreboard" and waited else ""))
    return ", ".join(parts)
