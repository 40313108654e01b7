"""Whole matrix products of the contract on the simulator, in every schedule."""

from __future__ import annotations

import numpy as np
import pytest
from contract.kernels_ampere import ampere_gemm
from sim.both import run_both

from pyptx import sim

ml_dtypes = pytest.importorskip("ml_dtypes")
SCHEDULES = [("eager", 0), ("late", 0), ("random", 1), ("random", 2)]


def matrices(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole numbers in bf16, so that sums are exact; and their product."""
    rng = np.random.default_rng(m + n + k)
    a, b = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (k, n))
    return a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16), (a @ b).astype(np.float32)


def test_ampere_with_arrays():
    a, b, product = matrices(256, 128, 96)
    np.testing.assert_array_equal(ampere_gemm(a, b), product)
    assert ampere_gemm.last_run.counters.tensor_flops.sum() == 2 * 256 * 128 * 96


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
def test_ampere_in_every_schedule(schedule, seed, tensor_cores):
    a, b, product = matrices(256, 256, 160)
    program = sim.load(ampere_gemm.module(M=256, N=256, K=160))
    out = np.zeros_like(product)
    sim.launch(program, (2, 2), 256, (a.view(np.uint16), b.view(np.uint16), out), schedule=schedule, seed=seed,
               tensor_cores=tensor_cores)
    np.testing.assert_array_equal(out, product)


@pytest.mark.slow
def test_ampere_on_both_engines():
    a, b, product = matrices(128, 128, 64)
    out = np.zeros_like(product)
    run_both(ampere_gemm.module(M=128, N=128, K=64), 1, 256, (a.view(np.uint16), b.view(np.uint16), out),
             schedule="late")
    np.testing.assert_array_equal(out, product)
