"""The asynchronous engine: what was started and has not landed yet (core/async.h, which explains it, and async.c).

    op = Operation(runner, land, lanes, track="bulk", stages=2)         # or at=cta, barrier=offset, tx=bytes
    poison(runner, cta, offset, size)                                   # what it will write in shared memory
    issue(op)

`land(op)` moves the data: once for each stage, `op.stage` says which; what it keeps in between goes into `op.data`. All
checks that can fail are made before. Waits: commit, land_groups, land_track; and actions that are `Blocking`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

from pyptx.sim.memory.spaces import SHARED_START, SHARED_WINDOW
from pyptx.sim.reference import lanevalues
from pyptx.sim.reference.mbarrier import read_word, signal
from pyptx.sim.reference.state import Cluster, Cta, Fault, lanes_of

__all__ = ["Operation", "commit", "draw", "global_place", "issue", "land_cta", "land_drawn", "land_for", "land_groups",
           "land_oldest", "land_track", "lane_addresses", "poison", "shared_place", "splitmix"]

_CUT = (1 << 64) - 1


class Operation:
    """Something under way. `lanes` is a mask; what these lanes started earlier in the tracks `after` lands first."""

    def __init__(self, runner, land: Callable[[Operation], None], lanes: int, *, track: str = "",
                 after: frozenset[str] = frozenset(), stages: int = 1, at: Cta | None = None, barrier: int = 0,
                 tx: int = 0, arrivals: int = 0):
        self.runner, self.pc, self.land, self.lanes = runner, runner.pc, land, lanes
        self.run, self.cta, self.warp = runner.run, runner.cta, runner.warp
        self.track, self.after, self.stages, self.stage, self.group = track, after, stages, 0, 0
        self.at, self.barrier, self.tx, self.arrivals = at, barrier, tx, arrivals
        self.data: object = None

    def for_lanes(self, lanes: int, group: int) -> Operation:
        other = object.__new__(Operation)
        other.__dict__.update(self.__dict__)
        other.lanes, other.group = lanes, group
        return other


def issue(op: Operation) -> None:
    """Start an operation: schedule eager lands it at once, the others when it is asked for."""
    op.run.counters.async_operations[op.pc] += op.lanes.bit_count()
    plan = op.run.plan
    if plan.schedule == "eager" or op.pc in plan.prompt:
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
    """Land those that come before an operation, which may be under way or not yet."""
    pending = cluster.pending
    while (early := next((e for e in pending[:pending.index(op) if op in pending else None] if _is_before(e, op)),
                         None)) is not None:
        _land(cluster, early, early.stages)


def _is_before(early: Operation, op: Operation) -> bool:
    """What it waits for; and arrivals of tcgen05.commit come in the order of the commits."""
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


def commit(runner, track: str, mask: int) -> None:
    """The lanes close a group of the track."""
    if runner.run.plan.schedule != "eager":
        for lane in lanes_of(mask):
            runner.warp.committed[track][lane] += 1


def _asked(runner, track: str, mask: int, most: int | None, stages: int) -> Operation | None:
    committed = runner.warp.committed[track]
    for op in runner.cta.cluster.pending:
        if op.track != track or op.warp is not runner.warp or not op.lanes & mask or op.stage >= min(stages, op.stages):
            continue
        if most is None or any(op.group + most < committed[lane] for lane in lanes_of(op.lanes & mask)):
            return op
    return None


def land_groups(runner, track: str, mask: int, most: int | None, stages: int = 2) -> None:
    """Land what the lanes wait for: all groups but the `most` newest; None: everything, committed or not."""
    while (op := _asked(runner, track, mask, most, stages)) is not None:
        _land(runner.cta.cluster, op, stages)


def land_track(runner, track: str, mask: int) -> None:
    land_groups(runner, track, mask, None)


def land_cta(cta: Cta) -> None:
    """All that a CTA started lands at its end."""
    while (op := next((o for o in cta.cluster.pending if o.cta is cta), None)) is not None:
        _land(cta.cluster, op, 2)


def land_oldest(cluster: Cluster) -> bool:
    if not cluster.pending:
        return False
    _land(cluster, cluster.pending[0], 2)
    return True


def land_drawn(cluster: Cluster) -> None:
    """schedule=random: now and then a stage of one that is under way."""
    if not cluster.pending or draw(cluster) % 4:
        return
    op = cluster.pending[draw(cluster) % len(cluster.pending)]
    _land(cluster, op, op.stage + 1)


def land_for(at: Cta, barrier: int) -> None:
    """Those that complete the phase of an mbarrier, in the order they were started; none if they would not."""
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
    """The next state and the next number, 64 bits each (splitmix64)."""
    state = state + 0x9E3779B97F4A7C15 & _CUT
    z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _CUT
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _CUT
    return state, z ^ z >> 31


def draw(cluster: Cluster) -> int:
    cluster.random, number = splitmix(cluster.random)
    return number


# memory -------------------------------------------------------------------------------------------------------------

def poison(runner, cta: Cta, offset: int, size: int) -> None:
    """What an operation will write holds 0xFF bytes until it has landed."""
    if runner.run.plan.schedule != "eager":
        cta.shared[offset - SHARED_START:offset - SHARED_START + size] = b"\xff" * size


def lane_addresses(runner, address, mask: int) -> list[int]:
    """The address of each lane, in the space it is in."""
    if address.base is None:
        base = runner.cta.base if address.space in ("shared", "cluster") else 0
        return [address.offset + base & _CUT] * mask.bit_count()
    cut = (1 << address.base.width) - 1
    return [v + address.offset & cut for v in lanevalues.read(runner, address.base, mask)]


def shared_place(runner, lane: int, address: int, size: int, align: int, space: str, *,
                 own: bool = False) -> tuple[Cta, int]:
    """The CTA of the cluster and the offset of an address in the shared window; `own`: only this CTA's will do."""
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


def global_place(runner, lane: int, address: int, size: int, align: int, *, writes: bool = False) -> np.ndarray:
    """The bytes of global memory at an address, as an array over them."""
    if address % align:
        raise Fault("alignment", lane, address, align)
    table = runner.run.segments
    k = bisect_right(table, address, key=lambda s: s.address) - 1
    if k < 0 or address - table[k].address + size > table[k].size:
        raise Fault("bounds", lane, address, size)
    if writes and table[k].buffer.read_only:
        raise Fault("read_only", lane, address, size)
    start = address - table[k].address
    return table[k].buffer.bytes[start:start + size]
