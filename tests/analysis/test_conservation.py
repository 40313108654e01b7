"""Conservation: the work on the modeled paths is what the simulator counted, or the prediction says that it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.analysis.model import launch_model as model
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.trip_counts import InstructionStep, Loop
from pyptx.cli.kernels import load_kernel
from pyptx.types import f32, u32

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = ml_dtypes.bfloat16
EXAMPLES = Path(__file__).parents[2] / "examples"
CASES = [
    ("sgemm.py:sgemm", ((256, 256),) * 2, np.float32, "H200"),
    ("hopper/gemm.py:gemm", ((256, 1024), (1024, 256)), BF16, "H200"),
    ("softmax.py:softmax", ((64, 4096),), np.float32, "RTX 4090"),
    ("ampere/gemm.py:gemm", ((256, 512), (512, 256)), BF16, "A100"),
    ("ampere/attention.py:attention", ((1, 2, 512, 64),) * 3, BF16, "A100"),
    ("hopper/attention.py:attention", ((1, 2, 1024, 128),) * 3, BF16, "H200"),
    ("blackwell/gemm.py:gemm", ((256, 1024), (1024, 256)), BF16, "B200"),
    ("rms_norm.py:rms_norm", ((64, 1024), (1024,)), np.float32, "H200"),
    ("transpose.py:transpose", ((1024, 1024),), np.float32, "H200"),
]


@pytest.mark.parametrize(
    "name, shapes, dtype, gpu",
    [pytest.param(*case, marks=() if number < 3 else pytest.mark.slow) for number, case in enumerate(CASES)],
    ids=[case[0] for case in CASES],
)
def test_the_modeled_work_of_an_example_is_what_was_simulated(name, shapes, dtype, gpu):
    found = estimate(load_kernel(str(EXAMPLES / name)), *(np.zeros(shape, dtype) for shape in shapes), device=gpu)
    assert found.notes == () and found.confidence == "normal"
    own = found.attribution
    assert own is not None
    attributed = sum(one.seconds for one in own.instructions) + sum(own.overhead.values())
    assert attributed == pytest.approx(found.seconds, rel=1e-9)


def copy_through_shared(x, y):
    """y = x, four words a thread: ptxas merges the four loads from shared memory into one."""
    thread = reg.from_(ptx.special.tid.x(), u32)
    at, to = ptx.global_ptrs(x, y)
    part = smem.alloc(f32, 128, align=16)
    words = reg.array(f32, 4)
    for pointer in (at, to):
        ptx.inst.mad.wide.u32(pointer, thread, 16, pointer)
    mine = reg.from_(part.name, u32) + thread * 16
    ptx.inst.ld.global_.v4.f32(words, ptx.addr(at))
    ptx.inst.st.shared.v4.f32(ptx.addr(mine), words)
    ptx.bar.sync(0)
    for k, word in enumerate(words):
        ptx.inst.ld.shared.f32(word, ptx.addr(mine, 4 * k))
    ptx.inst.st.global_.v4.f32(ptx.addr(to), words)


COPY = kernel(
    copy_through_shared, arch="sm_90a", in_specs=[Tile(128, f32)], out_specs=[Tile(128, f32)], grid=1, block=32
)


def test_merged_loads_count_as_those_that_they_replace():
    found = estimate(COPY, np.zeros(128, np.float32))
    words = [line.opcode for line in COPY.compile(np.zeros(128, np.float32)).sass if line.opcode.startswith("LDS")]
    assert words == ["LDS.128"]
    assert found.confidence == "normal" and found.notes == ()


def test_a_path_that_loses_iterations_is_noticed(monkeypatch: pytest.MonkeyPatch):
    find_path = model.find_path

    def halved(part: InstructionStep | Loop) -> InstructionStep | Loop:
        return Loop(part.trips / 2, part.body) if isinstance(part, Loop) else part

    monkeypatch.setattr(model, "find_path", lambda code, counts: tuple(map(halved, find_path(code, counts))))
    sgemm = load_kernel(str(EXAMPLES / "sgemm.py:sgemm"))
    found = estimate(sgemm, np.zeros((256, 256), np.float32), np.zeros((256, 256), np.float32), device="H200")
    assert {note.partition(":")[0] for note in found.notes} >= {"FFMA", "LDS"}
    assert found.confidence == "low" and found.to_json()["confidence"] == "low"
    assert "(low confidence: " in str(found) and "LDS: the path" in str(found)
