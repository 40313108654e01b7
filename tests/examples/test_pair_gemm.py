"""The Blackwell GEMM by pairs of SMs: every schedule, several tiles for a pair, every tail."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import NUMPY, equals_numpy

from pyptx.types import bf16, f16, f32


@pytest.fixture(scope="module")
def blackwell(example):
    return example("blackwell/pair_gemm")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "sizes, tiling, dtype, out",
    [
        ((256, 256, 64), {}, bf16, bf16),
        ((600, 264, 136), {"CTAS": 2}, bf16, bf16),
        ((600, 264, 136), {"BM": 128, "CTAS": 2, "STAGES": 6, "GROUP": 1}, bf16, bf16),
        ((1100, 400, 264), {"BN": 128, "BK": 128, "STAGES": 2, "CTAS": 4}, bf16, f32),
        ((900, 400, 264), {"BM": 128, "BN": 128, "BK": 128, "STAGES": 2, "CTAS": 4}, bf16, f32),
        ((1, 72, 1000), {"BN": 128, "STAGES": 1}, f16, f16),
        ((3, 24, 8), {"BN": 128, "STAGES": 2}, bf16, f32),
    ],
    ids=str,
)
def test_it_equals_numpy(blackwell, sizes, tiling, dtype, out, schedule: str):
    equals_numpy(blackwell, blackwell.pair_gemm_of, sizes, tiling, dtype, out, schedule)


def test_every_order_gives_the_same_bits(blackwell):
    random = np.random.default_rng(5)
    a, b = (random.standard_normal(shape).astype(NUMPY[bf16]) for shape in ((700, 264), (264, 328)))
    report = blackwell.pair_gemm.check(a, b, CTAS=2)
    assert report.ok, report


@pytest.mark.parametrize(
    "sizes, tiling, message",
    [
        ((64, 64, 60), {}, "K=60 is not a multiple of 8"),
        ((64, 64, 64), {"BN": 64}, r"BN=64; expected one of \(128, 256\)"),
        ((64, 64, 64), {"STAGES": 5}, "5 stages need 278528 bytes of shared memory"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(blackwell, sizes, tiling, message: str):
    m, n, k = sizes
    with pytest.raises(ValueError, match=message):
        blackwell.pair_gemm.compile(M=m, N=n, K=k, **tiling)


def test_it_assembles_without_spills_or_complaints(blackwell):
    compiled = blackwell.pair_gemm.compile(M=4096, N=4096, K=4096)
    used = compiled.resources["pair_gemm"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings
    opcodes = [line.opcode for line in compiled.sass]
    assert {opcode.partition(".")[0] for opcode in opcodes} >= {"UTMALDG", "UTCHMMA", "LDTM", "UTMASTG", "UTCBAR"}
    assert all(".2CTA" in opcode for opcode in opcodes if opcode.startswith(("UTCHMMA", "UTMALDG")))


def test_the_pair_copies_each_number_of_b_once(blackwell):
    gemm = blackwell.pair_gemm_of(bf16, bf16)
    a, b = np.ones((512, 64), NUMPY[bf16]), np.ones((64, 256), NUMPY[bf16])
    gemm(a, b)
    counters = gemm.last_run.counters
    assert counters.tma_bytes.sum() == a.nbytes + b.nbytes + 512 * 256 * 2
    assert counters.shared_conflicts.sum() == 0


def test_no_arrival_is_in_flight_when_a_cta_exits(blackwell):
    """The thread that copies waits for every stage once more: tcgen05.commit arrives whether or not a thread waits for it."""
    waits = [
        blackwell.pair_gemm.ptx(M=512, N=256, K=64, BM=128, BN=128, STAGES=stages).count("mbarrier.try_wait")
        for stages in (2, 3)
    ]
    assert waits[1] == waits[0] + 1
