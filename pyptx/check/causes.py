"""The cause of a difference between two schedules, found by experiment.

Each experiment is a run:

* All asynchronous operations complete immediately. If the difference remains, the order of the warps causes it.
* Only the operations of one line are late. If the difference remains, their completion affects the result.
* One wait_group waits for all groups. If the difference disappears, that wait is too weak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pyptx.check.runner import Outcome, Runner, Schedule
from pyptx.sim import Program
from pyptx.sim.actions import AsyncGroup, WgmmaGroup

__all__ = ["Cause", "find_cause", "stronger_waits"]

MOST_RUNS = 48  # experiments for one difference


@dataclass(frozen=True, slots=True)
class Cause:
    """The results of the experiments.

    Attributes:
        order: the order of the warps alone causes the difference.
        late: instructions whose completion alone changes the result, grouped by line.
        weak: waits that remove the difference when they wait for all groups.
        tried: number of lines with asynchronous operations.
        complete: False if some lines or waits were not tried.
    """

    order: bool = False
    late: tuple[tuple[int, ...], ...] = ()
    weak: tuple[int, ...] = ()
    tried: int = 0
    complete: bool = True


def find_cause(runner: Runner, base: Outcome, schedule: Schedule, differs: Callable[[Outcome], bool]) -> Cause:
    """Find the cause of a difference that `schedule` shows.

    Args:
        base: the outcome it is compared with, of a run that completed.
        differs: returns whether an outcome shows the difference.
    """
    assert base.counters is not None, "a completed run has counters"
    started = [int(i) for i in np.flatnonzero(base.counters.async_operations)]
    lines = list(_by_line(runner.program, started))
    if differs(runner.run(schedule, started)):
        return Cause(order=True, tried=len(lines))
    late = [line for line in lines[:MOST_RUNS] if differs(runner.run(schedule, [i for i in started if i not in line]))]
    waits = list(stronger_waits(runner.program))
    weak = [i for i, stronger in waits[:MOST_RUNS] if not differs(runner.run(schedule, program=stronger))]
    return Cause(
        late=tuple(late), weak=tuple(weak), tried=len(lines), complete=max(len(lines), len(waits)) <= MOST_RUNS
    )


def _by_line(program: Program, instructions: list[int]) -> Iterator[tuple[int, ...]]:
    """Group instructions by Python line; instructions of loaded PTX are groups of their own."""
    lines: dict[object, list[int]] = {}
    for i in instructions:
        place = program.instructions[i].place
        lines.setdefault((place.file, place.line) if place is not None else i, []).append(i)
    return map(tuple, lines.values())


def stronger_waits(program: Program) -> Iterator[tuple[int, Program]]:
    """Yield each wait that leaves groups pending, and the program in which it waits for all groups."""
    for i, action in enumerate(program.actions):
        match action:
            case AsyncGroup(operation="wait" | "read", pending=pending) if pending:
                stronger = replace(action, pending=0)
            case WgmmaGroup(pending=pending) if pending:
                stronger = replace(action, pending=0)
            case _:
                continue
        yield i, program.with_steps((*program.steps[:i], stronger, *program.steps[i + 1 :]))
