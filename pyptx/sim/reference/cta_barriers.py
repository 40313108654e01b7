"""CTA barriers (core/src/cta_barrier.c): a warp has arrived once all its live lanes have."""

from __future__ import annotations

from pyptx.sim.actions import CtaBarrier
from pyptx.sim.reference import lane_values
from pyptx.sim.reference.state import AT_BARRIER, READY, Barrier, Cta, Fault, Group, Run, Runner, lanes_of

__all__ = ["arrive", "recheck"]


def arrive(runner: Runner, group: Group, mask: int, action: CtaBarrier) -> None:
    """Arrive at a barrier with lanes of a group; all modes but "arrive" wait there."""
    cta, warp, lane = runner.cta, runner.warp, lanes_of(mask)[0]
    number = lane_values.read(runner, action.barrier, 1 << lane)[0]
    count = 0 if action.count is None else lane_values.read(runner, action.count, 1 << lane)[0]
    if number > 15:
        raise Fault("barrier_id", lane, number)
    bar = cta.barriers[number]
    if not bar.used:
        bar = cta.barriers[number] = Barrier(count, True)
    if bar.count != count or count % 32 or (action.count is not None and not count):
        raise Fault("barrier_count", lane, number, bar.count << 32 | count)
    if action.value is not None:
        values = [bool(v) != action.negated for v in lane_values.read(runner, action.value, mask)]
        bar.popc += sum(values)
        bar.all = bar.all and all(values)
        bar.any = bar.any or any(values)
    bar.partial[warp.index] = bar.partial.get(warp.index, 0) | mask
    if action.mode != "arrive":
        group.state, group.barrier = AT_BARRIER, number
    _recheck_one(runner.run, cta, number)


def recheck(run: Run, cta: Cta) -> None:
    """Check all barriers again after lanes exited."""
    for number in range(16):
        _recheck_one(run, cta, number)


def _recheck_one(run: Run, cta: Cta, number: int) -> None:
    bar = cta.barriers[number]
    if not bar.used:
        return
    for index, mask in list(bar.partial.items()):
        live = cta.warps[index].live
        if mask & live == live:
            bar.arrived += 1
            del bar.partial[index]
    expected = -(-bar.count // 32) if bar.count else cta.left
    if bar.arrived and bar.arrived >= expected:
        _release(run, cta, number)


def _release(run: Run, cta: Cta, number: int) -> None:
    bar = cta.barriers[number]
    for warp in cta.warps:
        for group in warp.groups:
            if group is None or group.state != AT_BARRIER or group.barrier != number:
                continue
            action = run.program.actions[group.pc]
            assert isinstance(action, CtaBarrier)
            value = {"popc": bar.popc, "and": int(bar.all), "or": int(bar.any)}.get(action.mode)
            if value is not None and action.data is not None:
                for lane in lanes_of(group.mask):
                    warp.registers[action.data.index][lane] = value
            group.state = READY
            group.pc += 1
    cta.barriers[number] = Barrier()
