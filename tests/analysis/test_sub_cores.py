"""Units of which each sub-core has a part: a warp uses only that of its own."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.model.estimate import estimate

TURNS, OPERATIONS = 200, 8
CHAINS = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry chains(.param .u64 to)
{{
    .reg .f32 %f<{registers}>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .reg .pred %p1;
    .shared .align 16 .b8 tile[8192];
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    cvt.rn.f32.u32 %f0, %r1;
{start}
    mov.u32 %r2, 0;
L:
{operations}
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, {turns};
    @%p1 bra L;
{end}
    st.global.f32 [%rd1], %f0;
    ret;
}}
"""
KINDS = {
    "exponentials": ("ex2.approx.ftz.f32 %f{k}, %f{k};", 8),
    "loads": ("ld.volatile.shared.f32 %f{k}, [%r3+{at}];", 4),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_warp_takes_as_long_as_four(kind):
    """On H100, a sub-core executes four lanes of a special function, and addresses of eight lanes, in a cycle."""
    operation, cycles = KINDS[kind]
    each = range(1, OPERATIONS + 1)
    text = CHAINS.format(
        registers=OPERATIONS + 1,
        turns=TURNS,
        start="\n".join(f"    add.f32 %f{k}, %f0, %f0;" for k in each),
        operations="\n".join("    " + operation.format(k=k, at=512 * k) for k in each),
        end="\n".join(f"    add.f32 %f0, %f0, %f{k};" for k in each),
    )
    kernel = pyptx.load(text)["chains"]
    one, four, eight = (
        estimate(kernel, np.zeros(1, np.float32), grid=132, block=32 * warps, device="H100 SXM").terms["pipeline"]
        for warps in (1, 4, 8)
    )
    assert one == pytest.approx(four, rel=0.1) and eight == pytest.approx(2 * four, rel=0.15)
    assert one * 1.98e9 > 0.9 * TURNS * OPERATIONS * cycles
