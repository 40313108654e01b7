"""Loads that find in L1 what their warp has read shortly before, unless the resident warps have displaced it."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.estimate import _occupancy
from pyptx.analysis.model.launch_model import LaunchModel
from pyptx.analysis.work.call import Call, bind_call
from pyptx.analysis.work.count import work_of

THREADS, COLUMNS = 256, 256
# Each thread reads the words of a row of its own, one after the other, in two loops: 256 KiB for a CTA.
ROWS = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 from, .param .u64 to)
.maxntid 256, 1, 1
.minnctapersm 8
{
    .reg .u64 %rd<5>;
    .reg .u32 %r<9>;
    .reg .pred %p;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    mul.wide.u32 %rd4, %r3, 4;
    add.u64 %rd2, %rd2, %rd4;
    mov.u32 %r4, 0;
    mad.wide.u32 %rd3, %r3, 1024, %rd1;
    mov.u32 %r5, 0;
$first:
    ld.global.u32 %r6, [%rd3];
    add.u32 %r4, %r4, %r6;
    add.u64 %rd3, %rd3, 4;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, 256;
    @%p bra $first;
    mad.wide.u32 %rd3, %r3, 1024, %rd1;
    mov.u32 %r5, 0;
$second:
    ld.global.u32 %r6, [%rd3];
    xor.b32 %r4, %r4, %r6;
    add.u64 %rd3, %rd3, 4;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, 256;
    @%p bra $second;
    st.global.u32 [%rd2], %r4;
    ret;
}
"""


def rows(ctas: int) -> Call:
    args = np.zeros((ctas * THREADS, COLUMNS), np.uint32), np.zeros(ctas * THREADS, np.uint32)
    return bind_call(pyptx.load(ROWS)["rows"], *args, grid=(ctas,), block=(THREADS,))


def test_the_profile_counts_lines_between_two_loads_of_a_sector():
    """A sector has eight words; the lanes of a warp read 32 lines at a time."""
    found = rows(1).observer(own=True).run(range(1)).fresh_loads
    loads, sectors, known, lines = found[found[:, 0] > 0].sum(axis=0)
    assert loads == 2 * 32 * THREADS // 32 and sectors == 32 * loads, "one load of eight"
    assert known == 7 * sectors
    assert lines == 32 * known


@pytest.mark.parametrize(("each", "waits"), [(1, 1 / 8), (8, 0.9)])
def test_short_reuse_hits_l1_while_the_lines_of_all_resident_warps_fit(each, waits):
    """Eight warps need 32 KiB of the 192 KiB of an SM for the lines of their lanes, 64 warps 256 KiB."""
    on = gpu("A100")
    call = rows(each * on.sms)
    model = LaunchModel(call.compiled(), call.plan, work_of(call), on, _occupancy(call.compiled(), call.plan, on))
    read = model.work.sample.line_access[0] > 1
    assert model.builder.l1_waits[read].max() == pytest.approx(waits, rel=0.15)
