"""The NVFP4 GEMM for sm_120a: exact on the simulator, close to the product of the unquantized matrices."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32


@pytest.fixture(scope="module")
def nvfp4(example):
    return example("blackwell/nvfp4_gemm")


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "sizes, tiling, out",
    [
        ((128, 128, 256), {}, f32),
        ((200, 136, 768), {"CTAS": 2}, bf16),
        ((1, 2, 512), {"BN": 64, "STAGES": 3}, f16),
        ((300, 330, 256), {"BN": 64, "GROUP": 2, "CTAS": 3}, f32),
    ],
    ids=str,
)
def test_it_equals_numpy(nvfp4, sizes, tiling, out, schedule: str):
    m, n, k = sizes
    arrays, alpha = nvfp4.inputs(normal(m, k), normal(n, k, seed=1))
    with use("sim", schedule=schedule):
        c = nvfp4.nvfp4_gemm_of(out)(*arrays, alpha=alpha, **tiling).astype(np.float32)
    digits = {f32: 1e-6, f16: 1e-3, bf16: 8e-3}[out]
    np.testing.assert_allclose(c, nvfp4.reference(*arrays, alpha), rtol=digits, atol=digits * np.sqrt(k))
    assert np.abs(c).max() > 1


def test_four_bits_are_close_to_the_numbers_they_stand_for(nvfp4):
    x, weights = normal(64, 1024), normal(32, 1024, seed=1)
    (a, _, a_scales, _), _ = nvfp4.inputs(x, weights)
    whole = float(np.abs(x).max()) / (448 * 6)
    greatest = np.repeat(np.abs(x.reshape(64, -1, 16)).max(-1), 16, axis=1)
    errors = np.abs(nvfp4.numbers(a, a_scales) * whole - x) / greatest
    assert errors.max() < 1 / 6 + 1 / 16, "half the widest step of e2m1, and a scale of three bits"
    arrays, alpha = nvfp4.inputs(x, weights)
    c = nvfp4.nvfp4_gemm_of(f32)(*arrays, alpha=alpha)
    assert np.corrcoef(c.ravel(), (x @ weights.T).ravel())[0, 1] > 0.98


def test_every_number_and_every_scale_is_multiplied_as_it_is(nvfp4):
    """Rows of one number each against columns of another: all 256 products of e2m1, under all scales of ue4m3."""
    codes = np.repeat(np.arange(16, dtype=np.uint8) * 17, 128).reshape(16, 128)
    scales = np.arange(127, dtype=np.uint8)  # 127 is NaN
    rows, of_rows = codes[np.arange(127) % 16], np.repeat(scales[:, None], 16, axis=1)
    one = np.float32(1).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    c = nvfp4.nvfp4_gemm_of(f32)(rows, codes, of_rows, np.full((16, 16), one, np.uint8), alpha=1.0)
    np.testing.assert_array_equal(c, nvfp4.reference(rows, codes, of_rows, np.full((16, 16), one, np.uint8), 1.0))


@pytest.mark.parametrize(
    "sizes, tiling, message",
    [
        ((64, 64, 128), {}, "K=128 is not a multiple of 256"),
        ((64, 63, 256), {}, "N=63 is odd"),
        ((64, 64, 256), {"BN": 256}, r"BN=256; expected one of \(64, 128\)"),
        ((64, 64, 256), {"STAGES": 3}, "3 stages need 110592 bytes of shared memory"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(nvfp4, sizes, tiling, message: str):
    m, n, k = sizes
    with pytest.raises(ValueError, match=message):
        nvfp4.nvfp4_gemm.compile(M=m, N=n, H=k // 2, KB=k // 16, **tiling)


def test_alpha_must_be_given(nvfp4):
    arrays, _ = nvfp4.inputs(normal(16, 256), normal(16, 256))
    with pytest.raises(TypeError, match="no value for raw parameter 'alpha'"):
        nvfp4.nvfp4_gemm(*arrays)
