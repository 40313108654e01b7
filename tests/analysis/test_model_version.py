"""Predictions recorded for the declared version of the performance model: changed results need a new version."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pyptx.analysis.model import MODEL_VERSION
from pyptx.analysis.model.estimate import estimate
from pyptx.cli.kernels import load_kernel
from pyptx.toolchain import assembler

ml_dtypes = pytest.importorskip("ml_dtypes")

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).parents[1] / "golden" / "model_predictions.json"
CASES = {  # example: (shapes of its inputs, their type, GPU)
    "vector_add.py:vector_add": (((1 << 20,), (1 << 20,)), "float32", "A100"),
    "sgemm.py:sgemm": (((512, 512), (512, 512)), "float32", "H200"),
    "rms_norm.py:rms_norm": (((512, 1024), (1024,)), "float32", "RTX 4090"),
    "ampere/gemm.py:gemm": (((1024, 1024), (1024, 1024)), "bfloat16", "A100"),
    "hopper/gemm.py:gemm": (((2048, 2048), (2048, 2048)), "bfloat16", "H200"),
    "blackwell/gemm.py:gemm": (((2048, 2048), (2048, 2048)), "bfloat16", "B200"),
}


def predictions() -> dict[str, float]:
    found = {}
    for name, (shapes, dtype, gpu) in CASES.items():
        kernel = load_kernel(str(ROOT / "examples" / name))
        arrays = [np.zeros(shape, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype) for shape in shapes]
        found[name] = estimate(kernel, *arrays, device=gpu).seconds
    return found


def test_changed_predictions_have_a_new_version(request: pytest.FixtureRequest):
    """When this fails, the model predicts other times: increment MODEL_VERSION, then run pytest --bless."""
    seconds = predictions()
    if request.config.getoption("--bless"):
        record = {"version": MODEL_VERSION, "assembler": assembler(), "seconds": seconds}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if record["assembler"] != assembler():
        pytest.skip(f"recorded with {record['assembler']}, here is {assembler()}")
    assert record["version"] == MODEL_VERSION, "no predictions are recorded for this version; run pytest --bless"
    assert seconds == pytest.approx(record["seconds"], rel=1e-9), "predictions changed; increment MODEL_VERSION"
