"""Short random programs with branches, loops, barriers, shuffles and shared memory: both engines agree."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sim.engines import run_both
from sim.text import entry

REGISTERS = [f"%r{k}" for k in range(1, 7)]
ALU = [
    "add.u32 {d}, {a}, {b}",
    "sub.s32 {d}, {a}, {b}",
    "mul.lo.u32 {d}, {a}, {b}",
    "mad.lo.s32 {d}, {a}, {b}, {d}",
    "xor.b32 {d}, {a}, {b}",
    "shl.b32 {d}, {a}, 3",
    "shr.s32 {d}, {a}, {b}",
    "min.s32 {d}, {a}, {b}",
    "not.b32 {d}, {a}",
    "fma.rn.f32 {d}, {a}, {b}, {d}",
    "add.rz.ftz.f32 {d}, {a}, {b}",
    "max.f32 {d}, {a}, {b}",
    "prmt.b32 {d}, {a}, {b}, {d}",
    "cvt.rn.f32.s32 {d}, {a}",
    "cvt.rzi.s32.f32 {d}, {a}",
    "popc.b32 {d}, {a}",
    "bfe.s32 {d}, {a}, {b}, 7",
    "lop3.b32 {d}, {a}, {b}, {d}, 0x96",
    "selp.u32 {d}, {a}, {b}, %p1",
    "div.s32 {d}, {a}, {b}",
    "activemask.b32 {d}",
    "min.f32 {d}, {a}, {b}",
    "ex2.approx.f32 {d}, {a}",
    "ex2.approx.ftz.f32 {d}, {a}",
    "add.cc.u32 {d}, {a}, {b}; addc.u32 {d}, {d}, {a}",
    "vadd.s32.u32.s32.sat.min {d}, {a}.h1, {b}.b2, {d}",
]
WARP = [
    "shfl.sync.bfly.b32 {d}, {a}, {n}, 31, -1",
    "shfl.sync.down.b32 {d}, {a}, {n}, 31, -1",
    "vote.sync.ballot.b32 {d}, %p1, -1",
    "redux.sync.add.u32 {d}, {a}, -1",
    "match.any.sync.b32 {d}, {a}, -1",
]
SHARED = ["st.shared.u32 [%s], {a}", "ld.shared.u32 {d}, [%s]", "atom.shared.add.u32 {d}, [%s], {a}", "bar.sync 0"]

registers = st.sampled_from(REGISTERS)


@st.composite
def _statements(draw, kinds):
    d, a, b = draw(registers), draw(registers), draw(registers)
    text = draw(st.sampled_from(kinds)).format(d=d, a=a, b=b, n=draw(st.integers(0, 31)))
    if text.startswith(("ld.shared", "st.shared", "atom.shared")):
        return f"and.b32 %t, {draw(registers)}, 252; add.u32 %s, %base, %t; {text}"
    return text


def _guarded(statement: str) -> str:
    return "@%p2 " + statement if ";" not in statement else statement


@st.composite
def _blocks(draw, depth: int):
    """Statements, some under a guard, some in divergent branches and loops; collectives only where all lanes are."""
    kinds = ALU + (WARP + SHARED if depth == 0 else SHARED[:3])
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        statement = draw(_statements(kinds))
        lines.append(
            _guarded(statement)
            if draw(st.booleans()) and not statement.startswith(tuple(WARP)) and ".sync" not in statement
            else statement
        )
    if depth < 2 and draw(st.booleans()):
        name = f"L{draw(st.integers(0, 1 << 30))}"
        inner = draw(_blocks(depth + 1))
        condition = f"setp.lt.s32 %p1, {draw(registers)}, {draw(registers)}"
        if draw(st.booleans()):
            lines += [condition, f"@%p1 bra {name}", *inner, f"{name}:"]
        else:
            counter = f"%c{depth}"
            lines += [
                f"and.b32 {counter}, {draw(registers)}, 3",
                f"{name}:",
                *inner,
                f"sub.s32 {counter}, {counter}, 1",
                f"setp.gt.s32 %p1, {counter}, 0",
                f"@%p1 bra {name}",
            ]
        lines += draw(_blocks(depth)) if draw(st.booleans()) else []
    return lines


@settings(max_examples=60, deadline=None, derandomize=True)
@given(_blocks(0), st.integers(1, 70))
def test_a_random_program_does_the_same_on_both_engines(lines, threads):
    if threads % 32:
        lines = [line for line in lines if ".sync" not in line or "bar" in line]
    store = [f"st.global.u32 [%o+{4 * k}], {r}" for k, r in enumerate(REGISTERS)]
    body = "\n".join(
        [
            ".reg .b32 %r<8>; .reg .b32 %c<3>; .reg .b32 %t; .reg .b32 %s; .reg .b32 %base; .reg .pred %p<4>; .reg .b64 %o",
            ".reg .b64 %w; .shared .align 16 .b8 x[256]; mov.u32 %base, x; mov.u32 %r1, %tid.x; ld.param.u64 %o, [out]",
            "mul.wide.u32 %w, %r1, 24; add.u64 %o, %o, %w; mul.lo.u32 %r2, %r1, 0x9E3779B1; xor.b32 %r3, %r2, 0x3F800000",
            "mov.u32 %r4, 7; shr.u32 %r5, %r2, 9; setp.gt.s32 %p2, %r2, 0",
            *lines,
            *store,
            "ret",
        ]
    )
    out = np.zeros((threads, 6), np.uint32)
    run_both(entry(body, "u64 out"), 1, threads, (out,), max_steps=200_000)
