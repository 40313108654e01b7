"""DRAM traffic of CTAs whose neighbors read other bytes of the same sectors."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.dram_traffic import estimate_traffic
from pyptx.analysis.model.rereads import Reads
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import work_of

ROWS, COLUMNS = 4096, 8192
# threads (4, 64): each CTA reads 16 bytes of 64 rows
COLUMN_READS = f"""
.version 8.5
.target sm_80
.address_size 64
.visible .entry reads(.param .u64 from)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r1, %r2, 4, %r1;
    mov.u32 %r3, %tid.y;
    mov.u32 %r4, %ctaid.y;
    mad.lo.u32 %r3, %r4, 64, %r3;
    mad.lo.u32 %r1, %r3, {COLUMNS}, %r1;
    ld.param.u64 %rd1, [from];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r5, [%rd1];
    setp.eq.u32 %p1, %r5, 1;
    @%p1 trap;
    ret;
}}
""".replace(".reg .b64", ".reg .pred %p<2>;\n    .reg .b64")


@pytest.mark.parametrize("together", [True, False])
def test_a_sector_that_neighbors_share_is_read_once(together):
    kernel = pyptx.load(COLUMN_READS)["reads"]
    call = bind_call(kernel, np.zeros((ROWS, COLUMNS), np.float32), grid=(COLUMNS // 4, ROWS // 64), block=(4, 64))
    on, size = gpu("rtx 4090"), 4 * ROWS * COLUMNS
    traffic = estimate_traffic(
        work_of(call), on, 6 * on.sms, {"from": Reads(2 * size / (COLUMNS // 4 * ROWS // 64))}, together=together
    )
    assert traffic.read == pytest.approx(size, rel=0.01)
