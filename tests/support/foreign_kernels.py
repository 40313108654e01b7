"""Kernels of `tests/benchmarks/foreign` on the simulator, for the tests that compare them with NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

import pyptx

__all__ = ["FOREIGN", "close", "launch", "random"]

FOREIGN = Path(__file__).parents[1] / "benchmarks" / "foreign"


def launch(file: str, entry: str, *args, grid, block, smem_bytes: int = 0) -> None:
    """Launch an entry of a file without its suffix; results are written to the arrays."""
    kernel = pyptx.load(FOREIGN / f"{file}.ptx")[entry]
    kernel.launch(grid, block, *args, smem_bytes=smem_bytes)


def random(rng, *sizes, of: DTypeLike = np.float32):
    """Return normally distributed numbers."""
    return rng.standard_normal(sizes).astype(of)


def close(got, wanted, tolerance=1e-4):
    """Assert that results are equal within a relative and absolute tolerance."""
    np.testing.assert_allclose(np.asarray(got, float), wanted, rtol=tolerance, atol=tolerance)
