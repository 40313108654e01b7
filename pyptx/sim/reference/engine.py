"""The grid: CTAs start in order and run until done or until their quantum is over (core/schedule.c)."""

from __future__ import annotations

from pyptx.sim import faults
from pyptx.sim.counters import Counters
from pyptx.sim.memory import Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program import Program
from pyptx.sim.reference.state import ALL, Cta, Fault, Group, Run, Warp
from pyptx.sim.reference.warp import WarpRunner

__all__ = ["run"]


def run(program: Program, plan: Plan, params: bytes, segments: list[Segment]) -> Counters:
    """Run the whole grid; the counters.

    Raises:
        SimulationError: a fault, a deadlock, or too many steps.
    """
    state = Run(program, plan, params, sorted(segments, key=lambda s: s.address),
                Counters.zeros(len(program.instructions)))
    resident: list[Cta] = []
    current = started = 0
    while True:
        if current >= len(resident):
            if started < plan.ctas and len(resident) < plan.resident:
                resident.append(_start(state, started))
                started += 1
            elif not resident:
                return state.counters
            else:
                current = 0
        cta = resident[current]
        done = _run_cta(state, cta)
        if not done:
            current += 1
        elif started < plan.ctas:
            resident[current] = _start(state, started)
            started += 1
        else:
            del resident[current]


def _start(run_: Run, number: int) -> Cta:
    program, plan = run_.program, run_.plan
    warps = []
    for w in range(plan.warps):
        n = plan.threads - 32 * w
        live = ALL if n >= 32 else (1 << n) - 1
        registers = [[0] * 32 for _ in program.names.registers]
        size = -(-program.names.local_bytes // 16) * 16
        warp = Warp(w, live, registers, [bytearray(size) for _ in range(32)] if size else [bytearray()] * 32)
        warp.groups[0] = Group(0, live, None)
        warps.append(warp)
    return Cta(number, bytearray(plan.shared_bytes), warps, plan.warps, _specials(plan, number))


def _specials(plan: Plan, number: int) -> dict[str, int]:
    x, y, _ = plan.grid
    at = number % x, number // x % y, number // (x * y)
    values, rank, scale = {}, 0, 1
    for axis, i, c in zip("xyz", at, plan.cluster, strict=True):
        values |= {f"%ctaid.{axis}": i, f"%clusterid.{axis}": i // c, f"%cluster_ctaid.{axis}": i % c}
        rank += i % c * scale
        scale *= c
    return values | {"%cluster_ctarank": rank}


def _run_cta(run_: Run, cta: Cta) -> bool:
    """Whether the CTA is done; else its quantum is over."""
    plan, used, idle = run_.plan, 0, 0
    while cta.left:
        warp = cta.warps[cta.next]
        n = 0
        if warp.live:
            runner = WarpRunner(run_, cta, warp)
            try:
                n = runner.turn(plan.warp_quantum)
            except Fault as fault:
                where = faults.Where(run_.program, plan, cta.id, warp.index, fault.lane)
                raise faults.fault(fault.kind, where, runner.pc, fault.address, fault.extra, run_.segments,
                                   fault.text) from None
        used += n
        run_.steps += n
        if warp.live and runner.host_called:
            return False
        if run_.steps > plan.max_steps:
            raise faults.too_long(run_.program, plan, cta.id, _groups(cta))
        idle = 0 if n else idle + 1
        cta.next = 0 if cta.next + 1 == len(cta.warps) else cta.next + 1
        if idle > len(cta.warps):
            raise faults.deadlock(run_.program, plan, cta.id, _groups(cta))
        if used >= plan.cta_quantum:
            return cta.left == 0
    return True


def _groups(cta: Cta) -> list[faults.Group]:
    found = []
    for warp in cta.warps:
        for group in warp.groups:
            if group is None:
                continue
            bar = cta.barriers[group.barrier]
            expected = -(-bar.count // 32) if bar.count else cta.left
            found.append(faults.Group(warp.index, group.mask, group.pc, group.state, group.barrier, bar.arrived,
                                      expected, warp.live))
    return found
