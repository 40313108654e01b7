"""Loads and stores of four words, and the operations between them (quads.c of the core): the core against the reference."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

THREADS, STORES = 96, 8  # of a CTA; places of four words that each thread has
HEAD = (
    f".reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<1200>; .shared .align 16 .b8 buffer[{16 * THREADS}]; "
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; "
    f"mad.lo.u32 %r4, %r3, {THREADS}, %r2; mul.wide.u32 %rd3, %r4, 16; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3; "
    "shl.b32 %r5, %r2, 5; and.b32 %r5, %r5, 480; cvt.u64.u32 %rd6, %r5; add.u64 %rd6, %rd6, %rd2; "  # neither of these two
    "xor.b32 %r6, %r2, 5; mul.wide.u32 %rd7, %r6, 16; add.u64 %rd7, %rd7, %rd2; "  # is contiguous
    "setp.lt.u32 %p1, %r2, %r1; setp.lt.u32 %p2, %r2, 64; setp.ne.u32 %p3, %r3, 1; mov.u32 %r7, buffer; mad.lo.u32 %r7, %r2, 16, %r7; "
    "mul.wide.u32 %rd8, %r2, 4; add.u64 %rd8, %rd8, %rd2; ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd8+512]; "
)
STRANGE = np.array([0x7FC12345, 0xFF800000, 0x7F800000, 0x80000000, 0, 1, 0x7F7FFFFF, 0xFF812345], np.uint32)
OPERATIONS = ("add", "sub", "mul", "max", "min", "fma")


class Body:
    """A line of code on quads; a quad is the number of its first register."""

    def __init__(self, seed):
        self.draw, self.text, self.fresh, self.quads, self.stored = random.Random(seed), "", 8, [], 0

    def new(self):
        self.fresh += 4
        return self.fresh - 4

    def guard(self):
        return self.draw.choice(["", "", "@%p1 ", "@%p2 ", "@!%p3 "])

    def names(self, quad):
        return ", ".join(f"%f{quad + k}" for k in range(4))

    def load(self):
        quad, guard = self.new(), self.guard()
        if guard and self.draw.random() < 0.8:
            zero = self.draw.choice(["0f00000000", "0f3F800000", "%f1"])
            self.text += "".join(f"mov.f32 %f{quad + k}, {zero}; " for k in range(4))
        base = self.draw.choice(["%rd4", "%rd4", "%rd4", "%rd6", "%rd7"])
        address = f"global.v4.f32 {{{self.names(quad)}}}, [{base}+{16 * self.draw.randrange(0, 97, 32)}]"
        if self.draw.random() < 0.1:
            address = f"shared.v4.f32 {{{self.names(quad)}}}, [%r7]"
        self.text += f"{guard}ld.{address}; "
        self.quads.append(quad)

    def operand(self, k):
        """An operand for each of the four positions: one register or constant for all, or a quad."""
        what = self.draw.random()
        if what < 0.2 or not self.quads:
            return ["%f1"] * 4 if k % 2 else ["%f2"] * 4
        if what < 0.35:
            return ["0f40400000"] * 4
        if what < 0.4:
            return [f"0f{0x3F800000 + (i << 20):08X}" for i in range(4)]
        quad = self.draw.choice(self.quads)
        return [f"%f{quad + i}" for i in range(4)]

    def compute(self):
        name = self.draw.choice(OPERATIONS)
        last = self.draw.choice(self.quads[-3:])
        value = [f"%f{last + i}" for i in range(4)]
        others = [value, self.operand(1)] + ([self.operand(0)] if name == "fma" else [])
        self.draw.shuffle(others)
        quad = last if self.draw.random() < 0.3 else self.new()
        order = [*range(4)]
        if self.draw.random() < 0.1:
            self.draw.shuffle(order)
        mnemonic = "fma.rn" if name == "fma" else name
        for i in order:
            self.text += f"{mnemonic}.f32 %f{quad + i}, {', '.join(other[i] for other in others)}; "
        if quad != last:
            self.quads.append(quad)

    def store(self):
        quad = self.draw.choice(self.quads[-2:])
        if self.draw.random() < 0.1:
            self.text += f"{self.guard()}st.shared.v4.f32 [%r7], {{{self.names(quad)}}}; "
            return
        at = 16 * THREADS * 3 * (self.stored % STORES)
        self.text += f"{self.guard()}st.global.v4.f32 [%rd5+{at}], {{{self.names(quad)}}}; "
        self.stored += 1

    def line(self, length):
        self.load()
        for _ in range(length):
            self.draw.choices([self.load, self.compute, self.store], [3, 5, 2])[0]()
        self.store()
        return self.text


def run(body, block=THREADS, data=0, strange=0.0, n=70, **options):
    rng = np.random.default_rng(data)
    x = rng.standard_normal(4 * THREADS * 3 + 512).astype(np.float32).view(np.uint32)
    x = np.where(rng.random(x.size) < strange, rng.choice(STRANGE, x.size), x)
    out = np.zeros((STORES, 3 * THREADS, 4), np.uint32)
    run_both(entry(HEAD + body + " ret", "u64 out, u64 x, u32 n"), 3, block, (out, x, np.uint32(n)), **options)
    return out.view(np.float32), x.view(np.float32)


@pytest.mark.parametrize("strange", [0.0, 0.01])
@pytest.mark.parametrize("seed", range(12))
def test_random_lines_agree(seed, strange):
    body = Body(f"{seed} {strange}")
    block = body.draw.choice([96, 96, 64, 40])
    options = {"schedule": "random", "seed": seed} if seed % 3 == 2 else {}
    run(body.line(25), block, seed, strange, **options)


@pytest.mark.parametrize("seed", range(6))
def test_random_loops_agree(seed):
    """A register keeps its value for the next iteration, also while some lanes skip a part of the loop."""
    body = Body(seed)
    first = body.line(10)
    body.text = ""
    text = f"mov.u32 %r20, 0;\nAGAIN:\n {first}{body.draw.choice(['', '@%p2 bra OVER; '])}{body.line(5)}\nOVER:\n "
    text += "add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 3; @%p4 bra AGAIN; "
    run(text, 96, seed, schedule="random", seed=seed)


def test_scaled_rows():
    """Two factors, one of each lane and one of a quad, and a product in place."""

    def quad(first):
        return "{" + ", ".join(f"%f{first + k}" for k in range(4)) + "}"

    body = f"ld.global.v4.f32 {quad(10)}, [%rd4]; ld.global.v4.f32 {quad(20)}, [%rd4+512]; "
    body += "".join(
        f"mul.f32 %f{30 + k}, %f{10 + k}, %f1; mul.f32 %f{30 + k}, %f{30 + k}, %f{20 + k}; " for k in range(4)
    )
    body += f"st.global.v4.f32 [%rd5], {quad(30)}; " + "".join(
        f"mul.f32 %f{10 + k}, %f{10 + k}, %f2; " for k in range(4)
    )
    body += f"st.global.v4.f32 [%rd5+{16 * 3 * THREADS}], {quad(10)}; "
    out, x = run(body)
    rows, thread = x[: 4 * 3 * THREADS].reshape(-1, 4), np.tile(np.arange(THREADS), 3)
    factors = x[128 : 128 + 4 * 3 * THREADS].reshape(-1, 4)
    np.testing.assert_array_equal(out[0], rows * x[thread][:, None] * factors)
    np.testing.assert_array_equal(out[1], rows * x[128 + thread][:, None])
