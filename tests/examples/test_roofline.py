"""Rooflines of the examples: operations and bytes equal the counts by hand; positions of calls."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest

import pyptx
from pyptx.errors import LaunchError, ShapeError
from pyptx.views import MIME, Roofline
from pyptx.views._packed import unpack

M, N, K = 256, 512, 192
ROWS, COLUMNS = 64, 1024


def f32(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)


@pytest.fixture(scope="module")
def gemm(example) -> Roofline:
    arrays = (f32(M, K).astype(ml_dtypes.bfloat16), f32(K, N).astype(ml_dtypes.bfloat16))
    return example("hopper/gemm").gemm.roofline(*arrays)


@pytest.fixture(scope="module")
def softmax(example) -> Roofline:
    return example("softmax").softmax.roofline(f32(ROWS, COLUMNS), device="h200")


@pytest.fixture(scope="module")
def layer_norm(example) -> Roofline:
    kernel = example("layer_norm").layer_norm
    return kernel.roofline(f32(ROWS, COLUMNS), f32(COLUMNS), f32(COLUMNS), device="h200", level="l2")


@pytest.mark.slow
def test_a_hopper_matrix_product(gemm):
    (point,) = gemm.points
    assert [what for what in point.work if not what.startswith("core")] == ["wgmma.bf16"]
    assert point.work["wgmma.bf16"] == 2 * M * N * K
    assert point.flops == 2 * M * N * K
    assert point.bytes["dram"] == 2 * (M * K + K * N + M * N)
    tiles = (M // 128, N // 256)
    assert point.bytes["l2"] == 2 * (M * K * tiles[1] + K * N * tiles[0] + M * N)
    assert gemm.at(point).intensity == 2 * M * N * K / (2 * (M * K + K * N + M * N))
    assert [roof.name for roof in gemm.roofs] == ["wgmma.f16", "mma.f16", "core.f32"]
    assert (point.kind, point.ctas, gemm.gpu.name) == ("modeled", 4, "H200 SXM")


def test_a_matrix_product_on_cuda_cores(example):
    view = example("sgemm").sgemm.roofline(f32(128, 64), f32(64, 256))
    (point,) = view.points
    assert view.gpu.name == "H200 SXM"
    assert point.work["core.f32"] == point.flops == 2 * 128 * 256 * 64
    assert point.bytes["dram"] == 4 * (128 * 64 + 64 * 256 + 128 * 256)
    assert point.bytes["l2"] == 4 * (128 * 64 * 2 + 64 * 256 + 128 * 256), "each tile of C reads its own"


def test_softmax(softmax):
    (point,) = softmax.points
    # A number: max; sub, mul, add; mul. Each of 32 threads of a row: five steps of two reductions, and a reciprocal.
    by_hand = ROWS * (5 * COLUMNS + 32 * (2 * 5 + 1))
    assert point.flops == point.work["core.f32"] == by_hand
    assert point.work["core.mufu"] == ROWS * COLUMNS, "exponentials"
    assert point.bytes["dram"] == point.bytes["l2"] == 2 * 4 * ROWS * COLUMNS


def test_layer_norm(layer_norm):
    (point,) = layer_norm.points
    # A number: add; sub, FMA; sub, mul, FMA. Each of 32 threads of a row: two reductions, a mul and an FMA.
    assert point.flops == ROWS * (8 * COLUMNS + 32 * (2 * 5 + 1 + 2))
    assert point.work["core.mufu"] == ROWS * 32
    assert point.bytes["dram"] == 4 * (2 * ROWS * COLUMNS + 2 * COLUMNS)
    assert point.bytes["l2"] == 4 * (2 * ROWS * COLUMNS + 2 * COLUMNS * ROWS), "every row asks for weights and biases"
    assert layer_norm.at(point).intensity == point.flops / point.bytes["l2"]


def test_a_point_opens_its_own_code_and_its_derivation(softmax):
    (point,) = softmax.points
    data = unpack(json.loads(json.dumps(softmax._repr_mimebundle_()[MIME])))
    assert data["views"][point.view]["title"] == "softmax"
    assert data["views"][point.view]["target"] == "sm_90a", "assembled for the GPU meant"
    assert point.note.startswith(f"M={ROWS} N={COLUMNS}")
    assert "simulated" in softmax.text() or "simulator" in softmax.text()


def test_rooflines_of_one_gpu_add_up(softmax, layer_norm, gemm):
    view = softmax + layer_norm + gemm
    assert [point.name for point in view.points] == ["softmax", "layer_norm", "gemm"]
    assert len({point.view for point in view.points}) == 3
    for point, own in zip(view.points, (softmax, layer_norm, gemm), strict=True):
        assert view.views[point.view].title == own.views[own.points[0].view].title
    assert view.title == "softmax · layer_norm · gemm"
    with pytest.raises(ShapeError, match="two GPUs, H200 SXM .* and A100"):
        softmax + Roofline("a100")


def test_what_cannot_be_is_refused_before_anything_runs(example):
    gemm, softmax = example("hopper/gemm").gemm, example("softmax").softmax
    arrays = (f32(M, K).astype(ml_dtypes.bfloat16), f32(K, N).astype(ml_dtypes.bfloat16))
    with pytest.raises(LaunchError, match="gemm is for sm_90a, which does not run on RTX 4090"):
        gemm.roofline(*arrays, device="rtx 4090")
    with pytest.raises(ShapeError, match="no GPU called 'h201'"):
        softmax.roofline(f32(8, 64), device="h201")
    with pytest.raises(ShapeError, match="expected dram, l2, shared"):
        softmax.roofline(f32(8, 64), level="l1")
    with pytest.raises(LaunchError, match="softmax"):
        softmax.roofline(f32(8, 64), f32(8, 64))


def test_a_loaded_entry_is_placed_by_its_launch(example):
    softmax = example("softmax").softmax
    entry = pyptx.load(softmax.ptx(M=ROWS, N=COLUMNS))["softmax"]
    x = f32(ROWS, COLUMNS)
    view = entry.roofline(ROWS * 32 // 256, 256, x, np.zeros_like(x), device="a100")
    assert view.gpu.name == "A100 SXM 80GB"
    assert view.points[0].bytes["dram"] == 2 * 4 * ROWS * COLUMNS
    assert view.points[0].note == ""
