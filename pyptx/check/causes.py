"""Why two schedules disagree, found by experiment.

Each question is a run: with every asynchronous operation landing at once, is the difference still there? Then it is the
order of the warps. With one line's operations late and all others at once, is it there? Then that line's landing
reaches the result. With one wait_group waiting for everything, is it gone? Then that wait is too weak. What no run
answers stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pyptx.check.trial import Outcome, Schedule, Trial
from pyptx.sim import Program
from pyptx.sim.actions.asynchronous import AsyncGroup
from pyptx.sim.actions.products import WgmmaGroup

__all__ = ["Cause", "cause", "stronger_waits"]

MOST_RUNS = 48                                  # experiments for one difference


@dataclass(frozen=True, slots=True)
class Cause:
    """What the experiments showed.

    Attributes:
        order: the difference needs no asynchronous operation, only another order of warps.
        late: instructions whose landing alone changes the result, those of one line together.
        weak: waits that make the difference go away when they wait for everything.
        tried: lines with asynchronous operations; `complete` says whether there was time for all.
    """

    order: bool = False
    late: tuple[tuple[int, ...], ...] = ()
    weak: tuple[int, ...] = ()
    tried: int = 0
    complete: bool = True


def cause(trial: Trial, base: Outcome, schedule: Schedule, differs: Callable[[Outcome], bool]) -> Cause:
    """Look for the cause of what `schedule` showed.

    Args:
        base: the outcome it is compared with, of a run that ended.
        differs: whether an outcome shows the difference too.
    """
    started = [int(i) for i in np.flatnonzero(base.counters.async_operations)]
    lines = list(_by_line(trial.program, started))
    if differs(trial.run(schedule, started)):
        return Cause(order=True, tried=len(lines))
    late = [line for line in lines[:MOST_RUNS]
            if differs(trial.run(schedule, [i for i in started if i not in line]))]
    waits = list(stronger_waits(trial.program))
    weak = [i for i, stronger in waits[:MOST_RUNS] if not differs(trial.run(schedule, program=stronger))]
    return Cause(late=tuple(late), weak=tuple(weak), tried=len(lines),
                 complete=max(len(lines), len(waits)) <= MOST_RUNS)


def _by_line(program: Program, instructions: list[int]) -> Iterator[tuple[int, ...]]:
    """Instructions that one Python line wrote, together; without Python, each alone."""
    lines: dict[object, list[int]] = {}
    for i in instructions:
        place = program.instructions[i].place
        lines.setdefault((place.file, place.line) if place is not None else i, []).append(i)
    return map(tuple, lines.values())


def stronger_waits(program: Program) -> Iterator[tuple[int, Program]]:
    """Each wait that leaves groups under way, and the program in which it leaves none."""
    for i, action in enumerate(program.actions):
        match action:
            case AsyncGroup(what="wait" | "read", most=most) if most:
                stronger = replace(action, most=0)
            case WgmmaGroup(pending=pending) if pending:
                stronger = replace(action, pending=0)
            case _:
                continue
        yield i, program.over((*program.steps[:i], stronger, *program.steps[i + 1:]))
