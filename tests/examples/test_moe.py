"""Mixture of experts: routing, sorting and the whole layer against NumPy, in every schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use

BF16 = ml_dtypes.bfloat16
schedules = pytest.mark.parametrize(
    "schedule", ["late", *(pytest.param(s, marks=pytest.mark.slow) for s in ("eager", "random"))]
)


@pytest.mark.parametrize(("tokens", "experts", "top"), [(1, 1, 1), (13, 8, 2), (9, 60, 6), (8, 256, 8), (3, 500, 16)])
@schedules
def test_tokens_go_to_their_best_experts(example, tokens, experts, top, schedule):
    module, random = example("moe_routing"), np.random.default_rng(0)
    logits = random.standard_normal((tokens, experts), np.float32) * 4
    if experts > 1:
        logits[0] = random.integers(-1, 2, experts)  # ties, also of 0 and -1
    with use("sim", schedule=schedule):
        weights, chosen = module.moe_routing(logits, TOP=top)
    wanted_weights, wanted = module.reference(logits, top)
    np.testing.assert_array_equal(chosen, wanted)
    np.testing.assert_allclose(weights, wanted_weights, rtol=1e-5)


@pytest.mark.parametrize(("choices", "experts", "ahead"), [(1, 1, 1), (37, 5, 8), (1000, 7, 4), (5000, 3, 8)])
@schedules
def test_choices_are_sorted_stably(example, choices, experts, ahead, schedule):
    module = example("moe_routing")
    given = np.random.default_rng(0).integers(0, experts, choices).astype(np.int32)
    with use("sim", schedule=schedule):
        order, places, ends = module.sort_by_expert(given, E1=experts + 1, AHEAD=ahead)
    np.testing.assert_array_equal(order, np.argsort(given, kind="stable"))
    np.testing.assert_array_equal(places[order], np.arange(choices))
    np.testing.assert_array_equal(ends, np.searchsorted(np.sort(given), np.arange(experts + 1)))


def test_a_layer_equals_numpy(example):
    module, grouped, random = example("moe_routing"), example("hopper/grouped_gemm"), np.random.default_rng(0)
    M, E, D, N, top = 50, 6, 72, 136, 2
    x, w = random.standard_normal((M, D)).astype(BF16), (random.standard_normal((E, D, N)) / 8).astype(BF16)
    logits = random.standard_normal((M, E), np.float32)
    y = module.layer(x, logits, w, top=top, product=lambda *given: grouped.grouped_gemm(*given, BN=128, CTAS=2))
    weights, chosen = module.reference(logits, top)
    products = np.einsum("md,mkdn->mkn", x.astype(np.float64), w.astype(np.float64)[chosen])
    np.testing.assert_allclose(y.astype(np.float64), np.einsum("mk,mkn->mn", weights, products), rtol=2e-2, atol=2e-2)


def test_too_many_choices_are_refused(example):
    with pytest.raises(ValueError, match="moe_routing: E=4, TOP=5"):
        example("moe_routing").moe_routing(np.zeros((1, 4), np.float32), TOP=5)
