"""The arrays that a kernel writes, as earlier runs have shown: further runs share the others instead of copying them.

The simulator verifies this: shared arrays are read-only, a write to one of them is a fault, and a run that ends in a fault is
repeated on copies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

import numpy as np

from pyptx.check.differences import first_difference
from pyptx.sim import Program

__all__ = ["expected_writes", "forget_writes", "learn_writes"]

_learned: WeakKeyDictionary[Program, frozenset[str] | None] = WeakKeyDictionary()  # None: it differs between launches


def expected_writes(program: Program, results: Collection[str]) -> frozenset[str] | None:
    """Return the parameters whose arrays a program is expected to write; None if this is not known.

    Args:
        results: parameters whose arrays are uninitialized before the launch, and therefore written.
    """
    if program not in _learned:
        return frozenset(results) or None
    learned = _learned[program]
    return None if learned is None else learned.union(results)


def learn_writes(program: Program, before: Mapping[str, np.ndarray | None], after: Mapping[str, np.ndarray]) -> None:
    """Learn from a first run on copies of all arrays: those that differ were written, and perhaps those unknown before."""
    if program not in _learned:
        arrays = [(name, before[name], array) for name, array in after.items()]
        written = [name for name, old, new in arrays if old is None or first_difference(old, new) is not None]
        _learned[program] = frozenset(written)


def forget_writes(program: Program) -> None:
    """An array was written that was not expected to be."""
    if program in _learned:
        _learned[program] = None
