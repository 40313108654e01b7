"""Data that clusters of a grid share: footprints of a typical cluster, and the bytes that all clusters touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from pyptx.analysis.work.footprint import NOTHING, Footprint, Touched, expected_returns, partial_bytes, touched
from pyptx.analysis.work.grid_positions import GridPositions, marks_of, middle_of, on_axis
from pyptx.analysis.work.sample import Position
from pyptx.sim import ClusterProfile

__all__ = ["SharedData", "returned_part"]

TRIES = 3  # positions at which the footprints may be taken
# fraction of a cluster's atomic operations in blocks of its neighbor from which their blocks are the same
SHARED_TURNS = 0.5


@dataclass(frozen=True, eq=False)
class SharedData:
    """Data that clusters share, found from a typical one and its neighbors.

    Attributes:
        positions: simulated clusters.
        axes: for each axis, position -> number of positions that it represents.
        busy: clusters along each axis, without those at its end that access no global memory.
        base: position of the typical cluster: the first one, or one near the middle if those differ.
    """

    positions: GridPositions
    axes: Sequence[dict[int, float]]
    busy: Position
    base: Position

    @classmethod
    def of(cls, positions: GridPositions, axes: Sequence[dict[int, float]]) -> SharedData:
        """Find the typical cluster of a grid."""
        first, busy = (0, 0, 0), tuple(map(positions.busy, range(3)))
        found, middle = cls(positions, axes, busy, first), tuple(map(middle_of, busy))
        if positions.expensive or positions.same(middle, first):
            return found
        return cls(positions, axes, busy, found._typical(middle))

    def footprints(self) -> Iterator[Footprint]:
        """Yield the footprints of the typical cluster."""
        at, extent = self.positions.at, self.positions.extent
        own_profile = at(self.base)
        for writes in (False, True):
            for name, bits in marks_of(own_profile, writes).items():
                x, y, z = (
                    NOTHING
                    if count == 1
                    else touched(marks_of(at(self._neighbor(axis, self.base)), writes)[name], bits)
                    for axis, count in enumerate(extent)
                )
                own = touched(bits)
                if own.bytes or x.bytes or y.bytes or z.bytes:
                    partial = partial_bytes(bits, own_profile.read.get(name)) if writes else 0
                    returns = () if writes or extent[0] == 1 else self._returns(name, bits, own, x)
                    returned = 0.0 if writes else returned_part(own_profile, name)
                    yield Footprint(name, writes, own, (x, y, z), partial, returned, returns)

    def unions(self, footprints: Sequence[Footprint], writes: bool) -> dict[str, int]:
        """Return the bytes of each buffer that all clusters touch, extrapolated from what neighbors share."""
        limits, found = self.positions.observer.buffers, {}
        for own in footprints:
            if own.writes != writes:
                continue
            places = list(product(*self.axes))
            sizes = {place: self.positions.size(place, writes, own.buffer) for place in places}
            weights = [self._weights(own, axis, sizes) for axis in range(3)]
            union = sum(size * prod(weights[k][i] for k, i in enumerate(place)) for place, size in sizes.items())
            found[own.buffer] = min(round(union), limits[own.buffer])
        return found

    def atomic_turns(self) -> np.ndarray:
        """Return `Sample.atomic_turns`: neighbors along an axis of the grid add to the same blocks, or each to its own."""
        at, times = self.positions.at, 1
        first = at((0, 0, 0)).atomic_turns
        for axis, count in enumerate(self.positions.extent):
            if count > 1 and first.any():
                common = np.minimum(first, at(on_axis(axis, 1)).atomic_turns).sum()
                times *= count if common > SHARED_TURNS * first.sum() else 1
        return first * np.uint64(times)

    def _weights(self, own: Footprint, axis: int, sizes: dict[Position, int]) -> dict[int, float]:
        """Return position of an axis -> how many times what its cluster touches of a buffer counts in the union along the axis."""
        nodes, new_bytes = self.axes[axis], own.new_bytes[axis]
        there = self.positions.size(self._neighbor(axis, self.base), own.writes, own.buffer)
        moves = axis == 0 and bool(own.returns)
        if not moves and (new_bytes == 0 or there - new_bytes == own.bytes):  # one contains the other
            largest = max(nodes, key=lambda i: max(size for place, size in sizes.items() if place[axis] == i))
            return {i: float(i == largest) for i in nodes}
        if moves or new_bytes == there:  # disjoint, or of an earlier cluster
            active = round(sum(nodes[i] for i in {place[axis] for place, size in sizes.items() if size}))
            line = tuple(active if k == axis else 1 for k in range(3))
            times = own.wave(line, active)[0] / max(own.bytes, 1)
            return {i: weight * times / max(1, active) for i, weight in nodes.items()}
        steps, base = self.positions.extent[axis] - 1, self.base[axis]
        like = next((i for i in nodes if self.positions.alike(axis, i, base)), max(nodes, key=nodes.__getitem__))
        return {i: (1 + steps * new_bytes / max(own.bytes, 1)) * (i == like) for i in nodes}

    def _returns(self, buffer: str, bits: np.ndarray, own: Touched, new: Touched) -> tuple[tuple[int, Touched], ...]:
        """Return `Footprint.returns` of the reads of a buffer."""
        positions = self.positions
        clusters, size = positions.extent[0], positions.observer.buffers[buffer]
        if not new.bytes:  # neighbors share all of it, as the tiles of a product that are in the same row
            nodes = [] if any(self.base[1:]) else positions.nodes[0]  # simulated clusters of the same line
            others = (marks_of(positions.at(on_axis(0, i)), False)[buffer] for i in nodes)
            moves = any(there.any() and not (there & bits).any() for there in others)
            count = max(2, round(clusters * own.bytes / size))
            return ((count, own),) if moves and count < clusters else ()
        place = self.base
        for _ in range(1 if positions.expensive else 2):  # of two places, one is not at the end of a row
            after = self._neighbor(0, place)
            here, there = (marks_of(positions.at(at), False)[buffer] for at in (place, after))
            later = expected_returns(here, there, clusters) if after > place else []
            if later and place[0] + later[-1] < clusters:
                places = [(place[0] + count, *place[1:]) for count in later]
                found = (touched(marks_of(positions.at(at), False)[buffer], here | there) for at in places)
                return tuple(zip(later, found, strict=True))
            place = after
        return ()

    def _typical(self, middle: Position) -> Position:
        """Return a position near the middle whose neighbor has the same work, if there is one: not at the edge of an image."""
        place = middle
        for _ in range(TRIES):
            there = self._neighbor(0, place)
            if self.positions.same(place, there):
                return place
            place = there
        return middle

    def _neighbor(self, axis: int, place: Position) -> Position:
        """Return the next position along an axis, or the one before at the end of what is busy."""
        at, count = place[axis], max(self.busy[axis], min(2, self.positions.extent[axis]))
        there = at + 1 if at + 1 < count else max(0, at - 1)
        x, y, z = (there if k == axis else i for k, i in enumerate(place))
        return x, y, z


def returned_part(observed: ClusterProfile, buffer: str) -> float:
    """Return the fraction of the bytes read of a buffer that were written before they were read."""
    size = touched(observed.returned[buffer]).bytes
    return size / touched(observed.read[buffer]).bytes if size else 0.0
