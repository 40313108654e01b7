"""Every example runs as a script, and its kernel is correct for other sizes."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.processes import python

from pyptx import use
from pyptx.cli.kernels import load_module

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def rms_norm() -> ModuleType:
    return load_module(str(EXAMPLES / "rms_norm.py"))


@pytest.fixture(scope="module")
def sgemm() -> ModuleType:
    return load_module(str(EXAMPLES / "sgemm.py"))


SCRIPTS = sorted(path for path in EXAMPLES.rglob("*.py") if "def main(" in path.read_text())
FIRST = EXAMPLES / "rms_norm.py"

# test_main.py passes arrays of torch and JAX, whose imports take longer than the rest.
NUMPY_ONLY = """
import runpy, sys
sys.modules.update(torch=None, jax=None)
sys.path.insert(0, sys.argv[1])
runpy.run_path(sys.argv[2], run_name="__main__")
"""


def runs_as_a_script(*arguments: str, cwd: Path) -> None:
    done = python(*arguments, cwd=cwd, env={"PYTHONSAFEPATH": ""})  # a script finds the files beside it
    assert done.returncode == 0, done.stderr
    assert "largest difference from NumPy" in done.stdout
    assert done.stderr == ""


def test_runs_as_a_script_and_says_how_close_it_is(tmp_path: Path):
    runs_as_a_script(str(FIRST), cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_runs_as_a_script_where_only_numpy_is_installed(path: Path, tmp_path: Path):
    runs_as_a_script("-c", NUMPY_ONLY, str(path.parent), str(path), cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax", "hopper.attention", "blackwell.gemm"])
def test_runs_as_a_module_too(name: str, tmp_path: Path):
    (tmp_path / "examples").symlink_to(EXAMPLES)  # not the checkout, whose pyptx may have no compiled core
    done = python("-m", f"examples.{name}", cwd=tmp_path, env={"PYTHONSAFEPATH": ""})
    assert done.returncode == 0, done.stderr
    assert "largest difference from NumPy" in done.stdout


@pytest.mark.parametrize("rows, columns", [(1, 4), (3, 10), (4, 512), (5, 517), (6, 4092), (2, 8196), (1, 20_000)])
def test_rms_norm_equals_numpy_for_rows_of_any_length(rms_norm, rows: int, columns: int):
    random = np.random.default_rng(columns)
    x = random.standard_normal((rows, columns), dtype=np.float32)
    weight = random.standard_normal(columns, dtype=np.float32)
    y = rms_norm.rms_norm(x, weight, eps=1e-3)
    np.testing.assert_allclose(y, rms_norm.reference(x, weight, 1e-3), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "shape, tiling",
    [
        ((128, 192, 48), {}),
        ((130, 257, 19), {}),
        ((1, 1, 1), {}),
        ((64, 64, 16), {"BM": 64, "BN": 64}),
        ((131, 66, 6), {"BM": 64, "BN": 128}),
        ((128, 60, 68), {"BN": 64, "BK": 32}),
    ],
    ids=str,
)
def test_sgemm_equals_numpy_for_every_size_and_tiling(sgemm, shape: tuple[int, int, int], tiling: dict[str, int]):
    m, n, k = shape
    random = np.random.default_rng(m + n + k)
    a = random.standard_normal((m, k), dtype=np.float32)
    b = random.standard_normal((k, n), dtype=np.float32)
    np.testing.assert_allclose(sgemm.sgemm(a, b, **tiling), a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "tiling, message",
    [
        ({"BM": 96}, "BM=96 is not a multiple of 64"),
        ({"BM": 64, "BK": 8}, "cannot copy a 64 x 8 tile of A evenly"),
    ],
    ids=str,
)
def test_sgemm_refuses_tiles_that_its_threads_do_not_cover(sgemm, tiling, message: str):
    with pytest.raises(ValueError, match=message):
        sgemm.sgemm(np.ones((64, 16), np.float32), np.ones((16, 64), np.float32), **tiling)


def test_every_machine_instruction_of_both_examples_is_owned(rms_norm, sgemm):
    for compiled in (rms_norm.rms_norm.compile(M=512, N=1024), sgemm.sgemm.compile(M=256, N=256, K=256)):
        owners = [compiled.lines.owner(index) for index in range(len(compiled.sass))]
        written = [owner for owner in owners if not owner.added_by_ptxas]
        assert len(written) > 0.8 * len(compiled.sass)
        files = {Path(owner.place.file) for owner in written}
        shared = {"rms_norm": {"rows", "vectors"}, "sgemm": {"vectors"}}[compiled.name]
        assert files <= {EXAMPLES / f"{name}.py" for name in {compiled.name, *shared}}
        assert EXAMPLES / f"{compiled.name}.py" in files
        text = compiled.ptx.splitlines()
        assert all(text[owner.ptx_line - 1].endswith(";") for owner in written)


@pytest.mark.parametrize("name", ["rms_norm", pytest.param("sgemm", marks=pytest.mark.slow)])
def test_the_core_and_the_reference_give_the_same_bits_and_counts(rms_norm, sgemm, name: str):
    random = np.random.default_rng(1)
    if name == "rms_norm":
        kernel, shapes = rms_norm.rms_norm, [(2, 1100), (1100,)]
    else:
        kernel, shapes = sgemm.sgemm, [(64, 32), (32, 64)]
    arrays = [random.standard_normal(shape, dtype=np.float32) for shape in shapes]
    results, counts = [], []
    for engine in ("core", "reference"):
        with use("sim", engine=engine):
            results.append(kernel(*arrays))
        counts.append(kernel.last_run.counters)
    np.testing.assert_array_equal(results[0].view(np.uint32), results[1].view(np.uint32))
    assert counts[0] == counts[1]
    assert counts[0].warp_instructions > 0


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_both_examples_assemble_for_every_generation_without_spills(rms_norm, sgemm, arch: str):
    for compiled in (
        rms_norm.rms_norm.compile(arch=arch, M=512, N=1024),
        sgemm.sgemm.compile(arch=arch, M=256, N=256, K=256),
    ):
        used = compiled.resources[compiled.name]
        assert used.spill_stores == used.spill_loads == 0
        assert 16 <= used.registers <= 128
