"""Stream-K matrix product: against NumPy for every division of the steps, in every schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16}


@pytest.mark.parametrize(
    ("sizes", "ctas", "tiling"),
    [
        ((200, 264, 400), 3, {"BN": 128}),  # tiles of one, two and three CTAs
        ((130, 72, 64), 4, {"BN": 64}),  # fewer steps than CTAs
        pytest.param((300, 520, 200), 5, {"STAGES": 3, "GROUP": 1}, marks=pytest.mark.slow),
        pytest.param((128, 64, 1000), 7, {"BN": 64, "BK": 128, "STAGES": 2}, marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("schedule", ["late", *(pytest.param(s, marks=pytest.mark.slow) for s in ("eager", "random"))])
def test_a_product_equals_numpy(example, sizes, ctas, tiling, schedule):
    module, (M, N, K) = example("hopper/stream_k_gemm"), sizes
    random, gemm = np.random.default_rng(0), module.stream_k_gemm_of(f16, f32)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((M, K), (K, N)))
    width = module.BM * tiling.get("BN", 256)
    with use("sim", schedule=schedule):
        c, workspace, flags = gemm(a, b, CTAS=ctas, W=width, **tiling)
        np.testing.assert_allclose(c, module.reference(a, b), rtol=1e-3, atol=1e-3)
        assert not flags.any(), "the flags are ready for the next launch"
        again, _, _ = gemm(a, b, CTAS=ctas, W=width, out=(np.zeros_like(c), workspace, flags), **tiling)
    np.testing.assert_array_equal(again, c)


def test_a_workspace_of_another_size_is_refused(example):
    module = example("hopper/stream_k_gemm")
    a = np.ones((8, 8), NUMPY[bf16])
    with pytest.raises(ValueError, match="stream_k_gemm: W=5; expected one of"):
        module.stream_k_gemm(a, a, CTAS=1, W=5)
