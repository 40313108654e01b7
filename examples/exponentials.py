"""2 to the power of a number by multiply-adds, for when special functions are what is busiest.

An SM takes 16 exponentials a clock. Of attention, whose products have 4 D operations for each exponential, they take as
long as the products where D is 64 on Hopper and 128 on Blackwell, so that some of them are worth computing elsewhere
(Dao et al., "FlashAttention-4"): 2 to the power of x is 2 to the power of its nearest integer, which goes to the
exponent, times a polynomial of the rest.

Source: PTX ISA, "ex2", "fma"; the polynomial is the one of least relative error, 7.5e-5, from -1/2 to 1/2: a sixth of
what rounding to f16 leaves.
"""

from __future__ import annotations

from pyptx import ptx, reg
from pyptx.reg import Reg
from pyptx.types import b32, f32

__all__ = ["LEAST", "POLYNOMIAL", "ROUNDS", "exponential"]

ROUNDS = 1.5 * 2.0 ** 23        # added to a number, makes it the nearest integer, in the lowest bits
POLYNOMIAL = (0.05517167, 0.24261112, 0.69326099, 0.99992807)          # of x^3, x^2, x, 1
LEAST = -126.0                  # the least exponent of a normal number


def exponential(value: Reg) -> None:
    """value (in place, f32, up to 126): 2 to its power; what is below 2 ** LEAST becomes that.

    What is no number becomes the largest one, which 16 bits round to infinity.
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
