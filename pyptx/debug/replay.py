"""Replay of a finding of a check: a session in the schedule that shows it, stopped at the second access."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyptx.check.finding import Finding
from pyptx.debug.session import Session
from pyptx.jit.specialization import Specialization
from pyptx.runtime import LaunchPlan

__all__ = ["replay"]

_SCHEDULE = re.compile(r"(\w+)(?: \(seed (-?\d+)\))?")
_MOST_STOPS = 1000  # at other findings before the one that is replayed


def replay(
    specialization: Specialization,
    plan: LaunchPlan,
    args: Sequence[Any],
    finding: Finding,
    *,
    settings: Mapping[str, Any] | None = None,
    trace: Callable[[], Specialization] | None = None,
) -> Session:
    """Return a session in the first schedule that shows a finding.

    For a race and other findings about two accesses it is stopped at the second access, before it happens, with both
    accesses on the timeline (if the second is an asynchronous operation: where it completes); for a fault or deadlock where it occurs; for the rest at the first instruction that takes part.

    Args:
        args: the arguments of the check; the session copies their arrays.
        trace: traces the kernel again, for the names of its Python variables.
    """
    kind, seed = _schedule(finding)
    session = Session(
        specialization,
        plan,
        args,
        schedule=kind,
        seed=seed,
        settings={**(settings or {}), "sanitize": True},
        trace=trace,
    )
    state = session.state
    for _ in range(_MOST_STOPS):
        stop = session.resume()
        if any(_same(finding, found) for _, found in state.findings):
            second = next((access for access in state.accesses if access.second), None)
            if second is not None and second.step == stop.step - 1 and not stop.over:  # else an operation completed
                text, accesses = stop.text, state.accesses
                session.goto(second.step)
                session.look_at(cta=second.cta, warp=second.warp, lane=second.lane)
                state.accesses = accesses
                state.stop = replace(state.stop, reason="finding", text=text)
                state.notify()
            return session
        if stop.over:
            break
    if state.stop.reason in ("fault", "deadlock") and not state.findings:
        return session
    session.rewind()
    if finding.places:
        session.run_to(f"ptx:{finding.places[0].ptx_line}")
    state.stop = replace(state.stop, text=f"{finding.severity}[{finding.rule}]: {finding.message}")
    state.notify()
    return session


def _schedule(finding: Finding) -> tuple[str, int]:
    """Return kind and seed of the first schedule that shows a finding, such as "random (seed 3)"."""
    match = _SCHEDULE.fullmatch(finding.schedules[0]) if finding.schedules else None
    return (match[1], int(match[2] or 0)) if match else ("eager", 0)


def _same(finding: Finding, found: Finding) -> bool:
    """Return whether a finding of the session is the one to replay: the same rule at a line of it."""
    lines = {place.ptx_line for place in finding.places}
    return found.rule == finding.rule and any(place.ptx_line in lines for place in found.places)
