"""The Hopper GEMM: every schedule, tails in every dimension, no spills."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import NUMPY, equals_numpy

from pyptx.types import bf16, f16, f32


@pytest.fixture(scope="module")
def hopper(example):
    return example("hopper/gemm")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize(
    "sizes, tiling, dtype, out",
    [
        ((128, 256, 64), {}, bf16, bf16),
        ((200, 264, 136), {}, bf16, bf16),
        ((100, 72, 64), {"BN": 64, "STAGES": 2}, f16, f32),
        ((300, 200, 264), {"BM": 256, "BN": 128, "BK": 128, "STAGES": 2}, bf16, f32),
        ((1, 64, 1000), {"BN": 128, "STAGES": 3}, f16, f16),
        ((3, 24, 8), {"BN": 64, "STAGES": 2}, bf16, f32),
    ],
    ids=str,
)
def test_it_equals_numpy(hopper, sizes, tiling, dtype, out, schedule: str):
    equals_numpy(hopper, hopper.gemm_of, sizes, tiling, dtype, out, schedule)


@pytest.mark.parametrize(
    "sizes, tiling, message",
    [
        ((64, 64, 60), {}, "K=60 is not a multiple of 8"),
        ((64, 60, 64), {}, "N=60 is not a multiple of 8"),
        ((64, 64, 64), {"BM": 64}, "BM=64; expected a multiple of 128 up to 256"),
        ((64, 64, 64), {"BM": 256}, "more sums than the consumers have registers for"),
        ((64, 64, 64), {"STAGES": 5}, "5 stages of 128 x 64 and 64 x 256 take 245760 bytes of shared memory"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(hopper, sizes, tiling, message: str):
    m, n, k = sizes
    with pytest.raises(ValueError, match=message):
        hopper.gemm.compile(M=m, N=n, K=k, **tiling)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "tiling",
    [{}, {"BN": 128}, {"BM": 256, "BN": 64}, {"BM": 256, "BN": 128}, {"BN": 128, "BK": 128, "STAGES": 3}],
    ids=str,
)
def test_it_assembles_without_spills_or_complaints(hopper, tiling):
    compiled = hopper.gemm.compile(M=4096, N=4096, K=4096, **tiling)
    used = compiled.resources["gemm"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "wgmma must not be serialised, nor setmaxnreg ignored"
    opcodes = {line.opcode.partition(".")[0] for line in compiled.sass}
    assert opcodes >= {"UTMALDG", "HGMMA", "SYNCS", "STSM", "UTMASTG"}


@pytest.mark.parametrize("out", [bf16, f32], ids=str)
def test_shared_memory_accesses_have_no_bank_conflicts(hopper, out):
    gemm = hopper.gemm_of(bf16, out)
    gemm(np.ones((128, 64), NUMPY[bf16]), np.ones((64, 256), NUMPY[bf16]))
    assert gemm.last_run.counters.shared_conflicts.sum() == 0
