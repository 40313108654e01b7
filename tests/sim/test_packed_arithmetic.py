"""Arithmetic on packed small floats, compared with exact fractions and ml_dtypes, on both engines."""

from __future__ import annotations

import math
from bisect import bisect
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np
import pytest
from sim.columns import computed

TYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e2m1p4": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
}
BITS = {"e3m2": 6, "e2m3": 6, "e2m1": 4, "e2m1p4": 4}
ROWS = 128


@cache
def values(name: str) -> list[float]:
    """The number each pattern of bits stands for."""
    patterns = np.arange(1 << BITS.get(name, 8), dtype=np.uint8)
    return [float(v) for v in patterns.view(TYPES[name]).astype(np.float64)]


@cache
def positive(name: str) -> list[Fraction]:
    return [Fraction(v) for v in values(name)[:128] if math.isfinite(v)]


def nearest(exact: Fraction, name: str) -> int:
    """The pattern nearest to a number, that with an even last bit of two; the largest for what is beyond."""
    numbers = positive(name)  # in ascending order, as their patterns are
    above = min(bisect(numbers, abs(exact)), len(numbers) - 1)
    _, _, bits = min((abs(abs(exact) - numbers[bits]), bits & 1, bits) for bits in (max(above - 1, 0), above))
    return bits | (exact < 0) << 7


def packs(name: str, rng: np.random.Generator) -> tuple[np.ndarray, list[list[int]]]:
    """Registers and the patterns of their four lanes."""
    lanes = rng.integers(0, 1 << BITS.get(name, 8), (ROWS, 4))
    pitch = 4 if name == "e2m1" else 8
    return (lanes << pitch * np.arange(4)).sum(axis=1).astype(np.uint64), lanes.tolist()


CASES = [
    ("add", "e4m3", "e5m2", "e4m3"),
    ("add", "e5m2", "e2m1", "e5m2"),
    ("sub", "e4m3", "e3m2", "e4m3"),
    ("sub", "e5m2", "e4m3", "e5m2"),
    ("mul", "e4m3", "e2m1p4", "e4m3"),
    ("mul", "e5m2", "e2m3", "e5m2"),
    ("mul", "e4m3", "ue8m0", "e2m1"),
    ("fma", "e4m3", "e4m3", "e2m1p4", "e4m3"),
    ("fma", "e5m2", "e5m2", "e4m3", "e5m2"),
    ("fma", "e5m2", "e2m3", "e2m1", "e5m2"),
]


@pytest.mark.parametrize("case", CASES, ids=".".join)
def test_the_exact_result_is_rounded_once(case):
    op, target, *sources = case
    rng = np.random.default_rng(list(map(ord, ".".join(case))))
    made = [packs(name, rng) for name in sources]
    written = sources if op == "mul" else sources[:-1]
    text = f"{op}.rn.satfinite.{target}x4.{'.'.join(f'{name}x4' for name in written)} %d, "
    types = ["b16" if name == "e2m1" else "b32" for name in sources]
    out = computed(text + ", ".join(f"%a{i}" for i in range(len(sources))), types, "b32", [m[0] for m in made])
    numbers, wanted, patterns = [values(name) for name in sources], {}, [m[1] for m in made]
    for row, got in enumerate(out.tolist()):
        for lane in range(4):
            bits = tuple(p[row][lane] for p in patterns)
            operands = [n[b] for n, b in zip(numbers, bits, strict=True)]
            if not all(map(math.isfinite, operands)):
                continue
            if bits not in wanted:
                x = [Fraction(v) for v in operands]
                exact = (
                    {"add": x[0] + x[-1], "sub": x[0] - x[-1], "mul": x[0] * x[-1]}.get(op)
                    if op != "fma"
                    else x[0] * x[1] + x[2]
                )
                wanted[bits] = nearest(exact, target) & 127, exact
            assert got >> 8 * lane & 127 == wanted[bits][0], (bits, wanted[bits])
            assert not wanted[bits][1] or got >> 8 * lane >> 7 & 1 == (wanted[bits][1] < 0)


def ml(exact: Fraction, name: str) -> int:
    """What ml_dtypes makes of a number that is exact in double precision; a NaN is the canonical one."""
    with np.errstate(over="ignore"):
        bits = int(np.float64(float(exact)).astype(TYPES[name]).view(np.uint8))
    return 0x7F if math.isnan(float(np.uint8(bits).view(TYPES[name]))) else bits


@pytest.mark.parametrize(
    "case",
    [
        ("add", "e4m3", "e5m2", "e4m3"),
        ("sub", "e5m2", "e5m2", "e5m2"),
        ("mul", "e4m3", "ue8m0", "e4m3"),
        ("mul", "e5m2", "e5m2", "e4m3"),
        ("fma", "e4m3", "e4m3", "e5m2", "e4m3"),
    ],
    ids=".".join,
)
def test_without_satfinite_what_is_too_large_is_nan_or_infinity(case):
    op, target, *sources = case
    rng = np.random.default_rng(list(map(ord, ".".join(case))))
    made = [packs(name, rng) for name in sources]
    written = sources if op == "mul" else sources[:-1]
    text = f"{op}.rn.{target}x4.{'.'.join(f'{name}x4' for name in written)} %d, "
    out = computed(
        text + ", ".join(f"%a{i}" for i in range(len(sources))), ["b32"] * len(sources), "b32", [m[0] for m in made]
    )
    beyond, numbers, patterns = 0, [values(name) for name in sources], [m[1] for m in made]
    for row, got in enumerate(out.tolist()):
        for lane in range(4):
            operands = [n[p[row][lane]] for n, p in zip(numbers, patterns, strict=True)]
            if all(map(math.isfinite, operands)):
                x = [Fraction(v) for v in operands]
                exact = (
                    x[0] * x[1] + x[2]
                    if op == "fma"
                    else {"add": x[0] + x[-1], "sub": x[0] - x[-1], "mul": x[0] * x[-1]}[op]
                )
                beyond += abs(exact) > positive(target)[-1]
                if exact:
                    assert got >> 8 * lane & 255 == ml(exact, target), operands
    assert beyond > 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", ["add", "sub", "fma"])
@pytest.mark.parametrize("target", ["e4m3", "e5m2"])
def test_sums_with_powers_of_two_from_end_to_end(op, target):
    scales, small = np.meshgrid(np.arange(255), np.arange(0, 120, 7))
    a, c = scales.ravel(), small.ravel()
    a, c = (np.resize(v, (len(a) + 3) // 4 * 4).reshape(-1, 4) for v in (a, c))
    columns = [(v << 8 * np.arange(4)).sum(axis=1).astype(np.uint64) for v in (a, c)]
    text, types = (
        (f"{op}.satfinite.{target}x4.ue8m0x4 %d, %a0, %a1", ["b32"] * 2)
        if op != "fma"
        else (f"fma.satfinite.{target}x4.ue8m0x4.ue8m0x4 %d, %a0, %a0, %a1", ["b32"] * 2)
    )
    out = np.concatenate(
        [computed(text, types, "b32", [v[i : i + 1024] for v in columns]) for i in range(0, len(columns[0]), 1024)]
    )
    got = np.array([out >> np.uint64(8 * k) & np.uint64(255) for k in range(4)]).T
    small, largest = values(target), positive(target)[-1]
    for scale, number, bits in zip(a.ravel().tolist(), c.ravel().tolist(), got.ravel().tolist(), strict=True):
        power = Fraction(2) ** (scale - 127)
        exact = {
            "add": power + Fraction(small[number]),
            "sub": power - Fraction(small[number]),
            "fma": power * power + Fraction(small[number]),
        }[op]
        if exact:
            wanted = nearest(min(exact, Fraction(largest)), target)
            assert bits == wanted, (scale, small[number], bits, wanted)
