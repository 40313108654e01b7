"""Launches on a GPU: NumPy copies, torch on streams, in graphs and compiled, JAX under jit."""

from __future__ import annotations

import numpy as np
import pytest
from runtime.kernels import product, scale
from runtime.test_tensor_maps import copy
from support.processes import python
from support.threads import in_threads

import pyptx
from pyptx.errors import LaunchError

pytestmark = pytest.mark.gpu

X = np.arange(1000, dtype=np.float32)


@pytest.fixture(autouse=True)
def on_a_gpu(gpu):
    """All of these need one."""


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


def test_tensor_maps(hopper):
    x = np.random.default_rng(1).normal(size=(64, 32)).astype(np.float32)
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


def test_jax_under_jit(jax):
    x = jax.numpy.arange(1000.0)
    for _ in range(3):
        assert (jax.jit(lambda x: scale(x * 2, factor=3.0) + 1)(x) == 6 * x + 1).all()


def test_calls_made_before_follow_the_stream_and_the_addresses(torch):
    streams = [torch.cuda.Stream() for _ in range(3)]
    x = torch.arange(1000.0, device="cuda")
    torch.cuda.synchronize()
    found = []
    for step in range(60):
        with torch.cuda.stream(streams[step % 3]):
            found.append(scale(x, factor=float(step)))
    torch.cuda.synchronize()
    assert len(scale.launch_cache) >= 1 and all(torch.equal(y, step * x) for step, y in enumerate(found))


def test_tensor_maps_of_calls_made_before(torch, hopper):
    arrays = [torch.randn(64, 32, device="cuda") for _ in range(4)]
    for step in range(40):
        x, y = arrays[step % 4], torch.empty(64, 32, device="cuda")
        assert copy(x, out=y) is y and torch.equal(x, y), step


def test_eight_threads_on_streams_of_their_own(torch):
    def work(k: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.full((1000,), float(k), device="cuda")
            for step in range(50):
                y = scale(x, factor=float(step))
                assert (y == k * step).all()

    in_threads(work)


def test_every_gpu_runs_its_own_arrays(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    for k in range(torch.cuda.device_count()):
        x = torch.arange(1000.0, device=f"cuda:{k}")
        for _ in range(2):
            assert torch.equal(scale(x, factor=2.0), 2 * x)
    assert torch.cuda.current_device() == 0
    with pytest.raises(LaunchError, match="scale: y is on cuda:1"):
        scale(torch.ones(8, device="cuda:0"), factor=1.0, out=torch.empty(8, device="cuda:1"))


def test_arrays_by_dlpack_alone(torch):
    class Foreign:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **options):
            return self.tensor.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    x, y = torch.arange(1000.0, device="cuda"), torch.empty(1000, device="cuda")
    scale(Foreign(x), factor=2.0, out=Foreign(y))
    torch.cuda.synchronize()
    assert torch.equal(y, 2 * x)
    assert np.array_equal(scale(Foreign(x), factor=3.0).get(), 3 * X)


FAULT = """
import numpy as np
import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

@kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)])
def far(x, y):
    (p,) = ptx.global_ptrs(y)
    offset = reg.scalar(pyptx.types.u64, 1 << 40)
    ptx.inst.st.global_.f32(ptx.addr(p + offset), reg.scalar(f32, 1.0))

pyptx.use("cuda", check=True)
far(np.ones(8, np.float32))
"""


def test_a_fault_is_told_with_its_kernel():
    """In a process of its own: a fault ends the context."""
    done = python("-c", FAULT)
    assert "far on cuda:0" in done.stderr and "far.check(...)" in done.stderr, done.stderr
