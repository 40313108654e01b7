"""Attention for Blackwell: any length, causal or not, every schedule, no spills or bank conflicts."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16}


@pytest.fixture(scope="module")
def blackwell(example):
    return example("blackwell/attention")


def arrays(dtype, batch: int, heads: int, queries: int, keys: int, d: int):
    random = np.random.default_rng(queries + keys)
    return [random.standard_normal((batch, heads, length, d)).astype(NUMPY[dtype]) for length in (queries, keys, keys)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "sizes, options, dtype",
    [
        ((1, 1, 256, 128, 128), {}, bf16),
        ((2, 1, 100, 300, 64), {"STAGES": 4}, f16),
        ((1, 1, 5, 40, 64), {"BN": 32, "STAGES": 1}, f16),
        ((1, 1, 3, 2, 64), {"BN": 80}, f16),
        ((1, 1, 200, 300, 64), {"BN": 128, "STAGES": 2, "EVERY": 1}, f16),
        ((1, 2, 300, 300, 64), {"CAUSAL": True, "STAGES": 2}, f16),
        ((1, 1, 400, 400, 128), {"CAUSAL": True}, bf16),
    ],
    ids=str,
)
def test_it_equals_numpy(blackwell, sizes, options, dtype, schedule: str):
    q, k, v = arrays(dtype, *sizes)
    with use("sim", schedule=schedule):
        o = blackwell.attention_of(dtype)(q, k, v, **options)
    digits = {f16: 2e-3, bf16: 1.5e-2}[dtype]
    np.testing.assert_allclose(
        o.astype(np.float32), blackwell.reference(q, k, v, options.get("CAUSAL", False)), rtol=digits, atol=digits
    )


def test_a_nan_key_propagates(blackwell):
    """Neither where its exponential is a special function's nor where it is computed by multiply-adds."""
    random = np.random.default_rng(2)
    q, k, v = (random.standard_normal((1, 32, length, 64)).astype(np.float16) for length in (8, 128, 128))
    for head in range(32):
        k[0, head, head] = np.nan
    assert not np.isfinite(blackwell.attention_of(f16)(q, k, v)).any()


def test_every_order_gives_the_same_bits(blackwell):
    report = blackwell.attention_of(f16).check(*arrays(f16, 1, 1, 300, 300, 64), CAUSAL=True)
    assert report.ok, report


@pytest.mark.parametrize(
    "sizes, options, message",
    [
        ((64, 64, 96), {}, "head dimension D=96; expected 64 or 128"),
        ((64, 256, 128), {"BN": 128}, "BN=128; expected a multiple of 16 up to 80"),
        ((64, 128, 64), {"CAUSAL": True}, r"as many keys as queries \(S=64, T=128\)"),
        ((64, 256, 128), {"STAGES": 6}, "6 stages need 311296 bytes"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(blackwell, sizes, options, message: str):
    queries, keys, d = sizes
    with pytest.raises(ValueError, match=message):
        blackwell.attention.compile(B=1, H=1, S=queries, T=keys, D=d, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "d, options", [(64, {}), (64, {"CAUSAL": True}), (64, {"BN": 96, "EVERY": 2}), (128, {}), (128, {"CAUSAL": True})]
)
def test_it_assembles_without_spills_or_complaints(blackwell, d: int, options):
    compiled = blackwell.attention.compile(B=1, H=16, S=4096, T=4096, D=d, **options)
    used = compiled.resources["attention"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "nor may setmaxnreg be ignored"
    assert used.registers == 168, "what setmaxnreg gives and takes is all of the SM's registers"
    assert {line.opcode.partition(".")[0] for line in compiled.sass} >= {"UTMALDG", "UTCHMMA", "LDTM", "STTM", "MUFU"}


def test_shared_memory_accesses_have_no_bank_conflicts(blackwell):
    attention = blackwell.attention_of(bf16)
    attention(*arrays(bf16, 1, 1, 128, 64, 64))
    assert attention.last_run.counters.shared_conflicts.sum() == 0
