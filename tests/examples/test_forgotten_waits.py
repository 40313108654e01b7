"""Every wait of the asynchronous examples is needed: `kernel.check` finds each one that is left out."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pyptx import lib

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = [(200, 400), (400, 264)]
HEADS = [(1, 1, 300, 64)] * 3
# The kernel, the file that has the wait, the wait, shapes and parameters.
WAITS = [
    ("hopper/gemm", "hopper/gemm", "            ptx.wgmma.wait_group(1) ", GEMM, {"STAGES": 3}),
    ("hopper/gemm", "hopper/gemm", "        ptx.wgmma.wait_group(0)", GEMM, {}),
    (
        "hopper/persistent_gemm",
        "hopper/tiles",
        "            ptx.wgmma.wait_group(1) ",
        GEMM,
        {"STAGES": 3, "CLUSTER": 1},
    ),
    ("hopper/persistent_gemm", "hopper/tiles", "        ptx.wgmma.wait_group(0)", GEMM, {"CTAS": 2}),
    ("ampere/gemm", "ampere/gemm", "                ptx.cp.async_.wait_group(STAGES - 2)", GEMM, {}),
    ("ampere/gemm", "ampere/gemm", "                ptx.bar.sync(0) ", GEMM, {}),
    ("hopper/attention", "hopper/attention", "            ptx.wgmma.wait_group(0)", HEADS, {"BN": 64}),
    ("hopper/attention", "hopper/attention", "            ptx.wgmma.wait_group(1) ", HEADS, {"BN": 64}),
    (
        "blackwell/gemm",
        "blackwell/tiles",
        "self.read.at(which).wait(turn ^ 1)",
        [(700, 64), (64, 64)],
        {"BN": 64, "CTAS": 1},
    ),
    ("blackwell/attention", "blackwell/attention", "weighed[tile].wait(block & 1)", HEADS, {}),
    ("blackwell/attention", "blackwell/attention", "added.at(tile).wait((block & 1) ^ 1) ", HEADS, {}),
    (
        "blackwell/pair_gemm",
        "blackwell/tiles",
        "self.read.at(which).wait(turn ^ 1)",
        [(1400, 64), (64, 128)],
        {"BN": 128, "CTAS": 2},
    ),
]


@pytest.fixture
def changed_examples(tmp_path: Path, monkeypatch):
    """Examples with a line of one file left out."""

    def change(file: str, line: str) -> None:
        copy = tmp_path / "examples"
        shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("__pycache__"))
        text = (copy / f"{file}.py").read_text()
        assert line in text
        (copy / f"{file}.py").write_text(text.replace(line, f"{line[: len(line) - len(line.lstrip())]}pass ", 1))
        for name in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.syspath_prepend(tmp_path)

    yield change
    for name in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
        del sys.modules[name]  # before monkeypatch brings back those that were there


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "path, file, wait, shapes, options", WAITS, ids=[f"{path}: {wait.strip()}" for path, _, wait, *_ in WAITS]
)
def test_the_defect_is_found(changed_examples, path: str, file: str, wait: str, shapes, options):
    changed_examples(file, wait)
    kernel = getattr(import_module(f"examples.{path.replace('/', '.')}"), path.rpartition("/")[2])
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in shapes]
    report = kernel.check(*arrays, **options)
    assert not report.ok


def acquire_at_once(ring: lib.TmaRing) -> lib.Stage:
    """`TmaRing.acquire` without the wait for a free stage."""
    index, _ = ring.position.advance()
    full = ring.full.at(index)
    full.arrive_expect_tx(ring.stage_bytes)
    return lib.Stage(ring, index, full)


def read_at_once(ring: lib.TmaRing) -> lib.Stage:
    """`TmaRing.wait` without the wait for the bytes."""
    index, _ = ring.position.advance()
    return lib.Stage(ring, index, ring.full.at(index))


@pytest.mark.parametrize(
    ("method", "replacement"), [("acquire", acquire_at_once), ("wait", read_at_once)], ids=["acquire", "wait"]
)
@pytest.mark.parametrize("path", ["hopper.gemm", "hopper.attention"])
def test_the_waits_of_the_ring_are_needed(monkeypatch, path: str, method: str, replacement):
    module = import_module(f"examples.{path}")
    kernel, shapes, options = {
        "hopper.gemm": lambda: (module.gemm_of(module.bf16, module.bf16), GEMM, {"STAGES": 3}),
        "hopper.attention": lambda: (module.attention, HEADS, {"BN": 64}),
    }[path]()
    monkeypatch.setattr(lib.TmaRing, method, replacement)
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in shapes]
    assert not kernel.check(*arrays, **options).ok
