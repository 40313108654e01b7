"""torch.vmap of kernels: a batch is one launch where the kernel allows it, else a launch for each element."""

from __future__ import annotations

import pytest
import torch
from runtime.kernels import counts, double_bf16, product, scale
from runtime.test_tensor_maps import copy
from support.launches import recorded_grids

from pyptx.errors import LaunchError
from pyptx.torch_support import differentiable_kernel

ROWS = torch.arange(40.0).reshape(5, 8)
PAIR = differentiable_kernel(scale, lambda x, gradient, factor: scale(gradient, factor=factor))
PRODUCT = differentiable_kernel(
    lambda a, b: product(a, b)[0], lambda a, b, gradient: (product(gradient, b)[0], product(gradient, a)[0])
)


def doubled(x):
    return scale(x, factor=2.0)


def compiled(function):
    return torch.compile(function, fullgraph=True, backend="aot_eager")


EAGER_AND_COMPILED = pytest.mark.parametrize(
    "how",
    [pytest.param(lambda f: f, id="eager"), pytest.param(compiled, id="compiled", marks=pytest.mark.slow)],
)


@pytest.mark.transform("PyTorch", "`torch.vmap`", "supported: one launch, [where the kernel allows it](#batches)")
def test_a_batch_is_one_launch():
    with recorded_grids() as grids:
        assert torch.equal(torch.vmap(doubled)(ROWS), 2 * ROWS)
        assert torch.equal(torch.vmap(doubled, in_dims=1, out_dims=1)(ROWS.T), 2 * ROWS.T)
    assert grids == [(1, 1, 5)] * 2
    x = torch.randn(3, 64).to(torch.bfloat16)
    assert torch.equal(torch.vmap(double_bf16)(x), 2 * x)


def test_inputs_without_the_batch_are_shared():
    a, b = torch.randn(2, 3, 8), torch.randn(3, 8)
    with recorded_grids() as grids:
        both, total = torch.vmap(product, in_dims=(0, None))(a, b)
    assert torch.equal(both, a * b) and torch.equal(total, a + b) and grids == [(3, 1, 2)]


def test_nested_batches_are_one_launch():
    a, b = torch.randn(2, 3, 8), torch.randn(4, 3, 8)
    each = torch.vmap(torch.vmap(product, in_dims=(None, 0)), in_dims=(0, None))
    with recorded_grids() as grids:
        both, _ = each(a, b)
        assert torch.equal(torch.vmap(torch.vmap(doubled, in_dims=1), in_dims=2)(a), 2 * a.permute(2, 1, 0))
    assert torch.equal(both, a[:, None] * b) and grids == [(3, 1, 8), (1, 1, 24)]


def test_outputs_that_a_kernel_adds_to_are_zeros_first():
    x = torch.arange(1200, dtype=torch.int32).reshape(4, 300) % 7
    with recorded_grids() as grids:
        found = torch.vmap(counts)(x)
    assert torch.equal(found.int(), torch.stack([torch.bincount(row, minlength=8) for row in x]).int())
    assert len(grids) == 1


def test_a_kernel_with_an_obstacle_is_launched_for_each_element():
    x = torch.randn(3, 24, 32)
    with recorded_grids() as grids:
        assert torch.equal(torch.vmap(copy)(x), x)  # by tensor maps
    assert len(grids) == 3


@pytest.mark.parametrize("shape", [(0, 2, 8), (2, 0, 8), (1, 1, 8), (3, 2, 0)])
def test_empty_and_single_batches(shape):
    x = torch.ones(shape)
    with recorded_grids() as grids:
        assert torch.equal(torch.vmap(torch.vmap(doubled))(x), 2 * x)
    assert grids == [(1, 1, 1)] * (x.numel() > 0)


@pytest.mark.slow
@pytest.mark.transform(
    "PyTorch", "`torch.compile` of `torch.vmap`", "supported: one node; one launch or a loop, decided when it runs"
)
def test_compiled_batches():
    function = compiled(torch.vmap(doubled))
    with recorded_grids() as grids:
        for size in (5, 3):  # the second size makes the graph dynamic
            assert torch.equal(function(ROWS[:size]), 2 * ROWS[:size])
    assert grids == [(1, 1, 5), (1, 1, 3)]


@EAGER_AND_COMPILED
def test_gradients_of_batches(how):
    each = torch.vmap(torch.func.grad(lambda x: (PAIR(x, factor=3.0) * x).sum()))
    total = torch.func.grad(lambda x: (torch.vmap(lambda x: PAIR(x, factor=3.0))(x) * x).sum())
    for function in (each, total):
        with recorded_grids() as grids:
            assert torch.equal(how(function)(ROWS), 6 * ROWS)
        assert grids == [(1, 1, 5)] * 2  # forward and backward


@EAGER_AND_COMPILED
def test_the_gradient_of_a_shared_input_is_a_sum(how):
    a, b = torch.randn(5, 3, 8), torch.randn(3, 8)
    loss = torch.func.grad(lambda b: torch.vmap(PRODUCT, in_dims=(0, None))(a, b).pow(2).sum())
    with recorded_grids() as grids:
        torch.testing.assert_close(how(loss)(b), 2 * a.pow(2).sum(0) * b)
    assert set(grids) == {(3, 1, 5)}


def test_a_kernel_without_backward_says_so_for_a_batch():
    with pytest.raises(LaunchError, match="kernel scale has no backward kernel"):
        torch.func.grad(lambda x: torch.vmap(doubled)(x).sum())(ROWS)


def test_wrong_elements_are_named():
    with pytest.raises(LaunchError, match="scale: x: array of shape .* has rank 2"):
        torch.vmap(doubled)(torch.ones(2, 3, 4))
    with pytest.raises(LaunchError, match="out= is not supported"):
        torch.vmap(lambda x: scale(x, factor=1.0, out=x))(ROWS)
