"""Launches on a GPU: NumPy copies, torch on streams, in graphs and compiled, JAX under jit."""

from __future__ import annotations

import numpy as np
import pytest
from runtime.kernels import product, scale
from runtime.test_maps import copy

import pyptx
from pyptx.errors import LaunchError
from pyptx.runtime.cuda import BACKEND

pytestmark = pytest.mark.gpu

X = np.arange(1000, dtype=np.float32)


@pytest.fixture(scope="module", autouse=True)
def gpu():
    try:
        BACKEND.driver.device(0)
    except LaunchError as missing:
        pytest.skip(f"no GPU answers: {missing.message}")


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


def test_numpy_arrays_go_over_and_come_back():
    with pyptx.use("cuda"):
        assert np.array_equal(scale(X, factor=3.0), 3 * X)
    assert scale.last_run.backend == "cuda"


def test_the_same_bits_as_the_simulator():
    a, b = np.random.default_rng(0).normal(size=(2, 40, 100)).astype(np.float32)
    simulated = product(a, b)
    with pyptx.use("cuda"):
        for x, y in zip(simulated, product(a, b), strict=True):
            assert np.array_equal(x, y)


def test_tensor_maps():
    x = np.random.default_rng(1).normal(size=(64, 32)).astype(np.float32)
    if BACKEND.driver.device(0).target.number != 90:
        pytest.skip("the kernel is written for sm_90a")
    with pyptx.use("cuda"):
        assert np.array_equal(copy(x), x)


def test_launches_are_timed_when_asked():
    y = np.empty_like(X)
    seconds = scale.launch(16, 64, X, y, 2.0, 1000, N=1000, backend="cuda", timed=True).seconds
    assert 0 < seconds < 1 and np.array_equal(y, 2 * X)


def test_torch_on_a_stream_and_in_a_graph(torch):
    x, stream = torch.arange(1000.0, device="cuda"), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = scale(x, factor=2.0)
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(y, 2 * x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = scale(x, factor=5.0)
    x.fill_(3.0)
    graph.replay()
    assert torch.equal(z, torch.full_like(z, 15.0))


def test_torch_compiled(torch):
    x = torch.arange(1000.0, device="cuda")
    compiled = torch.compile(lambda x: scale(x * 2, factor=3.0) + 1, fullgraph=True)
    assert torch.equal(compiled(x), 6 * x + 1)


def test_jax_under_jit():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    x = jax.numpy.arange(1000.0)
    for _ in range(3):
        assert (jax.jit(lambda x: scale(x * 2, factor=3.0) + 1)(x) == 6 * x + 1).all()
