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


# Each thread adds a word of a row of the CTA's own to a word that all CTAs read.
COMMON = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry add(.param .u64 own, .param .u64 common, .param .u64 to)
.maxntid 256, 1, 1
{
    .reg .u64 %rd<7>;
    .reg .u32 %r<7>;
    ld.param.u64 %rd1, [own];
    ld.param.u64 %rd2, [common];
    ld.param.u64 %rd3, [to];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    mad.wide.u32 %rd4, %r3, 4, %rd1;
    mad.wide.u32 %rd5, %r2, 4, %rd2;
    mad.wide.u32 %rd6, %r3, 4, %rd3;
    ld.global.u32 %r4, [%rd4];
    ld.global.u32 %r5, [%rd5];
    add.u32 %r6, %r4, %r5;
    st.global.u32 [%rd6], %r6;
    ret;
}
"""


def test_what_all_ctas_read_is_in_l1_from_the_cta_before():
    """With 16 CTAs per slot on A100, one CTA per SM reads the shared words from L2; loads of the first eight wait for them."""
    on = gpu("A100")
    ctas = 128 * on.sms
    args = (np.zeros((ctas, 256), np.uint32), np.zeros(256, np.uint32), np.zeros((ctas, 256), np.uint32))
    call = bind_call(pyptx.load(COMMON)["add"], *args, grid=(ctas,), block=(256,))
    model = LaunchModel(call.compiled(), call.plan, work_of(call), on, _occupancy(call.compiled(), call.plan, on))
    own, common = np.flatnonzero([bool(names) for names in model.work.sample.buffers])
    assert model.work.sample.buffers[common] == {"common"}
    assert model.resident == 8
    assert [model.builder.l1_waits[own], model.builder.l1_waits[common]] == pytest.approx([1, 1 / 16])
    assert model.demand.read == pytest.approx(1024 * (1 + 1 / 128))


def test_two_arrays_do_not_displace_each_other_in_the_profile():
    """A warp reads halves of the words of its lanes in two arrays, alternating: the second half is known."""
    lines = [f"ld.global.u16 %rs{1 + k}, [%rd{1 + k % 2}+{2 * (k // 2)}];" for k in range(4)]
    text = COMMON.split("mov.u32 %r1")[0].replace("%r<7>;", "%r<7>;\n    .reg .u16 %rs<5>;") + "mov.u32 %r2, %tid.x;\n"
    text += "mad.wide.u32 %rd1, %r2, 4, %rd1;\nmad.wide.u32 %rd2, %r2, 4, %rd2;\n" + "\n".join(lines) + "\nret;\n}"
    arrays = [np.zeros(1 << 14, np.uint32) for _ in range(3)]
    call = bind_call(pyptx.load(text)["add"], *arrays, grid=(1,), block=(32,))
    found = call.observer(own=True).run(range(1)).fresh_loads
    assert found[found.any(axis=1)][:, 1:3].tolist() == [[4, 0], [4, 0], [0, 4], [0, 4]]
