"""`x.to(dtype)` converts as NumPy and ml_dtypes do, for every pair of types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg
from pyptx.types import (
    b32,
    bf16,
    e4m3,
    e5m2,
    f16,
    f16x2,
    f32,
    f64,
    pred,
    s8,
    s16,
    s32,
    s64,
    u8,
    u16,
    u32,
    u64,
)

FLOATS = {
    f16: np.float16,
    bf16: ml_dtypes.bfloat16,
    e4m3: ml_dtypes.float8_e4m3fn,
    e5m2: ml_dtypes.float8_e5m2,
    f32: np.float32,
    f64: np.float64,
}
INTEGERS = {
    u8: np.uint8,
    s8: np.int8,
    u16: np.uint16,
    s16: np.int16,
    u32: np.uint32,
    s32: np.int32,
    u64: np.uint64,
    s64: np.int64,
}
TYPES = FLOATS | INTEGERS | {pred: np.bool_}


def conversions(source):
    @kernel(in_specs=(Tile(32, source),), out_specs=tuple(Tile(32, dtype) for dtype in TYPES), block=32)
    def to_all(x, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p):
        value = x[ptx.tid.x]
        for result, dtype in zip((a, b, c, d, e, f, g, h, i, j, k, m, n, o, p), TYPES, strict=True):
            result[ptx.tid.x] = value.to(dtype)

    return to_all


@pytest.mark.parametrize("source", TYPES, ids=str)
def test_the_results_are_those_of_numpy(source):
    x = np.random.default_rng(0).uniform(0, 100, 32).astype(TYPES[source])
    for dtype, result in zip(TYPES, conversions(source)(x), strict=True):
        middle = x.astype(np.float32) if source.is_float and source != f64 else x
        np.testing.assert_array_equal(
            result.astype(float), middle.astype(TYPES[dtype]).astype(float), err_msg=str(dtype)
        )


@pytest.mark.slow
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_ptxas_accepts_them(source):
    conversions(source).compile()


@pytest.mark.parametrize("use", [lambda x: x.to("f32"), lambda x: reg.scalar(f16x2).to(f32), lambda x: x.to(f16x2)])
def test_other_conversions_are_refused(use):
    @kernel
    def wrong():
        use(reg.scalar(f32))

    with pytest.raises(TypeError, match=r"(?s)takes a type|cannot be converted.*Vector"):
        wrong.ptx()


def test_bits_are_copied_between_untyped_and_typed_registers():
    @kernel
    def bits():
        reg.scalar(f32, 1.0).to(b32).to(s32)

    assert "mov.b32 %r0, %f0;" in bits.ptx()
