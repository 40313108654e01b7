"""Expression language of the `semantics` cell: what a form computes.

Grammar: `target = expression`, several separated by "; ", where all right-hand sides are evaluated before any
assignment. An expression is an operand name, an integer, a call, `!x` on predicates, or `-x ~x + - * / & | ^` with
parentheses. `semantics_of(form, choices)` replaces `{slot}` by the choice of that slot (`None` when an optional slot is
absent: `prmt_None`).

Values have the type of their operand. A result has the type of the operand it is assigned to; sources of a narrower
float type are first widened exactly, and the result of a wider float computation is rounded to the type of the target.
Packed types (f16x2, bf16x2, u16x2, s8x4, f32x2 ...) are computed lane by lane, the first lane in the low bits.
Modifiers of the mnemonic are implicit. They affect every form that has them, literal or chosen:

    .rn .rz .rm .rp     rounding of the one result; default .rn (ptxas may then contract a * b + c)
    .rni .rzi .rmi .rpi rounding to an integral value
    .rna .rs            to nearest, ties away; stochastic with the bits given
    .ftz                subnormal sources and results become zeros of the same sign (f32, f16; f64 only where noted)
    .sat                integers: clamp to the range of the type; floats: clamp to [0, 1] and NaN to +0
    .relu               negative results, -0 included, become +0, NaN the canonical NaN
    .satfinite          results beyond the range become the largest finite value, NaN the format's NaN or largest value
    .pzo                a result of -0 becomes +0
    .NaN                min, max: the canonical NaN if any source is NaN; else the other source
    .xorsign .abs       min, max: of magnitudes, with the xor of the signs (`.abs` alone: of magnitudes)
    .oob                a factor that is the out-of-bounds NaN makes the result +0
    .cc                 write the carry or borrow out of the (whole) sum to CC.CF
    .shiftamt           bfind: the shift that brings the bit to the top, instead of its position
    .noftz              subnormals are kept

Calls, by number of sources:
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyptx.isa._form import Form

__all__ = ["PRIMITIVES", "calls", "semantics_of", "names"]

PRIMITIVES: dict[str, tuple[int | tuple[int, ...], str]] = {
    # integers
    "mul_lo": (2, "low half of the product"),
    "mul_hi": (2, "high half of the product, signed or unsigned by type"),
    "mul_wide": (2, "whole product in twice the width"),
    "mul24_lo": (2, "bits 31..0 of the 48-bit product of the low 24 bits"),
    "mul24_hi": (2, "bits 47..16 of the 48-bit product of the low 24 bits"),
    "clmul_lo": (2, "low half of the carry-less product"),
    "clmul_hi": (2, "high half of the carry-less product"),
    "sad": (3, "c + |a - b|"),
    "rem": (2, "remainder, sign of a"),
    "abs": (1, "absolute value; the least integer stays"),
    "popc": (1, "number of one bits"),
    "clz": (1, "leading zeros"),
    "bfind": (1, "position of the top non-sign bit, 0xffffffff if none"),
    "brev": (1, "bit reversal"),
    "fns": (3, "n-th set bit of a mask from base; 0xffffffff if none"),
    "bfe": (3, "field of c bits at b (both mod 256), sign-extended for signed types"),
    "bfi": (4, "a inserted into b at c, d bits long (both mod 256)"),
    "szext_clamp": (2, "extended from bit b - 1, b clamped to 32"),
    "szext_wrap": (2, "extended from bit b - 1, b mod 32"),
    "bmsk_clamp": (2, "b ones from bit a, clamped"),
    "bmsk_wrap": (2, "b ones from bit a, both mod 32"),
    "dp4a": (3, "c + sum of 4 products of bytes; signs by atype, btype"),
    "dp2a_lo": (3, "c + a.h0 * b.b0 + a.h1 * b.b1"),
    "dp2a_hi": (3, "c + a.h0 * b.b2 + a.h1 * b.b3"),
    "carry": (0, "CC.CF, written without parentheses"),
    # floats
    "fma": (3, "a * b + c, one rounding"),
    "min": ((2, 3), "minimum; -0 < +0"),
    "max": ((2, 3), "maximum; -0 < +0"),
    "copysign": (2, "magnitude of b with the sign of a"),
    "rcp": (1, "1 / a"),
    "sqrt": (1, "square root"),
    "div_approx": (2, "a * (1 / b)"),
    "div_full": (2, "a / b, at most 2 ulp off"),
    "rcp_approx": (1, "rcp, the hardware's approximation"),
    "sqrt_approx": (1, "sqrt, the hardware's approximation"),
    "rsqrt_approx": (1, "rsqrt, the hardware's approximation"),
    "sin_approx": (1, "sin, the hardware's approximation"),
    "cos_approx": (1, "cos, the hardware's approximation"),
    "lg2_approx": (1, "lg2, the hardware's approximation"),
    "ex2_approx": (1, "ex2, the hardware's approximation"),
    "tanh_approx": (1, "tanh, the hardware's approximation"),
    "is_finite": (1, "predicate: a is finite"),
    "is_infinite": (1, "predicate: a is infinite"),
    "is_number": (1, "predicate: a is not NaN"),
    "is_notanumber": (1, "predicate: a is NaN"),
    "is_normal": (1, "predicate: a is normal"),
    "is_subnormal": (1, "predicate: a is subnormal"),
    # comparison: predicates. Signed or unsigned by type; lo ls hi hs are unsigned; the u forms are true when unordered
    "eq": (2, "a eq b"),
    "ne": (2, "a ne b"),
    "lt": (2, "a lt b"),
    "le": (2, "a le b"),
    "gt": (2, "a gt b"),
    "ge": (2, "a ge b"),
    "lo": (2, "a lo b"),
    "ls": (2, "a ls b"),
    "hi": (2, "a hi b"),
    "hs": (2, "a hs b"),
    "equ": (2, "a equ b"),
    "neu": (2, "a neu b"),
    "ltu": (2, "a ltu b"),
    "leu": (2, "a leu b"),
    "gtu": (2, "a gtu b"),
    "geu": (2, "a geu b"),
    "num": (2, "a num b"),
    "nan": (2, "a nan b"),
    "bool_and": (2, "both"),
    "bool_or": (2, "either"),
    "bool_xor": (2, "one"),
    "truth": (1, "1.0 for a float target, all ones for an integer target, else 0; lane by lane for packed sources"),
    "select": (3, "b if a else c, bitwise"),
    "low": (1, "low lane of a packed value"),
    "high": (1, "high lane"),
    # bits
    "cnot": (1, "a == 0"),
    "lop3": (4, "bit i of the table d, i = (a, b, c) bit by bit"),
    "shl": (2, "counts beyond the width give 0"),
    "shr": (2, "copies the sign for signed types; counts are clamped"),
    "funnel_l_clamp": (3, "high word of b:a shifted left by c, min(c, 32)"),
    "funnel_l_wrap": (3, "high word of b:a shifted left by c, c mod 32"),
    "funnel_r_clamp": (3, "low word of b:a shifted right by c, min(c, 32)"),
    "funnel_r_wrap": (3, "low word of b:a shifted right by c, c mod 32"),
    "prmt_None": (3, "bytes of b:a picked by c"),
    "prmt_f4e": (3, "bytes of b:a picked by c, mode f4e"),
    "prmt_b4e": (3, "bytes of b:a picked by c, mode b4e"),
    "prmt_rc8": (3, "bytes of b:a picked by c, mode rc8"),
    "prmt_ecl": (3, "bytes of b:a picked by c, mode ecl"),
    "prmt_ecr": (3, "bytes of b:a picked by c, mode ecr"),
    "prmt_rc16": (3, "bytes of b:a picked by c, mode rc16"),
    # vectors and conversion
    "pack": (1, "elements of a brace vector, the first in the low bits"),
    "unpack": (1, "the inverse"),
    "convert": ((1, 2), "conversion; of two sources the first goes to the high lane"),
    "convert_rs": (3, "two sources, stochastic rounding with the bits of c"),
    "convert4_rs": (2, "brace vector of four, first in the top lane, stochastic rounding with the bits of b"),
    "convert_scaled": ((2, 3), "conversion with ue8m0 scales (last): widening multiplies, narrowing divides first"),
    "pack_sat": ((2, 3), "a high, b low, each saturated to the type; a third source is shifted up behind them"),
}
__doc__ = (__doc__ or "") + "\n".join(f"    {name:16} {what}" for name, (_, what) in PRIMITIVES.items()) + "\n"


def semantics_of(form: Form, choices: Mapping[str, str | None]) -> str:
    """Return the `semantics` cell of a form with its slots substituted; "" when the simulator has a handler."""
    return re.sub(r"\{(\w+)\}", lambda m: str(choices[m[1]]), form.semantics)


def calls(text: str) -> list[str]:
    """Return the names of the primitives that an expression calls."""
    return re.findall(r"([A-Za-z_]\w*)\(", text)


def names(text: str) -> set[str]:
    """Return the operand names in an expression."""
    return set(re.findall(r"\b([a-z]\w*)\b(?!\()", text)) - {"carry"}
