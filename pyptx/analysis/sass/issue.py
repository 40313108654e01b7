"""How long one warp takes to issue a kernel's instructions, if nothing else held it up: a model, never a measurement.

Every machine instruction says how many cycles must pass before the warp may issue its next one: 1 to 15. Their sum is
what the code costs where it never waits for memory, for a barrier or for other warps. A lower bound, then, and what
scheduling is about: ptxas hides latencies it knows behind other instructions of the warp.

Left out: waiting for scoreboards (loads, MUFU, tensor cores), other warps on the same scheduler, instruction fetch;
`replay` has the first two, for launches of which it is known what every warp executes.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["executions", "issue_cycles"]


def issue_cycles(stalls: Sequence[int], times: Sequence[float] | None = None) -> float:
    """Cycles in which a warp issues these instructions.

    Args:
        stalls: stall counts of the instructions, in cycles; an instruction takes one at least.
        times: how often each was executed; default: once each, straight through, branches or not.
    """
    if times is None:
        return sum(max(1, stall) for stall in stalls)
    return sum(max(1, stall) * count for stall, count in zip(stalls, times, strict=True))


def executions(owners: Sequence[int], issues: Sequence[int]) -> list[float] | None:
    """How often a warp executed each machine instruction in a launch, on average over its warps.

    An instruction ran as often as the PTX line it comes from. What ptxas added by itself ran as often as the next
    instruction that comes from a line, or the last one before it. Copies that ptxas made of a line when it unrolled a
    loop share the executions only in truth: here each counts in full, and the sum is too high.

    Args:
        owners: PTX row of each machine instruction, -1 for what ptxas added.
        issues: warp instructions issued for each PTX row, -1 where there is no instruction that was counted.
    Returns:
        None when nothing was counted.
    """
    warps = next((count for count in issues if count > 0), 0)       # the first instruction runs once in every warp
    if not warps:
        return None
    found: list[float | None] = [max(0, issues[row]) / warps if row >= 0 else None for row in owners]
    known = next((count for count in reversed(found) if count is not None), 1.0)
    for number in reversed(range(len(found))):
        known = found[number] = known if found[number] is None else found[number]
    return found
