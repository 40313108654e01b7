"""Cycles that L1 takes for loads from global memory, by their lines and bank conflicts."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.estimate import estimate
from pyptx.parser import parse
from pyptx.sim import ClusterProfiler, load

LOADS, TURNS = 8, 64
STRIDED = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry strided(.param .u64 from, .param .u64 to)
{{
    .reg .u64 %rd<5>;
    .reg .u32 %r<4>;
    .reg .{type} %v<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    mad.wide.u32 %rd3, %r2, {stride}, %rd1;
    mov.u32 %r3, 0;
    mov.{type} %v1, {zero};
L:
{loads}
    add.u64 %rd3, %rd3, 128;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, {turns};
    @%p1 bra L;
    mad.wide.u32 %rd4, %r1, 8, %rd2;
    st.global.{type} [%rd4], %v1;
    ret;
}}
"""


def strided(of: str, stride: int):
    """Return a kernel whose lanes load words of a type, so many of them apart."""
    size = int(of[1:]) // 8
    load = f"    ld.global.{of} %v2, [%rd3+{{at}}];\n    add.rn.{of} %v1, %v1, %v2;"
    zero = "0f00000000" if size == 4 else "0d0000000000000000"
    loads = "\n".join(load.format(at=4096 * k) for k in range(LOADS))
    text = STRIDED.format(type=of, stride=stride * size, zero=zero, loads=loads, turns=TURNS)
    return pyptx.load(text)["strided"]


# RRZE-HPC gpu-benches, gpu-strides on H200: cycles of an SM per load of a warp that hits L1
PUBLISHED = {1: 1.01, 2: 2.01, 3: 1.63, 4: 4.01, 8: 8.0, 9: 3.0, 15: 4.6}
PUBLISHED_DOUBLE = {1: 2.01, 3: 2.32, 8: 16.0}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "of, stride, cycles",
    [("f32", *row) for row in PUBLISHED.items()] + [("f64", *row) for row in PUBLISHED_DOUBLE.items()],
)
def test_strided_loads_take_the_published_cycles(of, stride, cycles):
    arrays, warps, on = (np.zeros(1 << 14, np.float64), np.zeros(1024, np.float64)), 8, gpu("H200")
    found = estimate(strided(of, stride), *arrays, grid=(132,), block=(32 * warps,), device=on)
    assert found.terms["shared"] * on.clock_hz / (warps * LOADS * TURNS) == pytest.approx(cycles, rel=0.08)


def test_a_profile_counts_lines_and_passes_over_banks():
    """Random places, compared with sets of lines and of words by bank."""
    text = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry gather(.param .u64 from, .param .u64 to)
{
    .reg .u64 %rd<6>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd3];
    mad.wide.u32 %rd4, %r2, 4, %rd1;
    ld.global.u32 %r3, [%rd4];
    ret;
}
"""
    random = np.random.default_rng(0)
    places = random.integers(0, 512, 512).astype(np.uint32)
    program = load(parse(text))
    profile = ClusterProfiler(program, 1, 32, [places, np.zeros(1, np.uint32)]).run(range(1))
    lanes = places[:32]
    banks = [{int(word) for word in lanes if word % 32 == bank} for bank in range(32)]
    assert profile.lines[profile.lines > 0].tolist() == [1, len({int(word) // 32 for word in lanes})]
    assert profile.bank_passes.max() == max(map(len, banks)) - 1
