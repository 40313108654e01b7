"""Issue cycles: the time one warp needs to issue a kernel's instructions without any waits; modeled.

The stall count of each machine instruction is the number of cycles before the warp may issue the next one: 1 to 15. The
sum is the cost of code that never waits for memory, barriers or other warps, a lower bound, and what scheduling
minimizes: ptxas hides known latencies behind other instructions.

Not included: scoreboards (loads, MUFU, tensor cores), other warps of the scheduler, instruction fetch. `model.replay`
includes the first two, for launches whose executions are known.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["execution_counts", "issue_cycles"]


def issue_cycles(stalls: Sequence[int], times: Sequence[float] | None = None) -> float:
    """Return the cycles in which a warp issues these instructions.

    Args:
        stalls: stall counts in cycles; an instruction takes at least one.
        times: executions of each instruction; default: once each, in order.
    """
    if times is None:
        return sum(max(1, stall) for stall in stalls)
    return sum(max(1, stall) * count for stall, count in zip(stalls, times, strict=True))


def execution_counts(owners: Sequence[int], issues: Sequence[int]) -> list[float] | None:
    """Return the average executions of each machine instruction per warp of a launch.

    An instruction executes as often as the PTX line it comes from; one added by ptxas as often as the next instruction
    that comes from a line, or else the last one before it. Copies of a line in an unrolled loop each count in full, so
    the sum is too high for unrolled loops.

    Args:
        owners: PTX row of each machine instruction; -1: added by ptxas.
        issues: warp instructions issued for each PTX row; -1: no counted instruction.
    Returns:
        None when nothing was counted.
    """
    warps = next((count for count in issues if count > 0), 0)  # the first instruction runs once in every warp
    if not warps:
        return None
    known = next((max(0, issues[row]) / warps for row in reversed(owners) if row >= 0), 1.0)
    counts = []
    for row in reversed(owners):
        if row >= 0:
            known = max(0, issues[row]) / warps
        counts.append(known)
    return counts[::-1]
