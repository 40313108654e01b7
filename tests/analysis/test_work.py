"""Counted work, compared with counts by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pyptx
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.analysis.work.count import count
from pyptx.cli.kernels import load_kernel
from pyptx.errors import LaunchError
from pyptx.types import f32, pred, u32, u64

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = ml_dtypes.bfloat16


@cache
def example(name: str):
    return load_kernel(str(Path(__file__).parents[2] / "examples" / name))


@pytest.mark.parametrize(
    ("M", "N", "K", "tile"),
    [
        (256, 512, 256, {}),  # all of the grid
        (2048, 2048, 512, {"BM": 128, "BN": 128}),  # some of it
        (1024, 4096, 2048, {"BM": 128, "BN": 64, "STAGES": 3}),
    ],
)
def test_a_matrix_product_is_two_mnk_operations_and_every_byte_once(M, N, K, tile):
    work = count(example("hopper/gemm.py:gemm"), np.zeros((M, K), BF16), np.zeros((K, N), BF16), **tile)
    assert work.flops["wgmma.bf16"] == 2 * M * N * K
    assert work.bytes["dram_read"] == 2 * (M * K + K * N)
    assert work.bytes["dram_write"] == 2 * M * N
    BM, BN = tile.get("BM", 128), tile.get("BN", 256)
    tiles = (M // BM) * (N // BN)
    assert work.bytes["l2"] == tiles * 2 * (K * (BM + BN) + BM * BN)
    assert work.ctas == tiles and work.uniform


def test_tiles_that_stand_out_multiply_zeros_and_move_only_what_is_there():
    M, N, K = 300, 264, 136
    work = count(example("hopper/gemm.py:gemm"), np.zeros((M, K), BF16), np.zeros((K, N), BF16), BM=128, BN=128)
    assert work.flops["wgmma.bf16"] == 2 * (3 * 128) * (3 * 128) * (3 * 64)
    assert work.bytes["dram_read"] == 2 * (M * K + K * N) and work.bytes["dram_write"] == 2 * M * N


@pytest.mark.parametrize("M", [64, 4096])
def test_softmax_is_five_operations_a_number_and_two_passes_of_bytes(M):
    """Of a number: max, difference, scaling, sum, product; of a lane: two trees of five, a division."""
    N = 1024
    work = count(example("softmax.py:softmax"), np.zeros((M, N), np.float32))
    assert work.bytes["dram_read"] == work.bytes["dram_write"] == 4 * M * N
    assert work.flops["core.f32"] == M * (5 * N + 32 * (5 + 5 + 1))
    assert work.flops["core.mufu"] == M * N
    assert work.exact == (M == 64) and work.uniform


@pytest.mark.parametrize("M", [64, 4096])
def test_layer_norm_is_eight_operations_a_number_and_reads_its_weights_once(M):
    """Of a number: sum; difference, multiply-add; difference, product, multiply-add. Of a lane: two trees of five, two
    products and a sum."""
    N = 1024
    work = count(
        example("layer_norm.py:layer_norm"),
        np.zeros((M, N), np.float32),
        np.ones(N, np.float32),
        np.zeros(N, np.float32),
    )
    assert work.bytes["dram_read"] == 4 * (M * N + 2 * N) and work.bytes["dram_write"] == 4 * M * N
    assert work.flops["core.f32"] == M * (8 * N + 32 * (5 + 1 + 5 + 2))
    assert work.flops["core.mufu"] == M * 32


def test_a_sample_gives_what_the_whole_grid_gives(monkeypatch):
    """Rows that the last block has only in part, and a matrix product with a rest on both sides."""
    from pyptx.analysis.work import sampling

    x = np.zeros((1003, 200), np.float32)
    a, b = np.zeros((700, 200), BF16), np.zeros((200, 1096), BF16)
    calls = (
        (example("softmax.py:softmax"), (x,), {}),
        (example("hopper/gemm.py:gemm"), (a, b), {"BM": 128, "BN": 128, "STAGES": 4}),
    )
    whole = [count(one, *args, **params) for one, args, params in calls]
    monkeypatch.setattr(sampling, "MAX_WHOLE_GRID", 0)
    for expected, (one, args, params) in zip(whole, calls, strict=True):
        work = count(one, *args, **params)
        assert expected.exact and not work.exact and work.uniform, work.how
        assert dict(work.flops) == dict(expected.flops)
        assert {**work.bytes, "l2": 0} == {**expected.bytes, "l2": 0}
        assert work.bytes["l2"] == pytest.approx(expected.bytes["l2"], rel=0.01)


def copies(x, y):
    """y[i] = x[i] * 2 from shared memory whose banks all threads share."""
    i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
    at, to = ptx.global_ptrs(x, y)
    part = smem.alloc(f32, 32 * 32)
    start = reg.from_(part.name, u32) + reg.from_(ptx.special.tid.x(), u32) * 128
    value = reg.scalar(f32)
    for pointer in (at, to):
        ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
    ptx.inst.ld.global_.f32(value, ptx.addr(at))
    ptx.inst.st.shared.f32(ptx.addr(start), value)
    ptx.inst.ld.shared.f32(value, ptx.addr(start))
    ptx.inst.mul.f32(value, value, 2.0)
    ptx.inst.st.global_.f32(ptx.addr(to), value)


COPIES = kernel(
    copies, arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=lambda N: N // 32, block=32
)


def test_bank_conflicts_are_passes_of_shared_memory():
    work = count(COPIES, np.zeros(64, np.float32))
    assert work.bytes["shared"] == 2 * 2 * 32 * 128  # two blocks, a store and a load, 32 passes
    assert work.flops["core.f32"] == 64 and work.bytes["l2"] == 512
    assert work.to_json()["bytes"]["dram_read"] == 256


def test_the_arrays_of_the_caller_stay_as_they_are():
    x = np.arange(64, dtype=np.float32)
    out = np.full(64, 7, np.float32)
    count(COPIES, x, out=out)
    assert (out == 7).all() and (x == np.arange(64)).all()


def test_a_kernel_that_writes_its_input_works_on_a_copy():
    def doubled(x):
        (at,) = ptx.global_ptrs(x)
        value = reg.scalar(f32)
        ptx.inst.mad.wide.u32(at, reg.from_(ptx.special.tid.x(), u32), 4, at)
        ptx.inst.ld.global_.f32(value, ptx.addr(at))
        ptx.inst.add.f32(value, value, value)
        ptx.inst.st.global_.f32(ptx.addr(at), value)

    x = np.ones(32, np.float32)
    work = count(kernel(doubled, arch="sm_80", in_specs=[Tile("N", f32)], grid=1, block=32), x)
    assert work.bytes["dram_read"] == work.bytes["dram_write"] == 128
    assert (x == 1).all()


def test_an_entry_is_counted_with_its_grid():
    entry = pyptx.load(COPIES.ptx(N=64))["copies"]
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    assert count(entry, x, y, grid=2, block=32) == count(COPIES, x)


def test_too_few_arrays_are_refused():
    with pytest.raises(LaunchError, match="the size N of .* is not known"):
        count(COPIES)


def test_work_that_changes_somewhere_along_the_grid_is_exact(monkeypatch):
    """Persistent blocks: 32 tiles over 12 blocks, so that the first eight have one more."""

    def tiles(x, y):
        """A block doubles tiles of 32, its number and every twelfth from there on."""
        at, to = ptx.global_ptrs(x, y)
        tile, value = reg.from_(ptx.special.ctaid.x(), u32), reg.scalar(f32)
        thread = reg.from_(ptx.special.tid.x(), u32)
        more = reg.scalar(pred)
        with ptx.loop("NEXT", pred=more):
            source, target = reg.scalar(u64), reg.scalar(u64)
            ptx.inst.mad.wide.u32(source, tile * 32 + thread, 4, at)
            ptx.inst.mad.wide.u32(target, tile * 32 + thread, 4, to)
            ptx.inst.ld.global_.f32(value, ptx.addr(source))
            ptx.inst.add.f32(value, value, value)
            ptx.inst.st.global_.f32(ptx.addr(target), value)
            ptx.inst.add.u32(tile, tile, 12)
            ptx.inst.setp.lt.u32(more, tile, 32)

    made = kernel(tiles, arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=12, block=32)
    monkeypatch.setattr("pyptx.analysis.work.sampling.MAX_WHOLE_GRID", 0)
    work = count(made, np.zeros(1024, np.float32))
    assert not work.exact and work.flops["core.f32"] == 1024 and work.bytes["l2"] == 8192
    assert work.bytes["dram_read"] == work.bytes["dram_write"] == 4096


def test_a_step_of_persistent_clusters_is_found_from_their_results(monkeypatch):
    """Six of 66 clusters are simulated and one that verifies: products whose clusters have three or four tiles each."""
    size = np.zeros((4096, 4096), BF16)
    monkeypatch.setattr("pyptx.analysis.work.grid_positions.EXPENSIVE_BYTES", 0)
    work = count(example("hopper/persistent_gemm.py:persistent_gemm"), size, size)
    assert work.how.startswith("7 of 66 clusters") and work.uniform
    assert work.flops["wgmma.bf16"] == 2 * 4096**3


def test_ctas_that_wait_for_each_other_are_simulated_together():
    @kernel(in_specs=(Tile(1, u32),), out_specs=(Tile(2, u32, zeroed=True),), grid=2, block=32)
    def relay(x, flags):
        with ptx.if_((ptx.ctaid.x == 1) & (ptx.tid.x == 0)):
            ptx.inst.st.release.gpu.global_.u32(ptx.addr(flags.pointer(1)), 7)
        with ptx.if_((ptx.ctaid.x == 0) & (ptx.tid.x == 0)):
            found, waits = reg.scalar(u32), reg.scalar(pred)
            with ptx.scope(), ptx.loop("not_yet", pred=waits):
                ptx.inst.ld.acquire.gpu.global_.u32(found, ptx.addr(flags.pointer(1)))
                ptx.inst.setp.eq.u32(waits, found, 0)
            flags[0] = found

    work = count(relay, np.zeros(1, np.uint32))
    assert "the whole grid was simulated: 2 CTAs" in work.how
