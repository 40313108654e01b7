"""Exponentials by FMAs, for kernels limited by the special function units.

An SM computes 16 exponentials per clock. Attention has 4 D product operations per exponential, so both take equally long
for D = 64 on Hopper and D = 128 on Blackwell, and it pays to compute some exponentials with FMAs (Dao et al.,
"FlashAttention-4"): 2**x is 2**n for the nearest integer n, added to the exponent, times a polynomial in x - n.

Source: PTX ISA, "ex2", "fma". The minimax polynomial on [-1/2, 1/2] has a relative error of 7.5e-5, a sixth of the
rounding error of f16.
"""

from __future__ import annotations

from pyptx import ptx, reg
from pyptx.reg import Reg
from pyptx.types import b32, f32

__all__ = ["LEAST", "POLYNOMIAL", "ROUNDS", "exponential"]

ROUNDS = 1.5 * 2.0**23  # adding it rounds to the nearest integer, in the lowest bits
POLYNOMIAL = (0.05517167, 0.24261112, 0.69326099, 0.99992807)  # coefficients of x^3, x^2, x, 1
LEAST = -126.0  # smallest exponent of a normal number


def exponential(value: Reg) -> None:
    """Replace `value` (f32, up to 126) by 2**value, clamped below at 2**LEAST.

    NaN becomes the largest f32, which rounds to infinity in 16 bits.
    """
    nearest, rest, power = (reg.scalar(f32) for _ in range(3))
    ptx.inst.max.NaN.f32(value, value, LEAST)
    ptx.inst.add.f32(nearest, value, ROUNDS)
    ptx.inst.sub.f32(rest, nearest, ROUNDS)
    ptx.inst.sub.f32(rest, value, rest)
    first, second, *others = POLYNOMIAL
    ptx.inst.fma.rn.f32(power, rest, first, second)
    for factor in others:
        ptx.inst.fma.rn.f32(power, power, rest, factor)
    exponent, word = reg.scalar(b32), reg.scalar(b32)
    ptx.inst.mov.b32(exponent, nearest)
    ptx.inst.mov.b32(word, power)
    ptx.inst.shl.b32(exponent, exponent, 23)
    ptx.inst.add.s32(word, word, exponent)
    ptx.inst.mov.b32(value, word)
