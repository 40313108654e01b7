"""Attributed time: each cycle of the replay belongs to one instruction and reason, and the sums are the kernel's time."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyptx.analysis.model import launch_model as model
from pyptx.analysis.model.attribution import STALL_REASONS, Attribution
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.estimate import estimate, predict
from pyptx.analysis.model.mbarrier_rings import Ring
from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import Memory, SliceCycles
from pyptx.analysis.model.slice_program import chain_ctas
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import work_of
from pyptx.cli.kernels import load_kernel

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = ml_dtypes.bfloat16
EXAMPLES = Path(__file__).parents[2] / "examples"
CONSTANTS = Constants(shared_cycles=26, barrier_cycles=20, product_cycles=30)
MEMORY = Memory(port=64, dram=16, from_dram=0, to_dram=0, load_cycles=300, copy_cycles=500)


def op(row: int, kind: int = OpKind.PLAIN, stall: int = 1, wait=(), write: int = -1, **rest) -> Operation:
    return Operation(kind, stall, tuple(wait), write, -1, 1.0, row=row, **rest)


def cycles(*slices: list[Operation]) -> list[SliceCycles]:
    return replay([(0, 0, operations) for operations in slices], MEMORY, CONSTANTS).slices


def total(own: SliceCycles, stalls: dict[int, int]) -> float:
    """Cycles of all instructions, from their stall counts and attributed waits."""
    return sum(times * stalls.get(row, 1) for row, times in own.executions.items()) + sum(own.stalls.values())


def test_a_wait_for_a_load_belongs_to_the_instruction_that_waits_and_names_the_load():
    load = op(0, OpKind.LOAD, stall=2, write=3, unit="shared", cycles=1, bytes=64)
    (own,) = cycles([load, op(1, stall=4, wait=[3])])
    # the load leaves L1 after a cycle and the port after another; it arrives 300 later, 2 of which are its stall count
    assert own.stalls == {(1, "scoreboard", 0): 300}
    assert own.executions == {0: 1, 1: 1} and own.cycles == 306


def test_waits_name_their_reasons():
    ring = Ring(0, 1, "TMA", False)
    copy = op(0, OpKind.BULK_LOAD, unit="tma", cycles=8, bytes=64, detail=ring)
    product = op(2, OpKind.WGMMA, unit="tensor", cycles=128, shared=80, detail=True)
    own, other = cycles(
        [copy, op(1, OpKind.MBARRIER_WAIT, detail=ring), product, op(3, OpKind.WGMMA_WAIT, detail=0, latency=30)]
        + [op(4, OpKind.BARRIER, detail=(0, 0, False))],
        [op(4, OpKind.BARRIER, detail=(0, 0, False)), *[op(5, unit="mufu", cycles=40)] * 3],
    )
    assert {(row, why) for row, why, _ in own.stalls} == {(1, "TMA"), (3, "wgmma"), (4, "barrier")}
    assert {(row, why) for row, why, _ in other.stalls} == {(4, "barrier"), (5, "MIO")}


@pytest.mark.parametrize("ctas", [1, 3, 9])
def test_every_cycle_of_every_slice_is_attributed_once(ctas: int):
    full, empty = Ring(0, 2, "TMA", False), Ring(1, 2, "warps", True)
    stalls = {0: 2, 3: 5, 5: 9}
    producer = [op(0, OpKind.MBARRIER_WAIT, stall=2, detail=empty), op(1, OpKind.BULK_LOAD, bytes=4096, detail=full)]
    consumer = [
        op(2, OpKind.MBARRIER_WAIT, detail=full),
        op(3, stall=5, unit="fma", cycles=30),
        op(4, OpKind.ARRIVE, detail=empty),
        op(5, stall=9, unit="mufu", cycles=8, write=0, latency=20),
        op(6, wait=[0]),
    ]
    for own in cycles(*(chain_ctas(part * 20, ctas, min(ctas, 4), False) for part in (producer, consumer, consumer))):
        own.executions.pop(-1, None)  # the end of a CTA takes only the time of its barrier
        assert total(own, stalls) == pytest.approx(own.cycles)


CASES = [
    ("softmax.py:softmax", ((64, 4096),), np.float32, "RTX 4090"),
    ("hopper/gemm.py:gemm", ((256, 1024), (1024, 256)), BF16, "H200"),
]


def check_sums(found: Prediction) -> Attribution:
    """The attributed times add up to the prediction, by instruction, PTX line and Python line."""
    own = found.attribution
    assert own is not None
    instructions, overhead = sum(one.seconds for one in own.instructions), sum(own.overhead.values())
    assert instructions + overhead == pytest.approx(found.seconds, rel=1e-9)
    assert own.seconds == pytest.approx(found.seconds, rel=1e-9)
    assert own.issue + sum(own.stalls.values()) == pytest.approx(instructions)
    for lines in (own.ptx, own.python):
        assert sum(line.seconds for line in lines) == pytest.approx(instructions)
    for one in own.instructions:
        assert one.stalls.keys() <= STALL_REASONS.keys() and all(time > 0 for time in one.stalls.values())
        assert sum(one.waits_for.values()) == pytest.approx(one.stalls.get("scoreboard", 0.0))
    assert min(own.overhead.values()) > 0
    return own


@pytest.mark.parametrize("name, shapes, dtype, gpu", CASES, ids=[case[0] for case in CASES])
def test_attributed_times_add_up_to_the_prediction(name: str, shapes, dtype: Any, gpu: str):
    own = check_sums(estimate(load_kernel(str(EXAMPLES / name)), *(np.zeros(s, dtype) for s in shapes), device=gpu))
    data = json.loads(json.dumps(own.to_json()))
    assert sum(row["seconds"] for row in data["sass"]) + sum(data["overhead"].values()) == pytest.approx(
        data["seconds"]
    )
    assert sum(row["seconds"] for row in data["python"]) == pytest.approx(sum(row["seconds"] for row in data["ptx"]))
    text = str(own)
    assert own.python[0].text in text and f"{own.python[0].seconds / own.seconds:.1%}" in text
    assert "(launch)" in text


def test_time_of_skipped_iterations_belongs_to_the_lines_of_their_loop(monkeypatch: pytest.MonkeyPatch):
    sgemm = load_kernel(str(EXAMPLES / "sgemm.py:sgemm"))
    arrays = np.zeros((128, 4096), np.float32), np.zeros((4096, 128), np.float32)
    found = []
    for patience in (6_000, math.inf):
        monkeypatch.setattr(model, "PATIENCE", patience)
        own = estimate(sgemm, *arrays, device="H200").attribution
        assert own is not None
        found.append({line.line: line.seconds for line in own.python} | {0: own.seconds})
    short, whole = found
    for line, seconds in whole.items():
        assert short[line] == pytest.approx(seconds, abs=0.02 * whole[0])


def test_predictions_of_a_sweep_hold_no_attribution():
    sgemm = load_kernel(str(EXAMPLES / "sgemm.py:sgemm"))
    call = bind_call(sgemm, np.zeros((128, 128), np.float32), np.zeros((128, 128), np.float32))
    assert predict(call.compiled(), call.plan, work_of(call)).attribution is None
