"""Approximate functions: both engines agree in every bit and are well within the manual's error bounds."""

from __future__ import annotations

import numpy as np
import pytest
from sim.columns import computed

COUNT = 1024
STRANGE = (
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-45,
    -1e-45,
    1.1754944e-38,
    1.0,
    -1.0,
    124.9,
    125.5,
    -125.5,
    127.99999,
    128.0,
    -126.0,
    -126.5,
    -140.3,
    -149.0,
    -150.0,
    -151.0,
    3e38,
    -3e38,
    0.5,
    -0.5,
    1.5,
    2.5,
    1e-20,
)


def samples(low: float, high: float) -> np.ndarray:
    rng = np.random.default_rng(5)
    x = rng.uniform(low, high, COUNT).astype(np.float32)
    x[: len(STRANGE)] = STRANGE
    x[100:132] = rng.uniform(-0.5, 0.5, 32)  # a warp without strange numbers, and one with small ones
    x[132:164] = rng.standard_normal(32).astype(np.float32) * np.float32(1e-4)
    return x


def both(function: str, *inputs: np.ndarray) -> np.ndarray:
    """What a function of f32 gives on both engines."""
    names = [f"%a{i}" for i in range(len(inputs))]
    columns = [x.view(np.uint32) for x in inputs]
    return (
        computed(f"{function} %d, {', '.join(names)}", ["f32"] * len(inputs), "f32", columns)
        .astype(np.uint32)
        .view(np.float32)
    )


# function, inputs, the exact value, and how far a result may be from it in ulp: half of one and a trifle, if it is rounded once.
ROUNDED_ONCE = 0.5001
CASES = [
    ("ex2.approx.f32", (-150, 128), np.exp2, 1.25),
    ("lg2.approx.f32", (0, 1000), np.log2, ROUNDED_ONCE),
    ("sin.approx.f32", (-6.3, 6.3), np.sin, ROUNDED_ONCE),
    ("cos.approx.f32", (-6.3, 6.3), np.cos, ROUNDED_ONCE),
    ("tanh.approx.f32", (-10, 10), np.tanh, ROUNDED_ONCE),
    ("sqrt.approx.f32", (0, 1e6), np.sqrt, ROUNDED_ONCE),
    ("rsqrt.approx.f32", (0, 1e6), lambda x: 1 / np.sqrt(x), ROUNDED_ONCE),
    ("rcp.approx.f32", (-1e3, 1e3), lambda x: 1 / x, ROUNDED_ONCE),
]


@pytest.mark.parametrize("function, limits, exact, ulps", CASES, ids=[case[0] for case in CASES])
def test_the_result_is_close(function, limits, exact, ulps):
    x = samples(*limits)
    if function.startswith(("sin", "cos")):
        x[np.abs(x) > 1000] = 2.0  # reduced with the bits of a double: far off there
    with np.errstate(all="ignore"):
        got, wanted = both(function, x).astype(np.longdouble), exact(x.astype(np.longdouble))
        ulp = np.spacing(np.abs(wanted).astype(np.float32)).astype(np.longdouble)
        near = np.abs(got - wanted) <= ulps * ulp
        same = (got == wanted.astype(np.float32)) | (np.isnan(got) & np.isnan(wanted))
    assert (near | same).all(), [
        (float(a), float(b), float(c))
        for a, b, c in zip(x, got, wanted, strict=True)
        if not abs(b - c) <= np.spacing(np.float32(c))
    ][:5]


@pytest.mark.parametrize(
    "function",
    ["ex2.approx.ftz.f32", "rsqrt.approx.ftz.f32", "lg2.approx.ftz.f32", "sin.approx.ftz.f32", "rcp.approx.ftz.f32"],
)
def test_subnormal_numbers_are_flushed(function):
    out = both(function, samples(-150, 150))
    assert not ((out != 0) & (np.abs(out) < np.finfo(np.float32).tiny)).any()


@pytest.mark.parametrize(
    "function",
    [
        "div.approx.f32",
        "div.full.f32",
        "div.approx.ftz.f32",
        "min.f32",
        "max.f32",
        "min.NaN.f32",
        "max.ftz.f32",
        "max.xorsign.abs.f32",
    ],
)
def test_engines_agree_on_two_operands(function):
    x = samples(-150, 128)
    both(function, x, np.roll(x, 7))
    both(function, x, x[::-1].copy())
