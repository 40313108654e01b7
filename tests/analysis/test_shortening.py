"""Skipped iterations: an estimate equals that of all iterations, for any loops in the slices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.shortened_estimates import EXAMPLES, PRODUCTS, call_of_example, call_of_product, estimates

from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.mbarrier_rings import Ring
from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import Memory, ReplayResult
from pyptx.analysis.model.slice_program import SliceProgram, write_program
from pyptx.analysis.model.trip_counts import InstructionStep, Loop, WarpPath

pytest.importorskip("ml_dtypes")
FOLDER = Path(__file__).parents[2] / "examples"
FULL, EMPTY = Ring(0, 4, "TMA", False), Ring(1, 4, "warps", True)
TURN = Ring(2, 128, "warps", False)
MEMORY = Memory(port=64, dram=20, from_dram=1, to_dram=1, load_cycles=500, copy_cycles=700, remote_cycles=100)


def op(kind: int = OpKind.PLAIN, stall: int = 1, **rest) -> Operation:
    return Operation(kind, stall, (), -1, -1, 0.25, **rest)


CODE = {
    "wait": op(OpKind.MBARRIER_WAIT, detail=EMPTY),
    "load": op(OpKind.BULK_LOAD, unit="tma", cycles=8, bytes=4096, detail=FULL),
    "ready": op(OpKind.MBARRIER_WAIT, detail=FULL),
    "compute": op(unit="fma", cycles=100, stall=100),
    "free": op(OpKind.ARRIVE, detail=EMPTY),
    "await turn": op(OpKind.MBARRIER_WAIT, detail=TURN),
    "pass on": op(OpKind.ARRIVE, detail=TURN, everywhere=True),
}
NAMES = tuple(CODE)


def steps(*names: str, weight: float = 1.0) -> WarpPath:
    return tuple(InstructionStep(NAMES.index(name), weight, 1.0) for name in names)


def written(path: WarpPath) -> SliceProgram:
    return write_program(path, lambda step: CODE[NAMES[step.row]])


def run(slices: Sequence[tuple[int, WarpPath]], patience: float) -> ReplayResult:
    """Replay slices, each with its SM."""
    return replay([(sm, sm, written(path)) for sm, path in slices], MEMORY, Constants(), patience=patience)


def pipeline(trips: int, unroll: int, peeled: int = 0) -> list[WarpPath]:
    """A producer, and a consumer whose loop is unrolled: the remainder and peeled iterations precede it."""
    turns, remainder = divmod(trips - peeled, unroll)
    body = steps("ready", "compute", "free")
    return [
        (Loop(float(trips), steps("wait", "load")),),
        (*(body * (peeled + remainder)), Loop(float(turns), body * unroll)),
    ]


@pytest.mark.parametrize("unroll", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("peeled", [0, 1])
@pytest.mark.parametrize("trips", [512, 509])
def test_a_consumer_with_an_unrolled_loop_stays_in_step_with_its_producer(trips: int, unroll: int, peeled: int):
    slices = [(0, path) for path in pipeline(trips, unroll, peeled)]
    whole, short = run(slices, math.inf), run(slices, 10_000)
    assert short.cycles == pytest.approx(whole.cycles, rel=0.02)
    assert short.replayed < 0.4 * whole.replayed and whole.replayed == whole.cycles


@pytest.mark.parametrize("trips", [(400, 400), (400, 250), (90, 700)])
def test_loops_that_do_not_synchronize_end_at_their_own_times(trips: tuple[int, int]):
    slices = [(0, (Loop(float(count), steps("compute")),)) for count in trips]
    whole, short = run(slices, math.inf), run(slices, 10_000)
    assert short.cycles == pytest.approx(whole.cycles, rel=0.01) and short.replayed < 0.4 * whole.cycles
    assert [own.cycles for own in short.slices] == pytest.approx([own.cycles for own in whole.slices], rel=0.01)


def test_outer_loops_are_skipped_too():
    tile = (*steps("compute"), Loop(40.0, steps("ready", "compute", "free")))
    slices = [(0, (Loop(60 * 40.0, steps("wait", "load")),)), (0, (Loop(60.0, tile),))]
    whole, short = run(slices, math.inf), run(slices, 10_000)
    assert short.cycles == pytest.approx(whole.cycles, rel=0.01) and short.replayed < 0.3 * whole.cycles
    for own, complete in zip(short.slices, whole.slices, strict=True):
        assert own.executions == pytest.approx(complete.executions, rel=0.01)


@pytest.mark.parametrize("trips", [(300, 300), (300, 280)])
def test_ctas_that_take_turns_stay_in_order_when_their_loops_differ(trips: tuple[int, int]):
    """The second CTA waits in each iteration for the first, which waits for it in all iterations but the first ones."""
    first = Loop(float(trips[0]), (*steps("await turn", weight=0.5), *steps("compute", "pass on")))
    second = Loop(float(trips[1]), (*steps("await turn", "compute"), *steps("pass on", weight=0.5)))
    slices: list[tuple[int, WarpPath]] = [(0, (first,)), (1, (second,))]
    whole, short = run(slices, math.inf), run(slices, 10_000)
    assert short.cycles == pytest.approx(whole.cycles, rel=0.02)


def test_a_guarded_wait_is_in_the_last_iterations_and_other_steps_are_spread():
    path = Loop(8.0, (*steps("await turn", "compute", weight=0.25), *steps("load")))
    found = [[NAMES[list(CODE.values()).index(op)] for op in one.operations] for one in written((path,)).segments]
    assert [("await turn" in names, "compute" in names) for names in found] == [
        *[(False, False)] * 3,
        (False, True),
        *[(False, False)] * 2,
        (True, False),
        (True, True),
    ]


def test_inner_loops_have_all_iterations_of_fractional_trip_counts():
    program = written((Loop(10.0, (*steps("load"), Loop(5.3, steps("compute")))),))
    executed = Counter(op for one in program.segments for op in one.operations)
    assert executed[CODE["compute"]] == 53 and executed[CODE["load"]] == 10


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_shortened_estimate_of_an_example_is_that_of_all_iterations(name: str):
    short, whole = estimates(call_of_example(name), EXAMPLES[name][2])
    assert short == pytest.approx(whole, rel=0.02)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("entry", PRODUCTS)
def test_a_shortened_estimate_of_a_product_by_nvcc_is_that_of_all_iterations(entry: str):
    short, whole = estimates(*call_of_product(entry, 512))
    assert short == pytest.approx(whole, rel=0.02)


def test_no_example_is_left_out():
    files = {
        path.relative_to(FOLDER).with_suffix("").as_posix()
        for path in FOLDER.rglob("*.py")
        if "def main(" in path.read_text(encoding="utf-8")
    }
    assert {name.partition(".")[0] for name in EXAMPLES} == files - {"warp_image"}
