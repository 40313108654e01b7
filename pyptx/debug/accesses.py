"""The two accesses of a sanitizer finding, at the steps at which their instructions started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pyptx.check.finding import Finding
from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.sim.sanitizer import Access, AccessFinding

__all__ = ["LocatedAccess", "locate_accesses"]

_MOST_CTAS = 16  # that are searched for the first access of a race between CTAs

Trail = Callable[[tuple[int, int], int], np.ndarray]


@dataclass(frozen=True, slots=True)
class LocatedAccess:
    """An access of a finding: the instruction that performs it, or that issued the operation that does.

    Attributes:
        step: the step at which its warp started the instruction.
        role: its role in the finding, such as "reads".
        second: True for the access that completes the finding.
    """

    step: int
    cta: int
    warp: int
    lane: int
    instruction: int
    role: str
    second: bool


def locate_accesses(launch: StoppedLaunch, seen: AccessFinding, found: Finding, trail: Trail) -> list[LocatedAccess]:
    """Return the accesses of a finding, the first one first; without those whose step is not known.

    Args:
        trail: returns the (step, instruction) rows of a (CTA, warp), back to an instruction or to the start.
    """
    roles = {place.ptx_line: place.role for place in reversed(found.places)}
    located: list[LocatedAccess] = []
    until = None
    for access in (seen.after, seen.before):
        if access is None:
            continue
        for cta in _ctas(launch, seen, access):
            steps = trail((cta, access.warp), access.instruction)
            mine = steps[steps["instr"] == access.instruction]["step"]
            earlier = mine if until is None else mine[mine < until]
            if len(earlier):
                role = roles.get(launch.lines.ptx(access.instruction) or 0, access.how)
                step, second = int(earlier[-1]), access is seen.after
                located.append(LocatedAccess(step, cta, access.warp, access.lane, access.instruction, role, second))
                until = step
                break
    return located[::-1]


def _ctas(launch: StoppedLaunch, seen: AccessFinding, access: Access) -> Iterator[int]:
    """Yield the CTAs that may have made an access: ranks are known, the CTA of an earlier cluster is not."""
    after = seen.after
    assert after is not None, "a finding with accesses has a second one"
    if access is after:
        yield seen.cta
        return
    cluster = {r.rank: r.id for r in launch.machine.residents() if r.cluster == _cluster(launch, seen.cta)}
    own = cluster.get(access.rank, seen.cta if access.rank == after.rank else None)
    same_thread = (access.rank, access.warp, access.lane) == (after.rank, after.warp, after.lane)
    if own is not None and not (same_thread and seen.space == "global" and seen.rule == "race"):
        yield own
    if seen.space == "global":
        yield from (cta for cta in range(seen.cta - 1, max(-1, seen.cta - 1 - _MOST_CTAS), -1) if cta != own)


def _cluster(launch: StoppedLaunch, cta: int) -> int | None:
    resident = launch.resident(cta)
    return resident.cluster if resident is not None else None
