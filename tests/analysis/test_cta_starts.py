"""Launches of many small CTAs, which start one after the other, and accesses of warps without an active lane."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.launch_model import CTA_CYCLES, WARP_CYCLES

NOTHING = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 to)
{
    ret;
}
"""
# a step of a sum in shared memory, repeated: threads below a limit add the value of another one
TREE = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry tree(.param .u64 to, .param .u32 limit)
{{
    .reg .b32 %r<9>;
    .reg .pred %p<3>;
    .shared .align 16 .b8 tile[8192];
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [limit];
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, tile;
    add.u32 %r3, %r3, %r4;
    setp.ge.u32 %p1, %r1, %r2;
    st.shared.b32 [%r3], %r1;
    bar.sync 0;
{steps}
    ret;
}}
"""
STEP = """
    @%p1 bra done{0};
    ld.shared.b32 %r5, [%r3];
    ld.shared.b32 %r6, [%r3+64];
    add.u32 %r5, %r5, %r6;
    st.shared.b32 [%r3], %r5;
done{0}:
    bar.sync 0;
"""


@pytest.mark.parametrize("device", ["h100", "b200", "rtx 3090"])
@pytest.mark.parametrize("threads", [32, 128])
def test_many_ctas_without_work_start_one_after_the_other(device, threads):
    kernel, ctas = pyptx.load(NOTHING)["nothing"], 1 << 20
    found = estimate(kernel, np.zeros(1, np.float32), grid=ctas, block=threads, device=device)
    assert found.bound == "ctas" and "start of CTAs" in found.summary
    assert found.terms["ctas"] == pytest.approx(CTA_CYCLES * ctas / found.clock_hz)
    assert found.terms["ctas"] <= found.seconds < 1.1 * found.terms["ctas"]


def test_accesses_of_warps_without_an_active_lane_take_their_turn():
    kernel = pyptx.load(TREE.format(steps="".join(map(STEP.format, range(32)))))["tree"]

    def cycles(limit: int) -> float:
        found = estimate(kernel, np.zeros(1, np.float32), limit, grid=108 * 64, block=256, device="a100")
        return found.terms["shared"] * found.clock_hz

    none, one_warp, all_of_them = map(cycles, (0, 32, 256))
    assert none == pytest.approx(all_of_them, rel=0.05)
    assert one_warp == pytest.approx(all_of_them, rel=0.05)


PART = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry part(.param .u64 to)
{
    .reg .b32 %r<6>;
    .reg .b64 %at;
    .reg .pred %p;
    mov.u32 %r1, %ctaid.y;
    setp.gt.u32 %p, %r1, 0;
    @%p bra done;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.u32 %r2, %r3, 256, %r2;
    ld.param.u64 %at, [to];
    mad.wide.u32 %at, %r2, 4, %at;
    ld.global.u32 %r5, [%at];
    st.global.u32 [%at], %r5;
done:
    ret;
}
"""


def test_ctas_without_work_start_after_those_with_work():
    """On RTX 3090, a grid of 231 million CTAs of 1024 threads of which few have work takes 13.4 cycles per warp of an SM."""
    kernel, data = pyptx.load(PART)["part"], np.zeros(256 << 14, np.float32)
    working, most_idle = (
        estimate(kernel, data, grid=(1 << 14, rows), block=256, device="rtx 3090") for rows in (1, 64)
    )
    idle = WARP_CYCLES * 8 / 82 * (63 << 14) / most_idle.clock_hz
    assert most_idle.seconds == pytest.approx(working.seconds + idle, rel=0.02)
    assert most_idle.bound == "ctas" and working.bound == "dram"
    found = most_idle.attribution
    assert found.overhead["CTAs without work"] == pytest.approx(idle, rel=1e-6)
    assert "CTAs without work" not in working.attribution.overhead
