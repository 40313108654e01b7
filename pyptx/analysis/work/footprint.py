"""Bytes of a buffer that a cluster touches, and the sectors that the memory system moves for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

__all__ = ["Footprint", "Touched", "expected_returns", "partial_bytes", "touched"]

SECTOR, PAIR = 32, 64  # bytes of a sector, and of two that share a 64-byte unit
RUNS = 32  # stretches of sectors whose distances are looked at
LEAST_SHARED = 0.1  # part of its sectors that a cluster shares with an earlier one, and not with its neighbor
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
        returns: (clusters, new) along the first axis: what the cluster so many places later touches that this one does not, where
            an axis stands for several: for the rows of an image, whose clusters share data with those of the next row, or for the
            rows of tiles of a product, whose clusters share all of it.
    """

    buffer: str
    writes: bool
    own: Touched
    new: tuple[Touched, Touched, Touched]
    partial: int = 0
    returned: float = 0.0
    returns: tuple[tuple[int, Touched], ...] = ()

    @property
    def bytes(self) -> int:
        """Touched bytes."""
        return self.own.bytes

    @property
    def new_bytes(self) -> tuple[int, ...]:
        """Bytes that the neighbor along each axis touches and this cluster does not."""
        return tuple(one.bytes for one in self.new)

    def axes(self, extent: Sequence[int]) -> list[tuple[int, Touched]]:
        """Return the clusters along each axis, and what is new for the neighbor along it. Returns split the first axis."""
        found, (count, *others), new, before = [], extent, self.new[0], 1
        for apart, later in self.returns:
            found.append((apart // before, new))
            new, before = later, apart
        return [*found, (-(-count // before), new), *zip(others, self.new[1:], strict=True)]

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
        counts, news = zip(*self.axes(extent), strict=True)
        parts_new = [new.bytes / size for new in news], [new.unit(unit) / units for new in news]
        size, units = size * _times(counts, parts_new[0], clusters), units * _times(counts, parts_new[1], clusters)
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


def expected_returns(own: np.ndarray, neighbor: np.ndarray, clusters: int) -> list[int]:
    """Return after how many clusters of an axis one presumably touches data of an earlier one again, though its neighbor hardly does.

    The neighbor touches the sectors of the cluster moved by a distance. If the data of all clusters are so many distances apart, those
    whose distance is that between two stretches of one cluster share data, as do the rows of a stencil whose image has several
    clusters in each row.

    Args:
        own, neighbor: a bit per byte that the clusters touch.
        clusters: along the axis.

    Returns:
        Numbers of clusters, the least one first.
    """
    sectors, others = (bits.view(np.uint32) != 0 for bits in (own, neighbor))
    places = np.flatnonzero(sectors)
    starts, there = _starts(places), _starts(np.flatnonzero(others))
    if len(starts) < 2 or len(starts) != len(there):
        return []
    by = round(float(np.median(there - starts)))
    if by <= 0 or _shared(places, others, 0) > LEAST_SHARED or _shared(places, others, by) < 1 - LEAST_SHARED:
        return []
    starts = starts[:RUNS]
    apart = {-int(-gap // by) for gap in np.concatenate([np.diff(starts), starts - starts[0]])}
    found: list[int] = []
    for count in sorted(one for one in apart if 1 < one < clusters):
        part = _shared(places, sectors, by * count, by * (count - 1))
        last = found[-1] if found else 0
        if part < LEAST_SHARED or (found and count < 2 * last):
            continue
        if not found or part >= _shared(places, sectors, *(by * (count - last + k) for k in (-1, 0, 1))):
            found.append(count)
    return found


def _starts(places: np.ndarray) -> np.ndarray:
    """Return the first places of consecutive ones."""
    return places[np.flatnonzero(np.diff(places, prepend=places[:1] - 2) > 1)]


def _shared(places: np.ndarray, sectors: np.ndarray, *distances: int) -> float:
    """Return the part of places from which one of the distances leads to a touched sector."""
    found = np.zeros(len(places), bool)
    for by in distances:
        inside = len(places) if by <= 0 else int(np.searchsorted(places, len(sectors) - by))
        found[:inside] |= sectors[places[:inside] + by]
    return float(np.count_nonzero(found)) / len(places)


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
