"""A launch that stops between instructions ends like the same launch without stops, in every bit and counter."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from examples.hopper import gemm
from pyptx import sim
from pyptx.check.argument_copies import copy_arguments
from pyptx.runtime import runtime_for
from pyptx.sim.core.debug_state import EventKind, Mark, Reason, Space, WatchedRange
from pyptx.sim.debug import DebugLaunch


@pytest.fixture(scope="module")
def bound():
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((150, 136), (136, 72)))
    specialization, plan, args = gemm.gemm_of(gemm.f16, gemm.f32).launcher.bind(a, b, BM=128, BN=64, BK=64, STAGES=2)
    return specialization.program(runtime_for((), "sim")), plan, args


def opened(bound, **options):
    program, plan, args = bound
    copies = copy_arguments(args)
    return DebugLaunch(
        program, plan.grid, plan.block, copies, cluster=plan.cluster, smem_bytes=plan.smem_bytes, **options
    ), copies


def same(run: DebugLaunch, copies, bound, **options) -> bool:
    program, plan, args = bound
    plain = copy_arguments(args)
    result = sim.launch(
        program, plan.grid, plan.block, plain, cluster=plan.cluster, smem_bytes=plan.smem_bytes, **options
    )
    counters = run.machine.worker.counters
    assert all(
        np.array_equal(getattr(result.counters, f.name), getattr(counters, f.name))
        for f in fields(counters)
        if f.name != "tensor_flops"
    )
    return all(a.tobytes() == b.tobytes() for a, b in zip(plain, copies, strict=True) if isinstance(a, np.ndarray))


@pytest.mark.parametrize(
    "options",
    [
        {"schedule": "eager"},
        {"schedule": "late"},
        {"schedule": "random", "seed": 3},
        {"schedule": "random", "seed": 4, "tensor_cores": "hw"},
    ],
    ids=str,
)
def test_stopping_everywhere_changes_nothing(bound, options):
    run, copies = opened(bound, **options)
    stops = 0
    while run.run(until=run.machine.step + (1 if stops % 300 else 13)) == Reason.STEP:
        stops += 1
    assert run.machine.ended and stops > 4000
    assert same(run, copies, bound, **options)


def test_one_warp_is_followed_until_it_exits(bound):
    run, copies = opened(bound, schedule="late")
    assert run.run(until=0) == Reason.STEP
    turn = run.machine.position
    seen = [turn.instruction]
    while (reason := run.run(follow="warp", warp=(0, 5))) == Reason.WARP:
        assert (run.machine.position.cta, run.machine.position.warp) == (0, 5)
        seen.append(run.machine.position.instruction)
    assert reason == Reason.OTHER  # it has exited; others run
    assert run.machine.residents()[0].live_lanes(5) == 0
    assert run.run(follow="others", warp=(run.machine.position.cta, run.machine.position.warp)) == Reason.OTHER
    assert run.run() == Reason.NONE and run.machine.ended
    assert same(run, copies, bound, schedule="late")


def test_going_back_is_running_again(bound):
    run, copies = opened(bound, schedule="random", seed=9)
    run.run(until=3000)
    turn, registers = run.machine.position, run.machine.residents()[0].registers(0).copy()
    run.run()
    assert run.machine.ended
    trail = run.restart(3000, trail=(turn.cta, turn.warp))
    assert run.machine.position == turn and run.machine.step == 3000
    assert np.array_equal(run.machine.residents()[0].registers(0), registers)
    assert (np.diff(trail["step"].astype(np.int64)) > 0).all() and trail["step"][-1] < 3000
    run.run()
    assert same(run, copies, bound, schedule="random", seed=9)


def test_marks_stop_and_changes_stop(bound):
    run, _ = opened(bound)
    program = bound[0]
    product = next(i for i, node in enumerate(program.instructions) if node.mnemonic.startswith("wgmma.mma_async"))
    run.marks[product] = Mark.STOP
    assert run.run() == Reason.MARK and run.machine.position.instruction == product
    run.marks[product] = 0
    ring = 2 * (128 * 64 + 64 * 64) * 2  # bytes, in front of the mbarriers
    run.watch([WatchedRange(Space.SHARED, run.machine.position.cta, 0, ring, 8)])
    assert run.run() == Reason.CHANGE
    number, before, after = run.machine.change()
    assert number == 0 and before.tobytes() != after.tobytes()
    kept = run.machine.step
    run.restart(0)
    while run.run() == Reason.CHANGE and run.machine.step < kept:
        pass
    assert run.machine.step == kept


def test_what_happened_is_kept_in_order(bound):
    run, _ = opened(bound, schedule="late")
    run.run()
    events, lost = run.machine.events()
    assert not lost and (np.diff(events["step"].astype(np.int64)) >= -1).all()
    issued = set(events["a"][events["kind"] == EventKind.ISSUED] & (1 << 56) - 1)
    landed = set(events["a"][(events["kind"] == EventKind.LANDED) & (events["b"] == 0)])
    assert issued == landed and len(issued) > 50
    assert (events["kind"] == EventKind.TURN_STARTED).sum() == (events["kind"] == EventKind.TURN_ENDED).sum()
