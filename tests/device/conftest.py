"""Fixtures of the GPU tests; `pytest -m gpu` runs them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def example():
    """From the path of an example, "hopper/gemm", to its module."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return lambda path: import_module(f"examples.{path.replace('/', '.')}")


@pytest.fixture(scope="module")
def gpu():
    """The backend of a machine with a GPU; skips where none answers."""
    from pyptx.errors import LaunchError
    from pyptx.runtime.cuda import BACKEND

    try:
        BACKEND.driver.device(0)
    except LaunchError as missing:
        pytest.skip(f"no GPU answers: {missing.message}")
    return BACKEND


@pytest.fixture
def hopper(gpu):
    """For kernels that are written for sm_90a."""
    if gpu.driver.device(0).target.number != 90:
        pytest.skip("the kernel is written for sm_90a")


@pytest.fixture
def torch(gpu):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


@pytest.fixture
def jax(gpu):
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    return jax
