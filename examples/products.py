"""What the matrix products of all generations share: sizes that are taken, the reference, the comparison with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyptx.kernel import Kernel
from pyptx.testing import compare

__all__ = ["check_choices", "check_lines", "check_memory", "compare_product", "reference"]


def check_lines(name: str, sizes: Mapping[str, int], multiple: int) -> None:
    """Raise ValueError where a row would not start at a multiple of 16 bytes, as cp.async and TMA need; `multiple` is
    16 bytes in numbers."""
    for size, value in sizes.items():
        if value % multiple:
            raise ValueError(f"{name}: {size}={value} is not a multiple of {multiple}, so that not every row starts at "
                             "a multiple of 16 bytes")


def check_choices(name: str, **choices: tuple[int, tuple[int, ...]]) -> None:
    """Raise ValueError for a parameter, given with its choices, that is none of them."""
    for parameter, (value, values) in choices.items():
        if value not in values:
            raise ValueError(f"{name}: {parameter}={value}; expected one of {values}")


def check_memory(name: str, stages: int, needed: int, most: int, least: int = 2) -> None:
    """Raise ValueError where the stages of a ring, and what else there is, do not fit in shared memory."""
    if stages < least or needed > most:
        raise ValueError(f"{name}: {stages} stages need {needed} bytes of shared memory; expected at least "
                         f"{least} and at most {most} bytes")


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product in NumPy, in f32."""
    return a.astype(np.float32) @ b.astype(np.float32)


def compare_product(gemm: Kernel, M: int, N: int, K: int, **params: Any) -> None:
    """Compare a kernel for f16 and f32 results with the reference, on arrays of every package that is installed."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((M, K), (K, N)))
    compare(gemm, [a, b], reference(a, b), rtol=1e-3, atol=1e-3, **params)
