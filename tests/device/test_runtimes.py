"""Three kernels - softmax, Hopper GEMM, SwiGLU with gradients - through every runtime on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.types import bf16, f32

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
RANDOM = np.random.default_rng(3)
X, GATE, UP, D_Y = (RANDOM.standard_normal((120, 1000), dtype=np.float32) for _ in range(4))
A, B = (RANDOM.standard_normal(shape, dtype=np.float32) for shape in ((512, 256), (256, 384)))
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def silu(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def swiglu_gradients() -> tuple[np.ndarray, np.ndarray]:
    s = 1 / (1 + np.exp(-GATE))
    return D_Y * UP * s * (1 + GATE * (1 - s)), D_Y * GATE * s


# NumPy arrays, copied over and back


def test_softmax_of_numpy_arrays(gpu, example):
    with pyptx.use("cuda"):
        np.testing.assert_allclose(example("softmax").softmax(X), softmax(X), **CLOSE)


def test_the_product_of_numpy_arrays(gpu, hopper, example):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = A.astype(ml_dtypes.bfloat16), B.astype(ml_dtypes.bfloat16)
    with pyptx.use("cuda"):
        c = example("hopper/gemm").gemm_of(bf16, f32)(a, b)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3)


# torch


@pytest.fixture(params=["eager", "compiled", "in a graph"])
def how(request, torch):
    """Runs a function of tensors in one of three ways."""

    def in_a_graph(function):
        def run(*tensors):
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                function(*tensors)  # what is made once is made before the capture
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = function(*tensors)
            graph.replay()
            return result

        return run

    return {"eager": lambda f: f, "compiled": lambda f: torch.compile(f, fullgraph=True), "in a graph": in_a_graph}[
        request.param
    ]


def test_softmax_of_tensors(torch, example, how):
    x, kernel = torch.from_numpy(X).to(DEVICE), example("softmax").softmax
    function = how(lambda x: kernel(x * 1) + 1)
    for _ in range(3):  # the second call is one that was made before
        torch.testing.assert_close(function(x), torch.softmax(x, 1) + 1)


def test_the_product_of_tensors(torch, hopper, example, how):
    a, b = (torch.from_numpy(array).to(DEVICE, torch.bfloat16) for array in (A, B))
    kernel = example("hopper/gemm").gemm_of(bf16, f32)
    function = how(lambda a, b: kernel(a, b) * 2)
    for _ in range(3):
        torch.testing.assert_close(function(a, b), (a.float() @ b.float()) * 2, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("compiled", [False, True])
def test_swiglu_and_its_gradients_of_tensors(torch, example, compiled):
    pair = example("swiglu").swiglu_with_gradients()
    function = torch.compile(lambda gate, up: pair(gate, up), fullgraph=True) if compiled else pair
    gate, up = (torch.from_numpy(array).to(DEVICE).requires_grad_() for array in (GATE, UP))
    for _ in range(2):
        gate.grad = up.grad = None
        y = function(gate, up)
        np.testing.assert_allclose(y.detach().cpu(), silu(GATE) * UP, **CLOSE)
        y.backward(torch.from_numpy(D_Y).to(DEVICE))
        for given, wanted in zip((gate.grad, up.grad), swiglu_gradients(), strict=True):
            np.testing.assert_allclose(given.cpu(), wanted, **CLOSE)


def test_autocast_leaves_kernels_alone(torch, example):
    x = torch.from_numpy(X).to(DEVICE)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        y = example("softmax").softmax(x)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, torch.softmax(x, 1))


# JAX


@pytest.mark.parametrize("compiled", [False, True])
def test_softmax_of_jax_arrays(jax, example, compiled):
    function = example("softmax").softmax
    function = jax.jit(function) if compiled else function
    for _ in range(2):
        np.testing.assert_allclose(function(jax.numpy.asarray(X)), softmax(X), **CLOSE)
    batched = jax.jit(jax.vmap(example("softmax").softmax))(jax.numpy.asarray(X).reshape(4, 30, 1000))
    np.testing.assert_allclose(batched.reshape(120, 1000), softmax(X), **CLOSE)


def test_the_product_of_jax_arrays(jax, hopper, example):
    a, b = (jax.numpy.asarray(array, jax.numpy.bfloat16) for array in (A, B))
    c = jax.jit(lambda a, b: example("hopper/gemm").gemm_of(bf16, f32)(a, b))(a, b)
    np.testing.assert_allclose(c, np.asarray(a, np.float32) @ np.asarray(b, np.float32), rtol=1e-3, atol=1e-3)


def test_swiglu_and_its_gradients_of_jax_arrays(jax, example):
    function = example("swiglu").with_gradients_for_jax()
    gate, up = jax.numpy.asarray(GATE), jax.numpy.asarray(UP)
    np.testing.assert_allclose(jax.jit(function)(gate, up), silu(GATE) * UP, **CLOSE)
    gradients = jax.jit(jax.grad(lambda gate, up: (function(gate, up) * D_Y).sum(), argnums=(0, 1)))(gate, up)
    for given, wanted in zip(gradients, swiglu_gradients(), strict=True):
        np.testing.assert_allclose(given, wanted, **CLOSE)
