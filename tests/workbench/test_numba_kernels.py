"""Kernels of numba.cuda as entries."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx

pytestmark = pytest.mark.slow


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def reverse(x, out):
    tile = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    tile[i] = x[i, 0]
    out[i] = tile[63 - i]


try:
    from numba import cuda
except ImportError:
    cuda = None
needs_numba = pytest.mark.skipif(cuda is None, reason="needs numba-cuda, pip install 'pyptx-workbench[numba]'")


@needs_numba
def test_a_kernel_runs_on_arrays():
    entry = pyptx.numba(saxpy, "(float32, float32[::1], float32[::1])")
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    entry.launch(4, 32, 2.0, x, y)
    np.testing.assert_array_equal(y, 1 + 2 * x)
    assert "y[i] += a * x[i]" in entry.view().text()
    with pytest.raises(pyptx.LaunchError, match="saxpy: the arguments are 8 values in PTX, 15 expected"):
        entry.launch(4, 32, 2.0, x)


@needs_numba
def test_a_race_is_found_at_its_line():
    entry = pyptx.numba(reverse, "(float32[:, :], float32[:])")
    report = entry.check(
        1, 64, np.ones((64, 2), np.float32) * np.arange(64, dtype=np.float32)[:, None], np.zeros(64, np.float32)
    )
    (race,) = report.errors
    line = reverse.__code__.co_firstlineno
    assert race.rule == "data-race"
    assert [place.place.line - line for place in race.places] == [3, 4]


@pytest.mark.skipif(cuda is not None, reason="numba-cuda is installed")
def test_without_numba_the_extra_is_named():
    with pytest.raises(pyptx.errors.BackendError, match=r"pip install 'pyptx-workbench\[numba\]'"):
        pyptx.numba(saxpy, "(float32, float32[::1], float32[::1])")
