"""TMA in compiled kernels: CUDA C++ with tensor maps as arguments, Triton with maps made on the device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyptx import TensorMap, load

CORPUS = Path(__file__).parents[1] / "corpus" / "ptx"
SCHEDULES = ("eager", "late", "random")
BLOCKS = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)


@pytest.fixture(scope="module", params=["sm_90", "sm_90a", "sm_100", "sm_120"])
def copies(request):
    return load(CORPUS / "nvcc" / f"tma.{request.param}.ptx")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_tiles_are_transposed(copies, schedule):
    y = np.zeros((96, 64), np.float32)
    copies["tile_transpose"].launch((3, 2), 128, TensorMap(BLOCKS, (32, 32)), TensorMap(y, (32, 32)), schedule=schedule)
    np.testing.assert_array_equal(y, BLOCKS.T)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_tiles_are_added_up_in_memory(copies, schedule):
    total, x = np.zeros((8, 64), np.float32), BLOCKS.reshape(-1)[: 5 * 512]
    copies["tile_reduce"].launch(5, 128, TensorMap(total, (8, 64)), x, schedule=schedule)
    np.testing.assert_array_equal(total, x.reshape(5, 8, 64).sum(axis=0))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_one_load_feeds_both_ctas_of_a_cluster(copies, schedule):
    x, y = np.ascontiguousarray(BLOCKS[:16, :64]), np.zeros((4, 512), np.float32)
    copies["multicast"].launch(4, 128, TensorMap(x, (8, 64)), y, cluster=2, schedule=schedule)
    np.testing.assert_array_equal(y, x.reshape(2, 512)[[0, 0, 1, 1]])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name, threads", [("wgmma_simple", 128), ("wgmma_specialized", 384)])
def test_matrix_products_of_nvcc_for_hopper(name, threads, schedule):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((256, 192)).astype(np.float16) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    maps = [TensorMap(x, (128, 64), swizzle="128B") for x in (a, b)]
    load(CORPUS / "nvcc" / "hopper_gemm.sm_90a.ptx")[name].launch(
        (2, 2), threads, 256, 192, *maps, c, smem_bytes=4 * 32768 + 1024, schedule=schedule
    )
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32).T, rtol=1e-5, atol=1e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name, columns, threads", [("matmul_map", 64, 128), ("matmul_map_wide", 128, 256)])
@pytest.mark.parametrize("target", ["sm_90", "sm_120"])
def test_matrix_products_of_triton_with_maps_made_on_the_device(name, columns, threads, target, schedule):
    dtype = np.float16
    if name == "matmul_map_wide":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((256, 128)).astype(dtype), rng.standard_normal((128, 128)).astype(dtype)
    c, scratch = np.zeros((256, 128), dtype), np.zeros(1 << 14, np.uint8)
    load(CORPUS / "triton" / f"{name}.{target}.ptx")["matmul_map"].launch(
        (128 // columns, 2), threads, a, b, c, 256, 128, 128, scratch, scratch, schedule=schedule, smem_bytes=99 * 1024
    )  # all that sm_120 has
    exact = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(c.astype(np.float32), exact, rtol=2**-8, atol=1e-2)
