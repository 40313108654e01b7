"""Straight-line code: the C core runs a whole line of operations at once, with the same results."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

OUT = (
    ".reg .pred %p<4>; .reg .b32 %r<24>; .reg .f32 %f<24>; .reg .b64 %rd<8>; ld.param.u64 %rd1, [out]; "
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd1, %rd1, %rd2; "
)


def run(body: str, block: int = 64, words: int = 4 * 64, **options) -> np.ndarray:
    out = np.arange(words, dtype=np.uint32)
    run_both(entry(OUT + body + "; ret", "u64 out"), 1, block, (out,), **options)
    return out


@pytest.mark.parametrize("block", [64, 40])
def test_a_copy_is_read_as_it_was_when_it_was_made(block):
    out = run(
        "mov.u32 %r2, %r1; add.u32 %r1, %r1, 5; add.u32 %r3, %r2, %r1; mov.u32 %r4, %r3; mov.u32 %r5, %r4; "
        "mov.u32 %r4, 7; add.u32 %r6, %r5, %r4; st.global.v4.b32 [%rd1], {%r2, %r3, %r5, %r6}",
        block,
    )
    assert list(out[4:8]) == [1, 7, 7, 14]


def test_a_copy_made_on_one_way_only_is_not_read_on_the_other():
    out = run(
        "mov.u32 %r2, 100; setp.lt.u32 %p1, %r1, 7; @%p1 bra skip; mov.u32 %r2, %r1; "
        "\nskip:\n add.u32 %r3, %r2, 1; "
        "@%p1 mov.u32 %r1, 50; add.u32 %r4, %r2, %r1; st.global.v4.b32 [%rd1], {%r1, %r2, %r3, %r4}"
    )
    assert list(out[12:16]) == [50, 100, 101, 150]
    assert list(out[36:40]) == [9, 9, 10, 18]


@pytest.mark.parametrize("value", ["0f3F800000", "0f7FC12345", "0fFF800000"])
def test_four_multiply_adds_with_a_common_factor(value):
    run(
        f"cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, {value}; mov.f32 %f3, 0f7F800000; mov.f32 %f4, 0f40000000; "
        "mov.f32 %f5, %f1; mov.f32 %f6, %f1; mov.f32 %f7, %f3; mov.f32 %f8, %f1; mov.f32 %f9, %f1; "
        "fma.rn.f32 %f5, %f1, %f2, %f5; fma.rn.f32 %f6, %f1, %f3, %f6; fma.rn.f32 %f7, %f1, %f4, %f7; "
        "fma.rn.f32 %f8, %f1, %f9, %f8; "
        "fma.rn.f32 %f9, %f1, %f2, %f9; fma.rn.f32 %f4, %f1, %f9, %f4; fma.rn.f32 %f1, %f1, %f4, %f1; "
        "fma.rn.f32 %f2, %f1, %f4, %f2; "
        "st.global.v4.f32 [%rd1], {%f5, %f6, %f7, %f8}"
    )


@pytest.mark.parametrize("shift, mask", [(0, 31), (4, 31), (0, 15), (5, 31), (0, 3), (1, 31)])
def test_vectors_from_one_register_at_several_distances(shift, mask):
    declarations = ".shared .align 16 .b8 tile[8192]"
    body = OUT + (
        "mov.u32 %r9, tile; mad.lo.u32 %r2, %r1, 16, %r9; not.b32 %r3, %r1; "
        "st.shared.v4.b32 [%r2], {%r1, %r3, %r2, %r9}; st.shared.v4.b32 [%r2+1024], {%r3, %r1, %r9, %r2}; "
        f"bar.sync 0; and.b32 %r4, %r1, {mask}; shr.u32 %r4, %r4, {shift}; mad.lo.u32 %r4, %r4, 16, %r9; "
        "ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r4]; "
        "ld.shared.v4.b32 {%r14, %r15, %r16, %r17}, [%r4+1024]; "
        "add.u32 %r4, %r4, 16; ld.shared.v4.b32 {%r18, %r19, %r20, %r21}, [%r4+1024]; "
        "ld.shared.b32 %r5, [%r4+4]; "
        "add.u32 %r10, %r10, %r15; add.u32 %r11, %r11, %r16; add.u32 %r12, %r20, %r17; "
        "add.u32 %r13, %r13, %r5; "
        "st.global.v4.b32 [%rd1], {%r10, %r11, %r12, %r13}; ret"
    )
    run_both(entry(declarations + "; " + body, "u64 out"), 1, 64, (np.zeros(256, np.uint32),))


def test_a_fault_inside_a_line_names_its_instruction():
    program = sim.load(
        entry(
            OUT + "st.global.v4.b32 [%rd1], {%r1, %r1, %r1, %r1}; add.u32 %r2, %r1, 1; "
            "st.global.b32 [%rd1+16], %r2; add.u32 %r2, %r2, 1; ret",
            "u64 out",
        )
    )
    with pytest.raises(SimulationError, match=r"\[%rd1\+16\].*thread \(63, 0, 0\)"):
        sim.launch(program, 1, 64, (np.zeros(256, np.uint32),), engine="core")


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_fault_of_the_first_cta_is_reported(threads):
    body = OUT + "mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r2, 9; @%p1 bra fine; trap; \nfine:\n ret"
    program = sim.load(entry(body, "u64 out"))
    with pytest.raises(SimulationError, match=r"CTA \(9, 0, 0\)"):
        sim.launch(program, 200, 64, (np.zeros(256, np.uint32),), engine="core", threads=threads)


@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize(
    "place, index",
    [
        ("mov.u32 %r2, 3", lambda lane: 3),
        ("mov.u32 %r2, %r1", lambda lane: lane),
        ("and.b32 %r2, %r1, 15", lambda lane: lane & 15),
        ("shr.u32 %r2, %r1, 4", lambda lane: lane >> 4),
        ("sub.u32 %r2, 63, %r1", lambda lane: 63 - lane),
        ("mul.lo.u32 %r2, %r1, 7; and.b32 %r2, %r2, 63", lambda lane: lane * 7 & 63),
    ],
)
def test_words_from_addresses_of_every_pattern(place, index, space):
    """One word for all lanes, words in order, sixteen of them twice, one for each half, backwards, anyhow."""
    base = (
        "mov.u32 %r3, x; mad.lo.u32 %r3, %r2, 4, %r3"
        if space == "shared"
        else "ld.param.u64 %rd3, [out]; mad.wide.u32 %rd3, %r2, 4, %rd3; add.u64 %rd3, %rd3, 1024"
    )
    out = run(
        f".shared .align 16 .b8 x[256]; mov.u32 %r3, x; mad.lo.u32 %r3, %r1, 4, %r3; mul.lo.u32 %r4, %r1, 1000; "
        f"st.shared.u32 [%r3], %r4; mul.wide.u32 %rd4, %r1, 4; ld.param.u64 %rd5, [out]; "
        f"add.u64 %rd5, %rd5, %rd4; st.global.u32 [%rd5+1024], %r4; bar.sync 0; {place}; {base}; "
        f"mov.u32 %r7, 0; mov.u32 %r8, 0; L: ld.{space}.u32 %r5, [{'%r3' if space == 'shared' else '%rd3'}]; "
        "add.u32 %r7, %r7, %r5; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 3; @%p1 bra L; "
        "st.global.u32 [%rd1], %r7",
        words=256 + 64,
    )
    assert (out[:256:4] == 3000 * index(np.arange(64))).all()


@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize("first", [64, 50, 32, 9, 0])
def test_accesses_under_a_guard_by_all_some_and_no_lanes(space, first):
    """In each round of a loop fewer lanes take part, at other addresses."""
    base = (
        "mov.u32 %r3, x; mad.lo.u32 %r3, %r1, 16, %r3"
        if space == "shared"
        else "ld.param.u64 %rd3, [out]; mad.wide.u32 %rd3, %r1, 16, %rd3; add.u64 %rd3, %rd3, 1024"
    )
    at, step = ("%r3", "xor.b32 %r3, %r3, 64") if space == "shared" else ("%rd3", "xor.b64 %rd3, %rd3, 64")
    words = {f"%r{k}": f"mad.lo.u32 %r{k}, %r1, {k}, 77; " for k in range(10, 16)}
    run(
        f".shared .align 128 .b8 x[1024]; .reg .b16 %h<2>; {base}; mov.u32 %r8, {first}; {''.join(words.values())}"
        f"cvt.u16.u32 %h0, %r14; mov.b16 %h1, 5; st.{space}.v4.b32 [{at}], {{%r10, %r11, %r12, %r13}}; bar.sync 0; "
        "mov.u32 %r4, 0; mov.u32 %r9, 0; "
        f"L: setp.lt.u32 %p1, %r1, %r8; setp.ge.u32 %p2, %r1, %r8; {step}; bar.sync 0; "
        f"@%p1 ld.{space}.b32 %r5, [{at}]; @%p2 ld.{space}.v4.b32 {{%r16, %r17, %r18, %r19}}, [{at}]; "
        f"@!%p2 ld.{space}.b16 %h1, [{at}+2]; cvt.u32.u16 %r7, %h1; bar.sync 0; add.u32 %r9, %r9, %r5; "
        f"add.u32 %r9, %r9, %r17; add.u32 %r9, %r9, %r7; @%p1 st.{space}.b32 [{at}+4], %r9; "
        f"@!%p1 st.{space}.b16 [{at}+10], %h0; "
        f"@%p2 st.{space}.v4.b32 [{at}], {{%r9, %r10, %r16, %r12}}; bar.sync 0; shr.u32 %r8, %r8, 1; "
        "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 4; @%p3 bra L; st.global.v4.b32 [%rd1], {%r5, %r9, %r17, %r7}",
        words=512,
    )


def test_a_fault_under_a_guard_names_its_lane():
    program = sim.load(
        entry(
            OUT + "setp.gt.u32 %p1, %r1, 9; st.global.b32 [%rd1], %r1; @%p1 st.global.b32 [%rd1+1024], %r1; ret",
            "u64 out",
        )
    )
    with pytest.raises(SimulationError, match=r"thread \(10, 0, 0\)"):
        sim.launch(program, 1, 64, (np.zeros(256, np.uint32),), engine="core")
    program = sim.load(entry(OUT + "setp.ge.u32 %p1, %r1, 0; @%p1 st.global.b32 [%rd1+1020], %r1; ret", "u64 out"))
    with pytest.raises(SimulationError, match=r"thread \(1, 0, 0\)"):
        sim.launch(program, 1, 64, (np.zeros(256, np.uint32),), engine="core")
