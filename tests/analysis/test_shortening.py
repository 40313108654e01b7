"""Shortened loops: an estimate equals that of all iterations, for any loops in the slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from pyptx.analysis.model import launch_model as model
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.estimate import predict
from pyptx.analysis.model.mbarrier_rings import Ring
from pyptx.analysis.model.operations import Operation, OperationBuilder, OpKind, skipped_iterations
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import Memory
from pyptx.analysis.model.trip_counts import InstructionStep, Loop, WarpPath
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import work_of
from pyptx.cli.kernels import load_kernel

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = ml_dtypes.bfloat16
EXAMPLES = Path(__file__).parents[2] / "examples"
FULL, EMPTY = Ring(0, 4, "TMA", False), Ring(1, 4, "warps", True)


def op(kind: int = OpKind.PLAIN, stall: int = 1, **rest) -> Operation:
    return Operation(kind, stall, (), -1, -1, 0.25, **rest)


CODE = {
    "wait": op(OpKind.MBARRIER_WAIT, detail=EMPTY),
    "load": op(OpKind.BULK_LOAD, unit="tma", cycles=8, bytes=4096, detail=FULL),
    "ready": op(OpKind.MBARRIER_WAIT, detail=FULL),
    "compute": op(unit="fma", cycles=100, stall=100),
    "free": op(OpKind.ARRIVE, detail=EMPTY),
}
NAMES = tuple(CODE)


class Builder(OperationBuilder):
    """Expands paths over CODE, whose rows are the operations themselves."""

    def one(self, step, warp_slice) -> Operation:
        return CODE[NAMES[step.row]]


def steps(*names: str) -> WarpPath:
    return tuple(InstructionStep(NAMES.index(name), 1.0, 1.0) for name in names)


def pipeline(trips: int, unroll: int, peeled: int = 0) -> list[WarpPath]:
    """A producer, and a consumer whose loop is unrolled: the remainder and peeled iterations precede it."""
    turns, remainder = divmod(trips - peeled, unroll)
    body = steps("ready", "compute", "free")
    return [
        (Loop(float(trips), steps("wait", "load")),),
        (*(body * (peeled + remainder)), Loop(float(turns), body * unroll)),
    ]


def cycles(paths: Sequence[WarpPath], budget: int) -> float:
    builder = Builder(None, None, None, None, (), None, {}, skipped_iterations(paths, budget, 20), 1.0, 1)
    slices = [(0, 0, builder.write(path, None)) for path in paths]
    memory = Memory(port=64.0, dram=20.0, from_dram=1.0, to_dram=1.0, load_cycles=500, copy_cycles=700)
    return replay(slices, memory, Constants()).cycles


@pytest.mark.parametrize("unroll", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("peeled", [0, 1])
@pytest.mark.parametrize("trips", [512, 509])
def test_a_consumer_with_an_unrolled_loop_stays_in_step_with_its_producer(trips: int, unroll: int, peeled: int):
    paths = pipeline(trips, unroll, peeled)
    whole, short = cycles(paths, 10**9), cycles(paths, 600)
    assert short == pytest.approx(whole, rel=0.02)
    skipped = skipped_iterations(paths, 600, 20)
    producer, consumer = (next(part for part in path if isinstance(part, Loop)) for path in paths)
    assert skipped[producer.trips] == unroll * skipped[consumer.trips] > trips / 2


def test_loops_of_unrelated_lengths_are_shortened_apart():
    paths: list[WarpPath] = [(Loop(1000.0, steps("compute")), Loop(37.0, steps("compute")))]
    assert skipped_iterations(paths, 200, 20)[37.0] == 0


def example(name: str, shapes: Sequence[tuple[int, ...]], dtype: Callable, gpu: str) -> tuple[float, float]:
    """Seconds of a call with shortened loops, and with all iterations."""
    call = bind_call(load_kernel(str(EXAMPLES / name)), *(np.zeros(shape, dtype) for shape in shapes))
    compiled, work = call.compiled(), work_of(call)
    found = []
    for operations in (6_000, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model, "OPERATIONS", operations)
            found.append(predict(compiled, call.plan, work, gpu).seconds)
    return found[0], found[1]


CASES = [
    ("hopper/gemm.py:gemm", ((256, 8192), (8192, 256)), BF16, "H200"),
    ("sgemm.py:sgemm", ((256, 2048), (2048, 256)), np.float32, "H200"),
    ("ampere/gemm.py:gemm", ((256, 4096), (4096, 256)), BF16, "A100"),
    ("blackwell/gemm.py:gemm", ((256, 8192), (8192, 256)), BF16, "B200"),
    ("hopper/attention.py:attention", ((1, 1, 2048, 128),) * 3, BF16, "H200"),
    ("ampere/attention.py:attention", ((1, 1, 2048, 64),) * 3, BF16, "A100"),
    ("softmax.py:softmax", ((64, 100_000),), np.float32, "H200"),
]


@pytest.mark.parametrize(
    "name, shapes, dtype, gpu",
    [pytest.param(*case, marks=() if number < 2 else pytest.mark.slow) for number, case in enumerate(CASES)],
    ids=[case[0] for case in CASES],
)
def test_a_shortened_estimate_of_an_example_is_that_of_all_iterations(name, shapes, dtype, gpu):
    short, whole = example(name, shapes, dtype, gpu)
    assert short == pytest.approx(whole, rel=0.02)
