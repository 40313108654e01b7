"""Helpers of the matrix products of all generations: size checks, reference, comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyptx.kernel import Kernel
from pyptx.testing import compare

__all__ = ["check_choices", "check_lines", "check_memory", "compare_product", "reference"]


def check_lines(name: str, sizes: Mapping[str, int], multiple: int) -> None:
    """Raise ValueError unless rows start at multiples of 16 bytes, as cp.async and TMA require.

    `multiple` is 16 bytes in elements.
    """
    for size, value in sizes.items():
        if value % multiple:
            raise ValueError(
                f"{name}: {size}={value} is not a multiple of {multiple}; every row must start at "
                "a multiple of 16 bytes"
            )


def check_choices(name: str, **choices: tuple[int, tuple[int, ...]]) -> None:
    """Raise ValueError for a parameter whose value is not among its choices."""
    for parameter, (value, values) in choices.items():
        if value not in values:
            raise ValueError(f"{name}: {parameter}={value}; expected one of {values}")


def check_memory(name: str, stages: int, needed: int, most: int, least: int = 2) -> None:
    """Raise ValueError if the stages of a ring and the rest of shared memory exceed its limit."""
    if stages < least or needed > most:
        raise ValueError(
            f"{name}: {stages} stages need {needed} bytes of shared memory; expected at least "
            f"{least} and at most {most} bytes"
        )


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product in NumPy, in f32."""
    return a.astype(np.float32) @ b.astype(np.float32)


def compare_product(gemm: Kernel, M: int, N: int, K: int, **params: Any) -> None:
    """Compare a kernel for f16 inputs and f32 results with the reference, on arrays of every installed package."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((M, K), (K, N)))
    compare(gemm, [a, b], reference(a, b), rtol=1e-3, atol=1e-3, **params)
