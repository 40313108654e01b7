"""The rules a check knows: their names, what they mean, and which fault of the simulator belongs to which."""

from __future__ import annotations

from pyptx.errors import SimulationError
from pyptx.ir.nodes import Instruction
from pyptx.sim import Program

__all__ = ["NOTES", "RULES", "lanes_apart", "rule_of"]

RULES = {
    "schedule-dependent-result": "The result depends on when asynchronous operations land or in which order warps run.",
    "order-of-atomics": "The result depends on the order of floating-point atomics by no more than rounding.",
    "data-race": "Two threads use the same memory, one of them writes, and nothing orders them.",
    "missing-wait": "What an asynchronous operation writes is used before anybody waited for the operation.",
    "stage-reuse": "Memory is written anew while an earlier reader or writer may still be at it.",
    "missing-proxy-fence": "An asynchronous operation reads what threads wrote without a fence.proxy.async in between.",
    "missing-tensormap-fence": "A copy uses a tensor map that the kernel wrote, without the fences of tensor maps.",
    "stale-texture": "A texture or surface is read where the same launch has written.",
    "swizzle-mismatch": "A product reads shared memory by another swizzle than the copy that filled it.",
    "missing-mbarrier-fence": "A copy completes on an mbarrier that no fence has made visible to it.",
    "missing-tcgen05-fence": "tcgen05 operations of several threads are ordered by a barrier without a tcgen05.fence.",
    "missing-wgmma-fence": "wgmma uses registers that were written since the last wgmma.fence.",
    "accumulator-in-flight": "Registers of a wgmma are used before a wgmma.wait_group.",
    "uninitialised-memory": "Memory is read that nobody has written: shared, tensor, or a result that is new.",
    "unwritten-result": "Part of a result is not written by the kernel: what it holds is left to chance.",
    "dead-store": "A result is written, and written again before anybody has read it.",
    "missed-phase": "A thread waits for a phase of an mbarrier, and a later phase is over already.",
    "uninitialised-register": "What a kernel does depends on a register that nobody has written.",
    "unawaited-operation": "An asynchronous operation is not waited for before the kernel ends.",
    "peer-exited": "The shared memory of another CTA is used, which may have ended.",
    "unwatched": "Part of what a run did is not watched or not listed: there is too much of it.",
    "deadlock": "Threads wait for what never comes.",
    "endless": "The kernel ran past max_steps.",
    "out-of-bounds": "An access lies outside of every array, or of its state space.",
    "misaligned-address": "An address is no multiple of the size of the access.",
    "write-to-read-only": "A store into memory that cannot be written.",
    "membermask": "A warp-wide instruction is executed by lanes that its membermask does not name.",
    "partial-warp": "An instruction that needs the whole warp is executed by part of it.",
    "barrier-count": "The threads of a barrier disagree about its count, or name a barrier that does not exist.",
    "mbarrier": "An mbarrier is used that is none, or whose counts cannot be right.",
    "cluster": "Use of the cluster barrier or of the memory of other CTAs that cannot work.",
    "bulk-copy": "An asynchronous copy whose size, address or tensor map the hardware refuses.",
    "texture": "A texture or surface is accessed outside of it, or as something it is not.",
    "tensor-memory": "Tensor memory is used outside of an allocation, leaked, freed twice, or wrongly addressed.",
    "tensor-memory-load": "Others may overwrite tensor memory while a load from it is under way.",
    "registers": "setmaxnreg in the wrong direction, or not the same in all warps of a warpgroup.",
    "trap": "The kernel executed trap, or a function of the driver failed.",
    "fault": "The kernel did something that traps.",
    "bank-conflicts": "Lanes of a warp meet in banks of shared memory, so that an access takes several passes.",
    "uncoalesced-access": "An access of global memory moves far more than its lanes use.",
}

# What is worth knowing and no mistake, always; other rules are errors, or less where their text says so.
NOTES = frozenset(("order-of-atomics", "dead-store", "unwatched", "bank-conflicts", "uncoalesced-access"))

_FAULTS = {
    "bounds": "out-of-bounds", "alignment": "misaligned-address", "read_only": "write-to-read-only", "trap": "trap",
    "host": "trap", "membermask": "membermask", "warp": "partial-warp", "split": "partial-warp",
    "uniform": "partial-warp", "barrier_count": "barrier-count", "barrier_id": "barrier-count",
    "no_mbarrier": "mbarrier", "mbarrier_count": "mbarrier", "mbarrier_underflow": "mbarrier", "tx_range": "mbarrier",
    "no_complete": "mbarrier", "size": "bulk-copy", "tensor": "bulk-copy", "tmem": "tensor-memory",
    "texture": "texture", "remote": "cluster", "rank": "cluster", "cluster_arrive": "cluster",
    "cluster_wait": "cluster", "registers": "registers", "warpgroup": "registers", "deadlock": "deadlock",
    "steps": "endless",
}


def rule_of(kind: str) -> str:
    """The rule of a kind of SimulationError."""
    return _FAULTS.get(kind, "fault")


def lanes_apart(program: Program, error: SimulationError) -> str | None:
    """The rule of a deadlock in which lanes wait for others of their warp and nobody waits for anything else."""
    nodes = [program.instructions[i] for i in error.instructions if i < len(program.instructions)]
    if error.kind != "deadlock" or not nodes or not all(map(_needs_lanes, nodes)):
        return None
    return "partial-warp" if ".aligned" in nodes[0].modifiers else "membermask"


def _needs_lanes(node: Instruction) -> bool:
    """Whether an instruction is of a warp and waits for its lanes only."""
    if node.opcode in ("bar", "barrier"):
        return ".warp" in node.modifiers
    return ".sync" in node.modifiers and node.opcode != "setmaxnreg" and ".alloc" not in node.modifiers
