"""Gradients of RMS norm with quantization, and of a mixture of experts, against torch autograd in float64, in every schedule."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx.types import bf16, f16, f32

torch = pytest.importorskip("torch")

TYPES = {f32: (torch.float32, 1e-5), bf16: (torch.bfloat16, 2e-2), f16: (torch.float16, 2e-3)}


def near(ours, exact, tolerance: float) -> bool:
    return bool((ours.double() - exact).abs().max() <= tolerance * exact.abs().max())


def exactly(tensors):
    """Copies in float64 that require gradients."""
    return [tensor.detach().double().requires_grad_() for tensor in tensors]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 8), (7, 1000), (300, 64)], ids=str)
def test_gradients_pass_the_quantization_of_a_norm(example, dtype, shape):
    of_torch, tolerance = TYPES[dtype]
    generator = torch.Generator().manual_seed(0)
    x, weight, d_y = (torch.randn(n, generator=generator).to(of_torch) for n in (shape, shape[1:], shape))
    ours = [x.requires_grad_(), weight.requires_grad_()]
    y = example("rms_norm_backward").with_gradients(dtype)(*ours, eps=1e-3)
    y.backward(d_y.float())
    theirs = exactly(ours)
    norm = torch.nn.functional.rms_norm(theirs[0], shape[1:], theirs[1], eps=1e-3)
    norm.backward(d_y.double())  # straight through: as if nothing were quantized
    largest = norm.abs().amax(1, keepdim=True)
    assert ((y - norm).abs() <= norm.abs() / 16 + largest / 448 / 16).all()  # three bits of mantissa
    for mine, exact in zip(ours, theirs, strict=True):
        assert near(mine.grad, exact.grad, tolerance)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("tokens", "experts", "top"), [(20, 5, 2), (3, 4, 1), (150, 3, 3)])
def test_gradients_of_a_mixture_of_experts(example, tokens, experts, top):
    depth, width = 72, 136
    generator = torch.Generator().manual_seed(0)
    shapes = (tokens, depth), (tokens, experts), (experts, depth, width), (tokens, width)
    x, logits, matrices, d_y = (torch.randn(n, generator=generator) for n in shapes)
    ours = [x.bfloat16(), logits, (matrices / 8).bfloat16()]
    d_y = d_y.bfloat16()
    y = example("hopper/moe_backward").with_gradients(bf16, top=top, BN=128, CTAS=2)(
        *(tensor.requires_grad_() for tensor in ours)
    )
    y.backward(d_y)
    theirs = exactly(ours)
    chosen, which = theirs[1].topk(top, 1)
    wanted = torch.einsum("mk,md,mkdn->mn", chosen.softmax(1), theirs[0], theirs[2][which])
    wanted.backward(d_y.double())
    assert near(y, wanted, 1e-2)
    for mine, exact in zip(ours, theirs, strict=True):
        assert near(mine.grad, exact.grad, 1e-2)


def test_infinite_rows_of_another_expert_do_not_matter(example):
    random = np.random.default_rng(0)
    rows, d_products = (random.standard_normal((100, n)).astype(ml_dtypes.bfloat16) for n in (64, 72))
    ends = np.array([0, 30, 100], np.int32)
    rows[40], d_products[50] = np.inf, np.nan  # of expert 1, in the stage that expert 0 reads, too
    found = example("hopper/moe_backward").expert_gradients(rows, d_products, ends, G=2)
    wanted = rows[:30].astype(np.float32).T @ d_products[:30].astype(np.float32)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_every_order_gives_the_same_bits_of_the_gradients(example):
    module, random = example("hopper/moe_backward"), np.random.default_rng(5)
    rows, d_products = (random.standard_normal((150, n)).astype(ml_dtypes.bfloat16) for n in (136, 72))
    report = module.expert_gradients.check(rows, d_products, np.array([0, 70, 70, 150], np.int32), G=3)
    assert report.ok, report
    d_y, weights = random.standard_normal((5, 72)).astype(ml_dtypes.bfloat16), random.random((5, 2), np.float32)
    order = random.permutation(10).astype(np.int32)
    report = module.combine_backward.check(d_y, d_products[:10], weights, order)
    assert report.ok, report
