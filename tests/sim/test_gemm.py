"""Whole matrix products on the simulator, compatibility kernels and compiled ones, in every schedule."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from compat.kernels_ampere import ampere_gemm
from sim.engines import run_both

import pyptx
from pyptx import sim
from pyptx.parser import parse

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


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
@pytest.mark.parametrize("tensor_cores", ["fast", "hw"])
def test_ampere_in_every_schedule(schedule, seed, tensor_cores):
    a, b, product = matrices(256, 256, 160)
    program = sim.load(ampere_gemm.module(M=256, N=256, K=160))
    out = np.zeros_like(product)
    sim.launch(
        program,
        (2, 2),
        256,
        (a.view(np.uint16), b.view(np.uint16), out),
        schedule=schedule,
        seed=seed,
        tensor_cores=tensor_cores,
    )
    np.testing.assert_array_equal(out, product)


@pytest.mark.slow
def test_ampere_on_both_engines():
    a, b, product = matrices(128, 128, 64)
    out = np.zeros_like(product)
    run_both(
        ampere_gemm.module(M=128, N=128, K=64), 1, 256, (a.view(np.uint16), b.view(np.uint16), out), schedule="late"
    )
    np.testing.assert_array_equal(out, product)


# what nvcc makes of CUDA C++ ----------------------------------------------------------------------------------------

CORPUS = Path(__file__).parents[1] / "corpus" / "ptx" / "nvcc"


@cache
def compiled(name: str, entry: str) -> sim.Program:
    return sim.load(parse((CORPUS / f"{name}.ptx").read_text()), entry)


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
@pytest.mark.parametrize("name", ["hgemm.sm_80", "hgemm.sm_90", "hgemm.sm_120"])
@pytest.mark.parametrize("entry", ["hgemm", "bf16_gemm"])
def test_compiled_mma(name, entry, schedule, seed):
    a, b, product = matrices(128, 192, 96)
    type_ = np.float16 if entry == "hgemm" else ml_dtypes.bfloat16
    c = np.zeros_like(product)
    a, b = a.astype(type_), b.astype(type_).T.copy()
    sim.launch(compiled(name, entry), (3, 2), 128, (192, 96, _bits(a), _bits(b), c), schedule=schedule, seed=seed)
    np.testing.assert_array_equal(c, product)


def _bits(array: np.ndarray) -> np.ndarray:
    return array.view(np.uint16)


@pytest.mark.parametrize("name", ["wmma.sm_75", "wmma.sm_80", "wmma.sm_90"])
def test_compiled_wmma(name):
    a, b, product = matrices(48, 32, 64)
    c = np.zeros_like(product)
    halves = [_bits(x.astype(np.float16)) for x in (a, b)]
    sim.launch(compiled(name, "wmma_f32"), (2, 3), 32, (32, 64, *halves, c))
    np.testing.assert_array_equal(c, product)
    whole = np.zeros(product.shape, np.int32)
    sim.launch(compiled(name, "wmma_s8"), (2, 3), 32, (32, 64, a.astype(np.int8), b.astype(np.int8).T.copy(), whole))
    np.testing.assert_array_equal(whole, product)
    if name != "wmma.sm_75":
        wide = np.zeros(product.shape, np.float64)
        sim.launch(compiled(name, "wmma_f64"), (4, 6), 32, (32, 64, a.astype(np.float64), b.astype(np.float64), wide))
        np.testing.assert_array_equal(wide, product)


@pytest.mark.parametrize("causal", [False, True])
def test_compiled_attention(causal):
    rng = np.random.default_rng(5)
    heads, n, d = 2, 128, 64
    q, k, v = (rng.standard_normal((heads, n, d)).astype(np.float16) for _ in range(3))
    out, lse = np.zeros_like(q), np.zeros((heads, n), np.float32)
    sim.launch(
        compiled("attention.sm_80", "attention_causal" if causal else "attention"),
        (n // 64, heads),
        128,
        (n, 0.125, *map(_bits, (q, k, v, out)), lse),
    )
    scores = 0.125 * q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2)
    if causal:
        scores[:, np.triu(np.ones((n, n), bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    np.testing.assert_allclose(out, weights @ v.astype(np.float64) / weights.sum(axis=2, keepdims=True), atol=2e-3)
    np.testing.assert_allclose(lse, np.log(np.exp(scores).sum(axis=2)), rtol=1e-4)


@pytest.mark.parametrize(("schedule", "seed"), SCHEDULES)
@pytest.mark.parametrize(
    ("entry", "threads", "memory"), [("wgmma_simple", 128, 33 << 10), ("wgmma_specialized", 384, 129 << 10)]
)
def test_compiled_wgmma(entry, threads, memory, schedule, seed):
    a, b, product = matrices(256, 128, 192)
    a, b, c = a.astype(np.float16), b.T.astype(np.float16).copy(), np.zeros_like(product)
    maps = [pyptx.TensorMap(x, (128, 64), swizzle="128B") for x in (a, b)]
    sim.launch(
        compiled("hopper_gemm.sm_90a", entry),
        (1, 2),
        threads,
        (128, 192, *maps, c),
        smem_bytes=memory,
        schedule=schedule,
        seed=seed,
    )
    np.testing.assert_array_equal(c, product)
