"""`pyptx.lib.WgmmaTile`: products through its descriptors equal NumPy's, for every major, type and number of boxes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.types import bf16, e4m3, f32, tf32, u32

N = 128
ARRAYS = {bf16: ml_dtypes.bfloat16, e4m3: ml_dtypes.float8_e4m3fn, tf32: np.float32}


def product_of(dtype, major: str, K: int):
    """Return a kernel for C (64 x N) = A (64 x K) @ B, with B as K x N (MN) or N x K (K)."""
    a_tile = lib.WgmmaTile(64, K, dtype)
    b_tile = lib.WgmmaTile(N, K, dtype) if major == "K" else lib.WgmmaTile(K, N, dtype, "MN")
    step = 256 // dtype.bits

    def array(tile: lib.WgmmaTile) -> Tile:
        box = (tile.rows, tile.box_columns)
        return Tile(tile.rows, tile.columns, dtype, Layout.TMA_128B, tma_box=box, tma_whole=True)

    @kernel(in_specs=(array(a_tile), array(b_tile)), out_specs=(Tile(64, N, f32), Tile(60, 100, bf16)), block=256)
    def product(a, b, c, d):
        tid = reg.from_(ptx.tid.x, u32)
        ring = lib.TmaRing(1, {"a": a_tile, "b": b_tile}, readers=4)
        ring.set_up(tid)
        roles = lib.roles(consumers=1, tid=tid)
        with roles.producer():
            stage = ring.acquire()
            stage.load("a", a, (0, 0))
            stage.load("b", b, (0, 0))
        with roles.consumer():
            fragment = lib.WgmmaFragment(N, tid)
            sums = fragment.sums
            stage = ring.wait()
            from_a, from_b = (stage.descriptor(ring.descriptor(name)) for name in ("a", "b"))
            ptx.wgmma.fence()
            for k in range(0, K, step):
                ptx.wgmma.mma_async(
                    shape=(64, N, step),
                    dtype_d=f32,
                    dtype_a=dtype,
                    dtype_b=dtype,
                    d=sums,
                    a=from_a + a_tile.offset(k),
                    b=from_b + b_tile.offset(k),
                    scale_d=k > 0,
                    **({"trans_b": int(major == "MN")} if dtype == bf16 else {}),
                )
            ptx.wgmma.commit_group()
            ptx.wgmma.wait_group(0)
            lane, warp = tid & 31, (tid >> 5) & 3
            row, column = warp * 16 + (lane >> 2), (lane & 3) * 2
            for i, value in enumerate(sums):  # PTX ISA, "Register Fragments for wgmma.mma_async", matrix D
                c.store(row, column, value, offset=(i // 2 % 2 * 8, i // 4 * 8 + i % 2))
            fragment.map(lambda v, i, j: v * 2.0 + (fragment.row + i).to(f32))
            fragment.store(d, 0, 0, end=(60, 100))

    return product


@pytest.mark.parametrize(
    ("dtype", "major", "K"),
    [(bf16, "K", 64), (bf16, "K", 128), (bf16, "MN", 64), (bf16, "MN", 128), (e4m3, "K", 256), (tf32, "K", 64)],
)
def test_products_equal_those_of_numpy(dtype, major, K):
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, shape).astype(ARRAYS[dtype]) for shape in ((64, K), (N, K)))
    given = b if major == "K" else np.ascontiguousarray(b.T)
    product = product_of(dtype, major, K)
    c, d = product(a, given)
    wanted = a.astype(np.float32) @ b.astype(np.float32).T
    np.testing.assert_array_equal(c, wanted)
    np.testing.assert_array_equal(d, (wanted * 2 + np.arange(64)[:, None])[:60, :100].astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: lib.WgmmaTile(64, 60, bf16), "multiple of 8 rows and of 64 columns"),
        (lambda: lib.WgmmaTile(64, 128, e4m3, "MN"), "'MN' for f16 and bf16"),
        (lambda: lib.WgmmaTile(64, 64, bf16).offset(8), "expected multiples of 16 and 8 inside it"),
        (lambda: lib.WgmmaTile(64, 64, bf16).offset(64), "inside it"),
        (lambda: lib.WgmmaTile(64, 64, bf16).offset(0, 64), "inside it"),
    ],
)
def test_wrong_sizes_are_refused(use, message):
    with pytest.raises(ValueError, match=message):
        use()
