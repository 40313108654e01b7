"""A launch of a compiled kernel with what NumPy says it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Case", "case", "cases", "close", "numbers"]


@dataclass(frozen=True)
class Case:
    """One launch.

    Attributes:
        expected: (array among the arguments, what it holds afterwards, tolerance relative to the largest number).
    """

    grid: object
    block: object
    args: Sequence[object]
    expected: Sequence[tuple[np.ndarray, np.ndarray, float]]
    smem_bytes: int = 0
    cluster: object = (1, 1, 1)
    variables: dict[str, np.ndarray] = field(default_factory=dict)


_made: dict[str, Callable[[], Case]] = {}


def case(name: str) -> Callable[[Callable[[], Case]], Callable[[], Case]]:
    """Register the maker of the case of an entry."""

    def register(make: Callable[[], Case]) -> Callable[[], Case]:
        _made[name] = make
        return make

    return register


def cases() -> dict[str, Callable[[], Case]]:
    """Makers of cases, by "file:entry"."""
    return _made


def numbers(*shape: int, seed: int = 0, dtype: object = np.float32) -> np.ndarray:
    """Normally distributed numbers of a type."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float) -> str:
    """What is wrong, "" when nothing is. NaN and infinities lie at equal places; tolerance 0 is bit for bit."""
    wanted = np.asarray(wanted)
    if got.shape != wanted.shape:
        return f"shape {got.shape}, expected {wanted.shape}"
    if tolerance == 0:
        wrong = np.flatnonzero(got.reshape(-1) != wanted.astype(got.dtype).reshape(-1))
        return (
            ""
            if not wrong.size
            else f"{wrong.size} of {got.size} differ, first at {wrong[0]}: "
            f"{got.reshape(-1)[wrong[0]]}, expected {wanted.reshape(-1)[wrong[0]]}"
        )
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    distance = np.abs(got - wanted)
    worst = np.nanmax(distance) if got.size else 0
    if np.isnan(got).any() or worst > tolerance * max(1e-30, np.abs(wanted).max()):
        place = int(np.argmax(np.where(np.isnan(distance), np.inf, distance)))
        return (
            f"differs by {worst:.3g} of {np.abs(wanted).max():.3g}; element {place}: {got.reshape(-1)[place]}, "
            f"expected {wanted.reshape(-1)[place]}"
        )
    return ""
