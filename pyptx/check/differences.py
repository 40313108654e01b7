"""Differences between the arrays of two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Difference", "first_difference"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element that differs between two arrays, its values, and the number of differing elements.

    Attributes:
        spread: largest difference relative to the largest magnitude among the differing elements; infinity if one of
            them is not finite.
    """

    index: tuple[int, ...]
    values: tuple[Any, Any]
    count: int
    size: int
    spread: float


def first_difference(a: np.ndarray, b: np.ndarray) -> Difference | None:
    """Compare two arrays bit by bit; return None if they are equal."""
    if a.__array_interface__["data"][0] == b.__array_interface__["data"][0] and a.strides == b.strides:
        return None  # they share memory
    left, right = (np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (a, b))
    words = left.size // 8 * 8
    if np.array_equal(left[:words].view(np.uint64), right[:words].view(np.uint64)) and np.array_equal(
        left[words:], right[words:]
    ):
        return None
    item = a.dtype.itemsize
    differing = np.flatnonzero((left != right).reshape(-1, item).any(axis=1))
    at = np.unravel_index(int(differing[0]), a.shape)
    index = tuple(map(int, at))
    return Difference(
        index, (a[at], b[at]), int(differing.size), a.size, _spread(a.reshape(-1)[differing], b.reshape(-1)[differing])
    )


def _spread(a: np.ndarray, b: np.ndarray) -> float:
    try:
        a, b = a.astype(np.float64), b.astype(np.float64)
    except (TypeError, ValueError):
        return float("inf")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    largest = max(np.abs(a).max(), np.abs(b).max())
    return float(np.abs(a - b).max() / largest) if largest else 0.0
