"""`pyptx.lib.TensorMemory`, `TensorProduct` and `TensorFragment`: products equal NumPy's, in every schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import Layout, Tile, kernel, lib, ptx, reg, smem
from pyptx.types import bf16, e4m3, f32, u8, u32

BM, BK = 128, 64


def gemm_of(N: int, major: str, out=f32):
    tile_a = lib.WgmmaTile(BM, BK, bf16)
    tile_b = lib.WgmmaTile(BK, N, bf16, "MN") if major == "MN" else lib.WgmmaTile(N, BK, bf16, "K")
    shape_b = ("K", N) if major == "MN" else (N, "K")

    @kernel(
        in_specs=(
            Tile("M", "K", bf16, Layout.TMA_128B, tma_box=(BM, 64), tma_whole=True),
            Tile(*shape_b, bf16, Layout.TMA_128B, tma_box=(tile_b.rows, 64), tma_whole=True),
            Tile(N, f32),
        ),
        out_specs=(Tile("M", N, out), Tile("M", f32)),
        grid=lambda M: -(-M // BM),
        block=192,
        arch="sm_100a",
    )
    def gemm(a, b, bias, c, scales):
        tid, steps, row = reg.from_(ptx.tid.x, u32), -(-a.shape[1] // BK), ptx.ctaid.x * BM
        ring = lib.TmaRing(2, {"a": tile_a, "b": tile_b}, readers=1)
        done, memory = ptx.mbarrier.array(reg.from_(smem.mbarrier(1).name, u32), 0, 1)[0], lib.TensorMemory(256)
        with ptx.if_(tid == 0):
            done.init(1)
        ring.set_up(tid)
        memory.set_up(tid)
        with ptx.if_(tid == 128):
            for step in ptx.range_(0, steps):
                stage = ring.acquire()
                stage.load("a", a, (step * BK, row))
                stage.load("b", b, (0, step * BK) if major == "MN" else (step * BK, 0))
        with ptx.if_(tid == 160):
            product = lib.TensorProduct(ring)
            for step in ptx.range_(0, steps):
                stage = ring.wait()
                product.start(stage, memory.start, accumulate=step != 0)
                product.release(stage)
            ptx.tcgen05.commit(done)
        with ptx.if_(tid < 128):
            done.wait(0)
            ptx.tcgen05.fence_after_thread_sync()
            frag = lib.TensorFragment(memory.start, N, tid).apply(lib.bias(bias, 0))
            if out == e4m3:
                frag.store_rows(frag.quantize(e4m3), scales, row, end=c.shape[0])
            else:
                frag.store_rows(frag.row_reduce("add"), scales, row, end=c.shape[0])
            frag.store(c, row, 0, end=c.shape)
        memory.free(tid)

    return gemm


@pytest.mark.parametrize(("N", "major"), [(64, "MN"), (192, "K")])
def test_products_equal_those_of_numpy(N, major):
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((200, 192), (192, N)))
    bias = random.standard_normal(N).astype(np.float32)
    given = b if major == "MN" else np.ascontiguousarray(b.T)
    gemm = gemm_of(N, major)
    c, sums = gemm(a, given, bias)
    wanted = a.astype(np.float32) @ b.astype(np.float32) + bias
    np.testing.assert_array_equal(c, wanted)
    np.testing.assert_allclose(sums, wanted.sum(1), rtol=1e-4, atol=1e-3)
    report = gemm.check(a, given, bias)
    assert not report.errors, report


def test_rows_are_quantized_and_stored_by_sixteen_bytes():
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((128, 64), (64, 64)))
    gemm = gemm_of(64, "MN", e4m3)
    y, scales = gemm(a, b, np.zeros(64, np.float32))
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(scales, np.abs(wanted).max(1) / 448, rtol=1e-5)
    np.testing.assert_allclose(y.astype(np.float32) * scales[:, None], wanted, rtol=1 / 15, atol=0.02)
    stores = [line.opcode for line in gemm.compile(M=128, K=64).sass if line.opcode.startswith("STG")]
    assert sum(".128" in opcode for opcode in stores) == 4


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: lib.TensorMemory(48), "columns=48; expected 32"),
        (lambda: lib.TensorProduct(lib.TmaRing(1, {"a": 1024}, readers=1)), "expected two WgmmaTiles"),
        (
            lambda: lib.TensorProduct(
                lib.TmaRing(1, {"a": lib.WgmmaTile(96, 64, bf16), "b": lib.WgmmaTile(64, 64, bf16, "MN")}, readers=1)
            ),
            "64 or 128 rows",
        ),
        (lambda: lib.TmaRing(2, {"a": 1024}, readers=4, pair=True), "pair=True with readers=4"),
        (
            lambda: lib.TensorProduct(
                lib.TmaRing(
                    1,
                    {"a": lib.WgmmaTile(64, 64, bf16), "b": lib.WgmmaTile(64, 64, bf16, "MN")},
                    readers=1,
                    pair=True,
                )
            ),
            "in both CTAs together",
        ),
        (
            lambda: lib.store_fp4(lib.WgmmaFragment(64, ptx.tid.x), None, None, 0, 0),
            "store_fp4 of a WgmmaFragment of 32 elements",
        ),
    ],
)
def test_wrong_sizes_are_refused(use, message):
    @kernel(arch="sm_100a")
    def wrong():
        use()

    with pytest.raises(ValueError, match=message):
        wrong.ptx()


@pytest.mark.parametrize(("scale", "block"), [("ue4m3", 16), ("ue8m0", 32)])
def test_rows_are_quantized_to_fp4_with_a_scale_for_each_block(scale, block):
    N, rows = 64, 100
    columns = N // block + (scale == "ue8m0")  # an odd number: bytes one by one

    @kernel(
        in_specs=(Tile(128, N, f32),),
        out_specs=(Tile(rows, N // 2, u8), Tile(rows, columns, u8)),
        block=128,
        arch="sm_100a",
    )
    def quantized(x, y, scales):
        tid = reg.from_(ptx.tid.x, u32)
        memory = lib.TensorMemory(64)
        memory.set_up(tid)
        frag = lib.TensorFragment(memory.start, N, tid)
        frag.map(lambda value, i, j: x.load(frag.row, j))
        lib.store_fp4(frag, y, scales, 0, 0, scale=scale, end=rows)
        memory.free(tid)

    x = np.random.default_rng(0).standard_normal((128, N)).astype(np.float32) * np.exp(np.arange(128) / 16 - 4)[:, None]
    x = x.astype(np.float32)
    x[5, :block] = 0
    y, scales = quantized(x)
    scales = np.ascontiguousarray(scales[:, : N // block])
    given = x[:rows].reshape(rows, -1, block)
    wanted = np.abs(given).max(-1) / np.float32(6)
    if scale == "ue4m3":
        wanted_scales = wanted.astype(ml_dtypes.float8_e4m3fn)
        np.testing.assert_array_equal(scales, wanted_scales.view(np.uint8))
        factors = wanted_scales.astype(np.float32)
    else:
        factors = (scales.astype(np.uint32) << 23).view(np.float32)
        used = wanted > 0
        assert ((factors >= wanted) & (factors < 2 * wanted))[used].all()
    codes = np.stack([y & 15, y >> 4], -1).reshape(rows, -1, block)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(factors[..., None] > 0, given / factors[..., None], 0)
    expected = exact.astype(ml_dtypes.float4_e2m1fn)
    same = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32) == expected.astype(np.float32)
    assert same.mean() > 0.999  # others are ties of a product with the reciprocal
