"""Paths through machine code: executed instructions equal the simulator's counts, whatever ptxas unrolled."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import pytest

import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.analysis.model.trip_counts import Loop, find_path, find_slices, read_code
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import work_of
from pyptx.cli.kernels import load_kernel
from pyptx.types import f32, u32

ml_dtypes = pytest.importorskip("ml_dtypes")
EXAMPLES = Path(__file__).parents[2] / "examples"
FOREIGN = Path(__file__).parents[1] / "benchmarks" / "foreign"
BF16 = ml_dtypes.bfloat16


@cache
def ways(name: str, shapes: tuple[tuple[int, ...], ...], dtype=np.float32, **params):
    """Program, code, slices and their paths of a call on zeros."""
    found = load_kernel(str(EXAMPLES / name)) if isinstance(name, str) else name
    return ways_of(bind_call(found, *(np.zeros(shape, dtype) for shape in shapes), **params))


def ways_of(call):
    sample = work_of(call).sample
    code = read_code(call.compiled(), sample.program)
    slices = find_slices(sample.issues, sample.barrier_bits, prod(call.plan.cluster))
    return sample.program, code, slices, [find_path(code, warp_slice.counts) for warp_slice in slices]


def executed(code, path, times: float = 1.0) -> Counter:
    """Executions by opcode word."""
    found: Counter = Counter()
    for part in path:
        if isinstance(part, Loop):
            found.update(executed(code, part.body, times * part.trips))
        else:
            found[code.lines[part.row].opcode.partition(".")[0]] += times * part.weight
    return found


CASES = [
    ("hopper/gemm.py:gemm", ((512, 1024), (1024, 512)), BF16, {"HGMMA": "wgmma.mma_async", "STSM": "stmatrix"}),
    (
        "ampere/gemm.py:gemm",
        ((512, 1024), (1024, 512)),
        BF16,
        {"HMMA": "mma.sync", "LDSM": "ldmatrix", "LDGSTS": "cp.async.cg", "STG": "st.global"},
    ),
    (
        "ampere/attention.py:attention",
        ((1, 1, 256, 128),) * 3,
        BF16,
        {"HMMA": "mma.sync", "LDSM": "ldmatrix", "LDGSTS": "cp.async.cg"},
    ),
    (
        "sgemm.py:sgemm",
        ((256, 256), (256, 256)),
        np.float32,
        {"FFMA": "fma.rn", "LDG": "ld.global", "STS": "st.shared", "LDS": "ld.shared", "STG": "st.global"},
    ),
    ("softmax.py:softmax", ((64, 1000),), np.float32, {"LDG": "ld.global", "STG": "st.global", "SHFL": "shfl.sync"}),
    ("softmax.py:softmax", ((8, 50000),), np.float32, {"LDG": "ld.global", "STG": "st.global", "BAR": "bar.sync"}),
    ("layer_norm.py:layer_norm", ((64, 1024), (1024,), (1024,)), np.float32, {"LDG": "ld.global", "STG": "st.global"}),
]


@pytest.mark.parametrize(
    "name, shapes, dtype, kinds",
    [pytest.param(*case, marks=() if "hopper" in case[0] else pytest.mark.slow) for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_machine_instructions_run_as_often_as_the_ptx_they_are_of(name, shapes, dtype, kinds):
    program, code, slices, paths = ways(name, shapes, dtype)
    for warp_slice, path in zip(slices, paths, strict=True):
        found = executed(code, path)
        for word, mnemonic in kinds.items():
            numbers = [
                k
                for k, i in enumerate(program.instructions)
                if i.mnemonic.startswith(mnemonic) and not i.mnemonic.endswith("bulk_group")
            ]
            expected = sum(warp_slice.counts[k] for k in numbers)
            assert found[word] == pytest.approx(expected, rel=0.02), (word, warp_slice.warps)


def test_the_main_loop_of_a_matrix_product_is_found_with_its_trips():
    _, _, slices, paths = ways("hopper/gemm.py:gemm", ((512, 1024), (1024, 512)), BF16)
    loops = [[part.trips for part in path if isinstance(part, Loop)] for path in paths]
    assert len(slices) == 3
    assert loops[0] == [16] and loops[1][0] == loops[2][0] == 15  # the consumers' first turn stands before it


def sums(x, y, *, TURNS):
    """y[i] = the sum of TURNS numbers, 32 apart."""
    at, to = ptx.global_ptrs(x, y)
    thread = reg.from_(ptx.special.tid.x(), u32)
    total, value = reg.scalar(f32, 0.0), reg.scalar(f32)
    for pointer in (at, to):
        ptx.inst.mad.wide.u32(pointer, thread, 4, pointer)
    for _ in ptx.range_(0, TURNS):
        ptx.inst.ld.global_.f32(value, ptx.addr(at))
        ptx.inst.add.f32(total, total, value)
        ptx.inst.add.u64(at, at, 128)
    ptx.inst.st.global_.f32(ptx.addr(to), total)


SUMS = kernel(sums, arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile(32, f32)], grid=1, block=32)


@pytest.mark.parametrize("turns", [16, 1000, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4, 63, 64))])
def test_a_loop_that_was_unrolled_runs_fewer_times(turns):
    _, code, _, paths = ways_of(bind_call(SUMS, np.zeros(32 * turns, np.float32), TURNS=turns))
    found = executed(code, paths[0])
    assert found["LDG"] == pytest.approx(turns, rel=0.05) and found["STG"] == 1
    assert sum(found.values()) < 12 * turns + 60


def foreign(file: str, entry: str, *args, grid: int, block: int, smem_bytes: int = 0, target: str = "sm_86"):
    """Code and paths of a kernel of tests/benchmarks/foreign, which nvcc compiled."""
    text = (FOREIGN / file).read_text(encoding="utf-8").replace(".target sm_75", f".target {target}")
    call = bind_call(pyptx.load(text)[entry], *args, grid=grid, block=block, smem_bytes=smem_bytes)
    _, code, _, paths = ways_of(call)
    return code, paths


def test_arithmetic_that_was_unrolled_without_accesses_runs_as_often_as_it_is_counted():
    """Two chains of 488 operations for each of 200 pairs: ptxas unrolls them, and merges the additions of the counter."""
    numbers = np.zeros(256 * 400, np.float32)
    code, paths = foreign("rates.ptx", "fma_loop_488", numbers, numbers, np.zeros(1, np.float32), grid=1, block=256)
    assert executed(code, paths[0])["FFMA"] == pytest.approx(200 * 2 * 488, rel=0.01)


def test_a_loop_runs_as_often_on_turing_where_its_head_saves_a_convergence_barrier():
    """A product of 64 x 64 x 256 in steps of 8 along K, with bounds: branches, and BMOV with the line of an instruction before."""
    a, b, c = (np.zeros(shape, np.float32) for shape in ((64, 256), (256, 64), (64, 64)))
    sizes, grid = (64, 64, 256), 1
    code, paths = foreign(
        "blind_products.ptx", "column_tiles", *sizes, 1.0, a, b, 0.0, c, grid=grid, block=512, target="sm_75"
    )
    assert any(line.opcode.startswith("BMOV") for line in code.lines)
    assert executed(code, paths[0])["FFMA"] >= 8 * 256


def test_all_warps_reach_the_barriers_of_a_loop_that_some_skip_a_part_of():
    """One after the load, one in each of nine halvings; few warps add in the last ones."""
    numbers = np.zeros(512, np.uint32)
    code, paths = foreign("sums.ptx", "sum_sequential", numbers, 512, numbers[:1], grid=1, block=512, smem_bytes=2048)
    assert len(paths) == 4 and all(executed(code, path)["BAR"] == pytest.approx(10) for path in paths)


def test_warps_with_roles_of_their_own_are_teams_of_their_own():
    """Of the six warps of the product for Blackwell four write, one copies and one multiplies."""
    _, _, slices, paths = ways("blackwell/gemm.py:gemm", ((128, 1024), (1024, 256)), BF16)
    assert [warp_slice.warps for warp_slice in slices] == [(0, 1, 2, 3), (4,), (5,)]
    for path, turns in zip(paths[1:], (16, 14), strict=True):  # the first block of rows is a stage ahead at both ends
        (tiles,) = (part for part in path if isinstance(part, Loop))
        assert [part.trips for part in tiles.body if isinstance(part, Loop)] == [turns]
