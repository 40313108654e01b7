"""The persistent Hopper GEMM: every schedule, cluster, tile order and tail, no spills."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import NUMPY, equals_numpy

from pyptx.analysis.occupancy import occupancy
from pyptx.types import bf16, f16, f32


@pytest.fixture(scope="module")
def hopper(example):
    return example("hopper/persistent_gemm")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "sizes, tiling, dtype, out",
    [
        ((128, 256, 64), {}, bf16, bf16),
        ((600, 264, 136), {"CTAS": 2}, bf16, bf16),
        ((520, 200, 72), {"BN": 64, "CLUSTER": 1, "CTAS": 3, "GROUP": 2, "STAGES": 2}, f16, f32),
        ((520, 200, 72), {"BN": 64, "CLUSTER": 1, "CTAS": 2, "STAGES": 3}, f16, f16),
        ((1100, 304, 136), {"BM": 256, "BN": 128, "STAGES": 3, "CTAS": 4, "GROUP": 1}, bf16, f32),
        ((700, 520, 200), {"CLUSTER": 4, "CTAS": 4}, bf16, bf16),
        ((300, 400, 264), {"BN": 192, "BK": 128, "STAGES": 2, "CLUSTER": 1, "CTAS": 1}, bf16, bf16),
        ((1, 64, 1000), {"BN": 128, "CTAS": 1}, f16, f16),
        ((3, 24, 8), {"BN": 128}, bf16, f32),
    ],
    ids=str,
)
def test_it_equals_numpy(hopper, sizes, tiling, dtype, out, schedule: str):
    equals_numpy(hopper, hopper.persistent_gemm_of, sizes, tiling, dtype, out, schedule)


@pytest.mark.parametrize("down, across, group", [(1, 1, 1), (5, 3, 2), (8, 4, 8), (7, 5, 4), (3, 7, 16)])
def test_every_tile_is_taken_once(hopper, down: int, across: int, group: int):
    """Each tile of C is written by the cluster that has its number: ones times ones is K everywhere."""
    m, n, k = 128 * down, 64 * across, 64
    kernel = hopper.persistent_gemm_of(bf16, f32)
    c = kernel(
        np.ones((m, k), NUMPY[bf16]),
        np.ones((k, n), NUMPY[bf16]),
        BN=64,
        CLUSTER=1,
        GROUP=group,
        STAGES=2,
        CTAS=down * across,
    )
    np.testing.assert_array_equal(c, np.full((m, n), k, np.float32))


@pytest.mark.parametrize(
    "sizes, tiling, message",
    [
        ((64, 64, 60), {}, "K=60 is not a multiple of 8"),
        ((64, 60, 64), {}, "N=60 is not a multiple of 8"),
        ((64, 64, 64), {"BM": 64}, r"BM=64; expected one of \(128, 256\)"),
        ((64, 64, 64), {"BM": 256}, "more sums than the consumers have registers for"),
        ((64, 64, 64), {"BN": 64}, "2 CTAs cannot share 64 columns of B in boxes of 64"),
        ((64, 64, 64), {"STAGES": 5}, "5 stages need 278528 bytes of shared memory"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(hopper, sizes, tiling, message: str):
    m, n, k = sizes
    with pytest.raises(ValueError, match=message):
        hopper.persistent_gemm.compile(M=m, N=n, K=k, **tiling)


@pytest.mark.parametrize(
    "tiling",
    [
        {},
        *(
            pytest.param(tiling, marks=pytest.mark.slow)
            for tiling in (
                {"CLUSTER": 1},
                {"BM": 256, "BN": 128},
                {"BN": 128, "BK": 128, "STAGES": 3},
                {"BN": 64, "CLUSTER": 1},
            )
        ),
    ],
    ids=str,
)
def test_it_assembles_without_spills_or_complaints(hopper, tiling):
    compiled = hopper.persistent_gemm.compile(M=4096, N=4096, K=4096, **tiling)
    used = compiled.resources["persistent_gemm"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "wgmma must not be serialised, nor setmaxnreg ignored"
    opcodes = [line.opcode for line in compiled.sass]
    assert {opcode.partition(".")[0] for opcode in opcodes} >= {"UTMALDG", "HGMMA", "SYNCS", "STSM", "UTMASTG"}
    assert any("MULTICAST" in opcode for opcode in opcodes) == (tiling.get("CLUSTER") != 1)
    specialization = hopper.persistent_gemm.specialize(M=4096, N=4096, K=4096, **tiling)
    fits = occupancy("sm_90a", threads=384, registers=used.registers, dynamic_shared_bytes=specialization.dynamic_bytes)
    assert fits.blocks == 1


@pytest.mark.parametrize("out", [bf16, f32], ids=str)
def test_shared_memory_accesses_have_no_bank_conflicts(hopper, out):
    gemm = hopper.persistent_gemm_of(bf16, out)
    gemm(np.ones((256, 64), NUMPY[bf16]), np.ones((64, 256), NUMPY[bf16]))
    assert gemm.last_run.counters.shared_conflicts.sum() == 0


def test_a_cluster_reads_its_columns_of_b_once(hopper):
    a, b = np.ones((512, 64), NUMPY[bf16]), np.ones((64, 256), NUMPY[bf16])
    copied = {}
    for cluster in (1, 2, 4):
        gemm = hopper.persistent_gemm_of(bf16, bf16)
        gemm(a, b, CLUSTER=cluster)
        copied[cluster] = int(gemm.last_run.counters.tma_bytes.sum())
    written = 512 * 256 * 2
    assert {cluster: bytes_ - written for cluster, bytes_ in copied.items()} == {
        cluster: a.nbytes + b.nbytes * 4 // cluster for cluster in (1, 2, 4)
    }
