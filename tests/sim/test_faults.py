"""Messages for faults of a program."""

from __future__ import annotations

import numpy as np
import pytest
from sim.text import entry

from pyptx import sim
from pyptx.errors import LaunchError, SimulationError

pytestmark = pytest.mark.parametrize("engine", ["core", "reference"])
PROLOGUE = """
.reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .f32 %f<4>; .shared .align 16 .b8 x[64]
ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2
"""


def fails(engine, body, a=None, block=32, **options) -> str:
    a = np.zeros((4, 8), np.float32) if a is None else a
    with pytest.raises(SimulationError) as caught:
        sim.launch(sim.load(entry(PROLOGUE + body + "; ret", "u64 a")), 1, block, (a,), engine=engine, **options)
    return str(caught.value)


def test_out_of_bounds_names_thread_address_and_buffer(engine):
    text = fails(engine, "ld.global.f32 %f1, [%rd3+8]")
    assert "ld.global.f32 %f1, [%rd3+8]; thread (30, 0, 0) of CTA (0, 0, 0) (warp 0, lane 30) reads 4 bytes" in text
    assert "at 0x700000000080, outside every buffer" in text
    assert "hint: 0 bytes past the end of a[4, 8] float32" in text


def test_a_store_before_the_buffer(engine):
    text = fails(engine, "sub.u64 %rd4, %rd3, 16; st.global.f32 [%rd4], %f1")
    assert "thread (0, 0, 0)" in text and "writes 4 bytes" in text and "hint: 16 bytes before a[4, 8] float32" in text


def test_an_access_over_the_end_says_what_is_left(engine):
    text = fails(
        engine,
        "setp.eq.u32 %p1, %r1, 1; @%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f0}, [%rd1+112]",
        np.zeros(30, np.float32),
    )
    assert "hint: a[28], 8 bytes before its end" in text


def test_null_pointers(engine):
    assert "a null pointer" in fails(engine, "mov.u64 %rd4, 0; ld.global.u32 %r2, [%rd4+16]")


def test_misaligned_access(engine):
    assert "which is not a multiple of 4" in fails(engine, "ld.global.f32 %f1, [%rd3+2]")
    assert "which is not a multiple of 16" in fails(engine, "ld.global.v4.f32 {%f1, %f2, %f3, %f0}, [%rd3]")


def test_shared_memory_ends(engine):
    text = fails(engine, "mov.u32 %r2, x; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1")
    assert "lane 16) writes 4 bytes at 0x440 of shared memory, out of bounds" in text
    assert "hint: shared memory of the CTA is 0x400..0x440: 64 bytes static and 0 dynamic" in text


def test_read_only_arrays_are_not_written(engine):
    a = np.zeros(32, np.float32)
    a.flags.writeable = False
    assert "which is read-only" in fails(engine, "st.global.f32 [%rd3], %f1", a)


def test_trap(engine):
    assert "thread (5, 0, 0) of CTA (0, 0, 0) (warp 0, lane 5) executed trap" in fails(
        engine, "setp.eq.u32 %p1, %r1, 5; @%p1 trap"
    )


def test_a_loop_that_never_ends_is_given_up(engine):
    text = fails(engine, "LOOP: add.u32 %r2, %r2, 1; bra LOOP", max_steps=5000)
    assert "stopped after max_steps=5000 warp instructions" in text and "warp 0 runs: " in text


def test_jump_tables_are_checked(engine):
    text = fails(engine, "T:.branchtargets A, B; brx.idx %r1, T; A: ret; B: ret")
    assert "has index 2 into a branch table of 2 entries" in text


def test_forms_that_are_not_simulated_are_all_named(engine):
    with pytest.raises(SimulationError) as caught:
        sim.load(entry(".reg .b32 %r<4>; fabric.submit; add.u32 %r1, %r2, %r3; fabric.wait.sync_restrict::reads; ret"))
    assert [d.message.partition(": ")[0] for d in caught.value.diagnostics] == [
        "fabric.submit is not simulated",
        "fabric.wait.sync_restrict::reads is not simulated",
    ]
    assert all("driver of a multi-node fabric" in d.message for d in caught.value.diagnostics)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), r"test takes 3 arguments \(a .u64, n .s16, c .b8\[4\]\); got 0"),
        ((1.5, 0, b"1234"), "argument a of test is .u64; pass an array, a Buffer or an address, not float"),
        ((0, 40000, b"1234"), r"argument n of test is .s16, -32768..32767; 40000 does not fit"),
        ((0, np.zeros(3), b"1234"), "parameter n is .s16, not a pointer"),
        ((0, 0, b"123"), "argument c of test is 4 bytes; got 3"),
        ((0, 0, 7), "argument c of test is 4 bytes by value; pass bytes, not int"),
        ((np.zeros((4, 4))[:, ::2], 0, b"1234"), "is not contiguous"),
    ],
)
def test_arguments_are_checked(engine, args, message):
    with pytest.raises(LaunchError, match=message):
        sim.launch(sim.load(entry("ret", "u64 a, s16 n, b8[4] c")), 1, 32, args, engine=engine)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block": 2048}, "has 2048 threads; at most 1024"),
        ({"grid": 0}, "is empty, so nothing is executed"),
        ({"smem_bytes": 300000}, "at most 232448"),
        ({"grid": (1, 2, 3, 4)}, "expected one to three ints"),
        ({"cluster": 2}, "is not a multiple of cluster"),
    ],
)
def test_sizes_are_checked(engine, options, message):
    sizes = {"grid": 1, "block": 32} | options
    with pytest.raises(LaunchError, match=message):
        sim.launch(sim.load(entry("ret")), sizes.pop("grid"), sizes.pop("block"), (), engine=engine, **sizes)


def test_shared_memory_is_that_of_the_chip_a_program_is_for(engine):
    program = sim.load(entry(".shared .b8 x[100000]; ret", target="sm_120a"))
    with pytest.raises(LaunchError, match="test: 100000 static and 2048 dynamic .* CTA of sm_120a has at most 101376"):
        sim.launch(program, 1, 32, (), engine=engine, smem_bytes=2048)
