"""Arithmetic and conversions of floating-point numbers against exact rational arithmetic, on both engines."""

from __future__ import annotations

import random
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from sim.columns import computed
from sim.rationals import FORMATS, Format

ROWS = 256
MODES = ("rn", "rz", "rm", "rp")
OPERANDS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1, "sqrt": 1}
REGISTER = {"f16": "f16", "bf16": "b16", "f32": "f32", "f64": "f64"}
ARITHMETIC = [(op, mode, name) for name in ("f32", "f64") for op in OPERANDS for mode in MODES]
ARITHMETIC += [(op, "rn", name) for name in ("f16", "bf16") for op in ("add", "sub", "mul", "fma")]


def samples(form: Format, rng: random.Random, count: int) -> list[int]:
    """Finite numbers: of all sizes, near 1 (so that sums cancel), subnormal, round ones, the ends of the range."""
    found = []
    while len(found) < count:
        exponent = rng.choice([rng.randrange(0, 2 * form.top), form.top + rng.randrange(-3, 4), 0, 2 * form.top])
        fraction = rng.getrandbits(form.precision - 1) & rng.choice((-1, -1, -1 << form.precision // 2, 0))
        bits = rng.getrandbits(1) << form.bits - 1 | min(exponent, 2 * form.top) << form.precision - 1 | fraction
        found.append(bits)
    return found


def columns(form: Format, seed: str, count: int) -> list[list[int]]:
    """Columns of numbers, some rows of which are alike up to the sign or the last bits."""
    rng = random.Random(seed)
    made = [samples(form, rng, ROWS) for _ in range(count)]
    for row in range(0, ROWS, 5):
        for column in made[1:]:
            column[row] = made[0][row] ^ rng.choice((0, 1 << form.bits - 1, 1, 1 << form.bits - 1 | 1))
            if not form.is_finite(column[row]):
                column[row] = made[0][row]
    return made


def exact(op: str, form: Format, mode: str, row: tuple[int, ...]) -> int | None:
    """The bits of the result; None where there is no finite exact one."""
    values, signs = [form.number(v) for v in row], [form.is_negative(v) for v in row]
    if op == "rcp":
        return exact("div", form, mode, (form.rounded(Fraction(1), "rn"), *row))
    if op == "sqrt":
        return None if values[0] < 0 else form.root(values[0], mode) if values[0] else row[0]
    if op == "div":
        if not values[1]:
            return None
        return form.rounded(values[0] / values[1], mode, negative_zero=signs[0] != signs[1])
    if op == "mul":
        return form.rounded(values[0] * values[1], mode, negative_zero=signs[0] != signs[1])
    if op == "fma":
        left, right = (values[0] * values[1], signs[0] != signs[1]), (values[2], signs[2])
    else:
        left, right = (values[0], signs[0]), (values[1], signs[1])
    if op == "sub":
        right = -right[0], not right[1]
    zeros = not left[0] and not right[0] and left[1] == right[1]
    return form.rounded(left[0] + right[0], mode, negative_zero=left[1] if zeros else mode == "rm")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op, mode, name", ARITHMETIC, ids=[".".join(case) for case in ARITHMETIC])
def test_arithmetic_rounds_the_exact_result(op, mode, name):
    form, count = FORMATS[name], OPERANDS[op]
    made = columns(form, f"{op} {mode} {name}", count)
    text = f"{op}.{mode}.{name} %d, {', '.join(f'%a{i}' for i in range(count))}"
    out = computed(text, [REGISTER[name]] * count, REGISTER[name], [np.array(c, np.uint64) for c in made])
    wrong = [
        (*map(hex, row), hex(int(got)), hex(wanted))
        for row, got in zip(zip(*made, strict=True), out, strict=True)
        if (wanted := exact(op, form, mode, row)) is not None and got != wanted
    ]
    assert not wrong, wrong[:5]


NARROWING = [
    (to, of, mode)
    for to, of in (("f16", "f32"), ("bf16", "f32"), ("f16", "f64"), ("f32", "f64"))
    for mode in (MODES if to != "bf16" else ("rn", "rz"))
]


@pytest.mark.parametrize("to, of, mode", NARROWING, ids=[".".join(case) for case in NARROWING])
def test_a_narrower_format_rounds_the_exact_value(to, of, mode):
    form, narrow = FORMATS[of], FORMATS[to]
    made = samples(form, random.Random(f"{to} {of} {mode}"), ROWS)
    for row in range(0, ROWS, 3):  # halfway between two numbers, or next to it
        middle = form.rounded(narrow.number(samples(narrow, random.Random(row), 1)[0]), "rn")
        made[row] = middle + random.Random(-row).choice((0, 1, -1)) + (1 << form.precision - narrow.precision - 1)
        made[row] = made[row] if 0 <= made[row] < 1 << form.bits and form.is_finite(made[row]) else 1
    out = computed(f"cvt.{mode}.{to}.{of} %d, %a0", [of], REGISTER[to], [np.array(made, np.uint64)])
    for bits, got in zip(made, out, strict=True):
        wanted = narrow.rounded(form.number(bits), mode, negative_zero=form.is_negative(bits))
        assert got == wanted, (hex(bits), hex(got), hex(wanted))


INTEGERS = ("s32", "u32", "s64", "u64")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("to", ["f16", "f32", "f64"])
@pytest.mark.parametrize("of", INTEGERS)
def test_an_integer_becomes_the_nearest_number(of, to, mode):
    rng, width = random.Random(f"{of} {to} {mode}"), int(of[1:])
    made = [rng.getrandbits(rng.randrange(1, width + 1)) ^ -rng.getrandbits(1) & (1 << width) - 1 for _ in range(ROWS)]
    out = computed(f"cvt.{mode}.{to}.{of} %d, %a0", [of], to, [np.array(made, np.uint64)])
    for bits, got in zip(made, out, strict=True):
        value = bits - (1 << width) if of[0] == "s" and bits >> width - 1 else bits
        assert got == FORMATS[to].rounded(Fraction(value), mode), (hex(bits), hex(got))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", [f"{mode}i" for mode in MODES])
@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("of", ["f16", "f32", "f64"])
def test_a_number_becomes_the_nearest_integer_within_the_range(of, to, mode):
    form, width = FORMATS[of], int(to[1:])
    rng = random.Random(f"{of} {to} {mode}")
    made = samples(form, rng, ROWS)
    made[::2] = [
        form.rounded(Fraction(rng.randrange(-1 << 70, 1 << 70), 1 << rng.randrange(2, 80)), "rz") for _ in made[::2]
    ]
    low, high = (-1 << width - 1, (1 << width - 1) - 1) if to[0] == "s" else (0, (1 << width) - 1)
    out = computed(f"cvt.{mode}.{to}.{of} %d, %a0", [of], to, [np.array(made, np.uint64)])
    for bits, got in zip(made, out, strict=True):
        value = form.number(bits)
        down = value.numerator // value.denominator
        rest = value - down
        up = {
            "rni": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2),
            "rmi": False,
            "rpi": rest > 0,
            "rzi": rest > 0 and value < 0,
        }[mode]
        assert got == min(max(down + up, low), high) & (1 << width) - 1, (hex(bits), hex(got))


@pytest.mark.parametrize("name, dtype", [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)])
def test_eight_bits_are_those_of_ml_dtypes(name, dtype):
    x = np.random.default_rng(3).standard_normal(2 * ROWS).astype(np.float32) * np.float32(30)
    x[::7] = np.arange(0, 1, 7 / 512, dtype=np.float32)[: len(x[::7])]
    wanted = x.astype(dtype).view(np.uint8)
    bits = x.view(np.uint32)
    out = computed(f"cvt.rn.satfinite.{name}x2.f32 %d, %a0, %a1", ["f32", "f32"], "b16", [bits[::2], bits[1::2]])
    assert (out >> 8 == wanted[::2]).all() and (out & 0xFF == wanted[1::2]).all()
    halves = np.arange(0, 1 << 16, 257, dtype=np.uint64)
    back = computed(f"cvt.rn.f16x2.{name}x2 %d, %a0", ["b16"], "b32", [halves])
    for shift in (0, 8):
        numbers = (halves >> shift & 0xFF).astype(np.uint8).view(dtype).astype(np.float16)
        got = (back >> 2 * shift & 0xFFFF).astype(np.uint16).view(np.float16)
        np.testing.assert_array_equal(got, numbers)
