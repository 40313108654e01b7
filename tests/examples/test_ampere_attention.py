"""Attention for Ampere: any length, causal or not, every schedule, no spills or bank conflicts."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16}


@pytest.fixture(scope="module")
def ampere(example):
    return example("ampere/attention")


def arrays(dtype, batch: int, heads: int, queries: int, keys: int, d: int):
    random = np.random.default_rng(queries + keys)
    return [random.standard_normal((batch, heads, length, d)).astype(NUMPY[dtype]) for length in (queries, keys, keys)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "sizes, options, dtype",
    [
        ((1, 1, 64, 64, 128), {}, bf16),
        ((2, 2, 100, 300, 64), {"STAGES": 3}, f16),
        ((1, 1, 5, 3, 64), {"BN": 32}, f16),
        ((1, 1, 150, 200, 64), {"BN": 48}, bf16),
        ((1, 2, 200, 200, 64), {"CAUSAL": True, "BN": 32, "STAGES": 4}, f16),
        ((1, 1, 300, 300, 128), {"CAUSAL": True}, bf16),
    ],
    ids=str,
)
def test_it_equals_numpy(ampere, sizes, options, dtype, schedule: str):
    q, k, v = arrays(dtype, *sizes)
    with use("sim", schedule=schedule):
        o = ampere.attention_of(dtype)(q, k, v, **options)
    digits = {f16: 2e-3, bf16: 1.5e-2}[dtype]
    np.testing.assert_allclose(
        o.astype(np.float32), ampere.reference(q, k, v, options.get("CAUSAL", False)), rtol=digits, atol=digits
    )


def test_every_order_gives_the_same_bits(ampere):
    report = ampere.attention_of(f16).check(*arrays(f16, 1, 1, 130, 130, 64), CAUSAL=True, STAGES=3)
    assert report.ok, report


@pytest.mark.parametrize(
    "sizes, options, message",
    [
        ((64, 64, 96), {}, "head dimension D=96; expected 64 or 128"),
        ((64, 64, 128), {"BN": 48}, "BN=48; expected a multiple of 16 up to 32"),
        ((64, 128, 64), {"CAUSAL": True}, r"as many keys as queries \(S=64, T=128\)"),
        ((64, 256, 128), {"STAGES": 9}, "9 stages need 180224 bytes"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(ampere, sizes, options, message: str):
    queries, keys, d = sizes
    with pytest.raises(ValueError, match=message):
        ampere.attention.compile(B=1, H=1, S=queries, T=keys, D=d, **options)


@pytest.mark.slow
@pytest.mark.parametrize("d, causal", [(64, False), (64, True), (128, False), (128, True)])
def test_it_assembles_without_spills_or_complaints(ampere, d: int, causal: bool):
    compiled = ampere.attention.compile(B=1, H=16, S=4096, T=4096, D=d, CAUSAL=causal)
    used = compiled.resources["attention"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings
    assert {line.opcode.partition(".")[0] for line in compiled.sass} >= {"LDGSTS", "LDSM", "HMMA", "MUFU"}


def test_shared_memory_accesses_have_no_bank_conflicts(ampere):
    attention = ampere.attention_of(bf16)
    attention(*arrays(bf16, 1, 1, 64, 64, 128))
    assert attention.last_run.counters.shared_conflicts.sum() == 0
