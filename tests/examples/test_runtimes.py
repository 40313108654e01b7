"""The examples through every runtime: NumPy, torch eager and compiled, JAX eager, jitted and differentiated."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx.types import bf16, f32

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

RANDOM = np.random.default_rng(3)
X, GATE, UP, D_Y = (RANDOM.standard_normal((12, 100), dtype=np.float32) for _ in range(4))
A, B = (RANDOM.standard_normal(shape, dtype=np.float32) for shape in ((100, 72), (72, 136)))


def compiled(function):
    return torch.compile(function, fullgraph=True, backend="aot_eager")


def test_softmax_through_torch(example):
    softmax = example("softmax")
    x, wanted = torch.from_numpy(X), torch.softmax(torch.from_numpy(X), 1)
    torch.testing.assert_close(softmax.softmax(x), wanted)
    torch.testing.assert_close(compiled(lambda x: softmax.softmax(x * 1) + 1)(x), wanted + 1)


def test_softmax_through_jax(example):
    softmax = example("softmax")
    x, wanted = jax.numpy.asarray(X), jax.nn.softmax(X, 1)
    np.testing.assert_allclose(softmax.softmax(x), wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(jax.jit(lambda x: softmax.softmax(x * 1) + 1)(x), wanted + 1, rtol=1e-5)


PRODUCTS = pytest.mark.parametrize(
    "path, name, tiling",
    [("hopper/gemm", "gemm", {"BN": 64}), ("hopper/persistent_gemm", "persistent_gemm", {"BN": 128, "CTAS": 2})],
)


@PRODUCTS
def test_the_hopper_products_through_torch(example, path: str, name: str, tiling):
    gemm = getattr(example(path), f"{name}_of")(bf16, f32)
    a, b = (torch.from_numpy(array).to(torch.bfloat16) for array in (A, B))
    wanted = a.float() @ b.float()
    torch.testing.assert_close(gemm(a, b, **tiling), wanted, rtol=1e-4, atol=1e-4)
    torch._dynamo.reset()  # else it takes the tiling of the test before for a variable
    twice = compiled(lambda a, b: gemm(a, b, **tiling) * 2)(a, b)
    torch.testing.assert_close(twice, wanted * 2, rtol=1e-4, atol=1e-4)


@PRODUCTS
def test_the_hopper_products_through_jax(example, path: str, name: str, tiling):
    gemm = getattr(example(path), f"{name}_of")(bf16, f32)
    a, b = (jax.numpy.asarray(array, jax.numpy.bfloat16) for array in (A, B))
    wanted = np.asarray(a, np.float32) @ np.asarray(b, np.float32)
    np.testing.assert_allclose(gemm(a, b, **tiling), wanted, rtol=1e-4, atol=1e-4)
    twice = jax.jit(lambda a, b: gemm(a, b, **tiling) * 2)(a, b)
    np.testing.assert_allclose(twice, wanted * 2, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("how", [lambda function: function, compiled], ids=["eager", "compiled"])
def test_swiglu_and_its_gradients_through_torch(example, how):
    function = example("swiglu").swiglu_with_gradients()
    given = [torch.from_numpy(array).requires_grad_() for array in (GATE, UP)]
    same = [tensor.detach().clone().requires_grad_() for tensor in given]
    y = how(lambda gate, up: function(gate, up))(*given)
    wanted = torch.nn.functional.silu(same[0]) * same[1]
    torch.testing.assert_close(y, wanted)
    for result in (y, wanted):
        result.backward(torch.from_numpy(D_Y))
    for tensor, other in zip(given, same, strict=True):
        torch.testing.assert_close(tensor.grad, other.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("how", [lambda function: function, jax.jit], ids=["eager", "jitted"])
def test_swiglu_and_its_gradients_through_jax(example, how):
    function = example("swiglu").with_gradients_for_jax()
    gate, up = jax.numpy.asarray(GATE), jax.numpy.asarray(UP)
    np.testing.assert_allclose(how(function)(gate, up), jax.nn.silu(gate) * up, rtol=1e-5, atol=1e-5)
    given = how(jax.grad(lambda gate, up: (function(gate, up) * D_Y).sum(), argnums=(0, 1)))(gate, up)
    wanted = jax.grad(lambda gate, up: (jax.nn.silu(gate) * up * D_Y).sum(), argnums=(0, 1))(gate, up)
    for one, other in zip(given, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
