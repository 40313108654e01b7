"""The grid: CTAs start in order, cluster by cluster; each runs until it ends, all its threads wait or its quantum is over.

The C core (core/src/scheduler.c) takes the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pyptx.sim.actions import MbarrierWait
from pyptx.sim.counters import Counters
from pyptx.sim.faults import deadlocks
from pyptx.sim.faults import messages as faults
from pyptx.sim.memory.address_space import Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.reference import (  # noqa: F401  importing a module registers its handlers
    bulk_copies,
    clusters,
    execute,
    lane_values,
    mbarrier_instructions,
    surfaces,
    tcgen05,
    tensor_boxes,
    textures,
    tmem,
)
from pyptx.sim.reference.asynchronous import (
    draw,
    land_cta,
    land_drawn,
    land_oldest,
    lane_addresses,
    shared_place,
)
from pyptx.sim.reference.mbarrier import read_word, word_of
from pyptx.sim.reference.scheduling import WarpRunner, free_held
from pyptx.sim.reference.state import ALL, WAITING, Cluster, Cta, Fault, Group, Run, Warp

__all__ = ["run"]

T = TypeVar("T")

# How the turn of a CTA ends: quantum over, CTA done, all threads wait, a function of the driver was called
OVER, ENDED, STUCK, HOST = "over", "ended", "stuck", "host"


def run(
    program: Program,
    plan: Plan,
    params: bytes,
    segments: list[Segment],
    progress: Callable[[int, int], None] | None = None,
) -> Counters:
    """Run the whole grid and return the counters.

    Args:
        progress: called with the number of clusters started and of all clusters.
    Raises:
        SimulationError: a fault, a deadlock, or too many steps.
    """
    state = Run(
        program, plan, params, sorted(segments, key=lambda s: s.address), Counters.zeros(len(program.instructions))
    )
    resident: list[Cta] = []
    current = 0
    while True:
        if progress is not None:
            progress(state.next_cluster, plan.clusters)
        if current >= len(resident):
            fresh = _admit(state) if len(resident) + plan.cluster_size <= plan.resident else None
            if fresh is not None:
                resident += fresh.ctas
            elif not resident:
                return state.counters
            else:
                current = 0
        cta = resident[current]
        cluster = cta.cluster
        if not cta.left:
            current += 1
            continue
        end, moved = _run_cta(state, cta)
        if end == HOST:
            continue
        if moved:
            cluster.idle = 0
        if end != ENDED:
            if end == STUCK:
                cluster.idle += 1
                if cluster.idle >= cluster.live:  # only a pending operation can make progress
                    cluster.idle = 0
                    if not _guarded(state, cta, partial(_release, state, cluster)):
                        raise deadlocks.deadlock(program, plan, [c.id for c in cluster.ctas], _groups(state, cluster))
            current += 1
            continue
        _guarded(state, cta, partial(land_cta, cta))
        _guarded(state, cta, partial(tmem.check_end, cta))
        cluster.idle = 0
        cluster.live -= 1
        if cluster.live:
            current += 1
            continue
        current -= cta.rank
        fresh = _admit(state)
        resident[current : current + plan.cluster_size] = fresh.ctas if fresh is not None else []


def _release(state: Run, cluster: Cluster) -> bool:
    """Unblock a cluster whose threads all wait: complete an operation or resume lanes that wait to reconverge."""
    if land_oldest(cluster):
        return True
    return any([free_held(WarpRunner(state, cta, warp)) for cta in cluster.ctas for warp in cta.warps])


def _admit(run_: Run) -> Cluster | None:
    """Start the next cluster of the grid."""
    plan, number = run_.plan, run_.next_cluster
    run_.next_cluster += 1
    if number >= plan.clusters:
        return None
    ctas = [_start_cta(run_, plan.cta_of(number, rank), rank) for rank in range(plan.cluster_size)]
    cluster = Cluster(number, plan.seed + number * 0xD1342543DE82EF95 & (1 << 64) - 1, ctas, len(ctas))
    for cta in ctas:
        cta.cluster = cluster
    return cluster


def _guarded(
    run_: Run, cta: Cta, action: Callable[[], T], warp: Warp | None = None, runner: WarpRunner | None = None
) -> T:
    """Call `action`; turn a fault in it into an error that names thread and instruction."""
    try:
        return action()
    except Fault as fault:
        at, who, pc = fault.where or (cta, warp or cta.warps[0], runner.pc if runner else 0)
        where = faults.Where(run_.program, run_.plan, at.id, who.index, fault.lane)
        raise faults.fault(fault.kind, where, pc, fault.address, fault.extra, run_.segments, fault.text) from None


def _start_cta(run_: Run, number: int, rank: int) -> Cta:
    program, plan = run_.program, run_.plan
    warps = []
    for w in range(plan.warps):
        n = plan.threads - 32 * w
        live = ALL if n >= 32 else (1 << n) - 1
        registers = [[0] * 32 for _ in program.symbols.registers]
        size = -(-program.symbols.local_bytes // 16) * 16
        warp = Warp(w, live, registers, [bytearray(size) for _ in range(32)] if size else [bytearray()] * 32)
        warp.groups[0] = Group(0, live, None)
        warp.registers_held = program.maxnreg
        warps.append(warp)
    return Cta(
        number,
        bytearray(plan.shared_bytes),
        warps,
        plan.warps,
        _specials(plan, number),
        rank=rank,
        base=rank << 24,
        order=list(range(plan.warps)),
    )


def _specials(plan: Plan, number: int) -> dict[str, int]:
    x, y, _ = plan.grid
    at = number % x, number // x % y, number // (x * y)
    values, rank, scale = {}, 0, 1
    for axis, i, c in zip("xyz", at, plan.cluster, strict=True):
        values |= {f"%ctaid.{axis}": i, f"%clusterid.{axis}": i // c, f"%cluster_ctaid.{axis}": i % c}
        rank += i % c * scale
        scale *= c
    return values | {"%cluster_ctarank": rank}


def _run_cta(run_: Run, cta: Cta) -> tuple[str, bool]:
    """Run a turn of a CTA.

    Returns:
        how the turn ended, and whether there was progress: an instruction, a completed wait or operation.
    """
    plan, cluster, used, idle, moved = run_.plan, cta.cluster, 0, 0, False
    drawn, quantum = plan.schedule == "random", plan.cta_quantum
    patience = 2 * len(cta.warps) if drawn else len(cta.warps)
    if drawn:
        quantum = 1 << draw(cluster) % 14
    while cta.left:
        turn, number = plan.warp_quantum, cta.next
        run_.landed = False
        if drawn:
            if not cta.turn:
                for k in range(len(cta.warps) - 1, 0, -1):
                    j = draw(cluster) % (k + 1)
                    cta.order[k], cta.order[j] = cta.order[j], cta.order[k]
            number = cta.order[cta.turn]
            cta.turn = 0 if cta.turn + 1 == len(cta.warps) else cta.turn + 1
            _guarded(run_, cta, partial(land_drawn, cluster))
            turn = 1 << draw(cluster) % 9
        warp = cta.warps[number]
        n, host_called = 0, False
        if warp.live:
            runner = WarpRunner(run_, cta, warp)
            n = _guarded(run_, cta, partial(runner.turn, turn), warp, runner)
            host_called = bool(warp.live) and runner.host_called
        used += n
        run_.steps += n
        if host_called:
            return HOST, True
        if run_.steps > plan.max_steps:
            raise deadlocks.too_long(run_.program, plan, cta.id, _groups(run_, cluster))
        happened = n > 0 or run_.landed
        moved |= happened
        idle = 0 if happened else idle + 1
        cta.next = 0 if cta.next + 1 == len(cta.warps) else cta.next + 1
        if idle > patience:
            return STUCK, moved
        if used >= quantum:
            return OVER if cta.left else ENDED, moved
    return ENDED, moved


def _groups(run_: Run, cluster: Cluster) -> list[deadlocks.Group]:
    """Describe where the groups of lanes of a cluster are."""
    found = []
    for cta in cluster.ctas:
        for warp in cta.warps:
            for group in filter(None, warp.groups):
                bar = cta.barriers[group.barrier]
                expected = -(-bar.count // 32) if bar.count else cta.left
                found.append(
                    deadlocks.Group(
                        cta.id,
                        warp.index,
                        group.mask,
                        group.pc,
                        group.state,
                        group.barrier,
                        bar.arrived,
                        expected,
                        warp.live,
                        *_mbarrier(run_, cta, warp, group),
                        warp.live & ~warp.cluster_here,
                        warp.registers_held,
                        cta.registers_free,
                    )
                )
    return found


def _mbarrier(run_: Run, cta: Cta, warp: Warp, group: Group) -> tuple[int, int, int]:
    """Return the address, bytes and awaited phase of the mbarrier that the first lane waits for."""
    action = run_.program.actions[group.pc] if group.pc < len(run_.program.actions) else None
    if group.state != WAITING or not isinstance(action, MbarrierWait):
        return 0, 0, 0
    runner = WarpRunner(run_, cta, warp)
    lane = group.mask & -group.mask
    [address] = lane_addresses(runner, action.address, lane)
    at, offset = shared_place(runner, 0, address, 8, 8, action.address.space)
    [wanted] = lane_values.read(runner, action.phase, lane)
    return offset | at.base, read_word(at, offset).bits, wanted & 1 if action.parity else word_of(wanted).phase
