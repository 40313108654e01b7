"""Every wait of the asynchronous examples is needed, and the tests notice: one left out is found by `kernel.check`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = [(200, 400), (400, 264)]
HEADS = [(1, 1, 300, 64)] * 3
WAITS = [
    ("hopper/gemm", "            ptx.wgmma.wait_group(1) ", GEMM, {"STAGES": 3}),
    ("hopper/gemm", "        ptx.wgmma.wait_group(0)", GEMM, {}),
    ("hopper/gemm", "filled.at(stage).wait(phase)", GEMM, {}),
    ("hopper/gemm", "freed.at(stage).wait(phase ^ 1)", GEMM, {"STAGES": 3}),
    ("hopper/persistent_gemm", "                ptx.wgmma.wait_group(1) ", GEMM, {"STAGES": 3, "CLUSTER": 1}),
    ("hopper/persistent_gemm", "            ptx.wgmma.wait_group(0)", GEMM, {"CTAS": 2}),
    ("ampere/gemm", "                ptx.cp.async_.wait_group(STAGES - 2)", GEMM, {}),
    ("ampere/gemm", "                ptx.bar.sync(0) ", GEMM, {}),
    ("hopper/attention", "            ptx.wgmma.wait_group(0)", HEADS, {"BN": 64}),
    ("hopper/attention", "            ptx.wgmma.wait_group(1) ", HEADS, {"BN": 64}),
    ("hopper/attention", "v_filled.at(stage).wait(phase)", HEADS, {"BN": 64}),
    ("blackwell/gemm", "read.at(which).wait(turn ^ 1)", [(700, 64), (64, 64)], {"BN": 64, "CTAS": 1}),
    ("blackwell/attention", "weighed[tile].wait(block & 1)", HEADS, {}),
    ("blackwell/attention", "added.at(tile).wait((block & 1) ^ 1) ", HEADS, {}),
    ("blackwell/pair_gemm", "read.at(which).wait(turn ^ 1)", [(1400, 64), (64, 128)], {"BN": 128, "CTAS": 2}),
]


@pytest.mark.parametrize("path, wait, shapes, options", WAITS,
                         ids=[f"{path}: {wait.strip()}" for path, wait, *_ in WAITS])
def test_it_is_found(path: str, wait: str, shapes, options, tmp_path: Path):
    text = (EXAMPLES / f"{path}.py").read_text()
    assert wait in text
    changed = tmp_path / "changed.py"
    indent = wait[:len(wait) - len(wait.lstrip())]
    changed.write_text(text.replace(wait, f"{indent}pass", 1))
    folder = str((EXAMPLES / path).parent)
    if folder not in sys.path:                          # its neighbours are there to import
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location("changed", changed)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in shapes]
    report = getattr(module, path.rpartition("/")[2]).check(*arrays, **options)
    assert not report.ok
