"""Asynchronous operations that are in flight (core/src/async.h describes the model).

    op = Operation(runner, land, lanes, track="bulk", stages=2)         # or at=cta, barrier=offset, tx=bytes
    poison(runner, cta, offset, size)                                   # the shared memory that it will write
    issue(op)

`land(op)` moves the data, once for each stage `op.stage`. All checks that can fail are made before the operation is
issued. Threads wait by `land_groups`, `land_track` and `Blocking` actions.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from pyptx.sim.actions import Address
from pyptx.sim.memory.address_space import SHARED_START, SHARED_WINDOW
from pyptx.sim.reference import lane_values
from pyptx.sim.reference.mbarrier import read_word, signal
from pyptx.sim.reference.state import Cluster, Cta, Fault, Operation, Runner, lanes_of

__all__ = [
    "commit",
    "draw",
    "global_place",
    "issue",
    "land_cta",
    "land_drawn",
    "land_for",
    "land_groups",
    "land_oldest",
    "land_track",
    "lane_addresses",
    "poison",
    "shared_place",
    "splitmix",
]

_CUT = (1 << 64) - 1


def issue(op: Operation) -> None:
    """Start an operation: it completes at once in the eager schedule, later in the others."""
    op.run.counters.async_operations[op.pc] += op.lanes.bit_count()
    plan = op.run.plan
    if plan.schedule == "eager" or op.pc in plan.land_eagerly:
        if op.after and plan.schedule != "eager":
            _land_earlier(op.cta.cluster, op)
        _finish(op, op.stages)
        return
    pending = op.cta.cluster.pending
    if not op.track:
        pending.append(op)
        return
    committed = op.warp.committed[op.track]
    groups: dict[int, int] = {}
    for lane in lanes_of(op.lanes):
        groups[committed[lane]] = groups.get(committed[lane], 0) | 1 << lane
    pending.extend(op.for_lanes(lanes, group) for group, lanes in groups.items())


def _finish(op: Operation, stages: int) -> None:
    runner = op.runner
    keep = runner.pc
    runner.pc = op.pc
    try:
        while op.stage < stages:
            op.land(op)
            op.stage += 1
        if op.stage == op.stages and op.at is not None:
            signal(op.run, op.at, op.barrier, lanes_of(op.lanes)[0], op.tx, op.arrivals)
    except Fault as fault:
        fault.where = op.cta, op.warp, op.pc
        raise
    runner.pc = keep


def _land_earlier(cluster: Cluster, op: Operation) -> None:
    """Complete the operations that must complete before `op`, which may be pending itself."""
    pending = cluster.pending
    while (
        early := next((e for e in pending[: pending.index(op) if op in pending else None] if _is_before(e, op)), None)
    ) is not None:
        _land(cluster, early, early.stages)


def _is_before(early: Operation, op: Operation) -> bool:
    """Return whether `early` must complete before `op`; arrivals of tcgen05.commit stay in the order of the commits."""
    commits = op.after == early.after == {"tc"} and not op.track and not early.track
    return (commits or early.track in op.after) and early.warp is op.warp and bool(early.lanes & op.lanes)


def _land(cluster: Cluster, op: Operation, stages: int) -> None:
    stages = min(stages, op.stages)
    pending = cluster.pending
    if op.after:
        _land_earlier(cluster, op)
    if stages == op.stages:
        pending.remove(op)
    op.run.landed = True
    _finish(op, stages)


def commit(runner: Runner, track: str, mask: int) -> None:
    """Close the current group of a track for the lanes."""
    if runner.run.plan.schedule != "eager":
        for lane in lanes_of(mask):
            runner.warp.committed[track][lane] += 1


def _awaited(runner: Runner, track: str, mask: int, most: int | None, stages: int) -> Operation | None:
    committed = runner.warp.committed[track]
    for op in runner.cta.cluster.pending:
        if op.track != track or op.warp is not runner.warp or not op.lanes & mask or op.stage >= min(stages, op.stages):
            continue
        if most is None or any(op.group + most < committed[lane] for lane in lanes_of(op.lanes & mask)):
            return op
    return None


def land_groups(runner: Runner, track: str, mask: int, most: int | None, stages: int = 2) -> None:
    """Complete all groups of the lanes but the `most` newest; None completes everything, committed or not."""
    while (op := _awaited(runner, track, mask, most, stages)) is not None:
        _land(runner.cta.cluster, op, stages)


def land_track(runner: Runner, track: str, mask: int) -> None:
    """Complete all operations of a track of the lanes."""
    land_groups(runner, track, mask, None)


def land_cta(cta: Cta) -> None:
    """Complete all operations that a CTA started; called at its end."""
    while (op := next((o for o in cta.cluster.pending if o.cta is cta), None)) is not None:
        _land(cta.cluster, op, 2)


def land_oldest(cluster: Cluster) -> bool:
    """Complete the oldest pending operation; return whether there was one."""
    if not cluster.pending:
        return False
    _land(cluster, cluster.pending[0], 2)
    return True


def land_drawn(cluster: Cluster) -> None:
    """With schedule="random", complete a stage of a pending operation now and then."""
    if not cluster.pending or draw(cluster) % 4:
        return
    op = cluster.pending[draw(cluster) % len(cluster.pending)]
    _land(cluster, op, op.stage + 1)


def land_for(at: Cta, barrier: int) -> None:
    """Complete the operations that complete the phase of an mbarrier, oldest first; none if they would not suffice."""
    cluster, word = at.cluster, read_word(at, barrier)
    pending, tx, count, wanted = word.pending, word.tx, 0, 0
    for op in cluster.pending:
        if op.at is at and op.barrier == barrier:
            count += 1
            tx -= op.tx
            pending -= op.arrivals
            if not tx and not pending:
                wanted = count
                break
    for _ in range(wanted):
        op = next((o for o in cluster.pending if o.at is at and o.barrier == barrier), None)
        if op is None:
            return
        _land(cluster, op, 2)


# the generator ------------------------------------------------------------------------------------------------------


def splitmix(state: int) -> tuple[int, int]:
    """Return the next state and the next number of the generator splitmix64, 64 bits each."""
    state = state + 0x9E3779B97F4A7C15 & _CUT
    z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _CUT
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _CUT
    return state, z ^ z >> 31


def draw(cluster: Cluster) -> int:
    """Return the next random number of a cluster."""
    cluster.random, number = splitmix(cluster.random)
    return number


# memory -------------------------------------------------------------------------------------------------------------


def poison(runner: Runner, cta: Cta, offset: int, size: int) -> None:
    """Fill the destination of a pending operation with 0xFF bytes."""
    if runner.run.plan.schedule != "eager":
        cta.shared[offset - SHARED_START : offset - SHARED_START + size] = b"\xff" * size


def lane_addresses(runner: Runner, address: Address, mask: int) -> list[int]:
    """Return the address in each lane, relative to its space."""
    if address.base is None:
        base = runner.cta.base if address.space in ("shared", "cluster") else 0
        return [address.offset + base & _CUT] * mask.bit_count()
    cut = (1 << address.base.width) - 1
    return [v + address.offset & cut for v in lane_values.read(runner, address.base, mask)]


def shared_place(
    runner: Runner, lane: int, address: int, size: int, align: int, space: str, *, own: bool = False
) -> tuple[Cta, int]:
    """Resolve an address in the shared window to a CTA of the cluster and an offset; `own` requires the running CTA."""
    at = address - SHARED_WINDOW & _CUT if space == "generic" else address
    offset, cluster, plan = at & 0xFFFFFF, runner.cta.cluster, runner.run.plan
    if at >> 24 >= len(cluster.ctas) or offset < SHARED_START or offset + size > plan.shared_end:
        raise Fault("bounds", lane, address, size)
    if at % align:
        raise Fault("alignment", lane, address, align)
    cta = cluster.ctas[at >> 24]
    if own and cta is not runner.cta:
        raise Fault("remote", lane, address, size)
    return cta, offset


def global_place(runner: Runner, lane: int, address: int, size: int, align: int, *, writes: bool = False) -> np.ndarray:
    """Return the bytes of global memory at an address, as a view."""
    if address % align:
        raise Fault("alignment", lane, address, align)
    table = runner.run.segments
    k = bisect_right(table, address, key=lambda s: s.address) - 1
    if k < 0 or address - table[k].address + size > table[k].size:
        raise Fault("bounds", lane, address, size)
    if writes and table[k].buffer.read_only:
        raise Fault("read_only", lane, address, size)
    start = address - table[k].address
    return table[k].buffer.bytes[start : start + size]
