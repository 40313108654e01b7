"""Passes over shared memory of accesses that ptxas merges, and of loads whose lanes share addresses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.estimate import estimate
from pyptx.parser import parse
from pyptx.sim import ClusterProfiler, launch, load

ACCESS = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry access(.param .u64 to)
{{
    .reg .b32 %r<9>;
    .shared .align 16 .b8 tile[8192];
    mov.u32 %r1, %tid.x;
    {address}
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    {access}
    ret;
}}
"""
LOAD = "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];"
STORE = "st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};"
# address of a lane: passes with 8 and with 16 bytes for each lane
PATTERNS = {
    "consecutive": ("shl.b32 %r2, %r1, 4;", 4, 4),  # 8 bytes of each 16: two passes and a conflict in both
    "uniform": ("mov.u32 %r2, 0;", 1, 2),
    "pairs": ("shr.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 4;", 2, 2),  # n and n ^ 1
    "second bit": ("and.b32 %r2, %r1, 29; shl.b32 %r2, %r2, 4;", 4, 4),  # n and n ^ 2; every other 16 bytes: conflicts
    "fours": ("shr.u32 %r2, %r1, 2; shl.b32 %r2, %r2, 4;", 1, 2),
    "halves": ("and.b32 %r2, %r1, 15; shl.b32 %r2, %r2, 4;", 4, 4),  # n and n ^ 16: not packed
    "rows": ("shr.u32 %r2, %r1, 4; shl.b32 %r2, %r2, 7;", 2, 2),  # each half warp has a line
}


@pytest.mark.parametrize("name", PATTERNS)
def test_lanes_in_pairs_take_half_the_passes(name):
    address, of_8, of_16 = PATTERNS[name]
    profile = profiled(ACCESS.format(address=address, access=LOAD))
    assert profile.wide_passes.max(axis=0).tolist() == [of_8, of_16]


def test_stores_are_not_packed():
    profile = profiled(ACCESS.format(address=PATTERNS["fours"][0], access=STORE))
    assert profile.wide_passes.max(axis=0).tolist() == [2, 4]


FRAGMENTS = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry fragments(.param .u64 to)
{
    .reg .b32 %r<12>;
    .shared .align 32 .b8 tile[8192];
    mov.u32 %r1, tile;
    mov.u32 %r2, STRIDE;
    wmma.load.OPERAND.sync.aligned.row.m16n16k16.shared.f16 {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, [%r1], %r2;
    ret;
}
"""


@pytest.mark.parametrize("operand, stride, extra", [("a", 32, 3), ("b", 128, 7), ("b", 136, 0), ("a", 16, 1)])
def test_a_fragment_has_the_bank_conflicts_of_its_four_matrices(operand, stride, extra):
    """ptxas loads it by one LDSM. Products in tiles of these strides on RTX PRO 6000 have 6.0 passes per matrix on average
    (waynehacking8/blackwell-tensorcore-kernels, ncu_sm120_wmma_8192)."""
    program = load(parse(FRAGMENTS.replace("OPERAND", operand).replace("STRIDE", str(stride))))
    for engine in ("core", "reference"):
        counters = launch(program, 1, 32, [np.zeros(1, np.uint32)], engine=engine).counters
        assert sum(counters.shared_conflicts) == 4 * extra


def profiled(text: str):
    return ClusterProfiler(load(parse(text)), 1, 32, [np.zeros(1, np.uint32)]).run(range(1))


MERGED = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry merged(.param .u64 to)
{{
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<3>;
    .reg .pred %p1;
    .shared .align 16 .b8 tile[16384];
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    {address}
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r4, 0;
L:
    bar.sync 0;
    {loads}
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 64;
    @%p1 bra L;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.f32 [%rd1], %f1;
    ret;
}}
"""


@pytest.mark.parametrize(
    "name, on, target, passes",
    [
        ("consecutive", "H200", "sm_90", 4),
        ("pairs", "H200", "sm_90", 2),
        ("consecutive", "T4", "sm_75", 8),
        ("pairs", "T4", "sm_75", 4),
    ],
)
def test_four_loads_that_ptxas_merges_take_the_passes_of_one_wide_load(name, on, target, passes):
    """Turing takes two cycles for each pass."""
    loads = "\n    ".join(  # line information distinguishes lines only
        f"ld.shared.f32 %f2, [%r3+{at + 4 * word}];\n    fma.rn.f32 %f1, %f2, %f2, %f1;"
        for at in range(0, 4096, 512)
        for word in range(4)
    )
    address = PATTERNS[name][0].replace("%r1", "%r2")
    kernel = pyptx.load(MERGED.format(address=address, loads=loads).replace("sm_90", target))["merged"]
    device, warps = gpu(on), 8
    found = estimate(kernel, np.zeros(256, np.float32), grid=(device.sms,), block=(32 * warps,), device=device)
    cycles = found.terms["shared"] * found.clock_hz
    assert cycles == pytest.approx(warps * 64 * 8 * passes, rel=0.05)


LOCAL = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry spilled(.param .u64 to, .param .u32 turns)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    .reg .pred %p1;
    .local .align 16 .b8 array[512];
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r8, [turns];
    mov.u64 %rd2, array;
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, 0;
L:
    and.b32 %r3, %r4, 15;
    mad.wide.u32 %rd3, %r3, 16, %rd2;
    st.local.{kind} [%rd3], {values};
    ld.local.{kind} {values}, [%rd3+64];
    add.u32 %r1, %r1, %r2;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r8;
    @%p1 bra L;
    st.global.u32 [%rd1], %r1;
    ret;
}}
"""


@pytest.mark.parametrize(
    "kind, values, passes", [("u32", "%r2", 1), ("v2.u32", "{%r2, %r5}", 2), ("v4.u32", "{%r2, %r5, %r6, %r7}", 4)]
)
def test_local_memory_takes_a_pass_for_each_register(kind, values, passes):
    kernel, turns, warps = pyptx.load(LOCAL.format(kind=kind, values=values))["spilled"], 500, 8
    found = estimate(kernel, np.zeros(1, np.uint32), turns, grid=(132,), block=(32 * warps,), device="H200")
    assert found.terms["shared"] * found.clock_hz == pytest.approx(2 * turns * passes * warps, rel=0.05)


def products(monkeypatch, columns: int, depth: int):
    """Return the prediction of 128 x columns x 16 products by tcgen05, `depth` before each wait."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    import rungs

    entry = rungs.program("blackwell.ptx", "sm_100a")[f"products_{columns}_{depth}"]
    return estimate(entry, 4096 // depth, np.zeros(128, np.float32), grid=(1,), block=(128,), device="B200")


@pytest.mark.slow
def test_operands_of_tcgen05_are_read_from_shared_memory(monkeypatch):
    """128 rows of A and the columns of B, 32 bytes each, at 128 bytes per cycle: more than the product takes below 128."""
    for columns in (64, 256):
        terms = products(monkeypatch, columns, 256).terms
        assert terms["shared"] / terms["tensor"] == pytest.approx((128 + columns) / 4 / (columns / 2), rel=0.02)


@pytest.mark.slow
def test_a_commit_and_the_wait_for_it_take_the_published_cycles(monkeypatch):
    """559 cycles for four products of 128 x 128 x 16 (facebookexperimental/triton, pull request 1219), of which 256 compute."""
    few = products(monkeypatch, 128, 4)
    cycles = few.terms["pipeline"] * few.clock_hz / (4096 // 4)
    assert cycles == pytest.approx(559, rel=0.1)
