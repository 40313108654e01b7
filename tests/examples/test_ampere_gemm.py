"""The Ampere GEMM: every schedule, tails in every dimension, no spills."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import NUMPY, equals_numpy

from pyptx.types import bf16, f16, f32


@pytest.fixture(scope="module")
def ampere(example):
    return example("ampere/gemm")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize(
    "sizes, tiling, dtype, out",
    [
        ((128, 128, 64), {}, bf16, f32),
        ((200, 264, 136), {}, bf16, bf16),
        ((100, 72, 40), {"BN": 64, "BK": 64, "STAGES": 2}, f16, f32),
        ((300, 200, 264), {"BM": 64, "BN": 256, "BK": 64, "STAGES": 3}, bf16, f32),
        ((1, 8, 8), {"BM": 64, "BN": 64, "STAGES": 3}, f16, f16),
    ],
    ids=str,
)
def test_it_equals_numpy(ampere, sizes, tiling, dtype, out, schedule: str):
    equals_numpy(ampere, ampere.gemm_of, sizes, tiling, dtype, out, schedule)


@pytest.mark.parametrize(
    "sizes, tiling, message",
    [
        ((64, 64, 60), {}, "K=60 is not a multiple of 8"),
        ((64, 36, 64), {}, "N=36 is not a multiple of 8"),
        ((64, 64, 64), {"BM": 96}, r"BM=96; expected one of \(64, 128, 256\)"),
        ((64, 64, 64), {"BM": 256, "BN": 256}, "more sums than there are registers"),
        ((64, 64, 64), {"STAGES": 11}, "11 stages need 540672 bytes"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(ampere, sizes, tiling, message: str):
    m, n, k = sizes
    with pytest.raises(ValueError, match=message):
        ampere.gemm.compile(M=m, N=n, K=k, **tiling)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "tiling", [{}, {"BK": 64, "STAGES": 3}, {"BN": 256, "STAGES": 3}, {"BM": 64, "BN": 64}], ids=str
)
def test_it_assembles_without_spills_or_complaints(ampere, tiling):
    compiled = ampere.gemm.compile(M=4096, N=4096, K=4096, **tiling)
    used = compiled.resources["gemm"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings
    opcodes = {line.opcode.partition(".")[0] for line in compiled.sass}
    assert opcodes >= {"LDGSTS", "LDSM", "HMMA"}


@pytest.mark.parametrize("out", [f32, bf16])
def test_shared_memory_accesses_have_no_bank_conflicts(ampere, out):
    gemm = ampere.gemm_of(bf16, out)
    gemm(np.ones((128, 64), NUMPY[bf16]), np.ones((64, 256), NUMPY[bf16]))
    assert gemm.last_run.counters.shared_conflicts.sum() == 0
