"""`pyptx.testing`: a kernel compared with a reference on arrays of every package."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg
from pyptx.testing import compare, of_package
from pyptx.types import f32, u32


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=(32, 1, 1))
def double(x, y):
    x_at, y_at = ptx.global_ptrs(x, y)
    at, value = reg.from_(ptx.special.tid.x(), u32), reg.scalar(f32)
    for pointer in (x_at, y_at):
        ptx.inst.mad.wide.u32(pointer, at, 4, pointer)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at))
    ptx.inst.st.global_.f32(ptx.addr(y_at), value + value)


def test_it_says_how_close_the_result_is_for_each_package(capsys):
    x = np.arange(32, dtype=np.float32)
    compare(double, [x], 2 * x, rtol=0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "double of 32 float32, numpy arrays, on 'sim': largest difference from NumPy 0.0e+00"


def test_it_raises_for_a_wrong_result():
    with pytest.raises(AssertionError, match="Mismatched elements: 31 / 32"):
        compare(double, [np.arange(32, dtype=np.float32)], np.zeros(32, np.float32), rtol=0.1)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("package", ["numpy", "torch", "jax"])
def test_small_types_keep_their_bits(package: str, name: str):
    pytest.importorskip(package)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2.0, 0.25], getattr(ml_dtypes, name))
    given = of_package(package, array)
    assert name in str(given.dtype)
    assert [float(x) for x in given] == [1.5, -2.0, 0.25]
