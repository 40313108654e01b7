"""Instructions whose rules are easily got wrong, against code written from the manual's own text and nothing else.

Numbers are rows of bits; every case runs on both engines. Sections of the PTX ISA stand at each test.
"""

from __future__ import annotations

import math
import random
import struct

import numpy as np
import pytest
from sim.columns import computed

SPECIALS32 = (
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    255,
    256,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xFFFFFFFF,
    0xFFFFFFFE,
    0x00FFFFFF,
    0xFF800000,
    0x00800000,
    0x12345678,
)


def rows(n: int, *widths: int, seed: str = "") -> list[tuple[int, ...]]:
    """Random rows, with the specials mixed in."""
    rng = random.Random(f"{seed}{widths}")

    def one(width):
        kind = rng.random()
        if kind < 0.4:
            return rng.choice(SPECIALS32) & (1 << width) - 1
        if kind < 0.6:
            return rng.randrange(64)
        return rng.getrandbits(width)

    return [tuple(one(w) for w in widths) for _ in range(n)]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def agree(statement: str, types: list[str], dtype: str, cases, expected) -> None:
    """The statement computes `expected(*row)` for each row."""
    got = computed(statement, types, dtype, [np.array(c, np.uint64) for c in zip(*cases, strict=True)])
    for case, value in zip(cases, got.tolist(), strict=True):
        wanted = expected(*case)
        assert value == wanted, f"{statement} of {[hex(v) for v in case]}: {value:#x}, expected {wanted:#x}"


# 9.7.1 Integer arithmetic --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", ["lo", "hi", "hi.sat"])
@pytest.mark.parametrize("t", ["s32", "u32"])
def test_mad24_takes_24_bits_and_gives_32_of_48(half, t):
    if half == "hi.sat" and t == "u32":
        return

    def low24(v):
        v &= 0xFFFFFF
        return signed(v, 24) if t == "s32" else v

    def mad(a, b, c):
        product = low24(a) * low24(b)
        part = product if half == "lo" else product >> 16
        if half == "hi.sat":
            total = signed(part & 0xFFFFFFFF, 32) + signed(c, 32)
            return min(max(total, -1 << 31), (1 << 31) - 1) & 0xFFFFFFFF
        return part + c & 0xFFFFFFFF

    cases = rows(300, 32, 32, 32, seed=half + t)
    agree(f"mad24.{half}.{t} %d, %a0, %a1, %a2", [t] * 3, t, cases, mad)
    if half != "hi.sat":
        agree(f"mul24.{half}.{t} %d, %a0, %a1", [t] * 2, t, [c[:2] for c in cases], lambda a, b: mad(a, b, 0))


@pytest.mark.parametrize("t", ["u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("shift", ["", ".shiftamt"])
def test_bfind(t, shift):
    n = int(t[1:])

    def find(a):
        top = next((i for i in range(n - 1, -1, -1) if (a >> i & 1) != (a >> n - 1 if t[0] == "s" else 0)), None)
        return 0xFFFFFFFF if top is None else n - 1 - top if shift else top

    agree(f"bfind{shift}.{t} %d, %a0", [t], "u32", [*rows(200, n, seed=t), (0,), ((1 << n) - 1,), (1 << n - 1,)], find)


@pytest.mark.parametrize("t", ["u32", "s32", "u64", "s64"])
def test_bfe_fills_with_the_sign_of_the_field(t):
    n = int(t[1:])

    def extract(a, b, c):
        pos, length = b & 0xFF, c & 0xFF
        sbit = 0 if t[0] == "u" or length == 0 else a >> min(pos + length - 1, n - 1) & 1
        d = 0
        for i in range(n):
            d |= (a >> pos + i & 1 if i < length and pos + i <= n - 1 else sbit) << i
        return d

    rng = random.Random(t)
    cases = [(rng.getrandbits(n), rng.randrange(0, 80), rng.randrange(0, 80)) for _ in range(250)]
    cases += [(1 << n - 1, p, k) for p in (0, 31, 32, 63, 64, 255) for k in (0, 1, 32, 33, 64, 255)]
    agree(f"bfe.{t} %d, %a0, %a1, %a2", [t, "u32", "u32"], t, cases, extract)


@pytest.mark.parametrize("mode", ["l.clamp", "l.wrap", "r.clamp", "r.wrap"])
def test_funnel_shifts(mode):
    def shift(a, b, c):
        n = min(c, 32) if mode.endswith("clamp") else c & 31
        return ((b << n) | (a >> 32 - n)) & 0xFFFFFFFF if mode[0] == "l" else ((b << 32 - n) | (a >> n)) & 0xFFFFFFFF

    agree(f"shf.{mode}.b32 %d, %a0, %a1, %a2", ["b32", "b32", "u32"], "b32", rows(200, 32, 32, 32, seed=mode), shift)


@pytest.mark.parametrize(
    ("mode", "table"),
    [
        ("f4e", ("3210", "4321", "5432", "6543")),
        ("b4e", ("5670", "6701", "7012", "0123")),
        ("rc8", ("0000", "1111", "2222", "3333")),
        ("ecl", ("3210", "3211", "3222", "3333")),
        ("ecr", ("0000", "1110", "2210", "3210")),
        ("rc16", ("1010", "3232", "1010", "3232")),
    ],
)
def test_byte_permutes_as_in_the_table_of_the_manual(mode, table):
    def permute(a, b, c):
        pool = (a | b << 32).to_bytes(8, "little")
        return int.from_bytes(bytes(pool[int(k)] for k in table[c & 3][::-1]), "little")

    agree(f"prmt.b32.{mode} %d, %a0, %a1, %a2", ["b32", "b32", "b32"], "b32", rows(64, 32, 32, 32, seed=mode), permute)


@pytest.mark.parametrize("at", ["u32", "s32"])
@pytest.mark.parametrize("bt", ["u32", "s32"])
def test_dot_products_of_narrow_numbers(at, bt):
    def field(v, k, bits, t):
        v = v >> k * bits & (1 << bits) - 1
        return signed(v, bits) if t[0] == "s" else v

    cases = rows(150, 32, 32, 32, seed=at + bt)
    four = lambda a, b, c: c + sum(field(a, k, 8, at) * field(b, k, 8, bt) for k in range(4)) & 0xFFFFFFFF  # noqa: E731
    agree(f"dp4a.{at}.{bt} %d, %a0, %a1, %a2", [at, bt, "u32"], "u32", cases, four)
    for half, first in (("lo", 0), ("hi", 2)):
        agree(
            f"dp2a.{half}.{at}.{bt} %d, %a0, %a1, %a2",
            [at, bt, "u32"],
            "u32",
            cases,
            lambda a, b, c, first=first: (
                c + sum(field(a, k, 16, at) * field(b, k + first, 8, bt) for k in range(2)) & 0xFFFFFFFF
            ),
        )


def test_the_nth_set_bit():
    def nth(mask, base, offset):
        offset = signed(offset, 32)
        if offset == 0:
            return base if mask >> base & 1 else 0xFFFFFFFF
        pos, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
        while 0 <= pos < 32:
            if mask >> pos & 1:
                if count == 0:
                    return pos
                count -= 1
            pos += step
        return 0xFFFFFFFF

    rng = random.Random(1)
    cases = [
        (rng.getrandbits(32) & rng.getrandbits(32), rng.randrange(32), rng.randrange(-9, 10) & 0xFFFFFFFF)
        for _ in range(400)
    ]
    agree("fns.b32 %d, %a0, %a1, %a2", ["b32", "b32", "s32"], "b32", cases, nth)


@pytest.mark.parametrize("narrow", ["u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"])
def test_packing_saturates_and_shifts_what_is_there(narrow):
    n = int(narrow[1:])
    low, high = (0, (1 << n) - 1) if narrow[0] == "u" else (-1 << n - 1, (1 << n - 1) - 1)

    def clamp(v):
        return min(max(signed(v, 32), low), high) & (1 << n) - 1

    cases = rows(150, 32, 32, 32, seed=narrow)
    if n == 16:
        agree(
            f"cvt.pack.sat.{narrow}.s32 %d, %a0, %a1",
            ["s32", "s32"],
            "b32",
            [c[:2] for c in cases],
            lambda a, b: clamp(a) << n | clamp(b),
        )
    else:
        agree(
            f"cvt.pack.sat.{narrow}.s32.b32 %d, %a0, %a1, %a2",
            ["s32", "s32", "b32"],
            "b32",
            cases,
            lambda a, b, c: c << 2 * n & 0xFFFFFFFF | clamp(a) << n | clamp(b),
        )


@pytest.mark.parametrize("table", [0x96, 0x01, 0xE8, 0x80])
@pytest.mark.parametrize("op", ["and", "or"])
@pytest.mark.parametrize("negated", ["", "!"])
def test_lop3_tells_whether_anything_is_left(table, op, negated):
    def logic(a, b, c, q):
        d = sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))
        q = bool(q & 1) ^ bool(negated)
        return int((d != 0) and q if op == "and" else (d != 0) or q)

    rng = random.Random(table)
    cases = [
        (*(rng.choice((0, 0xFFFFFFFF, rng.getrandbits(32))) for _ in range(3)), rng.randrange(2)) for _ in range(64)
    ]
    agree(
        f".reg .pred %p<2>; .reg .b32 %x; and.b32 %x, %a3, 1; setp.ne.u32 %p0, %x, 0; "
        f"lop3.{op}.b32 %x|%p1, %a0, %a1, %a2, {table}, {negated}%p0; selp.u32 %d, 1, 0, %p1",
        ["b32"] * 4,
        "b32",
        cases,
        logic,
    )


# 9.7.3 to 9.7.8 Floating point, comparison ---------------------------------------------------------------------------

FORMATS = {"f16": (16, 10, 0x7FFF), "bf16": (16, 7, 0x7FFF), "f32": (32, 23, 0x7FFFFFFF)}


def classes(name: str) -> list[int]:
    """Zeros, subnormals, ones, largest, infinities, NaNs of both signs."""
    bits, mantissa, _ = FORMATS[name]
    infinity = (1 << bits - 1) - (1 << mantissa)
    plain = [
        0,
        1,
        (1 << mantissa) - 1,
        1 << mantissa,
        infinity // 2,
        infinity // 2 + 5,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity + (1 << mantissa - 1),
        (1 << bits - 1) - 1,
    ]
    return plain + [v | 1 << bits - 1 for v in plain]


def is_nan(v: int, name: str) -> bool:
    bits, mantissa, _ = FORMATS[name]
    return v & (1 << bits - 1) - 1 > (1 << bits - 1) - (1 << mantissa)


def order(v: int, name: str) -> int:
    """Numbers by size, -0 before +0."""
    sign = 1 << FORMATS[name][0] - 1
    return -1 - (v & sign - 1) if v & sign else v


def extremum(name, largest, nan, xorsign, absolute, *values):
    """two_inputs_min of the manual, one after the other."""
    bits, _, canonical = FORMATS[name]
    sign = 1 << bits - 1
    mixed = (values[0] ^ values[1]) & sign
    if absolute:
        values = [v & sign - 1 for v in values]
    d = values[0]
    for v in values[1:]:
        if nan and (is_nan(d, name) or is_nan(v, name)):
            d = canonical
        elif is_nan(d, name) and is_nan(v, name):
            d = canonical
        elif is_nan(d, name):
            d = v
        elif is_nan(v, name):
            pass
        else:
            less = order(d, name) < order(v, name)
            d = d if less != largest else v
    if xorsign and not is_nan(d, name):
        d = d & sign - 1 | mixed
    return d


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("words", ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"])
def test_extrema_of_two(name, op, words):
    cases = [(a, b) for a in classes(name) for b in classes(name)]
    t = f"b{FORMATS[name][0]}" if name == "bf16" else name
    agree(
        f"{op}{words}.{name} %d, %a0, %a1",
        [t, t],
        t,
        cases,
        lambda *v: extremum(name, op == "max", "NaN" in words, "xorsign" in words, "abs" in words, *v),
    )


@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("words", ["", ".NaN", ".abs", ".NaN.abs"])
def test_extrema_of_three(op, words):
    few = classes("f32")[::2]
    cases = [(a, b, c) for a in few for b in few for c in few]
    agree(
        f"{op}{words}.f32 %d, %a0, %a1, %a2",
        ["f32"] * 3,
        "f32",
        cases[:1000],
        lambda *v: extremum("f32", op == "max", "NaN" in words, False, "abs" in words, *v),
    )


def as_float(v: int, name: str) -> float:
    if name == "f16":
        return struct.unpack("<e", v.to_bytes(2, "little"))[0]
    return struct.unpack("<f", (v << 16 if name == "bf16" else v).to_bytes(4, "little"))[0]


ORDERED = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def holds(comparison: str, a: float, b: float) -> bool:
    unordered = math.isnan(a) or math.isnan(b)
    if comparison in ("num", "nan"):
        return unordered == (comparison == "nan")
    if comparison in ORDERED:
        return not unordered and ORDERED[comparison](a, b)
    return unordered or ORDERED[comparison[:-1]](a, b)


COMPARISONS = [*ORDERED, *(f"{c}u" for c in ORDERED), "num", "nan"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_comparisons_with_a_second_predicate(comparison):
    few = classes("f32")
    cases = [(a, b, (a ^ b) >> 3 & 1) for a in few for b in few]
    for op, combine in (("and", lambda x, y: x and y), ("or", lambda x, y: x or y), ("xor", lambda x, y: x != y)):

        def expected(a, b, c, combine=combine):
            t = holds(comparison, as_float(a, "f32"), as_float(b, "f32"))
            return int(combine(t, bool(c))) | int(combine(not t, bool(c))) << 1

        agree(
            f".reg .pred %p<3>; .reg .b32 %x<2>; setp.ne.u32 %p0, %a2, 0; "
            f"setp.{comparison}.{op}.f32 %p1|%p2, %a0, %a1, "
            "%p0; selp.u32 %x0, 1, 0, %p1; selp.u32 %x1, 2, 0, %p2; or.b32 %d, %x0, %x1",
            ["f32", "f32", "b32"],
            "b32",
            cases,
            expected,
        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.parametrize("comparison", ["lt", "ltu", "ne", "neu", "ge", "num", "nan"])
def test_packed_comparisons(name, comparison):
    few, one = classes(name), {"f16": 0x3C00, "bf16": 0x3F80}[name]
    cases = [
        (a | few[-1 - k % 22] << 16, b | few[k * 7 % 22] << 16)
        for k, (a, b) in enumerate((a, b) for a in few for b in few)
    ]

    def lanes(a, b):
        return [holds(comparison, *(as_float(v >> s & 0xFFFF, name) for v in (a, b))) for s in (0, 16)]

    packed = "f16x2" if name == "f16" else "b32"
    agree(
        f".reg .pred %p<2>; .reg .b32 %x<2>; setp.{comparison}.{name}x2 %p0|%p1, %a0, %a1; selp.u32 %x0, 1, 0, %p0; "
        "selp.u32 %x1, 2, 0, %p1; or.b32 %d, %x0, %x1",
        [packed] * 2,
        "b32",
        cases,
        lambda a, b: lanes(a, b)[0] | lanes(a, b)[1] << 1,
    )
    agree(
        f"set.{comparison}.{name}x2.{name}x2 %d, %a0, %a1",
        [packed] * 2,
        packed,
        cases,
        lambda a, b: sum(one << 16 * k for k, t in enumerate(lanes(a, b)) if t),
    )


@pytest.mark.parametrize("what", ["finite", "infinite", "number", "notanumber", "normal", "subnormal"])
def test_properties(what):
    def is_it(v):
        exponent, mantissa = v >> 23 & 255, v & 0x7FFFFF
        return int(
            {
                "finite": exponent < 255,
                "infinite": exponent == 255 and not mantissa,
                "number": not (exponent == 255 and mantissa),
                "notanumber": exponent == 255 and mantissa != 0,
                "normal": 0 < exponent < 255 or v & 0x7FFFFFFF == 0,
                "subnormal": exponent == 0 and mantissa != 0,
            }[what]
        )

    agree(
        f".reg .pred %is; testp.{what}.f32 %is, %a0; selp.u32 %d, 1, 0, %is",
        ["f32"],
        "b32",
        [(v,) for v in classes("f32")],
        is_it,
    )


@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_selection_by_the_sign_of_a_number(ftz):
    def select(a, b, c):
        if ftz and c & 0x7F800000 == 0:
            c &= 0x80000000
        return a if as_float(c, "f32") >= 0 else b

    agree(
        f"slct{ftz}.u32.f32 %d, %a0, %a1, %a2",
        ["u32", "u32", "f32"],
        "u32",
        [(7, 9, c) for c in classes("f32")],
        select,
    )


# carries: numbers of 128 bits ----------------------------------------------------------------------------------------


def test_carries_go_through_chains_of_products_and_sums():
    """256 bits of a product of two 128-bit numbers by mad.lo.cc, madc.hi.cc and addc, then minus the first."""
    rng = random.Random(9)
    cases = [[rng.choice((rng.getrandbits(128), (1 << 128) - 1, 0, 1 << 127)) for _ in range(2)] for _ in range(40)]
    words = [[a >> 32 * k & 0xFFFFFFFF for a in pair for k in range(4)] for pair in cases]
    body = [".reg .u32 %r<9>"] + [f"mov.u32 %r{k}, 0" for k in range(9)]
    for j in range(4):
        for half in ("lo", "hi"):
            for i in range(4):
                at = i + j + (half == "hi")
                body.append(f"mad{'c' if i else ''}.{half}.cc.u32 %r{at}, %a{i}, %a{4 + j}, %r{at}")
            for at in range(j + 4 + (half == "hi"), 8):
                body.append(f"addc{'.cc' if at < 7 else ''}.u32 %r{at}, %r{at}, 0")
    body += [
        f"sub{'c' if k else ''}{'.cc' if k < 7 else ''}.u32 %r{k}, %r{k}, %a{k}"
        if k < 4
        else f"subc{'.cc' if k < 7 else ''}.u32 %r{k}, %r{k}, 0"
        for k in range(8)
    ]
    for out in range(8):
        got = computed(
            "; ".join([*body, f"mov.u32 %d, %r{out}"]),
            ["u32"] * 8,
            "u32",
            [np.array(c, np.uint64) for c in zip(*words, strict=True)],
        )
        wanted = [(a * b - a) % (1 << 256) >> 32 * out & 0xFFFFFFFF for a, b in cases]
        assert got.tolist() == wanted, out


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("sub.cc", "addc", lambda a, b: int(a >= b)),
        ("add.cc", "subc", lambda a, b: -int(a + b < 1 << 32) & 0xFFFFFFFF),
        ("sub.cc", "subc", lambda a, b: -int(a < b) & 0xFFFFFFFF),
        ("add.cc", "addc", lambda a, b: a + b >> 32),
    ],
)
def test_the_flag_of_a_difference_is_the_carry_of_hardware(first, second, wanted):
    """As ptxas folds it and as IADD3 has it: a - b is a + ~b + 1, so no borrow is a carry."""
    cases = [c for c in rows(120, 32, 32, seed="flag")] + [(5, 5), (0, 0), (0xFFFFFFFF, 1)]
    agree(f".reg .u32 %x; {first}.u32 %x, %a0, %a1; {second}.u32 %d, 0, 0", ["u32", "u32"], "u32", cases, wanted)

    def wide(a, b):
        return int(a >= b) if first == "sub.cc" else a + b >> 64

    if second == "addc":
        agree(
            f".reg .u64 %x; {first}.u64 %x, %a0, %a1; {second}.u64 %d, 0, 0",
            ["u64", "u64"],
            "u64",
            rows(120, 64, 64, seed="flag"),
            wide,
        )
