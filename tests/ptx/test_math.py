"""Functions and operators by type, vectors, reductions: results equal NumPy's; the assembler accepts them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg
from pyptx.types import bf16, e4m3, f16, f32, f64, s8, s16, s32, u8, u16, u32, u64

ARRAYS = {f16: np.float16, bf16: ml_dtypes.bfloat16, f32: np.float32, f64: np.float64, s16: np.int16, u16: np.uint16}
ARRAYS |= {s32: np.int32, u32: np.uint32, u64: np.uint64, u8: np.uint8, s8: np.int8, e4m3: ml_dtypes.float8_e4m3fn}
HALVES = (f16, bf16)


def data(dtype, count: int = 32, low: float = 1, high: float = 9) -> np.ndarray:
    return np.random.default_rng(0).uniform(low, high, count).astype(ARRAYS[dtype])


def elementwise(dtype, function, count: int = 32):
    @kernel(in_specs=(Tile(count, dtype),), out_specs=(Tile(count, dtype),), block=32, arch="sm_90")
    def apply(x, y):
        y[ptx.tid.x] = function(x[ptx.tid.x])

    return apply


ARITHMETIC = [
    (lambda x: x + x, lambda x: x + x),
    (lambda x: x * 3 - x, lambda x: x * x.dtype.type(3) - x),
    (lambda x: 9 - x, lambda x: x.dtype.type(9) - x),
    (lambda x: ptx.max(x, 4), lambda x: np.maximum(x, x.dtype.type(4))),
    (lambda x: ptx.min(5, x, 7), lambda x: np.minimum(x, x.dtype.type(5))),
    (lambda x: ptx.select(x > 4, x, 2), lambda x: np.where(x > 4, x, x.dtype.type(2))),
    (lambda x: ptx.fma(x, 2, 1), lambda x: (x.astype(float) * 2 + 1).astype(x.dtype)),
]


@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64, s16, u16, s32, u32], ids=str)
@pytest.mark.parametrize(("function", "numpy"), ARITHMETIC, ids=range(len(ARITHMETIC)))
def test_operators_and_functions_follow_the_type(dtype, function, numpy):
    x = data(dtype)
    np.testing.assert_array_equal(elementwise(dtype, function)(x), numpy(x))


@pytest.mark.parametrize("dtype", [s16, u16], ids=str)
def test_16_bit_integers_have_all_operators(dtype):
    def function(x):
        return ((x // 3 + x % 3) << 2 ^ x >> 1) & ~x | -x & 5

    x = data(dtype, low=1, high=3000)
    wanted = ((x // 3 + x % 3) << 2 ^ x >> 1) & ~x | -x & 5
    np.testing.assert_array_equal(elementwise(dtype, function)(x), wanted)


FUNCTIONS = {
    "abs": abs,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcp": lambda x: 1 / x,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "trunc": np.trunc,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_f32(name):
    x = data(f32, low=0.5, high=3)
    result = elementwise(f32, getattr(ptx, name))(x)
    np.testing.assert_allclose(
        result, FUNCTIONS[name](x.astype(float)), rtol=2e-3 if name == "tanh" else 2e-5, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [f16, bf16, f32], ids=str)
def test_vectors_are_values(dtype):
    @kernel(in_specs=(Tile(256, dtype),) * 2, out_specs=(Tile(256, dtype),), block=32, arch="sm_90")
    def combine(x, w, y):
        i = ptx.tid.x
        v, factor = x.vec(8 if dtype != f32 else 4), w[0]
        for part in ptx.unroll(8 // v.count):
            total = v[i + 32 * part] * factor + 1.0
            total += ptx.max(v[i + 32 * part], 4.0)
            total -= 2 - w.vec(v.count)[i + 32 * part]
            y.vec(v.count)[i + 32 * part] = -total

    x, w = data(dtype, 256), data(dtype, 256)[::-1].copy()
    one = x.dtype.type
    wanted = -((x * w[0] + one(1)) + np.maximum(x, one(4)) - (one(2) - w))
    np.testing.assert_allclose(combine(x, w).astype(float), wanted.astype(float), rtol=1e-2)
    text = combine.ptx()
    assert (f"mul.{dtype}x2" in text) == (dtype in HALVES) and "v4" in text


@pytest.mark.parametrize("target", [f16, bf16, e4m3, s8, u8, s32], ids=str)
@pytest.mark.parametrize("source", [f32, f16, bf16, e4m3, u8], ids=str)
def test_vectors_convert(source, target):
    @kernel(in_specs=(Tile(64, source),), out_specs=(Tile(64, target),), block=16)
    def to(x, y):
        y.store(ptx.tid.x * 4, x.load(ptx.tid.x * 4, vec=4).to(target))

    x = data(source, 64)
    wanted = x.astype(np.float32).astype(ARRAYS[target])
    np.testing.assert_array_equal(to(x).astype(float), wanted.astype(float))
    if (source, target) == (f32, e4m3):
        assert to.ptx().count("cvt.rn.satfinite.e4m3x2.f32") == 2


REDUCTIONS = {"add": np.add, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("dtype", [f16, f32, f64, s32, u64], ids=str)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions_and_scans(dtype, op):
    @kernel(in_specs=(Tile(96, dtype),), out_specs=(Tile(96, dtype),) * 4, block=96)
    def reduce(x, warp, block, scan, before):
        i = ptx.tid.x
        value = x[i]
        warp[i] = ptx.warp_reduce(value, op)
        scan[i] = ptx.warp_scan(value, op)
        before[i] = ptx.warp_scan(value, op, exclusive=True)
        for k in ptx.range_(0, 2):
            block.store(i, ptx.block_reduce(value, op, threads=96), pred=k == 1)

    x = data(dtype, 96).round()
    warp, block, scan, before = reduce(x)
    rows, function = x.reshape(3, 32), REDUCTIONS[op]
    np.testing.assert_array_equal(warp.reshape(3, 32), np.repeat(function.reduce(rows, 1)[:, None], 32, 1))
    np.testing.assert_array_equal(block, np.full(96, function.reduce(x)))
    np.testing.assert_array_equal(scan.reshape(3, 32), function.accumulate(rows, 1))
    np.testing.assert_array_equal(before.reshape(3, 32)[:, 1:], function.accumulate(rows, 1)[:, :-1])
    assert not reduce.check(x).findings


@pytest.mark.slow
def test_ptxas_accepts_every_function():
    for dtype in (f16, bf16, f32, f64, s16, u16, s32, u32):
        for function, _ in ARITHMETIC:
            elementwise(dtype, function).compile()
    for name in FUNCTIONS:
        elementwise(f32, getattr(ptx, name)).compile()
    for name in ("exp2", "tanh", "abs"):
        for dtype in HALVES:
            elementwise(dtype, getattr(ptx, name)).compile()


def test_the_machine_code_equals_that_of_the_long_spelling():
    def short(x, y):
        i = reg.from_(ptx.tid.x, u32)
        y[i] = ptx.exp2(ptx.max(x[i] * 2.0, 1.0))

    def long(x, y):
        i, (at, to) = reg.from_("%tid.x", u32), ptx.global_ptrs(x, y)
        ptx.inst.mad.wide.u32(at, i, 4, at)
        value = ptx.inst.ld.global_.f32(reg.scalar(f32), ptx.addr(at))
        ptx.inst.mul.f32(value, value, 2.0)
        ptx.inst.max.f32(value, value, 1.0)
        ptx.inst.ex2.approx.f32(value, value)
        ptx.inst.mad.wide.u32(to, i, 4, to)
        ptx.inst.st.global_.f32(ptx.addr(to), value)

    both = [
        kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), block=32)(f).compile().sass for f in (short, long)
    ]
    assert [line.text for line in both[0]] == [line.text for line in both[1]]


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x: ptx.exp2(x.to(f64)), TypeError, r"(?s)ptx.exp2 is not defined on f64.*x.to\(f32\)"),
        (lambda x: ptx.max(1.0, 2.0), TypeError, "at least one register"),
        (lambda x: ptx.fma(x, x.to(f64), 1.0), TypeError, "(?s)registers of one type.*convert one"),
        (lambda x: ptx.select(x, 1.0, 2.0), TypeError, "takes a predicate such as"),
        (lambda x: ptx.log(x.to(f16)), TypeError, "takes an f32 register"),
        (lambda x: ptx.warp_reduce(x, "sum"), ValueError, "op='sum'; expected 'add'"),
        (lambda x: ptx.warp_reduce(x, "and"), TypeError, "not defined on f32"),
        (lambda x: ptx.warp_scan(1.0), TypeError, "takes a register of 16, 32 or 64 bits"),
        (lambda x: ptx.block_reduce(x, threads=100), ValueError, "multiple of 32"),
        (lambda x: ptx.unroll(x.to(s32)), TypeError, "(?s)takes ints.*ptx.range_"),
    ],
)  # fmt: skip
def test_mistakes_are_refused(use, error, message):
    @kernel
    def wrong():
        use(reg.scalar(f32, 1.0))

    with pytest.raises(error, match=message):
        wrong.ptx()
