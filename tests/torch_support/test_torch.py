"""Kernels on torch tensors: eager, compiled, with gradients; on the CPU, where they run on the simulator."""

from __future__ import annotations

import pytest
import torch
from runtime.kernels import counts, double_bf16, product, scale

import pyptx
from pyptx import Tile, kernel, ptx
from pyptx.errors import LaunchError
from pyptx.torch_support import differentiable_kernel
from pyptx.types import from_name

X = torch.arange(100, dtype=torch.float32)


@pytest.mark.transform("PyTorch", "eager call", "supported")
def test_an_eager_call_gives_a_tensor():
    y = scale(X, factor=3.0)
    assert isinstance(y, torch.Tensor) and torch.equal(y, 3 * X)
    assert scale.last_run.backend == "sim"


def test_several_outputs():
    a, b = torch.randn(3, 100), torch.randn(3, 100)
    both, total = product(a, b)
    assert torch.equal(both, a * b) and torch.equal(total, a + b)


def test_types_that_numpy_lacks():
    x = torch.randn(64).to(torch.bfloat16)
    y = double_bf16(x)
    assert y.dtype == torch.bfloat16 and torch.equal(y, 2 * x)


@pytest.mark.parametrize("dtype", ["u16", "u32", "u64"])
def test_unsigned_outputs_are_unsigned_tensors(dtype):
    tile = Tile("N", from_name(dtype))
    nothing = kernel(lambda x, y: ptx.ret(), arch="sm_80", in_specs=[tile], out_specs=[tile])
    given = torch.zeros(4, dtype=getattr(torch, f"int{dtype[1:]}"))  # same width: taken
    assert nothing(given).dtype == getattr(torch, f"uint{dtype[1:]}")


def test_outputs_may_be_given():
    out = torch.empty_like(X)
    assert scale(X, factor=2.0, out=out) is out
    assert torch.equal(out, 2 * X)


def test_outputs_that_a_kernel_adds_to_are_zeros_first():
    x = torch.arange(300, dtype=torch.int32) % 8
    for f in (counts, counts, lambda x: torch.vmap(counts)(x[None])[0]):
        assert torch.equal(f(x).int(), torch.bincount(x).int())


def test_launch_writes_tensors_in_place():
    y = torch.empty_like(X)
    scale.launch(2, 64, X, y, 4.0, 100, N=100)
    assert torch.equal(y, 4 * X)


@pytest.mark.transform(
    "PyTorch", "`torch.compile(fullgraph=True)`, `dynamic=True`", "supported: one node, `pyptx::launch`"
)
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_compiled_in_one_graph(backend):
    compiled = torch.compile(lambda x: scale(x * 2, factor=3.0) + 1, fullgraph=True, backend=backend)
    for size in (100, 37, 57):  # the second size makes the graph dynamic
        x = torch.arange(size, dtype=torch.float32)
        assert torch.equal(compiled(x), 6 * x + 1)


def test_an_operator_as_torch_wants_them():
    args = (scale.recorded_identity(), "factor=2.0\n", [X])
    batch = (*args[:2], [X.reshape(5, 20)], [True])
    for each in (args, batch):
        torch.library.opcheck(torch.ops.pyptx.launch, each, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.transform(
    "PyTorch", "autograd of a kernel without backward kernel", "refused by name when the gradient is computed"
)
def test_a_kernel_without_backward_says_so():
    x = X.clone().requires_grad_()
    y = scale(x, factor=2.0)
    with pytest.raises(LaunchError, match="kernel scale has no backward kernel"):
        y.sum().backward()
    with torch.no_grad():
        assert torch.equal(scale(x, factor=2.0), 2 * X)


def _scaled_gradient(x, gradient, factor):
    return scale(gradient, factor=factor)


@pytest.mark.transform("PyTorch", "autograd", "supported with `differentiable_kernel`")
def test_gradients_of_a_pair_of_kernels():
    pair = differentiable_kernel(scale, _scaled_gradient)
    assert pair.__name__ == "scale" and pair.forward_kernel is scale and pair.backward_kernel is _scaled_gradient
    x = X.clone().requires_grad_()
    (pair(x, factor=2.0) * X).sum().backward()
    assert torch.equal(x.grad, 2 * X)
    x.grad = None
    torch.compile(lambda x: pair(x * 1.5, factor=5.0).sum(), fullgraph=True, backend="aot_eager")(x).backward()
    assert torch.equal(x.grad, torch.full_like(X, 7.5))


def test_forward_mode_is_refused_rather_than_lost():
    with pytest.raises(LaunchError, match="kernel scale has no forward-mode derivative"):
        torch.func.jvp(lambda x: scale(x, factor=2.0), (X,), (X,))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(X, X)
        with pytest.raises(LaunchError, match="forward-mode"), torch.no_grad():
            scale(dual, factor=2.0)
        assert torch.equal(scale(X, factor=2.0), 2 * X)


def test_more_gradients_than_inputs():
    pair = differentiable_kernel(scale, lambda x, g, factor: (g, g))
    with pytest.raises(LaunchError, match="returns 2 gradients for 1 inputs"):
        pair(X.clone().requires_grad_(), factor=1.0).sum().backward()
    pair = differentiable_kernel(scale, lambda x, g, factor: (g, g), num_grad_inputs=1)
    x = X.clone().requires_grad_()
    pair(x, factor=1.0).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(X))


@pytest.mark.parametrize(
    "tensor, problem",
    [
        (torch.zeros(4, 4).t()[0], "x is not contiguous"),
        (torch.zeros(4, dtype=torch.int64), "x has dtype int64"),
        (torch.zeros(2, 2), "x: array of shape .* has rank 2"),
        (torch.zeros(4).to_sparse(), "x is a .*sparse.* tensor"),
    ],
)
def test_bad_tensors_are_named(tensor, problem):
    with pytest.raises(LaunchError, match=f"scale: {problem}"):
        scale(tensor, factor=1.0)


def test_arrays_of_two_packages_do_not_mix():
    with pytest.raises(LaunchError, match="product: b is a numpy array, but the others are torch"):
        product(torch.zeros(2, 2), torch.zeros(2, 2).numpy())


def test_a_number_that_changes_between_compiled_calls_is_a_parameter_still():
    compiled = torch.compile(lambda x, factor: scale(x, factor=factor), fullgraph=True, backend="aot_eager")
    for factor in (2, 3, 4):
        assert torch.equal(compiled(X, factor), factor * X)


def test_parameters_under_compile_are_literals():
    with pytest.raises(Exception, match="numbers, strings"):
        torch.compile(lambda x: scale(x, factor=[1.0]), fullgraph=True, backend="eager")(X)


def test_the_top_of_the_package_has_it():
    assert pyptx.differentiable_kernel is differentiable_kernel
