"""Measured counters of a profiler report, at the rows of a linked view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyptx.profiles import MatchedProfile, ProfiledInstruction
from pyptx.profiles.metrics import COUNTERS

__all__ = ["ProfileRows", "profile_rows"]

_SMALL = 5e-3  # of the samples of an instruction; reasons below are not listed


@dataclass(frozen=True, slots=True)
class ProfileRows:
    """A profile as columns.

    Attributes:
        columns: name of a counter -> a number for each machine instruction; -1: not in the profile.
        stalls: for each machine instruction its samples by reason as text: "long_sb 71.0%, wait 4.2%".
        about: of the whole profile: source, kernel, gpu, samples, and counters: name -> [label, meaning].
    """

    columns: Mapping[str, tuple[int, ...]]
    stalls: tuple[str, ...]
    about: dict[str, Any]

    def at_ptx_lines(self, rows: Sequence[int], count: int) -> dict[str, tuple[int, ...]]:
        """Return the columns summed over the instructions of each PTX line.

        Args:
            rows: PTX row of each machine instruction, -1 for none.
            count: number of PTX lines.
        """
        found = {}
        for name, column in self.columns.items():
            sums = [0] * count
            for row, number in zip(rows, column, strict=True):
                if row >= 0:
                    sums[row] += max(0, number)
            found[name] = tuple(sums)
        return found


def profile_rows(matched: MatchedProfile) -> ProfileRows:
    """Return the columns of a matched profile; counters that are zero everywhere are left out, except samples."""
    profile = matched.profile
    columns = {}
    for name in COUNTERS:
        column = tuple(-1 if row is None else round(row.counters.get(name, 0)) for row in matched.rows)
        if any(number > 0 for number in column):
            columns[name] = column
    about = {
        "source": matched.source,
        "kernel": profile.name,
        "gpu": profile.gpu,
        "samples": round(profile.samples),
        "counters": {name: [COUNTERS[name].label, COUNTERS[name].meaning] for name in columns},
    }
    return ProfileRows(columns, tuple(map(_stalls, matched.rows)), about)


def _stalls(row: ProfiledInstruction | None) -> str:
    if row is None or not (total := sum(row.stalls.values())):
        return ""
    ordered = sorted(row.stalls.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {number / total:.0%}" for reason, number in ordered if number >= _SMALL * total)
