"""Persistent causal attention with grouped queries: against NumPy for many sizes, in every schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16}
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("sizes", "options", "dtype"),
    [
        ((1, 4, 2, 300, 64), {"CTAS": 3}, f16),
        pytest.param((2, 3, 1, 200, 128), {"CTAS": 2, "BN": 64}, bf16, marks=slow),
        pytest.param((1, 1, 1, 5, 64), {}, f16, marks=slow),
        pytest.param((1, 2, 2, 700, 64), {"CTAS": 1, "STAGES": 3, "Q_STAGES": 1}, bf16, marks=slow),
        pytest.param((1, 8, 1, 400, 128), {"CTAS": 5, "PINGPONG": False}, f16, marks=slow),
        pytest.param((3, 2, 1, 130, 64), {"CTAS": 4, "BN": 64, "Q_STAGES": 1}, f16, marks=slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("schedule", ["late", *(pytest.param(s, marks=slow) for s in ("eager", "random"))])
def test_it_equals_numpy(example, sizes, options, dtype, schedule):
    module, (batch, heads, of_keys, length, d) = example("hopper/persistent_attention"), sizes
    random = np.random.default_rng(length)
    q, k, v = (random.standard_normal((batch, n, length, d)).astype(NUMPY[dtype]) for n in (heads, of_keys, of_keys))
    with use("sim", schedule=schedule):
        o = module.persistent_attention_of(dtype)(q, k, v, **options)
    digits = {f16: 2e-3, bf16: 1.5e-2}[dtype]
    np.testing.assert_allclose(o.astype(np.float32), module.reference(q, k, v), rtol=digits, atol=digits)


def test_weights_that_grow_late_rescale_earlier_results(example):
    module = example("hopper/persistent_attention")
    q, v = np.zeros((1, 1, 320, 64), np.float16), np.random.default_rng(1).standard_normal((1, 1, 320, 64))
    k = np.zeros_like(q)
    q[..., 0], k[0, 0, :, 0] = 1, np.linspace(-200, 200, 320) ** 3 / 200**2
    o = module.persistent_attention_of(f16)(q, k, v.astype(np.float16), BN=64, CTAS=1)
    np.testing.assert_allclose(o.astype(np.float32), module.reference(q, k, v.astype(np.float16)), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((1, 4, 64, 64), (1, 3, 64, 64)), "4 heads cannot share 3 heads of keys"),
        (((1, 2, 64, 96), (1, 2, 64, 96)), "head dimension D=96; expected 64 or 128"),
    ],
)
def test_heads_that_do_not_fit_are_refused(example, shapes, message):
    q, k = (np.zeros(shape, NUMPY[bf16]) for shape in shapes)
    with pytest.raises(ValueError, match=message):
        example("hopper/persistent_attention").persistent_attention(q, k, k)


@pytest.mark.parametrize(
    ("heads", "of_keys", "length", "d"), [(4, 2, 200, 64), pytest.param(2, 1, 130, 128, marks=slow)]
)
def test_gradients_equal_those_of_torch(example, heads, of_keys, length, d):
    torch = pytest.importorskip("torch")
    random = torch.Generator().manual_seed(0)
    q, k, v, d_o = (torch.randn((2, n, length, d), generator=random).half() for n in (heads, of_keys, of_keys, heads))
    attention = example("hopper/persistent_attention").with_gradients(f16)
    given = [x.clone().requires_grad_() for x in (q, k, v)]
    o = attention(*given, CTAS=3)
    o.backward(d_o)
    wanted = [x.float().requires_grad_() for x in (q, k, v)]
    exact = torch.nn.functional.scaled_dot_product_attention(*wanted, is_causal=True, enable_gqa=True)
    exact.backward(d_o.float())
    torch.testing.assert_close(o.float(), exact, rtol=2e-3, atol=2e-3)
    for ours, theirs in zip(given, wanted, strict=True):
        torch.testing.assert_close(ours.grad.float(), theirs.grad, rtol=5e-3, atol=1e-2)
