"""Video instructions: the manual's pseudocode, and ptxas where it differs, on both engines."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr")
PIECES = ("", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1")
COMPARE = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
INPUTS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80808080, 0x7FFF8000)


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


def piece(value: int, name: str, type_name: str) -> int:
    bits = {"b": 8, "h": 16}.get(name[1:2], 32)
    value = value >> bits * int(name[2:] or 0) & (1 << bits) - 1
    return signed(value, bits) if type_name == "s32" else value


def clamp(value: int, bits: int, type_name: str) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if type_name == "s32" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def basic(name: str, a: int, b: int, how: str) -> int:
    if name == "vavrg":
        return (a + b + (a + b >= 0)) >> 1
    return {"vadd": a + b, "vsub": a - b, "vabsdiff": abs(a - b), "vmin": min(a, b), "vmax": max(a, b)}.get(
        name, int(COMPARE.get(how, operator.eq)(a, b))
    )


def scalar(rng: random.Random):
    """A statement and what it computes of (a, b, c)."""
    name, how = rng.choice(SCALAR), rng.choice(list(COMPARE))
    d, ta, tb = (rng.choice(("u32", "s32")) for _ in range(3))
    sat, mode, op2 = rng.random() < 0.5, rng.choice(("clamp", "wrap")), rng.choice(("", "merge", "add", "min", "max"))
    pa, pb, pd = rng.choice(PIECES), rng.choice(PIECES), rng.choice(PIECES[1:]) if op2 == "merge" else ""
    shifts = name in ("vshl", "vshr")
    if name == "vset":
        d, sat = "u32", False
    tb = "u32" if shifts else tb
    words = [
        name,
        *[d] * (name != "vset"),
        ta,
        tb,
        *["sat"] * sat,
        *[mode] * shifts,
        *[how] * (name == "vset"),
        *[op2] * (op2 in ("add", "min", "max")),
    ]
    text = f"{'.'.join(words)} %d{pd}, %a{pa}, %b{pb}{', %c' if op2 else ''}"

    def value(a: int, b: int, c: int) -> int:
        a, b = piece(a, pa, ta), piece(b, pb, tb)
        if shifts:
            by = min(b, 32) if mode == "clamp" else b & 31
            result = a << by if name == "vshl" else a >> by
            if sat and name == "vshl":
                result = signed(result, 34)
        else:
            result = basic(name, a, b, how)
        bits = {"b": 8, "h": 16}.get(pd[1:2], 32)
        if sat:
            result = clamp(result, bits, d)
        if pd:
            at = bits * int(pd[2:])
            return c & ~((1 << bits) - 1 << at) | (result & (1 << bits) - 1) << at
        if op2 in ("min", "max"):  # compared in 64 bits, as ptxas expands it
            if name in ("vadd", "vsub") or (shifts and sat):
                result = signed(result, 32)
            is_signed = (ta if name == "vset" else d) == "s32"
            other = signed(c, 32) if is_signed else c
            result = result if is_signed else result & (1 << 64) - 1
            return (min if op2 == "min" else max)(result, other)
        return result + c if op2 == "add" else result

    return text, value


def several(rng: random.Random):
    name, count, how = (
        rng.choice(("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")),
        rng.choice((2, 4)),
        rng.choice(list(COMPARE)),
    )
    d, ta, tb = (rng.choice(("u32", "s32")) for _ in range(3))
    bits, letter, add = 32 // count, "h" if count == 2 else "b", rng.random() < 0.4
    sat = rng.random() < 0.5 and not add and name != "vset"
    chosen = [[rng.randrange(2 * count) for _ in range(count)] if rng.random() < 0.7 else None for _ in range(2)]
    mask = sorted(rng.sample(range(count), rng.randint(1, count))) if rng.random() < 0.6 and not add else None

    def part(places):
        return "" if places is None else "." + letter + "".join(map(str, reversed(places)))

    words = [
        f"{name}{count}",
        *([] if name == "vset" else [d]),
        ta,
        tb,
        *["sat"] * sat,
        *[how] * (name == "vset"),
        *["add"] * add,
    ]
    text = f"{'.'.join(words)} %d{part(mask)}, %a{part(chosen[0])}, %b{part(chosen[1])}, %c"

    def value(a: int, b: int, c: int) -> int:
        both, total = a | b << 32, c if add else 0
        for k in range(count):
            x, y = (
                both >> bits * ((places or range(first, first + count))[k]) & (1 << bits) - 1
                for places, first in zip(chosen, (0, count), strict=True)
            )
            x, y = signed(x, bits) if ta == "s32" else x, signed(y, bits) if tb == "s32" else y
            result = basic(name, x, y, how)
            if sat:
                result = clamp(result, bits, d)
            if mask is not None and k not in mask:
                result = c >> bits * k
            total += result if add else (result & (1 << bits) - 1) << bits * k
        return total

    return text, value


def multiply(rng: random.Random):
    d, ta, tb = (rng.choice(("u32", "s32")) for _ in range(3))
    plus, sat, scale = rng.random() < 0.25, rng.random() < 0.5, rng.choice(("", "shr7", "shr15"))
    minus = [not plus and rng.random() < 0.3 for _ in range(3)]
    minus[1] &= not minus[0]
    minus[2] &= not (minus[0] or minus[1])
    if plus:
        d = ta = tb = "u32"
    elif any(minus) and (ta, tb) != ("u32", "u32"):
        d = "s32"
    pa, pb = rng.choice(PIECES), rng.choice(PIECES)
    words = ["vmad", d, ta, tb, *["po"] * plus, *["sat"] * sat, *[scale] * bool(scale)]
    a_, b_, c_ = ("-" * m + n for m, n in zip(minus, ("%a" + pa, "%b" + pb, "%c"), strict=True))
    text = f"{'.'.join(words)} %d, {a_}, {b_}, {c_}"

    def value(a: int, b: int, c: int) -> int:
        a, b = piece(a, pa, ta), piece(b, pb, tb)
        is_signed = "s32" in (ta, tb) or any(minus)
        c = signed(c, 32) if is_signed else c
        total = (-a * b if minus[0] != minus[1] else a * b) + (-c if minus[2] else c) + plus
        total >>= int(scale[3:] or 0)
        return clamp(total, 32, "s32" if is_signed else "u32") if sat else total

    return text, value


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [scalar, several, multiply])
@pytest.mark.parametrize("seed", range(4))
def test_video_instructions_compute_what_the_manual_says(make, seed):
    rng = random.Random(f"{make.__name__} {seed}")
    cases = [make(rng) for _ in range(60)]
    pool = [*INPUTS, *(rng.getrandbits(32) for _ in range(20))]
    inputs = np.array([[rng.choice(pool) for _ in range(32)] for _ in range(3)], np.uint32)
    body = [
        "ld.param.u64 %in, [x]",
        "ld.param.u64 %out, [out]",
        "mov.u32 %t, %tid.x",
        "shl.b32 %t, %t, 2",
        "cvt.u64.u32 %o, %t",
        "add.u64 %in, %in, %o",
        "add.u64 %out, %out, %o",
        "ld.global.u32 %a, [%in]",
        "ld.global.u32 %b, [%in+128]",
        "ld.global.u32 %c, [%in+256]",
    ]
    for k, (text, _) in enumerate(cases):
        body += [text, f"st.global.u32 [%out+{128 * k}], %d"]
    registers = ".reg .b64 %in; .reg .b64 %out; .reg .b64 %o; .reg .b32 %t; .reg .b32 %a; .reg .b32 %b; .reg .b32 %c; "
    module = entry(registers + ".reg .b32 %d; " + "; ".join([*body, "ret"]), "u64 x, u64 out", target="sm_90a")
    out = np.zeros((len(cases), 32), np.uint32)
    run_both(module, 1, 32, (inputs, out))
    for (text, value), row in zip(cases, out.tolist(), strict=True):
        wanted = [value(*map(int, column)) & 0xFFFFFFFF for column in inputs.T]
        assert row == wanted, (
            text,
            [
                (hex(int(a)), hex(int(b)), hex(int(c)), hex(g), hex(w))
                for a, b, c, g, w in zip(*inputs, row, wanted, strict=True)
                if g != w
            ][:3],
        )
