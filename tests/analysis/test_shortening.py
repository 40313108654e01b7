"""Skipped iterations: an estimate equals that of all iterations, for any loops in the slices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyptx.analysis.model import launch_model as model
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.estimate import predict
from pyptx.analysis.model.mbarrier_rings import Ring
from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import Memory, ReplayResult
from pyptx.analysis.model.slice_program import SliceProgram, write_program
from pyptx.analysis.model.trip_counts import InstructionStep, Loop, WarpPath
from pyptx.analysis.work.call import Call, bind_call
from pyptx.analysis.work.count import work_of

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16, F32 = ml_dtypes.bfloat16, np.float32
EXAMPLES = Path(__file__).parents[2] / "examples"
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


HEADS = {"B": 1, "H": 2, "S": 1024, "T": 1024, "D": 128}
# Example and kernel, sizes of its inputs (or a function that returns its inputs), parameters, GPU
CASES: dict[str, tuple[dict[str, int] | Callable, dict[str, Any], str]] = {
    "vector_add": ({"N": 1 << 24}, {}, "H200"),
    "reduce_sum": ({"N": 1 << 24}, {"CTAS": 132}, "H200"),
    "transpose": ({"M": 2048, "N": 2048}, {}, "H200"),
    "softmax": ({"M": 64, "N": 100_000}, {}, "H200"),
    "rms_norm": ({"M": 64, "N": 65_536}, {}, "H200"),
    "rms_norm_fp8": ({"M": 64, "N": 16_384}, {}, "H200"),
    "rms_norm_backward": ({"M": 512, "N": 4096}, {"PARTS": 8}, "H200"),
    "selective_scan": (lambda scan: scan.inputs(1, 1024, 64), {"LC": 64}, "H200"),
    "moe_routing": ({"M": 4096, "E": 64}, {"TOP": 8}, "H200"),
    "moe_routing.sort_by_expert": (lambda _: [np.arange(4096, dtype=np.int32) % 7], {"E1": 8}, "H200"),
    "sampling": (
        lambda _: [np.ones((8, 32_768), BF16), np.zeros(8, F32)],
        {"top_k": 50, "top_p": 0.9, "temperature": 1.0},
        "H200",
    ),
    "layer_norm": ({"M": 64, "N": 65_536}, {}, "H200"),
    "cross_entropy": (lambda _: [np.ones((64, 50_000), F32), np.zeros(64, np.int32)], {}, "H200"),
    "swiglu": ({"M": 512, "N": 8192}, {}, "H200"),
    "swiglu.swiglu_backward": ({"M": 512, "N": 8192}, {}, "H200"),
    "sgemm": ({"M": 256, "N": 256, "K": 2048}, {}, "H200"),
    "ampere/gemm": ({"M": 256, "N": 256, "K": 4096}, {}, "A100"),
    "ampere/attention": ({**HEADS, "S": 2048, "T": 2048, "D": 64}, {}, "A100"),
    "ampere/paged_attention": (lambda paged: paged.inputs(1, 4, 2, 64, 16, [2000], BF16), {"SPLITS": 2}, "A100"),
    "hopper/gemm": ({"M": 256, "N": 256, "K": 8192}, {}, "H200"),
    "hopper/persistent_gemm": ({"M": 1024, "N": 1024, "K": 2048}, {"CTAS": 4}, "H200"),
    "hopper/stream_k_gemm": ({"M": 384, "N": 512, "K": 4096}, {"BN": 64, "CTAS": 10, "W": 128 * 64}, "H200"),
    "hopper/fp8_gemm": (lambda fp8: fp8.inputs(*(np.ones((512, 2048), F32) for _ in "ab")), {"CTAS": 8}, "H200"),
    "hopper/grouped_gemm": (
        lambda _: [
            *(np.zeros(shape, BF16) for shape in ((1024, 1024), (4, 1024, 512))),
            np.array([0, 100, 500, 600, 1024], np.int32),
        ],
        {"CTAS": 8},
        "H200",
    ),
    "hopper/moe_backward.expert_gradients": (
        lambda _: [*(np.zeros((2048, 512), BF16) for _ in "xy"), np.array([0, 500, 2048], np.int32)],
        {"G": 2},
        "H200",
    ),
    "hopper/convolution": (
        {"N": 2, "H": 16, "W": 16, "C": 256, "R": 3, "S": 3, "F": 256},
        {"P": 16, "Q": 16, "PAD": 1, "CTAS": 4},
        "H200",
    ),
    "hopper/attention": (HEADS, {"CAUSAL": True}, "H200"),
    "hopper/persistent_attention": ({"B": 1, "H": 2, "HK": 1, "S": 2048, "D": 128}, {"CTAS": 4}, "H200"),
    "hopper/attention_backward": (
        {**HEADS, "H": 1, "S": 2048, "T": 2048, "SP": 2048},
        {"CAUSAL": True, "CLUSTER": 4},
        "H200",
    ),
    "blackwell/gemm": ({"M": 256, "N": 256, "K": 8192}, {"CTAS": 2}, "B200"),
    "blackwell/pair_gemm": ({"M": 512, "N": 512, "K": 4096}, {"CTAS": 2}, "B200"),
    "blackwell/nvfp4_gemm": (lambda m: m.inputs(*(np.ones((256, 8192), F32) for _ in "ab")), {"CTAS": 1}, "B200"),
    "blackwell/attention": ({**HEADS, "S": 2048, "T": 2048}, {"CAUSAL": True}, "B200"),
}


def call_of(name: str) -> Call:
    """A call of an example, of which only the sizes matter."""
    inputs, params, _ = CASES[name]
    file, _, attribute = name.partition(".")
    module = import_module(f"examples.{file.replace('/', '.')}")
    kernel = getattr(module, attribute or file.rpartition("/")[2])
    if not callable(inputs):
        return bind_call(kernel, *kernel.launcher.inputs_for((), inputs), **params)
    arrays = inputs(module)
    if isinstance(arrays[0], (list, tuple)):
        arrays, params = arrays[0], {**params, "alpha": arrays[1]}
    return bind_call(kernel, *arrays, **params)


def both(call: Call, gpu: str, monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """Seconds of a call with skipped iterations, and with all iterations."""
    compiled, work = call.compiled(), work_of(call)
    found = []
    for patience in (model.PATIENCE, math.inf):
        monkeypatch.setattr(model, "PATIENCE", patience)
        found.append(predict(compiled, call.plan, work, gpu).seconds)
    return found[0], found[1]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", CASES)
def test_a_shortened_estimate_of_an_example_is_that_of_all_iterations(name: str, monkeypatch: pytest.MonkeyPatch):
    short, whole = both(call_of(name), CASES[name][2], monkeypatch)
    assert short == pytest.approx(whole, rel=0.02)


def test_no_example_is_left_out():
    files = {
        path.relative_to(EXAMPLES).with_suffix("").as_posix()
        for path in EXAMPLES.rglob("*.py")
        if "def main(" in path.read_text(encoding="utf-8")
    }
    assert {name.partition(".")[0] for name in CASES} == files - {"warp_image"}
