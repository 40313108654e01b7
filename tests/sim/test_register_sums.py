"""A register plus a constant as an operand, `%r1+1`: undocumented, accepted by ptxas, an addition in the register's width."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

START = """
.reg .b16 %h<8>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<4>; .reg .pred %p<4>
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x
"""
TID = np.arange(32, dtype=np.uint64)
SUMS = {
    "two operands": ("add.u32 %r2, %r1+1, %r1+-2", (2 * TID - 1) & 0xFFFFFFFF),
    "spaces and several terms": ("add.u32 %r2, %r1 + 1 + 2, 0", TID + 3),
    "wraps at 32 bits, then widens": ("mul.wide.u32 %rd3, %r1+-1, 3; cvt.u32.u64 %r2, %rd3", (TID - 1) % 2**32 * 3 % 2**32),
    "wraps at 16 bits": ("cvt.u16.u32 %h1, %r1; mul.wide.u16 %r2, %h1+65535, 2", (TID - 1) % 2**16 * 2),
    "a constant of 33 bits": ("add.u32 %r2, %r1+4294967297, 0", TID + 1),
    "64 bits": ("cvt.u64.u32 %rd3, %r1; shr.u64 %rd4, %rd3+8589934592, 32; cvt.u32.u64 %r2, %rd4", 0 * TID + 2),
    "a comparison": ("setp.lt.u32 %p1, %r1+4, 8; selp.u32 %r2, %r1+100, %r1+200, %p1", TID + np.where(TID < 4, 100, 200)),
    "a shuffle": ("shfl.sync.bfly.b32 %r2, %r1+5, 1, 31, -1", (TID ^ 1) + 5),
    "a barrier that waits": ("mov.u32 %r3, 1; bar.sync %r3+1; mov.u32 %r2, %r1+7", TID + 7),
    "a guard": ("mov.u32 %r2, 9; setp.lt.u32 %p1, %r1, 4; @%p1 mov.u32 %r2, %r1+1", np.where(TID < 4, TID + 1, 9)),
    "a loop": ("mov.u32 %r2, 0; L: mov.u32 %r2, %r2+1; setp.lt.u32 %p1, %r2+3, 10; @%p1 bra L", 0 * TID + 7),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), SUMS.values(), ids=SUMS)
def test_a_register_plus_a_constant_is_added_in_the_width_of_the_register(code, expected):
    out = np.zeros(32, np.uint32)
    store = "\nmul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r2; ret"
    run_both(entry(START + code + store, "u64 out"), 1, 32, (out,))
    np.testing.assert_array_equal(out, expected.astype(np.uint32))


def test_a_stored_sum_is_the_value_in_memory():
    out = np.zeros(4, np.uint64)
    run_both(entry(START + "mov.u64 %rd2, 40; st.u64 [%rd1+8], %rd2+1; ret", "u64 out"), 1, 1, (out,))
    assert out.tolist() == [0, 41, 0, 0]


def test_a_constant_added_to_a_float_register_is_refused_because_ptxas_crashes_on_it():
    with pytest.raises(SimulationError, match=r"%f1\+1: a constant is added to a \.f32 register"):
        sim.load(entry(START + "mov.f32 %f1, 0f00000000; add.f32 %f2, %f1+1, %f1; ret", "u64 out"))
