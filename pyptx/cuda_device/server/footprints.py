"""Sets of bytes that operations read or write, as sorted ranges of addresses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

__all__ = ["NOTHING", "covers", "first_shared", "joined", "ranges_of_bits", "ranges_of_rows"]

NOTHING = np.empty((0, 2), np.uint64)


def ranges_of_bits(address: int, bits: np.ndarray) -> np.ndarray:
    """Return the ranges of the bytes whose bits are set.

    Args:
        address: of the byte of the lowest bit.
        bits: uint8; one bit for each byte, lowest first.
    Returns:
        uint64 (n, 2): start and end of each range, ascending, not adjoining.
    """
    used = np.flatnonzero(bits)
    if not len(used):
        return NOTHING
    first, last = int(used[0]), int(used[-1]) + 1
    part, scale = bits[first:last], 8
    if np.isin(part, (0, 0xFF)).all():
        flags = part != 0
    else:
        flags, scale = np.unpackbits(part, bitorder="little").astype(bool), 1
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    return (edges.reshape(-1, 2) * scale + (address + 8 * first)).astype(np.uint64)


def ranges_of_rows(
    address: int, width: int, rows: int = 1, pitch: int = 0, slices: int = 1, slice_: int = 0
) -> np.ndarray:
    """Return the ranges of rows of `width` bytes, `pitch` bytes apart, in slices `slice_` bytes apart."""
    starts = (np.arange(slices, dtype=np.uint64)[:, None] * slice_ + np.arange(rows, dtype=np.uint64) * pitch).ravel()
    starts += np.uint64(address)
    return joined([np.stack([starts, starts + np.uint64(width)], axis=1)])


def joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the union of sets of ranges."""
    found = [part for part in parts if len(part)]
    if not found:
        return NOTHING
    every = np.concatenate(found)
    every = every[np.argsort(every[:, 0], kind="stable")]
    reach = np.maximum.accumulate(every[:, 1])
    starts = np.flatnonzero(np.r_[True, every[1:, 0] > reach[:-1]])
    return np.stack([every[starts, 0], reach[np.r_[starts[1:] - 1, len(every) - 1]]], axis=1)


def first_shared(one: np.ndarray, other: np.ndarray) -> int | None:
    """Return the lowest address that is in both sets; None if there is none."""
    if not len(one) or not len(other) or one[-1, 1] <= other[0, 0] or other[-1, 1] <= one[0, 0]:
        return None
    at = np.searchsorted(other[:, 1], one[:, 0], "right")  # the first range that ends behind the start
    inside = at < len(other)
    hits = np.flatnonzero(inside & (other[np.minimum(at, len(other) - 1), 0] < one[:, 1]))
    if not len(hits):
        return None
    return int(max(one[hits[0], 0], other[at[hits[0]], 0]))


def covers(one: np.ndarray, other: np.ndarray) -> bool:
    """Return True if `one` contains all of `other`."""
    if not len(other):
        return True
    if not len(one):
        return False
    at = np.searchsorted(one[:, 0], other[:, 0], "right") - 1
    return bool(((at >= 0) & (one[np.maximum(at, 0), 1] >= other[:, 1])).all())
