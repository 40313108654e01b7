"""Atomics against NumPy, on global and shared memory."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

BODY = """
.reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>
ld.param.u64 %rd1, [target]; ld.param.u64 %rd2, [values]; ld.param.u64 %rd3, [old]; mov.u32 %r1, %tid.x
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1
mul.wide.u32 %rd4, %r1, SIZE; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4
rem.u32 %r4, %r1, 3; mul.wide.u32 %rd5, %r4, SIZE; add.u64 %rd1, %rd1, %rd5
ld.global.bBITS REG1, [%rd2]; atom.global.OP REG2, [%rd1], REG1; st.global.bBITS [%rd3], REG2; ret
"""


def run(op, target, values):
    bits = 8 * values.itemsize
    register = {16: "%h", 32: "%r", 64: "%rd"}[bits]
    body = (
        BODY.replace("SIZE", str(values.itemsize))
        .replace("BITS", str(bits))
        .replace("OP", op)
        .replace("REG1", register + ("3" if bits == 16 else "9"))
        .replace("REG2", register + ("2" if bits == 16 else "10"))
    )
    old = np.zeros_like(values)
    run_both(entry(body, "u64 target, u64 values, u64 old"), 2, 48, (target, values, old))
    return old


@pytest.mark.parametrize(
    ("op", "dtype", "fold"),
    [
        ("add.u32", np.uint32, np.add),
        ("add.u64", np.uint64, np.add),
        ("min.s32", np.int32, np.minimum),
        ("max.u32", np.uint32, np.maximum),
        ("max.s64", np.int64, np.maximum),
        ("and.b32", np.uint32, np.bitwise_and),
        ("or.b64", np.uint64, np.bitwise_or),
        ("xor.b32", np.uint32, np.bitwise_xor),
        ("add.f32", np.float32, np.add),
        ("add.f64", np.float64, np.add),
    ],
)
def test_read_modify_write(op, dtype, fold):
    rng = np.random.default_rng(0)
    values = (
        rng.standard_normal(96).astype(dtype)
        if np.dtype(dtype).kind == "f"
        else rng.integers(0, 256, 96 * np.dtype(dtype).itemsize, np.uint8).view(dtype)
    )
    target = values[:3].copy()
    start, wanted, seen = target.copy(), target.copy(), np.zeros_like(values)
    for i, v in enumerate(values):  # lanes in order, CTA after CTA
        seen[i] = wanted[i % 3]
        wanted[i % 3] = fold(wanted[i % 3], v)
    old = run(op, target, values)
    assert (target == wanted).all() and (old == seen).all() and not (start == target).all()


def test_inc_and_dec_wrap_at_their_bound():
    target = np.zeros(3, np.uint32)
    run("inc.u32", target, np.full(96, 5, np.uint32))
    assert (target == 32 % 6).all()
    run("dec.u32", target, np.full(96, 5, np.uint32))
    assert (target == 0).all()


def test_half_precision_atomics_round_each_time():
    values, target = np.full(96, 0.1, np.float16), np.zeros(3, np.float16)
    run("add.noftz.f16", target, values)
    wanted = np.float16(0)
    for _ in range(32):
        wanted = np.float16(np.float64(wanted) + np.float64(np.float16(0.1)))
    assert (target == wanted).all()


def test_global_f32_add_flushes_subnormals_and_shared_does_not():
    body = """
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .shared .f32 s
    ld.param.u64 %rd1, [out]; mov.b32 %f1, 0f00000001; atom.global.add.f32 %f2, [%rd1], %f1
    atom.shared.add.f32 %f2, [s], %f1; ld.shared.f32 %f3, [s]; st.global.f32 [%rd1+4], %f3; ret
    """
    out = np.zeros(2, np.float32)
    run_both(entry(body, "u64 out"), 1, 1, (out,))
    assert tuple(out.view(np.uint32)) == (0, 1)


def test_compare_and_swap_loops():
    """A float maximum made of cas."""
    body = """
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .pred %p<2>
    ld.param.u64 %rd1, [target]; ld.param.u64 %rd2, [values]; mov.u32 %r1, %tid.x
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3; ld.global.f32 %f1, [%rd2]; ld.global.b32 %r2, [%rd1]
    LOOP: mov.b32 %f2, %r2; max.f32 %f3, %f1, %f2; mov.b32 %r3, %f3; atom.global.cas.b32 %r4, [%rd1], %r2, %r3
    setp.ne.b32 %p1, %r4, %r2; mov.b32 %r2, %r4; @%p1 bra LOOP
    ret
    """
    values, target = np.random.default_rng(3).standard_normal(128).astype(np.float32), np.full(1, -np.inf, np.float32)
    run_both(entry(body, "u64 target, u64 values"), 1, 128, (target, values))
    assert target[0] == values.max()


def test_128_bit_exchange_and_compare():
    body = (
        """
    .reg .b64 %rd<8>; .reg .b128 %q<6>
    ld.param.u64 %rd1, [x]; mov.b128 %q1, {1, 2}; mov.b128 %q2, {30, 40}
    atom.global.cas.b128 %q3, [%rd1], %q1, %q2; atom.global.exch.b128 %q4, [%rd1+16], %q2
    st.global.b128 [%rd1+32], %q3; st.global.b128 [%rd1+48], %q4; ret
    """.replace("{1, 2}", "{%rd2, %rd3}")
        .replace("{30, 40}", "{%rd4, %rd5}")
        .replace("mov.b128 %q1", "mov.u64 %rd2, 1; mov.u64 %rd3, 2; mov.u64 %rd4, 30; mov.u64 %rd5, 40; mov.b128 %q1")
    )
    x = np.array([1, 2, 3, 4, 0, 0, 0, 0], np.uint64)
    run_both(entry(body, "u64 x"), 1, 1, (x,))
    assert x.tolist() == [30, 40, 30, 40, 1, 2, 3, 4]
