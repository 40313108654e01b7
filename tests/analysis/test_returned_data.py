"""Data that a CTA writes and reads back: L2 has it, or DRAM moves it several times."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx import sim
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.estimate import estimate

ROWS, THREADS = 2048, 256
# A row for each CTA: the words of `from`, plus one, go to `to`; those are read, doubled and written again.
TWICE = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 from, .param .u64 to, .param .u32 columns)
{
    .reg .u64 %rd<6>;
    .reg .u32 %r<9>;
    .reg .pred %p;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [columns];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r2, %r1, %r3;
    mad.wide.u32 %rd3, %r4, 4, %rd1;
    mad.wide.u32 %rd4, %r4, 4, %rd2;
    mov.u64 %rd5, %rd4;
    mov.u32 %r5, %r3;
$first:
    ld.global.u32 %r6, [%rd3];
    add.u32 %r6, %r6, 1;
    st.global.u32 [%rd4], %r6;
    add.u64 %rd3, %rd3, 1024;
    add.u64 %rd4, %rd4, 1024;
    add.u32 %r5, %r5, 256;
    setp.lt.u32 %p, %r5, %r1;
    @%p bra $first;
    bar.sync 0;
$second:
    ld.global.u32 %r6, [%rd5];
    shl.b32 %r6, %r6, 1;
    st.global.u32 [%rd5], %r6;
    add.u64 %rd5, %rd5, 1024;
    add.u32 %r3, %r3, 256;
    setp.lt.u32 %p, %r3, %r1;
    @%p bra $second;
    ret;
}
"""


def arrays(columns: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((ROWS, columns), np.uint32), np.zeros((ROWS, columns), np.uint32)


def test_the_profile_knows_which_bytes_were_written_before_they_were_read():
    kernel = pyptx.load(TWICE)
    source, target = arrays(1024)
    profiler = sim.ClusterProfiler(sim.load(kernel.module, "twice"), ROWS, THREADS, (source, target, 1024))
    found = profiler.run(range(1))
    of_source, of_target = sorted(found.returned, key=lambda name: bool(found.written[name].any()))
    assert not found.returned[of_source].any()
    assert np.array_equal(found.returned[of_target], found.read[of_target])
    assert found.returned[of_target].sum(dtype=np.int64) == 255 * 4096 // 8
    again = profiler.run(range(1, 2))
    assert not again.returned[of_source].any(), "each run starts from the beginning"


def dram_bytes(columns: int) -> float:
    """Return the bytes that DRAM moves for each byte of an array."""
    kernel, both = pyptx.load(TWICE)["twice"], arrays(columns)
    found = estimate(kernel, *both, columns, grid=(ROWS,), block=(THREADS,), device="A100 SXM 40GB")
    on = gpu("A100 SXM 40GB")
    return found.terms["dram"] * (on.dram_reached_bytes_per_s or on.dram_bytes_per_s) / both[0].nbytes


def test_short_rows_are_read_back_from_l2_and_long_ones_are_read_and_written_twice():
    assert dram_bytes(1024) == pytest.approx(2, rel=0.15), "from DRAM, and to DRAM"
    assert dram_bytes(32768) == pytest.approx(4, rel=0.15), "twice of each"
