"""Arithmetic of tensor cores (`tensor_cores="hw"`), compared with the published model in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor, ldexp

import numpy as np
import pytest
from sim.matrices import SIZE
from sim.test_mma import CASES, Case, _registers, block_scales, result_of, run_case

# format -> bits of mantissa, least exponent
FORMATS = {
    "f16": (10, -14),
    "bf16": (7, -126),
    "tf32": (10, -126),
    "f32": (23, -126),
    "e4m3": (3, -6),
    "e5m2": (2, -14),
    "e3m2": (2, -2),
    "e2m3": (3, 0),
    "e2m1": (1, 0),
    "fp4": (1, 0),
}
# target, statement -> bits kept below the largest exponent, columns added at once, rounding of a sum
MODELS = {
    ("sm_80", "m16n8k16.row.col.f32.f16.f16.f32"): (24, 8, "f32"),
    ("sm_80", "m16n8k16.row.col.f16.f16.f16.f16"): (24, 8, "f16"),
    ("sm_80", "m16n8k8.row.col.f32.tf32.tf32.f32"): (24, 4, "f32"),
    ("sm_80", "m16n8k8.row.col.f32.bf16.bf16.f32"): (24, 8, "f32"),
    ("sm_89", "m16n8k32.row.col.f32.e4m3.e4m3.f32"): (13, 16, "e8m13"),
    ("sm_89", "m16n8k32.row.col.f16.e4m3.e4m3.f16"): (13, 16, "f16"),
    ("sm_90", "m16n8k16.row.col.f32.bf16.bf16.f32"): (25, 16, "f32"),
    ("sm_90", "m16n8k16.row.col.f32.f16.f16.f32"): (25, 16, "f32"),
    ("sm_75", "m16n8k8.row.col.f32.f16.f16.f32"): (24, 8, "f32"),
    ("sm_120a", "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e3m2.f32"): (25, 32, "f32"),
    ("sm_120a", "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"): (25, 32, "f32"),
}
FP4 = [
    "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
    "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
]


def log2(value: Fraction) -> int:
    """floor(log2(|value|))"""
    value = abs(value)
    n = value.numerator.bit_length() - value.denominator.bit_length()
    return n if Fraction(2) ** n <= value else n - 1


def exponent(value: Fraction, type_name: str) -> int:
    return max(log2(value), FORMATS[type_name][1])


def toward_zero(value: Fraction) -> int:
    return floor(value) if value >= 0 else -floor(-value)


def rounded(value: Fraction, kind: str) -> Fraction:
    """f32 and e8m13 towards zero, f16 to nearest even."""
    if not value:
        return value
    if kind == "f16":
        unit = Fraction(2) ** (max(log2(value), -14) - 10)
        return round(value / unit) * unit
    unit = Fraction(2) ** (max(log2(value), -126) - (13 if kind == "e8m13" else 23))
    return toward_zero(value / unit) * unit


def added(c: Fraction, terms: list[tuple[Fraction, int]], fraction: int, kind: str) -> Fraction:
    """The accumulator and terms with their exponents, cut below the largest one, added, rounded."""
    terms = [(c, exponent(c, "f32") if c else -126), *((v, e if v else -126) for v, e in terms)]
    unit = Fraction(2) ** (max(e for _, e in terms) - fraction)
    return rounded(sum(toward_zero(v / unit) for v, _ in terms) * unit, kind)


def values_and_codes(rng, shape, type_name: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a format with exponents over some of its range, and their codes."""
    mantissa, least = FORMATS[type_name]
    size = {"tf32": 32, "e3m2": 6, "e2m3": 6, "e2m1": 4}.get(type_name, SIZE[type_name])
    codes = rng.integers(0, 1 << size, shape)
    sign = codes >> size - 1
    if type_name in ("f16", "bf16", "tf32", "f32"):
        stored = 23 if type_name == "tf32" else mantissa
        middle = {"f16": 15, "bf16": 127}.get(type_name, 127)
        exponents = middle + rng.integers(-6, 7, shape)
        exponents[rng.random(shape) < 0.05] = 0 if type_name == "f16" else 90
        codes = sign << size - 1 | exponents << stored | codes & (1 << stored) - 1
        if type_name == "tf32":
            codes &= 0xFFFFE000
            stored, codes_ = 10, codes >> 13
        else:
            codes_ = codes
    else:
        if type_name == "e4m3":
            codes &= 0xBF  # below 2: sums fit f16
        if type_name == "e5m2":
            codes = np.where(codes & 127 >= 124, 0, codes)
        sign, stored, codes_ = codes >> size - 1, mantissa, codes
    field = codes_ >> stored & (1 << {"tf32": 8}.get(type_name, size - 1 - stored)) - 1
    fractions = codes_ & (1 << stored) - 1
    numbers = np.empty(shape, object)
    for at in np.ndindex(*shape):
        whole = int(fractions[at]) + ((1 << stored) if field[at] else 0)
        power = max(int(field[at]), 1) - 1 + least - stored
        numbers[at] = (-1) ** int(sign[at]) * Fraction(whole) * Fraction(2) ** power
    return numbers, codes.astype(np.uint64) << np.uint64(2 if type_name == "e2m1" else 0)


def _case(target: str, text: str) -> Case:
    found = next(c for c in CASES if c.text.split()[0] == f"mma.sync.aligned.{text}")
    found.target = target
    return found


def _run(case: Case, rng, monkeypatch) -> tuple[np.ndarray, ...]:
    """Random matrices through both engines: A, B, C, D as fractions, and the scales."""
    kinds = {name: getattr(case, name) for name in "abc"}
    sizes = {"a": (case.m, case.k), "b": (case.k, case.n), "c": (case.m, case.n)}
    numbers, codes = {}, {}
    for name in "abc":
        numbers[name], codes[name] = values_and_codes(rng, sizes[name], kinds[name])
    monkeypatch.setattr("sim.test_mma.bits_of", lambda values, _type: values)
    rows = {name: _registers(case, name, codes[name][None]) for name in "abc"}
    scales = ()
    if case.scale_type:
        sa, wa = block_scales(rng, case, case.m, "a")
        sb, wb = block_scales(rng, case, case.n, "b")
        rows["sa"], rows["sb"] = wa[None], wb[None]
        scales = sa, sb
    d = result_of(case, run_case(case, rows, tensor_cores="hw"))[0]
    return numbers["a"], numbers["b"], numbers["c"], d, *scales


@pytest.mark.parametrize(("target", "text"), MODELS, ids=str)
def test_sums_are_those_of_the_model(target, text, monkeypatch):
    fraction, step, kind = MODELS[target, text]
    case = _case(target, text)
    a, b, c, d, *scales = _run(case, np.random.default_rng(len(text)), monkeypatch)
    for i in range(case.m):
        for j in range(case.n):
            total = Fraction(c[i, j])
            extra = log2(Fraction(scales[0][i, 0])) + log2(Fraction(scales[1][j, 0])) if scales else 0
            for first in range(0, case.k, step):
                terms = []
                for k in range(first, first + step):
                    x, y = a[i, k], b[k, j]
                    terms.append(
                        (x * y * Fraction(2) ** extra, exponent(x, case.a) + exponent(y, case.b) + extra)
                        if x and y
                        else (Fraction(0), 0)
                    )
                total = added(total, terms, fraction, kind)
            assert Fraction(d[i, j]) == total, (i, j, d[i, j], float(total))


@pytest.mark.parametrize("text", FP4)
def test_scaled_fp4_adds_groups_of_16(text, monkeypatch):
    case = _case("sm_120a", text)
    a, b, c, d, sa, sb = _run(case, np.random.default_rng(3), monkeypatch)
    per = case.k // case.blocks
    for i in range(case.m):
        for j in range(case.n):
            terms = []
            for first in range(0, case.k, 16):
                x, y = Fraction(sa[i, first // per]), Fraction(sb[j, first // per])
                group = sum(a[i, k] * b[k, j] for k in range(first, first + 16))
                terms.append((group * x * y, log2(x) + log2(y)))
            assert Fraction(d[i, j]) == added(c[i, j], terms, 35, "f32")


def test_the_models_differ_as_published():
    """1 + 2^-24 + 2^-24: lost with 23 bits and a rounding each time, kept when added together with 24 and more."""
    assert added(Fraction(1), [(Fraction(1, 2**24), -24)] * 2, 24, "f32") == 1 + Fraction(1, 2**23)
    assert added(Fraction(1), [(Fraction(1, 2**24), -24)] * 2, 23, "f32") == 1
    assert ldexp(1.0, -14) == added(Fraction(1, 2**14), [(Fraction(1, 2**30), -30)], 13, "e8m13")
