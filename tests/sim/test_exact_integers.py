"""Integer arithmetic, logic, shifts and bit fields against Python's integers, on both engines."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from sim.columns import bits_of_type, computed

ROWS = 256
EDGES = (0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255, 256, -1, -2, -32)


def samples(width: int, rng: random.Random) -> list[int]:
    """Numbers of all lengths, some negative, and those where something changes."""
    mask = (1 << width) - 1
    made = [rng.getrandbits(rng.randrange(1, width + 1)) ^ (-rng.getrandbits(1) & mask) for _ in range(ROWS)]
    edges = (*EDGES, 1 << width - 1, (1 << width - 1) - 1, (1 << width - 1) + 1)
    made[::4] = [rng.choice(edges) & mask for _ in made[::4]]
    return made


def value(bits: int, type_name: str) -> int:
    width = bits_of_type(type_name)
    return bits - (1 << width) if type_name[0] == "s" and bits >> width - 1 else bits


def clamp(v: int, type_name: str) -> int:
    width = bits_of_type(type_name)
    low, high = (-1 << width - 1, (1 << width - 1) - 1) if type_name[0] == "s" else (0, (1 << width) - 1)
    return min(max(v, low), high)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def low24(v: int, type_name: str) -> int:
    v &= 0xFFFFFF
    return v - (1 << 24) if type_name[0] == "s" and v >> 23 else v


# What each mnemonic computes of numbers of its type; the result is cut to its width.
TYPED: dict[str, Callable[..., int]] = {
    "add": lambda t, a, b: a + b,
    "sub": lambda t, a, b: a - b,
    "mul.lo": lambda t, a, b: a * b,
    "mul.hi": lambda t, a, b: a * b >> bits_of_type(t),
    "mad.lo": lambda t, a, b, c: a * b + c,
    "mad.hi": lambda t, a, b, c: (a * b >> bits_of_type(t)) + c,
    "min": lambda t, a, b: min(a, b),
    "max": lambda t, a, b: max(a, b),
    "sad": lambda t, a, b, c: c + abs(a - b),
}
SIGNED = {"abs": lambda t, a: abs(a), "neg": lambda t, a: -a}
DIVISION = {"div": lambda t, a, b: quotient(a, b), "rem": lambda t, a, b: a - b * quotient(a, b)}
WORDS = {
    "add.sat": lambda t, a, b: clamp(a + b, t),
    "sub.sat": lambda t, a, b: clamp(a - b, t),
    "mul24.lo": lambda t, a, b: low24(a, t) * low24(b, t),
    "mul24.hi": lambda t, a, b: low24(a, t) * low24(b, t) >> 16,
    "mad24.lo": lambda t, a, b, c: low24(a, t) * low24(b, t) + c,
    "mad.hi.sat": lambda t, a, b, c: clamp((a * b >> 32) + c, t),
}
TYPES = ("u16", "s16", "u32", "s32", "u64", "s64")
CASES = [(f"{name}.{t}", t, function) for name, function in TYPED.items() for t in TYPES]
CASES += [(f"{name}.{t}", t, function) for name, function in SIGNED.items() for t in TYPES[1::2]]
CASES += [(f"{name}.{t}", t, function) for name, function in DIVISION.items() for t in TYPES]
CASES += [(f"{name}.s32", "s32", function) for name, function in WORDS.items()]


def check(stmt: str, types: list[str], dtype: str, function: Callable[..., int | None]) -> None:
    """Hold a statement against what a function gives of the numbers in its registers (None: anything)."""
    rng = random.Random(stmt)
    made = [samples(bits_of_type(t), rng) for t in types]
    text = f"{stmt} %d, {', '.join(f'%a{i}' for i in range(len(types)))}"
    out = computed(text, types, dtype, [np.array(c, np.uint64) for c in made])
    wrong = []
    for row, got in zip(zip(*made, strict=True), out.tolist(), strict=True):
        wanted = function(*(value(v, t) for v, t in zip(row, types, strict=True)))
        if wanted is not None and got != wanted & (1 << bits_of_type(dtype)) - 1:
            wrong.append((*map(hex, row), hex(got), hex(wanted)))
    assert not wrong, wrong[:5]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, t, function", CASES, ids=[case[0] for case in CASES])
def test_arithmetic(name, t, function):
    divides = name.startswith(("div", "rem"))

    def result(*v: int) -> int | None:
        strange = divides and (v[1] == 0 or (v[1] == -1 and v[0] == -1 << bits_of_type(t) - 1))
        return None if strange else function(t, *v)

    check(name, [t] * (function.__code__.co_argcount - 1), t, result)


@pytest.mark.parametrize("t, wide", [("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")])
def test_wide_products(t, wide):
    check(f"mul.wide.{t}", [t, t], wide, lambda a, b: a * b)
    check(f"mad.wide.{t}", [t, t, wide], wide, lambda a, b, c: a * b + c)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_logic_and_shifts(width):
    bits = f"b{width}"
    for name, function in {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}.items():
        check(f"{name}.{bits}", [bits, bits], bits, function)
    check(f"not.{bits}", [bits], bits, lambda a: ~a)
    check(f"cnot.{bits}", [bits], bits, lambda a: int(a == 0))
    check(f"shl.{bits}", [bits, "u32"], bits, lambda a, n: a << min(n, width))
    check(f"shr.u{width}", [f"u{width}", "u32"], f"u{width}", lambda a, n: a >> min(n, width))
    check(f"shr.s{width}", [f"s{width}", "u32"], f"s{width}", lambda a, n: a >> min(n, width))
    if width == 16:
        return
    check(f"popc.{bits}", [bits], "u32", lambda a: a.bit_count())
    check(f"clz.{bits}", [bits], "u32", lambda a: width - a.bit_length())
    check(f"brev.{bits}", [bits], bits, lambda a: int(f"{a:0{width}b}"[::-1], 2))
    check(f"bfind.u{width}", [f"u{width}"], "u32", lambda a: a.bit_length() - 1)
    check(f"bfind.s{width}", [f"s{width}"], "u32", lambda a: (~a if a < 0 else a).bit_length() - 1)
    check(f"bfind.shiftamt.u{width}", [f"u{width}"], "u32", lambda a: width - a.bit_length() if a else -1)


@pytest.mark.parametrize("width", [32, 64])
def test_bit_fields(width):
    """Places and lengths count modulo 256; of 64 bits ptxas takes them as they are, so that larger ones say nothing."""
    bits, mask, most = f"b{width}", (1 << width) - 1, 1 << 32 if width == 32 else 256

    def field(a: int, at: int, n: int) -> int | None:
        return None if max(at, n) >= most else a >> (at & 255) & (1 << (n & 255)) - 1

    check(f"bfe.u{width}", [f"u{width}", "u32", "u32"], f"u{width}", field)

    def signed_field(a: int, at: int, n: int) -> int | None:
        if max(at, n) >= most:
            return None
        at, n = at & 255, n & 255
        if not n:
            return 0
        sign = a >> min(at + n - 1, width - 1) & 1
        field = (a & mask) >> at & (1 << n) - 1
        return field | -sign << max(0, min(n, width - at))

    check(f"bfe.s{width}", [f"s{width}", "u32", "u32"], f"s{width}", signed_field)

    def inserted(a: int, b: int, at: int, n: int) -> int | None:
        if max(at, n) >= most:
            return None
        field = ((1 << (n & 255)) - 1 << (at & 255)) & mask
        return b & ~field | a << (at & 255) & field

    check(f"bfi.{bits}", [bits, bits, "u32", "u32"], bits, inserted)


@pytest.mark.parametrize("table", [0x96, 0xE8, 0xCA, 0x01, 0xFE])
def test_any_function_of_three_bits(table):
    def result(a: int, b: int, c: int) -> int:
        return sum((table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | c >> k & 1) & 1) << k for k in range(32))

    rng = random.Random(table)
    made = [samples(32, rng) for _ in range(3)]
    out = computed(f"lop3.b32 %d, %a0, %a1, %a2, {table}", ["b32"] * 3, "b32", [np.array(c, np.uint64) for c in made])
    assert out.tolist() == [result(*row) for row in zip(*made, strict=True)]


def test_funnel_shifts_and_bytes():
    for mode, count in (("clamp", lambda n: min(n, 32)), ("wrap", lambda n: n & 31)):
        check(
            f"shf.l.{mode}.b32",
            ["b32", "b32", "u32"],
            "b32",
            lambda a, b, n, count=count: (b << 32 | a) << count(n) >> 32,
        )
        check(f"shf.r.{mode}.b32", ["b32", "b32", "u32"], "b32", lambda a, b, n, count=count: (b << 32 | a) >> count(n))

    def permuted(a: int, b: int, selector: int) -> int:
        pool, result = (b << 32 | a).to_bytes(8, "little"), 0
        for k in range(4):
            nibble = selector >> 4 * k & 15
            byte = pool[nibble & 7]
            result |= (byte >> 7) * 255 << 8 * k if nibble & 8 else byte << 8 * k
        return result

    check("prmt.b32", ["b32", "b32", "b32"], "b32", permuted)
    for a, b in (("u32", "u32"), ("s32", "s32"), ("u32", "s32"), ("s32", "u32")):

        def dot(x: int, y: int, c: int, a=a, b=b) -> int:
            return c + sum(value(x >> 8 * k & 255, a[0] + "8") * value(y >> 8 * k & 255, b[0] + "8") for k in range(4))

        check(f"dp4a.{a}.{b}", [a, b, "s32" if "s32" in (a, b) else "u32"], "s32" if "s32" in (a, b) else "u32", dot)
