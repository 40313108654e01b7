"""Rules of a check: their names, descriptions, and the simulator faults that each reports."""

from __future__ import annotations

from pyptx.check.explanations import SANITIZER_RULES
from pyptx.errors import SimulationError
from pyptx.ir.nodes import Instruction
from pyptx.sim import Program

__all__ = ["NOTES", "RULES", "partial_warp_rule", "rule_of"]

RULES = {
    **SANITIZER_RULES,
    "schedule-dependent-result": "The result depends on when asynchronous operations complete, or on the order of warps.",
    "order-of-atomics": "The result depends on the order of floating-point atomics, by no more than rounding.",
    "missing-wgmma-fence": "wgmma uses registers that were written since the last wgmma.fence.",
    "accumulator-in-flight": "Registers of a wgmma are used before a wgmma.wait_group.",
    "unwritten-result": "Part of a result is not written by the kernel and stays uninitialized.",
    "uninitialized-register": "The behavior of the kernel depends on an uninitialized register.",
    "deadlock": "Threads wait for an event that never occurs.",
    "endless": "The kernel exceeds max_steps.",
    "out-of-bounds": "An access is outside of every array, or of its state space.",
    "misaligned-address": "An address is not a multiple of the access size.",
    "write-to-read-only": "A store writes to read-only memory.",
    "membermask": "A lane executes a warp-wide instruction whose membermask does not name it.",
    "partial-warp": "An instruction that requires the whole warp is executed by part of it.",
    "barrier-count": "The threads of a barrier disagree about its count, or name a barrier that does not exist.",
    "mbarrier": "The mbarrier is not initialized, or its counts are invalid.",
    "cluster": "The cluster barrier or the memory of another CTA is used in an invalid way.",
    "bulk-copy": "The hardware rejects the size, address, or tensor map of an asynchronous copy.",
    "texture": "A texture or surface is accessed out of bounds, or as the wrong kind.",
    "tensor-memory": "Tensor memory is used outside of an allocation, leaked, freed twice, or addressed incorrectly.",
    "tensor-memory-load": "Other threads may overwrite tensor memory while a load from it is in progress.",
    "registers": "setmaxnreg changes the count in the wrong direction, or differs among the warps of a warpgroup.",
    "trap": "The kernel executed trap, or a driver function failed.",
    "fault": "The kernel caused a fault.",
    "unread-error": "A launch failed, and the program ended without reading the error.",
    "unrecorded-event": "A stream or the host waits for an event that was never recorded.",
    "stream-order": "Work of several streams uses the same memory, and no event or wait orders it.",
    "host-access": "The host uses memory that an asynchronous operation may still use.",
    "use-after-free": "A call uses memory that has been freed.",
    "invalid-free": "Memory is freed twice, or was not allocated by the matching call.",
    "failed-call": "A call of the driver failed.",
    "bank-conflicts": "Lanes of a warp access the same bank of shared memory, so that an access takes several passes.",
    "uncoalesced-access": "An access to global memory transfers far more data than its lanes use.",
}

# Rules whose findings are always notes. Findings of other rules are errors, or less where the finding says so.
NOTES = frozenset(
    ("order-of-atomics", "unproven-order", "dead-store", "unwatched", "bank-conflicts", "uncoalesced-access")
)

# Rule by kind of SimulationError.
_FAULTS = {
    "bounds": "out-of-bounds",
    "alignment": "misaligned-address",
    "read_only": "write-to-read-only",
    "trap": "trap",
    "host": "trap",
    "call_depth": "fault",
    "membermask": "membermask",
    "warp": "partial-warp",
    "split": "partial-warp",
    "uniform": "partial-warp",
    "barrier_count": "barrier-count",
    "barrier_id": "barrier-count",
    "no_mbarrier": "mbarrier",
    "mbarrier_count": "mbarrier",
    "mbarrier_underflow": "mbarrier",
    "tx_range": "mbarrier",
    "no_complete": "mbarrier",
    "size": "bulk-copy",
    "tensor": "bulk-copy",
    "tmem": "tensor-memory",
    "texture": "texture",
    "remote": "cluster",
    "rank": "cluster",
    "cluster_arrive": "cluster",
    "cluster_wait": "cluster",
    "registers": "registers",
    "warpgroup": "registers",
    "deadlock": "deadlock",
    "steps": "endless",
}


def rule_of(kind: str | None) -> str:
    """Return the rule for a kind of SimulationError."""
    return _FAULTS.get(kind or "", "fault")


def partial_warp_rule(program: Program, error: SimulationError) -> str | None:
    """Return the rule of a deadlock in which lanes wait only for other lanes of their warp; None for other errors."""
    nodes = [program.instructions[i] for i in error.instructions if i < len(program.instructions)]
    if error.kind != "deadlock" or not nodes or not all(map(_waits_for_lanes, nodes)):
        return None
    return "partial-warp" if ".aligned" in nodes[0].modifiers else "membermask"


def _waits_for_lanes(node: Instruction) -> bool:
    """Return whether an instruction waits only for lanes of its own warp."""
    if node.opcode in ("bar", "barrier"):
        return ".warp" in node.modifiers
    return ".sync" in node.modifiers and node.opcode != "setmaxnreg" and ".alloc" not in node.modifiers
