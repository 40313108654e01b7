"""Top-k and top-p sampling: the token of the reference for every limit, size and type, in every schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("dtype", "N", "options"),
    [
        (f32, 1000, {"top_k": 40, "top_p": 0.8, "temperature": 1.3}),
        (bf16, 8, {"top_k": 0, "top_p": 1.0, "temperature": 1.0}),
        pytest.param(f16, 9000, {"top_k": 1, "top_p": 1.0, "temperature": 1.0}, marks=slow),
        pytest.param(f32, 40_000, {"top_k": 0, "top_p": 0.3, "temperature": 0.5}, marks=slow),
        pytest.param(bf16, 20_000, {"top_k": 5000, "top_p": 0.99, "temperature": 2.0}, marks=slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("schedule", ["late", *(pytest.param(s, marks=slow) for s in ("eager", "random"))])
def test_a_token_is_that_of_the_reference(example, dtype, N, options, schedule):
    module, random = example("sampling"), np.random.default_rng(N)
    logits, uniforms = (random.standard_normal((6, N)) * 4).astype(NUMPY[dtype]), random.random(6, np.float32)
    with use("sim", schedule=schedule):
        tokens = module.sampling_of(dtype)(logits, uniforms, **options)
    np.testing.assert_array_equal(tokens, module.reference(logits, uniforms, **options))


def test_only_tokens_within_the_limits_are_chosen_by_their_weights(example):
    module, rows = example("sampling"), 100
    logits = np.full((rows, 8), -np.inf, np.float32)
    logits[:, :5] = np.log([0.4, 0.1, 0.3, 0.15, 0.05])
    tokens = module.sampling_of(f32)(
        logits, np.arange(rows, dtype=np.float32) / rows, top_k=3, top_p=0.8, temperature=1.0
    )
    shares = np.bincount(tokens, minlength=8) / rows
    np.testing.assert_allclose(shares, np.array([0.4, 0, 0.3, 0.15, 0, 0, 0, 0]) / 0.85, atol=2 / rows)


def test_ties_stay_together_and_a_row_without_numbers_has_no_token(example):
    module = example("sampling")
    logits, uniforms = np.zeros((3, 64), np.float32), np.array([0.0, 0.999, 0.5], np.float32)
    logits[2] = np.nan
    tokens = module.sampling_of(f32)(logits, uniforms, top_k=1, top_p=0.1, temperature=1.0)
    np.testing.assert_array_equal(tokens, [0, 63, -1])


def test_rows_that_do_not_fit_are_refused(example):
    with pytest.raises(ValueError, match="sampling: N=9; expected a multiple of 4"):
        example("sampling").sampling_of(f32)(
            np.zeros((1, 9), np.float32), np.zeros(1, np.float32), top_k=0, top_p=1.0, temperature=1.0
        )
