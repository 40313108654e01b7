"""Atomic operations of all threads on one word: L2, or shared memory, executes them one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.memory_system import ATOMIC_FLOAT_LANE_CYCLES, ATOMIC_LANE_CYCLES

# `ptxas` adds up the values of a warp only where it knows that the lanes have one address
SUM = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry add_up(.param .u64 to)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    shr.u32 %r1, %r1, 10;
    ld.param.u64 %rd1, [to];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.b32 %r2, 1;
    red.global.add.{kind} [%rd1], %r2;
    ret;
}}
"""


@pytest.mark.parametrize(("kind", "lane"), [("u32", ATOMIC_LANE_CYCLES), ("f32", ATOMIC_FLOAT_LANE_CYCLES)])
def test_lanes_of_one_word_take_turns_which_are_longer_for_floating_point(kind, lane):
    kernel, threads, ctas = pyptx.load(SUM.format(kind=kind))["add_up"], 256, 1 << 14
    found = estimate(kernel, np.zeros(1, np.float32), grid=ctas, block=threads, device="a100")
    assert found.bound == "atomics"
    assert found.terms["atomics"] * found.clock_hz == pytest.approx(lane * threads * ctas, rel=0.05)


SHARED_SUM = """
.version 8.5
.target sm_86
.address_size 64
.visible .entry add_up(.param .u64 to)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .reg .pred %p1;
    .shared .align 4 .b8 word[4];
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
L:
    red.shared.add.u32 [word], %r1;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 200;
    @%p1 bra L;
    bar.sync 0;
    ld.shared.u32 %r3, [word];
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


def test_values_that_ptxas_adds_up_are_added_by_one_lane():
    kernel, warps, device = pyptx.load(SHARED_SUM)["add_up"], 8, gpu("RTX 3090")
    found = estimate(kernel, np.zeros(1, np.uint32), grid=device.sms, block=32 * warps, device=device)
    assert 1 <= found.terms["shared"] * found.clock_hz / (200 * warps) <= 4
