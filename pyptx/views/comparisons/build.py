"""Building a comparison from compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyptx.analysis.sass.issue import issue_cycles
from pyptx.views.code.linked import linked
from pyptx.views.comparisons.comparison import Column, ComparisonTable, Measure
from pyptx.views.diffs.diff import DiffOperand
from pyptx.views.diffs.facts import CYCLES_ONCE, USES, mix_of

__all__ = ["Candidate", "table_of"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One kernel of a comparison: its code, or the reason why it has none.

    Attributes:
        title: what distinguishes it from the others.
        seconds: duration of a launch, None if unknown; `kind` is its origin: "modeled" or "measured".
    """

    title: str
    target: str
    operand: DiffOperand | None
    seconds: float | None = None
    problem: str | None = None
    kind: str = "modeled"


def table_of(title: str, candidates: Sequence[Candidate]) -> ComparisonTable:
    """Return the table of kernels whose code is known."""
    views = [
        one.operand
        and linked(
            one.operand.compiled,
            block=one.operand.block,
            dynamic_shared_bytes=one.operand.dynamic_shared_bytes,
            counters=one.operand.counters,
        )
        for one in candidates
    ]

    def values(number: Any) -> tuple[float | None, ...]:
        return tuple(None if view is None else number(view) for view in views)

    measures = [Measure(use.label, use.unit, use.good, values(use.number)) for use in USES]
    measures.append(Measure(CYCLES_ONCE, "", 0, values(lambda view: issue_cycles(view.sass.stall))))
    for kind in dict.fromkeys(one.kind for one in candidates):
        times = tuple(one.seconds if one.kind == kind else None for one in candidates)
        measures.append(Measure(f"{kind} time", "s", -1, times))
    mixes = [None if view is None else mix_of(view) for view in views]
    for group in dict.fromkeys(group for mix in mixes for group in mix or ()):
        measures.append(
            Measure(group, "", 0, tuple(None if mix is None else mix.get(group, 0) for mix in mixes), "group")
        )
    columns = tuple(Column(one.title, one.target, one.problem) for one in candidates)
    known = next((k for k, one in enumerate(candidates) if one.operand is not None), 0)
    return ComparisonTable(title, columns, tuple(one for one in measures if any(one.values)), known)
