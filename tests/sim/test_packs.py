"""Arithmetic on packs of four small numbers against exact fractions and ml_dtypes, on both engines."""

from __future__ import annotations

import math
from bisect import bisect
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np
import pytest
from sim.columns import computed
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

TYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e3m2": ml_dtypes.float6_e3m2fn,
         "e2m3": ml_dtypes.float6_e2m3fn, "e2m1": ml_dtypes.float4_e2m1fn, "e2m1p4": ml_dtypes.float4_e2m1fn,
         "ue8m0": ml_dtypes.float8_e8m0fnu}
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
    numbers = positive(name)                            # in ascending order, as their patterns are
    above = min(bisect(numbers, abs(exact)), len(numbers) - 1)
    _, _, bits = min((abs(abs(exact) - numbers[bits]), bits & 1, bits) for bits in (max(above - 1, 0), above))
    return bits | (exact < 0) << 7


def packs(name: str, rng: np.random.Generator) -> tuple[np.ndarray, list[list[int]]]:
    """Registers and the patterns of their four lanes."""
    lanes = rng.integers(0, 1 << BITS.get(name, 8), (ROWS, 4))
    pitch = 4 if name == "e2m1" else 8
    return (lanes << pitch * np.arange(4)).sum(axis=1).astype(np.uint64), lanes.tolist()


CASES = [("add", "e4m3", "e5m2", "e4m3"), ("add", "e5m2", "e2m1", "e5m2"), ("sub", "e4m3", "e3m2", "e4m3"),
         ("sub", "e5m2", "e4m3", "e5m2"), ("mul", "e4m3", "e2m1p4", "e4m3"), ("mul", "e5m2", "e2m3", "e5m2"),
         ("mul", "e4m3", "ue8m0", "e2m1"), ("fma", "e4m3", "e4m3", "e2m1p4", "e4m3"),
         ("fma", "e5m2", "e5m2", "e4m3", "e5m2"), ("fma", "e5m2", "e2m3", "e2m1", "e5m2")]


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
                exact = {"add": x[0] + x[-1], "sub": x[0] - x[-1], "mul": x[0] * x[-1]}.get(op) if op != "fma" else \
                    x[0] * x[1] + x[2]
                wanted[bits] = nearest(exact, target) & 127, exact
            assert got >> 8 * lane & 127 == wanted[bits][0], (bits, wanted[bits])
            assert not wanted[bits][1] or got >> 8 * lane >> 7 & 1 == (wanted[bits][1] < 0)


@pytest.mark.parametrize("text", ["add.e4m3x4.e5m2x4 %r0, %r1, %r2", "add.satfinite.e4m3x4.ue8m0x4 %r0, %r1, %r2"])
def test_what_is_not_known_is_refused(text):
    with pytest.raises(SimulationError, match="is not simulated"):
        sim.load(entry(f".reg .b32 %r<3>; {text}; ret"))
