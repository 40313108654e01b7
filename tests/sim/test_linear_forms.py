"""Integer values that are linear in the lane and in special registers (linear.c, linear_derivation.c of the core): the core against the reference."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

GRID, SLOTS = (3, 2), 24  # CTAs; words that each thread stores
HEAD = (
    ".reg .pred %p<16>; .reg .b32 %r<200>; .reg .b64 %rd<100>; .reg .f32 %f<16>; .shared .align 16 .b8 buffer[8192]; "
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; "
    "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ntid.x; mov.u32 %r7, %laneid; mov.u32 %r8, %warpid; "
    "mov.u32 %r9, %nctaid.x; "
)
# %rd3: where the thread stores; %r10: its number in the grid
PLACE = (
    "mad.lo.u32 %r10, %r3, %r6, %r2; mov.u32 %r11, %ntid.y; mul.lo.u32 %r11, %r11, %r6; mad.lo.u32 %r12, %r5, %r9, %r4; "
    f"mad.lo.u32 %r10, %r12, %r11, %r10; mad.wide.u32 %rd3, %r10, {4 * SLOTS}, %rd1; "
)
CONSTANTS = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    100,
    255,
    256,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0xFFFFFFE0,
)


def operations(draw: random.Random, length: int) -> str:
    """Mostly linear operations; loads and stores within bounds, under guards, of one and of four words; sums of floats."""
    text, narrow, wide, last = "", 20, 10, [*range(1, 10)]
    wides: list[int] = []

    def word() -> str:
        return f"%r{draw.choice(last)}" if draw.random() < 0.7 else str(draw.choice(CONSTANTS))

    for _ in range(length):
        kind = draw.choices(
            [
                "three",
                "shift",
                "and",
                "wide",
                "pair",
                "compare",
                "load",
                "quad",
                "store",
                "shared",
                "mov",
                "select",
                "branch",
            ],
            [8, 4, 3, 5, 3, 3, 3, 3, 2, 2, 1, 1, 0.3],
        )[0]
        a, d, guard = f"%r{draw.choice(last)}", f"%r{narrow}", draw.choice(["", "", "@%p1 ", "@!%p2 "])
        if kind == "three":
            text += draw.choice(
                [f"add.u32 {d}, {a}, {word()}; ", f"sub.s32 {d}, {word()}, {a}; ", f"mul.lo.u32 {d}, {a}, {word()}; "]
                + [f"mad.lo.s32 {d}, {a}, {word()}, {word()}; "]
            )
        elif kind == "shift":
            text += f"{draw.choice(['shl.b32', 'shr.u32', 'shr.s32'])} {d}, {a}, {draw.choice([0, 1, 2, 4, 5, 6, 31, 32])}; "
        elif kind == "and":
            text += f"and.b32 {d}, {a}, {draw.choice([0, 1, 3, 15, 31, 32, 63, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFE0])}; "
        elif kind == "mov":
            text += f"{guard}mov.b32 {d}, {a}; "
        elif kind == "select":
            text += f"selp.b32 {d}, {a}, {word()}, %p{draw.choice([1, 2])}; "
        elif kind == "compare":
            text += f"setp.{draw.choice(['lt', 'le', 'gt', 'ge', 'eq', 'ne'])}.{draw.choice('us')}32 "
            text += f"%p{draw.choice([1, 2])}, {a}, {word()}; "
            continue
        elif kind == "wide":
            sign = draw.choice("us")
            text += draw.choice(
                [f"mul.wide.{sign}32 %rd{wide}, {a}, {word()}; ", f"cvt.{sign}64.{sign}32 %rd{wide}, {a}; "]
            )
            wides.append(wide)
            wide += 1
            continue
        elif kind == "pair" and wides:
            b, c = (f"%rd{draw.choice(wides)}" for _ in range(2))
            text += draw.choice(
                [f"add.u64 %rd{wide}, {b}, {c}; ", f"sub.s64 %rd{wide}, {b}, {c}; ", f"shl.b64 %rd{wide}, {b}, 3; "]
                + [f"mad.lo.u64 %rd{wide}, {b}, 12, {c}; "]
            )
            text += f"cvt.u32.u64 {d}, %rd{wide}; "
            wides.append(wide)
            wide += 1
        elif kind in ("load", "quad", "store", "shared"):
            text += f"and.b32 {d}, {a}, 0x3f0; mul.wide.u32 %rd{wide}, {d}, 4; add.u64 %rd{wide}, %rd{wide}, %rd2; "
            f = draw.randrange(0, 12, 4)
            if draw.random() < 0.5:  # where a linear form remains one
                text += f"mad.wide.u32 %rd{wide}, %r2, 16, %rd2; "
            if kind == "load":
                text += f"{guard}ld.global.b32 {d}, [%rd{wide}+{draw.choice([0, 4, 64])}]; "
            elif kind == "quad":
                zeros = "".join(f"mov.f32 %f{f + k}, 0f00000000; " for k in range(4))
                text += f"{zeros if draw.random() < 0.7 else ''}{guard}ld.global.v4.f32 {{%f{f}, %f{f + 1}, %f{f + 2}, %f{f + 3}}}, "
                text += f"[%rd{wide}+{draw.choice([0, 16, 64])}]; mov.b32 {d}, %f{f + draw.randrange(4)}; "
            elif kind == "store":
                text += f"mov.b32 {d}, {a}; {guard}st.global.b32 [%rd3+{4 * (SLOTS - 1)}], {d}; "
            else:
                text += f"mov.u32 %r199, buffer; mad.lo.u32 %r198, %r10, 4, %r199; and.b32 %r198, %r198, 0x1ffc; st.shared.b32 [%r198], {a}; "
                text += f"ld.shared.b32 {d}, [%r198]; "
            wide += 1
        elif kind == "branch":
            text += f"@%p1 bra over{narrow}; add.u32 {a}, {a}, 1; over{narrow}: mov.u32 {d}, {a}; "
        else:
            continue
        last.append(narrow)
        narrow += 1
    stored = [last[k] for k in range(-1, -min(SLOTS, len(last)), -1)]
    return text + "".join(f"st.global.b32 [%rd3+{4 * k}], %r{r}; " for k, r in enumerate(stored))


def run(body: str, block: tuple[int, ...], **options) -> np.ndarray:
    threads = int(np.prod(block)) * int(np.prod(GRID))
    out, x = np.zeros((threads, SLOTS), np.uint32), np.arange(1 << 12, dtype=np.float32).view(np.uint32)
    text = (
        HEAD
        + "setp.lt.u32 %p1, %r2, 20; setp.eq.u32 %p2, %r4, 1; "
        + "".join(f"mov.f32 %f{k}, 0f3F800000; " for k in range(12))
    )
    module = entry(text + PLACE + body + " ret", "u64 out, u64 x, u32 n")
    run_both(module, GRID, block, (out, x, np.uint32(77)), **options)
    return out


@pytest.mark.parametrize("block", [(64,), (96, 2), (16, 4), (40,), (8, 3, 2)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_random_operations_agree(seed, block):
    draw = random.Random(f"{seed} {block}")
    options = {"schedule": "random", "seed": seed} if seed % 2 else {}
    run(operations(draw, 40), block, **options)


def test_values_of_a_loop_from_the_first_instruction_on():
    """A register that is read before the instruction that writes it, in the iteration after."""
    text = (
        ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<4>; again: add.u32 %r3, %r3, %r2; mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, 3, 7; "
        "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 3; @%p1 bra again; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; "
        "add.u64 %rd1, %rd1, %rd2; st.global.b32 [%rd1], %r3; ret"
    )
    out = np.zeros(64, np.uint32)
    run_both(entry(text, "u64 out"), 1, 64, (out,))
    np.testing.assert_array_equal(out, 2 * (3 * np.arange(64) + 7))
