"""Values that consecutive operations keep in machine registers of the core (fused_steps.c), with the same results."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

HEAD = (
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<64>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out]; "
    "ld.param.u64 %rd2, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3; "
    "mul.wide.u32 %rd3, %r1, 64; add.u64 %rd1, %rd1, %rd3; "
)
LOADS = "".join(f"ld.global.f32 %f{k}, [%rd2+{256 * k}]; " for k in range(8))
STORES = "".join(f"st.global.f32 [%rd1+{4 * k}], %f{k}; " for k in range(16))
ZEROS = "".join(f"mov.f32 %f{k}, 0f00000000; " for k in range(8, 16))
STRANGE = np.array(
    [
        0x7FC12345,
        0xFF800000,
        0x7F800000,
        0x80000000,
        0,
        1,
        0x807FFFFF,
        0x7F7FFFFF,
        0xFF812345,
        0x42FA0000,
        0x42FA0001,
        0xC3160000,
        0x3F800000,
    ],
    np.uint32,
)


def values(seed: int, strange: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(512).astype(np.float32).view(np.uint32)
    return np.where(rng.random(512) < strange, rng.choice(STRANGE, 512), x)


def run(body: str, block: int = 64, data: int = 0, strange: float = 0.0, **options) -> np.ndarray:
    out = np.zeros(16 * 64, np.uint32)
    arguments = (out, values(data, strange))
    run_both(entry(HEAD + LOADS + body + STORES + "ret", "u64 out, u64 x"), 1, block, arguments, **options)
    return out.reshape(64, 16)


def line(draw: random.Random, length: int) -> str:
    """Operations in a row that mostly go on with the value before, in place or in a register of its own."""
    text, fresh, last = "", 16, draw.randrange(8)
    for _ in range(length):
        kind = draw.choices(
            ["add", "sub", "mul", "max", "min", "fma", "horner", "ex2", "other"], [6, 3, 6, 5, 3, 4, 4, 2, 2]
        )[0]
        a, b = draw.randrange(8), draw.choice([*range(8), last, fresh - 1])
        target = last if draw.random() < 0.5 else draw.choice([draw.randrange(16), fresh])
        fresh += target == fresh and fresh < 60
        constant = draw.choice([f"%f{b}", "0f3FB8AA3B", "0f00000000", "0fBF000000"])
        either, ftz = draw.choice([f"%f{last}, {constant}", f"{constant}, %f{last}"]), draw.choice(["", "", ".ftz"])
        text += {
            "fma": f"fma.rn.f32 %f{target}, %f{a}, {constant}, %f{last}; ",
            "horner": f"fma.rn.f32 %f{target}, {either}, %f{a}; ",
            "ex2": f"ex2.approx{ftz}.f32 %f{target}, %f{last}; ",
            "other": f"mov.b32 %f{target}, %f{a}; ",
        }.get(kind, f"{kind}.f32 %f{target}, {either}; ")
        last = target
    return text


@pytest.mark.parametrize("strange", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_random_lines_agree(seed, strange):
    draw = random.Random(seed)
    run(ZEROS + line(draw, 60), draw.choice([64, 40]), seed, strange)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_turns_of_random_length_end_within_fused_steps(seed):
    """A turn ends exactly where it ends in the reference engine, also within a fold and within four multiply-adds."""
    draw = random.Random(seed)
    products = "".join(f"fma.rn.f32 %f{8 + k}, %f{row}, %f{4 + k}, %f{8 + k}; " for row in (0, 1, 2) for k in range(4))
    body = ZEROS + "mov.u32 %r3, 0;\nAGAIN:\n " + line(draw, 30) + products + "bar.sync 0; " + products + line(draw, 9)
    body += "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra AGAIN; "
    run(body, draw.choice([64, 40]), seed, draw.choice([0.0, 0.3]), schedule="random", seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_lanes_that_part_and_come_back_in_the_middle(seed):
    draw = random.Random(seed)
    body = ZEROS + "mov.u32 %r3, 0; setp.lt.u32 %p1, %r1, 13; "
    body += (
        f"{line(draw, 6)} @%p1 bra INTO; {line(draw, 6)}\nINTO:\n {line(draw, 6)} add.u32 %r3, %r3, 1; "
        f"setp.lt.u32 %p2, %r3, 3; @%p2 bra INTO; {line(draw, 8)} @!%p1 add.f32 %f3, %f2, %f1; {line(draw, 8)} "
    )
    run(body, 64, seed, 0.05)


def test_a_value_that_is_read_again_is_there():
    """The link is read behind the row, in another block, by a store or by an address only."""
    out = run(
        "add.f32 %f20, %f0, %f1; mul.f32 %f21, %f20, %f2; sub.f32 %f8, %f21, %f3; "
        "add.f32 %f22, %f0, %f1; mul.f32 %f9, %f22, %f2; setp.lt.u32 %p1, %r1, 50; @!%p1 bra OUT; "
        "mov.b32 %f10, %f22; \nOUT:\n add.f32 %f23, %f0, %f1; mul.f32 %f11, %f23, %f2; "
        "st.global.f32 [%rd1+60], %f23; mov.b32 %f15, %f23; "
    )
    x = values(0, 0.0).view(np.float32).reshape(8, 64)
    total = x[0] + x[1]
    got = out.view(np.float32)
    np.testing.assert_array_equal(got[:, 8], total * x[2] - x[3])
    np.testing.assert_array_equal(got[:50, 10], total[:50])
    np.testing.assert_array_equal(got[:, 11], total * x[2])
    np.testing.assert_array_equal(got[:, 15], total)


def test_a_line_entered_by_a_jump_reads_what_was_there_before():
    """%f20 is written by the first instruction of the line only, and read by the second, which a loop comes back to."""
    out = run(
        "mov.u32 %r3, 0; mov.f32 %f8, 0f00000000; add.f32 %f20, %f0, %f1;\nAGAIN:\n add.f32 %f21, %f20, %f2; "
        "add.f32 %f8, %f8, %f21; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; @%p1 bra AGAIN; "
    )
    x = values(0, 0.0).view(np.float32).reshape(8, 64)
    step, total = (x[0] + x[1]) + x[2], np.zeros(64, np.float32)
    for _ in range(4):
        total += step
    np.testing.assert_array_equal(out.view(np.float32)[:, 8], total)


@pytest.mark.parametrize("operation, numbers", [("max", [1, -2, 5, 3]), ("min", [1, -2, 5, 3])])
@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("strange", [0x7FC12345, 0x80000000, 0xFF800000])
def test_extrema_of_what_is_no_number(operation, numbers, place, strange):
    words = [f"0f{int(np.float32(v).view(np.uint32)):08X}" for v in numbers]
    words[place] = f"0f{strange:08X}"
    run(
        f"mov.f32 %f8, {words[0]}; mov.f32 %f9, 0f7F800000; "
        + "".join(f"{operation}.f32 %f8, %f8, {w}; " for w in [*words[1:], "0f7F800000", "0fFF800000"][: 3 + place % 3])
    )
