"""RMS norm to fp8 and paged decode attention: against NumPy for many sizes, in every schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}
F32 = np.float32
schedules = pytest.mark.parametrize(
    "schedule", ["late", *(pytest.param(s, marks=pytest.mark.slow) for s in ("eager", "random"))]
)


@pytest.mark.parametrize("dtype", [bf16, f32, pytest.param(f16, marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("shape", [(1, 8), (5, 1000), (2, 4096), (1, 16_384)], ids=str)
@schedules
def test_rms_norm_to_fp8_equals_numpy(example, dtype, shape, schedule):
    module, random = example("rms_norm_fp8"), np.random.default_rng(1)
    x, weight = (random.standard_normal(s).astype(NUMPY[dtype]) for s in (shape, shape[1]))
    x[0] *= 0 if shape[0] > 1 else 1
    with use("sim", schedule=schedule):
        y, scales = module.rms_norm_fp8_of(dtype)(x, weight, eps=1e-3)
    wanted, wanted_scales = module.reference(x, weight, 1e-3)
    np.testing.assert_allclose(scales, wanted_scales, rtol=1e-5)
    # A quotient between two values of e4m3 may be rounded either way: neighbors differ by an eighth at most.
    np.testing.assert_allclose(y.astype(F32), wanted.astype(F32), rtol=0.126, atol=2e-3)
    assert (y.view(np.uint8) == wanted.view(np.uint8)).mean() > 0.98
    assert np.abs(y.astype(F32)).max() == 448


def test_rows_that_do_not_fit_are_refused(example):
    module = example("rms_norm_fp8")
    for columns in (12, 40_000):
        with pytest.raises(ValueError, match=f"rms_norm_fp8: N={columns}"):
            module.rms_norm_fp8(np.ones((1, columns), NUMPY[bf16]), np.ones(columns, NUMPY[bf16]))


@pytest.mark.parametrize("dtype", [bf16, pytest.param(f16, marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize(
    ("heads", "D", "PAGE", "lengths", "splits", "stages"),
    [
        ((4, 4), 64, 16, [1], 1, 3),
        ((8, 1), 64, 32, [100, 333], 3, 3),
        ((16, 1), 128, 64, [16, 15, 17], 5, 2),
        ((24, 2), 128, 16, [250], 2, 2),
    ],
    ids=str,
)
@schedules
def test_paged_attention_equals_numpy(example, dtype, heads, D, PAGE, lengths, splits, stages, schedule):
    """Pages that no sequence has are NaN, as are the tokens after the last one."""
    module = example("ampere/paged_attention")
    arrays = module.inputs(len(lengths), *heads, D, PAGE, lengths, NUMPY[dtype])
    of_parts, of_all = module.kernels_of(dtype)
    with use("sim", schedule=schedule):
        o = of_all(*of_parts(*arrays, SPLITS=splits, STAGES=stages))
    np.testing.assert_allclose(o.astype(F32), module.reference(*arrays), rtol=2e-2, atol=2e-2)


def test_decode_scales_the_scores(example):
    module = example("ampere/paged_attention")
    arrays = module.inputs(1, 2, 1, 64, 16, [40], NUMPY[bf16])
    scaled = [(arrays[0] * 4).astype(NUMPY[bf16]), *arrays[1:]]
    o = module.decode(*arrays, splits=2, scale=0.5)
    np.testing.assert_allclose(o.astype(F32), module.decode(*scaled, splits=2).astype(F32), rtol=2e-2, atol=2e-2)


def test_groups_that_do_not_fit_are_refused(example):
    module = example("ampere/paged_attention")
    arrays = module.inputs(1, 32, 1, 64, 16, [4], NUMPY[bf16])
    with pytest.raises(
        ValueError, match="H=32, HK=1; expected pages of a multiple of 16 tokens, and groups of at most 16"
    ):
        module.paged_attention(*arrays, SPLITS=1)
