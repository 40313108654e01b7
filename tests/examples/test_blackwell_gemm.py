"""The Blackwell GEMM: every schedule, several tiles for a CTA, tails in every dimension."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import NUMPY, equals_numpy

from pyptx.types import bf16, f16, f32


@pytest.fixture(scope="module")
def blackwell(example):
    return example("blackwell/gemm")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize(
    "sizes, tiling, dtype, out",
    [
        ((128, 256, 64), {}, bf16, bf16),
        ((200, 264, 136), {}, bf16, bf16),
        ((700, 264, 200), {"CTAS": 1, "GROUP": 2}, bf16, bf16),
        ((200, 264, 136), {"BM": 128, "STAGES": 4}, bf16, bf16),
        ((3, 24, 8), {"BN": 64, "STAGES": 2}, bf16, f32),
        ((100, 72, 72), {"BN": 64, "STAGES": 1}, f16, f32),
        ((600, 400, 264), {"BN": 128, "BK": 128, "STAGES": 2, "CTAS": 3}, bf16, f32),
        ((400, 200, 72), {"BM": 128, "BN": 64, "STAGES": 1, "CTAS": 1}, f16, f16),
        ((1, 64, 1000), {"BN": 128, "STAGES": 3}, f16, f16),
    ],
    ids=str,
)
def test_it_equals_numpy(blackwell, sizes, tiling, dtype, out, schedule: str):
    equals_numpy(blackwell, blackwell.gemm_of, sizes, tiling, dtype, out, schedule)


@pytest.mark.parametrize(
    "sizes, tiling, message",
    [
        ((64, 64, 60), {}, "K=60 is not a multiple of 8"),
        ((64, 60, 64), {}, "N=60 is not a multiple of 8"),
        ((64, 64, 64), {"BN": 192}, r"BN=192; expected one of \(64, 128, 256\)"),
        ((64, 64, 64), {"STAGES": 4}, "4 stages need 294912 bytes of shared memory"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(blackwell, sizes, tiling, message: str):
    m, n, k = sizes
    with pytest.raises(ValueError, match=message):
        blackwell.gemm.compile(M=m, N=n, K=k, **tiling)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("tiling", [{}, {"BN": 64}, {"BM": 128, "BN": 128, "BK": 128, "STAGES": 3}], ids=str)
def test_it_assembles_without_spills_or_complaints(blackwell, tiling):
    compiled = blackwell.gemm.compile(M=4096, N=4096, K=4096, **tiling)
    used = compiled.resources["gemm"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings
    opcodes = {line.opcode.partition(".")[0] for line in compiled.sass}
    assert opcodes >= {"UTMALDG", "UTCHMMA", "LDTM", "UTMASTG"}


@pytest.mark.parametrize("out", [f32, bf16])
def test_shared_memory_accesses_have_no_bank_conflicts(blackwell, out):
    gemm = blackwell.gemm_of(bf16, out)
    gemm(np.ones((128, 64), NUMPY[bf16]), np.ones((64, 256), NUMPY[bf16]))
    assert gemm.last_run.counters.shared_conflicts.sum() == 0


def test_no_arrival_is_in_flight_when_a_cta_exits(blackwell):
    """The thread that copies waits for every stage once more: tcgen05.commit arrives whether or not a thread waits for it."""
    waits = [
        blackwell.gemm.ptx(M=512, N=256, K=64, BM=128, BN=128, STAGES=stages).count("mbarrier.try_wait")
        for stages in (2, 3)
    ]
    assert waits[1] == waits[0] + 1
