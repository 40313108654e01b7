"""Epilogues of `pyptx.lib` on a wgmma fragment: against NumPy, with bounds, and the machine code of the long spelling."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from pyptx import Tile, kernel, lib, ptx, reg
from pyptx.types import bf16, e4m3, f32, u32

N, ROWS, COLUMNS = 64, 60, 56  # of the tile, and of the arrays
F32 = np.float32


def filled(x):
    """A fragment with the elements of an array, zeros beyond it."""
    frag = lib.WgmmaFragment(N, reg.from_(ptx.tid.x, u32))
    for value, i, j in frag.coords():
        inside = (frag.row + i < ROWS) & (frag.column + j < COLUMNS)
        found = x.load(frag.row, frag.column, offset=(i, j), pred=inside, other=0)
        ptx.inst.mov.f32(value, found if x.dtype == f32 else found.to(f32))
    return frag


def epilogue_of(operations, out=f32):
    """A kernel that applies operations(x, weight, row values, other) to a fragment of x."""

    @kernel(
        in_specs=(Tile(ROWS, COLUMNS, f32), Tile(COLUMNS, bf16), Tile(ROWS, f32), Tile(ROWS, COLUMNS, bf16)),
        out_specs=(Tile(ROWS, COLUMNS, out),),
        block=128,
        arch="sm_90a",
    )
    def epilogue(x, weight, scale, other, y):
        filled(x).apply(*operations(weight, scale, other)).store(y, 0, 0, end=y.shape)

    return epilogue


def arrays():
    random = np.random.default_rng(0)
    x, other = (random.standard_normal((ROWS, COLUMNS), F32) for _ in range(2))
    weight, scale = random.standard_normal(COLUMNS, F32), random.standard_normal(ROWS, F32)
    return x, weight.astype(ml_dtypes.bfloat16), scale, other.astype(ml_dtypes.bfloat16)


OPERATIONS = {
    "bias and ReLU": (
        lambda w, s, o: (lib.bias(w, 0, end=COLUMNS), lib.relu),
        lambda x, w, s, o: np.maximum(x + w, 0),
    ),
    "row scales and GELU": (
        lambda w, s, o: (lib.row_scaled(s, 0, end=ROWS), lib.gelu),
        lambda x, w, s, o: 0.5 * (v := x * s[:, None]) * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
    ),
    "SiLU, scale and residual": (
        lambda w, s, o: (lib.silu, lib.scaled(0.5), lib.residual(o, 0, 0, end=(ROWS, COLUMNS), scale=2.0)),
        lambda x, w, s, o: 0.5 * x / (1 + np.exp(-x)) + 2 * o,
    ),
    "another fragment": (
        lambda w, s, o: (lib.silu, lib.times(filled(o))),
        lambda x, w, s, o: x / (1 + np.exp(-x)) * o,
    ),
    "residual and a function": (
        lambda w, s, o: (lib.residual(o, 0, 0, end=(ROWS, COLUMNS)), lib.activation(ptx.abs)),
        lambda x, w, s, o: np.abs(x + o),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_epilogue_equals_numpy(name):
    operations, wanted = OPERATIONS[name]
    x, weight, scale, other = arrays()
    epilogue = epilogue_of(operations)
    found = epilogue(x, weight, scale, other)
    expected = wanted(x, weight.astype(F32), scale, other.astype(F32))
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)
    assert not epilogue.check(x, weight, scale, other).errors


def test_rows_are_quantized_to_their_own_scale():
    @kernel(
        in_specs=(Tile(ROWS, COLUMNS, f32),),
        out_specs=(Tile(ROWS, COLUMNS, e4m3), Tile(ROWS, 3, f32)),
        block=128,
        arch="sm_90a",
    )
    def quantized(x, y, scales):
        frag = filled(x)
        frag.store_rows(frag.quantize(e4m3), scales, 0, 1, end=ROWS)
        frag.store(y, 0, 0, end=y.shape)

    x = arrays()[0] * np.exp(np.arange(ROWS, dtype=F32) / 4 - 8)[:, None]
    x[7] = 0
    y, scales = np.zeros((ROWS, COLUMNS), ml_dtypes.float8_e4m3fn), np.zeros((ROWS, 3), F32)
    quantized(x, out=(y, scales))
    largest = np.abs(x).max(1)
    np.testing.assert_allclose(scales[:, 1], np.where(largest > 0, largest / 448, 1), rtol=1e-6)
    assert not scales[:, [0, 2]].any()
    np.testing.assert_allclose(y.astype(F32) * scales[:, 1:2], x, rtol=1 / 16, atol=largest.max() * 1e-30)
    assert np.abs(y[largest > 0].astype(F32)).max(1).min() == 448


def in_short(x, weight, y):
    frag = lib.WgmmaFragment(16, reg.from_(ptx.tid.x, u32))
    frag.map(lambda v, i, j: x.load(frag.row, frag.column, offset=(i, j)))
    frag.apply(lib.bias(weight, 0), lib.scaled(2.0), lib.relu).store(y, 0, 0)


def at_length(x, weight, y):
    sums, tid = reg.wgmma_frag(m=64, n=16, dtype=f32), reg.from_(ptx.tid.x, u32)
    row, column = ((tid >> 5) & 3) * 16 + ((tid >> 2) & 7), (tid & 3) * 2
    for i in range(8):
        ptx.inst.mov.f32(sums[i], x.load(row, column, offset=(i // 2 % 2 * 8, i // 4 * 8 + i % 2)))
    weights = [weight.load(column, vec=2, offset=8 * j) for j in range(2)]
    for i in range(8):
        ptx.inst.add.f32(sums[i], sums[i], weights[i // 4][i % 2])
        ptx.inst.mul.f32(sums[i], sums[i], 2.0)
        ptx.inst.max.f32(sums[i], sums[i], 0.0)
    for i in range(0, 8, 2):
        pair = ptx.vector([sums[i], sums[i + 1]]).to(bf16)
        y.store(row, column, pair, offset=(i // 2 % 2 * 8, i // 4 * 8))


def test_an_epilogue_has_the_machine_code_of_the_long_spelling():
    codes = []
    for body in (in_short, at_length):
        made = kernel(
            body,
            name="epilogue",
            in_specs=(Tile(64, 16, f32), Tile(16, f32)),
            out_specs=(Tile(64, 16, bf16),),
            block=128,
            arch="sm_90a",
        )
        codes.append([line.text for line in made.compile().sass])
    assert codes[0] == codes[1]
