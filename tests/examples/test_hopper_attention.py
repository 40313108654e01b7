"""Attention on Hopper: every schedule, with and without masks, tails of queries and keys."""

from __future__ import annotations

import math
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16}


@pytest.fixture(scope="module")
def hopper(example):
    return example("hopper/attention")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize(
    "sizes, options, dtype",
    [
        ((1, 1, 128, 128, 128), {}, bf16),
        ((2, 1, 100, 300, 128), {"BN": 176}, bf16),
        ((1, 1, 5, 16, 64), {"BN": 16}, f16),
        ((1, 1, 3, 2, 64), {}, f16),
        ((1, 1, 50, 50, 64), {"CAUSAL": True}, bf16),
        ((1, 2, 200, 200, 64), {"CAUSAL": True}, f16),
        ((1, 1, 300, 300, 64), {"CAUSAL": True, "BN": 64, "STAGES": 3}, bf16),
        ((1, 1, 300, 300, 128), {"CAUSAL": True}, bf16),
        ((1, 1, 400, 400, 64), {"CAUSAL": True, "BN": 80, "PINGPONG": False}, f16),
        ((1, 1, 300, 300, 64), {"SLACK": 0}, bf16),
    ],
    ids=str,
)
def test_it_equals_numpy(hopper, sizes, options, dtype, schedule: str):
    batch, heads, queries, keys, d = sizes
    random = np.random.default_rng(queries + keys)
    q, k, v = (
        random.standard_normal((batch, heads, length, d)).astype(NUMPY[dtype]) for length in (queries, keys, keys)
    )
    with use("sim", schedule=schedule):
        o = hopper.attention_of(dtype)(q, k, v, **options)
    digits = {f16: 2e-3, bf16: 1.5e-2}[dtype]
    np.testing.assert_allclose(
        o.astype(np.float32), hopper.reference(q, k, v, options.get("CAUSAL", False)), rtol=digits, atol=digits
    )


def test_a_large_score_takes_all_the_weight(hopper):
    q = np.zeros((1, 1, 64, 64), np.float16)
    k, v = np.zeros_like(q), np.zeros_like(q)
    q[..., 0], k[0, 0, 37, 0], v[0, 0, 37] = 200, 200, 3
    o = hopper.attention_of(f16)(q, k, v, BN=32)
    np.testing.assert_array_equal(o, np.full_like(o, 3))


def test_a_nan_key_propagates(hopper):
    """Neither where its exponential is a special function's nor where it is computed by multiply-adds."""
    random = np.random.default_rng(2)
    q, k, v = (random.standard_normal((1, 32, length, 64)).astype(np.float16) for length in (8, 128, 128))
    for head in range(32):
        k[0, head, head] = np.nan
    assert not np.isfinite(hopper.attention_of(f16)(q, k, v)).any()


def test_sums_that_grow_slowly_and_then_fast(hopper):
    """Scores up to eight powers of two above the first ones scale nothing down; those beyond do."""
    q, k = np.zeros((1, 1, 64, 64), np.float16), np.zeros((1, 1, 512, 64), np.float16)
    v = np.random.default_rng(1).standard_normal(k.shape).astype(np.float16)
    q[..., 0], k[0, 0, :, 0] = 1, np.linspace(-200, 200, 512) ** 3 / 200**2
    o = hopper.attention_of(f16)(q, k, v, BN=32)
    np.testing.assert_allclose(o.astype(np.float32), hopper.reference(q, k, v), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    "sizes, options, message",
    [
        ((64, 64, 96), {}, "head dimension D=96; expected 64 or 128"),
        ((64, 128, 64), {"CAUSAL": True}, r"as many keys as queries \(S=64, T=128\)"),
        ((64, 256, 64), {"BN": 144}, "BN=144; expected a multiple of 16 up to 128"),
        ((64, 256, 128), {"BN": 192}, "BN=192; expected a multiple of 16 up to 176"),
        ((64, 0, 64), {}, "T=0; queries need at least one key"),
        ((64, 64, 64), {"SCALE": 0.0}, "SCALE=0.0; expected a positive number"),
        ((64, 64, 64), {"SCALE": math.nan}, "SCALE=nan; expected a positive number"),
        ((64, 256, 128), {"STAGES": 4}, "4 stages need 294912 bytes"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(hopper, sizes, options, message: str):
    queries, keys, d = sizes
    with pytest.raises(ValueError, match=message):
        hopper.attention.compile(B=1, H=1, S=queries, T=keys, D=d, **options)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "d, options",
    [
        (64, {}),
        (64, {"CAUSAL": True}),
        (64, {"BN": 32}),
        (128, {}),
        (128, {"CAUSAL": True}),
        pytest.param(128, {"BN": 176}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_it_assembles_without_spills_or_complaints(hopper, d: int, options):
    compiled = hopper.attention.compile(B=1, H=16, S=4096, T=4096, D=d, **options)
    used = compiled.resources["attention"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert used.registers == 128, "what setmaxnreg gives and takes is all of the SM's registers"
    assert not compiled.warnings, "wgmma must not be serialised, nor setmaxnreg ignored"
    opcodes = {line.opcode.partition(".")[0] for line in compiled.sass}
    assert opcodes >= {"UTMALDG", "HGMMA", "SYNCS", "MUFU", "STSM", "UTMASTG"}


@pytest.mark.parametrize("d", [64, 128])
def test_exponentials_come_before_the_wait_for_the_values_product(hopper, d: int):
    """Between the wait for the scores and the next one in the loop: all 64 of a thread, but those that are computed by
    multiply-adds, and the factors' two."""
    compiled = hopper.attention.compile(B=1, H=16, S=4096, T=4096, D=d)
    opcodes = [line.opcode for line in compiled.sass]
    waits = [i for i, opcode in enumerate(opcodes) if opcode.startswith("WARPGROUP.DEPBAR")]
    between = [sum(opcode == "MUFU.EX2" for opcode in opcodes[i:j]) for i, j in pairwise(waits)]
    assert {64: 56, 128: 66}[d] in between[1:], between  # the first one is before the loop
