"""Conversions with random bits and with scales, scales, fixed point: both engines, compared with exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

FLOATS = {
    "e4m3": (3, -6, 448),
    "e5m2": (2, -14, 57344),
    "e2m3": (3, 0, Fraction(15, 2)),
    "e3m2": (2, -2, 28),
    "e2m1": (1, 0, 6),
    "f16": (10, -14, 65504),
    "bf16": (7, -126, (2 - Fraction(1, 128)) * 2**127),
}
LANES = 256


def convert(mnemonic: str, sources: list[np.ndarray], widths: list[int], result: int) -> np.ndarray:
    """Run `mnemonic d, ...` on columns of values; braces around four f32 sources."""
    names = [f"%s{i}" for i in range(len(sources))]
    text = [f"{{{', '.join(names[:4])}}}", *names[4:]] if len(names) == 5 else names
    loads = "\n".join(
        f".reg .b{w} {n}; ld.global.b{w} {n}, [%a+{8 * LANES * i}]"
        for i, (n, w) in enumerate(zip(names, widths, strict=True))
    )
    module = entry(
        f"""
        .reg .b64 %a; .reg .b64 %o; .reg .b32 %t; .reg .b64 %w; .reg .b{result} %d
        ld.param.u64 %a, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 8
        add.u64 %a, %a, %w; add.u64 %o, %o, %w
        {loads}
        {mnemonic} %d, {", ".join(text)}
        st.global.b{result} [%o], %d
        ret""",
        "u64 in, u64 out",
    )
    columns = np.array([np.resize(s, LANES).astype(np.uint64) for s in sources])
    out = np.zeros(LANES, np.uint64)
    run_both(module, 1, LANES, (columns, out))
    return out


def floats(rng, low: int = -12, high: int = 8) -> np.ndarray:
    """f32 with exponents in a range, and what lies on the edges."""
    values = rng.standard_normal(LANES) * 2.0 ** rng.integers(low, high, LANES)
    values[:12] = [0, -0.0, 1, 0.5, 1.5, 2**-7, 2**-9, 448, 464, 1e30, -3, 6]
    return values.astype(np.float32)


def bits(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).view(np.uint32)


def code(name: str, value: Fraction) -> int:
    """The code of a number the format has."""
    mantissa, low, _ = FLOATS[name]
    if not value:
        return 0
    exponent = max(low, floor_log2(value))
    steps = value / Fraction(2) ** (exponent - mantissa)
    assert steps.denominator == 1
    if exponent == low and steps < 1 << mantissa:
        return int(steps)
    return (exponent - low << mantissa) + int(steps)


def floor_log2(value: Fraction) -> int:
    n = value.numerator.bit_length() - value.denominator.bit_length()
    return n if Fraction(2) ** n <= value else n - 1


def stochastic(name: str, value: float, random: int, count: int) -> int:
    """The magnitude grows when the fraction cut off, plus the random one, reaches a whole step."""
    mantissa, low, largest = FLOATS[name]
    size = abs(Fraction(float(value)))
    step = Fraction(2) ** (max(low, floor_log2(size) if size else low) - mantissa)
    steps = size / step
    # random bits are added at the top of those cut off; what lies below them does not matter
    cut = Fraction(floor((steps - floor(steps)) * 2**count), 2**count)
    rounded = (floor(steps) + (cut + Fraction(random, 2**count) >= 1)) * step
    sign = {"e4m3": 128, "e5m2": 128, "e2m3": 32, "e3m2": 32, "e2m1": 8, "f16": 1 << 15, "bf16": 1 << 15}[name]
    return code(name, min(rounded, Fraction(largest))) | (sign if np.signbit(value) else 0)


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
def test_four_sources_with_random_bits(name):
    """The first source in the top lane; the upper half of the bits is for the first two (of e2m1 a byte for each)."""
    rng = np.random.default_rng(1)
    values, random = [floats(rng) for _ in range(4)], rng.integers(0, 1 << 32, LANES)
    width = 4 if name == "e2m1" else 8
    out = convert(f"cvt.rs.satfinite.{name}x4.f32", [*map(bits, values), random], [32] * 5, 4 * width)
    parts, count = ((24, 8, 16, 0), 8) if name == "e2m1" else ((16, 16, 0, 0), 16)
    for lane in range(LANES):
        for k in range(4):
            drawn = int(random[lane]) >> parts[k] & (1 << count) - 1
            found = int(out[lane]) >> width * (3 - k) & (1 << width) - 1
            assert found == stochastic(name, values[k][lane], drawn, count), (values[k][lane], drawn)


@pytest.mark.parametrize(("name", "count"), [("f16", 13), ("bf16", 16)])
def test_pairs_with_random_bits(name, count):
    rng = np.random.default_rng(2)
    a, b, random = floats(rng), floats(rng), rng.integers(0, 1 << 32, LANES)
    out = convert(f"cvt.rs.satfinite.{name}x2.f32", [bits(a), bits(b), random], [32, 32, 32], 32)
    for lane in range(LANES):
        for values, shift in ((a, 16), (b, 0)):
            drawn = int(random[lane]) >> shift & (1 << count) - 1
            assert int(out[lane]) >> shift & 0xFFFF == stochastic(name, values[lane], drawn, count)


@pytest.mark.parametrize("mode", ["rz", "rp"])
@pytest.mark.parametrize("satfinite", ["", ".satfinite"])
def test_scales_are_exponents(mode, satfinite):
    rng = np.random.default_rng(3)
    a = floats(rng, -140, 127)
    a[20:26] = [np.inf, -np.inf, np.nan, 2.0**-127, 2.0**-149, 3e38]
    out = convert(f"cvt.{mode}{satfinite}.ue8m0x2.f32", [bits(a), bits(np.ones(LANES))], [32, 32], 16)
    most = 254 if satfinite else 255
    for value, found in zip(a, out, strict=True):
        assert found & 255 == 127
        size = abs(float(value))
        if np.isnan(value):
            expected = 255
        elif np.isinf(value):
            expected = most
        elif size == 0:
            expected = 0
        else:
            exponent = floor_log2(Fraction(size))
            expected = exponent + (mode == "rp" and Fraction(size) != Fraction(2) ** exponent) + 127
            expected = min(max(expected, 0), most)
        assert int(found) >> 8 == expected, value


def test_scales_and_fixed_point_to_bf16():
    everything = np.arange(256)
    pairs = everything | everything[::-1] << 8
    out = convert("cvt.rn.bf16x2.ue8m0x2", [pairs], [16], 32)
    wide = (np.arange(255) << 7 & 0xFFFF).tolist() + [0x7FFF]
    wide[0] = 0x0040  # 2**-127 is subnormal
    assert [int(v) & 0xFFFF for v in out] == wide and [int(v) >> 16 for v in out] == wide[::-1]
    out = convert("cvt.rn.bf16x2.s2f6x2", [pairs], [16], 32)
    values = (out & 0xFFFF).astype(np.uint32) << 16
    assert (values.view(np.float32) == everything.astype(np.int8) / 64).all()


@pytest.mark.parametrize("mode", ["rn", "rz"])
def test_fixed_point(mode):
    rng = np.random.default_rng(4)
    a, scale = floats(rng, -6, 3), rng.integers(120, 132, (2, LANES))
    whole = np.round if mode == "rn" else np.trunc
    out = convert(f"cvt.{mode}.satfinite.s2f6x2.f32", [bits(a), bits(-a)], [32, 32], 16)
    assert (np.int8(out >> np.uint64(8)) == np.clip(whole(a.astype(float) * 64), -128, 127)).all()
    assert (np.int8(out & np.uint64(255)) == np.clip(whole(-a.astype(float) * 64), -128, 127)).all()
    out = convert(
        f"cvt.{mode}.satfinite.scaled::n2::ue8m0.s2f6x2.f32",
        [bits(a), bits(-a), scale[0] << 8 | scale[1]],
        [32, 32, 16],
        16,
    )
    assert (np.int8(out >> np.uint64(8)) == np.clip(whole(a * 2.0 ** (127 - scale[0]) * 64), -128, 127)).all()
    assert (np.int8(out & np.uint64(255)) == np.clip(whole(-a * 2.0 ** (127 - scale[1]) * 64), -128, 127)).all()


def test_scaled_widening_multiplies():
    rng = np.random.default_rng(5)
    codes, scale = rng.integers(0, 127, (2, LANES)), rng.integers(100, 150, (2, LANES))
    sources = [codes[0] << 8 | codes[1], scale[0] << 8 | scale[1]]
    out = convert("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2", sources, [16, 16], 32)
    plain = convert("cvt.rn.bf16x2.e4m3x2", [codes[0] << 8 | codes[1]], [16], 32)
    for k, shift in ((0, 16), (1, 0)):
        values, base = (
            ((v >> np.uint64(shift) & np.uint64(0xFFFF)).astype(np.uint32) << 16).view(np.float32) for v in (out, plain)
        )
        assert (values == base * 2.0 ** (scale[k] - 127.0)).all()


@pytest.mark.parametrize(("name", "bits_"), [("u4", 4), ("s4", 4), ("u2", 2), ("s2", 2), ("u8", 8), ("s8", 8)])
def test_pack_below_what_is_there(name, bits_):
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-300, 300, LANES) for _ in range(2))
    c = rng.integers(0, 1 << 32, LANES)
    out = convert(f"cvt.pack.sat.{name}.s32.b32", [a & 0xFFFFFFFF, b & 0xFFFFFFFF, c], [32, 32, 32], 32)
    low, high = (-(1 << bits_ - 1), (1 << bits_ - 1) - 1) if name[0] == "s" else (0, (1 << bits_) - 1)
    cut = (1 << bits_) - 1
    pair = (np.clip(a, low, high) & cut) << bits_ | np.clip(b, low, high) & cut
    assert (out == (c << 2 * bits_ | pair) & 0xFFFFFFFF).all()


def test_minus_zero_becomes_zero():
    values = np.array([-0.0, 0.0, -1e-30, 1e-30, -1.0, 2.0])
    sources = [bits(np.resize(values, LANES)), bits(np.ones(LANES))]
    out = convert("cvt.rn.satfinite.pzo.e4m3x2.f32", sources, [32, 32], 16)
    assert [int(v) >> 8 for v in out[:6]] == [0, 0, 0, 0, 0xB8, 0x40]
