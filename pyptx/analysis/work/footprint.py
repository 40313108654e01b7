"""Bytes of a buffer that a cluster touches, and the sectors that the memory system moves for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

__all__ = ["Footprint", "Touched", "partial_bytes", "touched"]

SECTOR, PAIR = 32, 64  # bytes of a sector, and of two that share a 64-byte unit
_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


class Touched(NamedTuple):
    """Touched bytes, and those of the 32-byte sectors and of the 64-byte pairs of sectors that contain them."""

    bytes: int
    sectors: int
    pairs: int

    def unit(self, size: int) -> int:
        """Return the bytes of the units of a size, 32 or 64 bytes."""
        return self.pairs if size == PAIR else self.sectors


NOTHING = Touched(0, 0, 0)


@dataclass(frozen=True, eq=False)
class Footprint:
    """Bytes of one buffer that one cluster touches.

    Attributes:
        buffer: name of the buffer.
        writes: the bytes are written.
        own: what the cluster touches.
        new: for each axis of the grid, what the neighbor along it touches that this cluster does not; nothing without a
            neighbor.
        partial: bytes of the sectors that the cluster writes in part and does not read.
        returned: fraction of the read bytes that the cluster wrote before it read them.
    """

    buffer: str
    writes: bool
    own: Touched
    new: tuple[Touched, Touched, Touched]
    partial: int = 0
    returned: float = 0.0

    @property
    def bytes(self) -> int:
        """Touched bytes."""
        return self.own.bytes

    @property
    def new_bytes(self) -> tuple[int, ...]:
        """Bytes that the neighbor along each axis touches and this cluster does not."""
        return tuple(one.bytes for one in self.new)

    def wave(self, extent: Sequence[int], clusters: int, unit: int = SECTOR) -> tuple[float, float]:
        """Return what consecutive clusters touch together: bytes, and bytes of the units that contain them.

        Args:
            extent: clusters along each axis.
            clusters: their number.
            unit: 32 or 64 bytes.
        """
        size, units = float(self.own.bytes), float(self.own.unit(unit))
        if not size:
            return 0.0, 0.0
        parts_new = [new.bytes / size for new in self.new], [new.unit(unit) / units for new in self.new]
        size, units = size * _times(extent, parts_new[0], clusters), units * _times(extent, parts_new[1], clusters)
        return size, max(size, units)

    def partial_wave(self, extent: Sequence[int], clusters: int) -> float:
        """Return the bytes of the sectors that consecutive clusters write in part: those that no neighbor completes."""
        holes = self.own.sectors - self.own.bytes
        if not self.partial or not holes:
            return 0.0
        size, sectors = self.wave(extent, clusters)
        return self.partial * (sectors - size) / holes


def _times(extent: Sequence[int], new: Sequence[float], clusters: int) -> float:
    """Return how many times as much consecutive clusters touch as one of them: whole planes of the grid and a part of the next.

    Args:
        extent: clusters along each axis.
        new: for each axis, the part that is new for the neighbor along it.
        clusters: their number.
    """
    if not extent:
        return 1.0
    *lower, count = extent
    planes, rest = divmod(clusters, prod(lower))
    if not planes:
        return _times(lower, new, rest)
    part = new[len(lower)]
    found = _times(lower, new, prod(lower)) * (1 + (min(planes, count) - 1) * part)
    return found + part * _times(lower, new, rest) if rest and planes < count else found


def touched(bits: np.ndarray, without: np.ndarray | None = None) -> Touched:
    """Return what the set bits of one array touch that those of another do not.

    Args:
        bits: a bit per byte, padded to a multiple of 8 bytes.
        without: the same of the other array. Sectors that it touches do not count.
    """
    words = bits.view(np.uint64)
    places = np.flatnonzero(words)
    found = words[places]
    if without is None:
        sectors, pairs = np.count_nonzero(found.view(np.uint32)), len(places)
    else:
        others = without.view(np.uint64)[places]
        sectors = np.count_nonzero((found.view(np.uint32) != 0) & (others.view(np.uint32) == 0))
        pairs = np.count_nonzero(others == 0)
        found &= ~others
    size = int(_BITS[found.view(np.uint8)].sum(dtype=np.int64))
    return Touched(size, SECTOR * int(sectors), PAIR * int(pairs))


def partial_bytes(written: np.ndarray, read: np.ndarray | None) -> int:
    """Return the bytes of the sectors that are written in part and not read.

    Args:
        written: a bit per written byte.
        read: a bit per read byte; None if the buffer is not read.
    """
    words = written.view(np.uint32)
    places = np.flatnonzero(words)
    partial = words[places] != np.uint32(0xFFFFFFFF)
    if read is not None:
        partial &= read.view(np.uint32)[places] == 0
    return SECTOR * int(np.count_nonzero(partial))
