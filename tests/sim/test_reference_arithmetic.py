"""Exact arithmetic of the reference engine, compared with NumPy and with fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from pyptx.sim.actions import Apply, Leaf
from pyptx.sim.arithmetic import evaluator

RNG = random.Random(7)
NUMPY = {"f16": (np.float16, np.uint16), "f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64)}


def samples(type_name: str, count: int) -> list[int]:
    bits = {"f16": 16, "f32": 32, "f64": 64}[type_name]
    exponent, mantissa = {"f16": (15, 10), "f32": (127, 23), "f64": (1023, 52)}[type_name]
    near = [
        RNG.getrandbits(1) << (bits - 1) | (exponent + RNG.randrange(-8, 8)) << mantissa | RNG.getrandbits(mantissa)
        for _ in range(count // 2)
    ]
    return near + [RNG.getrandbits(bits) for _ in range(count - len(near))]


def as_number(bits: int, type_name: str):
    floating, integer = NUMPY[type_name]
    return np.array([bits], integer).view(floating)[0]


def run(op: str, type_name: str, *bits: int, flags=()) -> int:
    leaves = tuple(Leaf(None, type_name) for _ in bits)
    return evaluator.FLOAT[op](Apply(op, leaves, type_name, type_name, frozenset(flags)), *bits)


@pytest.mark.parametrize("type_name", ["f16", "f32", "f64"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "sqrt"])
def test_rounding_to_nearest_is_what_numpy_does(op, type_name):
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}[op]
    with np.errstate(all="ignore"):
        for a, b in zip(samples(type_name, 300), samples(type_name, 300), strict=True):
            operands = (a,) if op == "sqrt" else (a, b)
            wanted = function(*(as_number(v, type_name) for v in operands))
            got = as_number(run(op, type_name, *operands), type_name)
            same = got.tobytes() == wanted.tobytes() or (np.isnan(got) and np.isnan(wanted))
            assert same, (op, hex(a), hex(b), got, wanted)


def _exact(op: str, x: Fraction, y: Fraction, z: Fraction) -> Fraction:
    match op:
        case "add":
            return x + y
        case "mul":
            return x * y
        case "div":
            return x / y
    return x * y + z


@pytest.mark.parametrize("op", ["add", "mul", "div", "fma"])
@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_directed_rounding_brackets_the_exact_value(op, mode):
    for a, b, c in zip(samples("f32", 300), samples("f32", 300), samples("f32", 300), strict=True):
        x, y, z = (float(as_number(v, "f32")) for v in (a, b, c))
        if not all(map(math.isfinite, (x, y, z))) or (op == "div" and y == 0):
            continue
        exact = _exact(op, Fraction(x), Fraction(y), Fraction(z))
        got = as_number(run(op, "f32", *((a, b, c) if op == "fma" else (a, b)), flags={mode}), "f32")
        if not math.isfinite(got):
            continue
        with np.errstate(over="ignore"):
            up, down = np.nextafter(got, np.float32(np.inf)), np.nextafter(got, np.float32(-np.inf))
        value = Fraction(float(got))
        lower = mode == "rm" or (mode == "rz" and exact > 0)
        if lower:
            assert value <= exact and (not math.isfinite(up) or Fraction(float(up)) > exact)
        else:
            assert value >= exact and (not math.isfinite(down) or Fraction(float(down)) < exact)


def test_fma_rounds_once():
    a = int(np.array([1 + 2.0**-12], np.float32).view(np.uint32)[0])
    c = int(np.array([-1 - 2.0**-11], np.float32).view(np.uint32)[0])
    assert as_number(run("fma", "f32", a, a, c), "f32") == np.float32(2.0**-24)
