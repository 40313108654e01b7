"""Positions of a grid whose clusters are simulated, and what they say about the clusters between them.

Along an axis of the grid, five positions are simulated: the first two, one in the middle, and the last two (without the middle
when one cluster copies much data). A single step, as when some CTAs have one tile more than others, is located by
bisection; otherwise work is interpolated linearly, which is exact when it grows by a constant amount. Axes are assumed to
be independent. Further clusters verify all of that; one that is not like the prediction becomes a position of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import prod

import numpy as np

from pyptx.analysis.work.footprint import touched
from pyptx.analysis.work.sample import InstructionTotals, Position
from pyptx.sim import ClusterProfile, ClusterProfiler

__all__ = ["GridPositions", "marks_of", "middle_of", "on_axis"]

EXPENSIVE_BYTES = 1 << 24  # bytes copied by one cluster beyond which fewer positions are sampled
LONG = 64  # positions of an axis from which one near the middle is as good as the middle
MIDDLE, ASIDE = 0.497, (0.618, 0.309)  # parts of an axis: near the middle, and where the interpolation is verified
NEAR = 0.05  # relative difference of work that is not a step: that of clusters at the ends of the rows of an image


class GridPositions:
    """Clusters of a grid that are simulated when their position is asked for.

    Args:
        observer: simulates them.
        first: profile of the first one.
    Attributes:
        extent: clusters along each axis.
        expensive: a cluster copies so much data that few are simulated.
        nodes: positions of each axis between which work is interpolated.
        runs: profiles of the clusters simulated so far.
    """

    def __init__(self, observer: ClusterProfiler, first: ClusterProfile):
        self.observer = observer
        plan = observer.plan
        self.extent = tuple(g // c for g, c in zip(plan.grid, plan.cluster, strict=True))
        self.expensive = int(first.counters.tma_bytes.sum()) > EXPENSIVE_BYTES
        self.nodes: list[list[int]] = [[], [], []]
        self.runs: dict[Position, ClusterProfile] = {(0, 0, 0): first}
        self.stacks: dict[Position, np.ndarray] = {}
        self.sizes: dict[tuple[Position, bool, str], int] = {}

    def at(self, place: Position) -> ClusterProfile:
        """Return the profile of the cluster at a position, simulated once."""
        if place not in self.runs:
            x, y, z = place
            number = x + self.extent[0] * (y + self.extent[1] * z)
            self.runs[place] = self.observer.run(range(number, number + 1))
        return self.runs[place]

    def stack(self, place: Position) -> np.ndarray:
        """Return the counts of the cluster at a position."""
        if place not in self.stacks:
            self.stacks[place] = InstructionTotals.of(self.at(place)).stack
        return self.stacks[place]

    def _axis(self, axis: int, further: int = 0) -> dict[int, float]:
        """Return position -> number of positions of the axis it represents. `further` is to be one of them."""
        nodes = self.nodes[axis] = self._nodes(axis, further)
        weights: dict[int, float] = dict.fromkeys(nodes, 0.0)
        for here, there in pairwise(nodes):
            steps = there - here
            weights[here] += (steps + 1) / 2
            weights[there] += (steps - 1) / 2
        weights[nodes[-1]] += 1
        merged: dict[int, float] = {}
        for node, weight in weights.items():
            twin = next((other for other in merged if self.alike(axis, other, node)), node)
            merged[twin] = merged.get(twin, 0) + weight
        return merged

    def busy(self, axis: int) -> int:
        """Return the positions of an axis up to the last one with accesses to global memory; all if there are none."""
        nodes = self.nodes[axis]
        moves = [node for node in nodes if InstructionTotals(*self.stack(on_axis(axis, node))).moves_memory]
        return self.extent[axis] if not moves or moves[-1] == nodes[-1] else moves[-1] + 1

    def _nodes(self, axis: int, further: int) -> list[int]:
        """Return positions between which work is constant or changes linearly; a single step is located by bisection."""
        size = self.extent[axis]
        nodes = {0, min(1, size - 1), size - 1, further}
        if not self.expensive:
            nodes |= {max(0, size - 2), middle_of(size)}
        elif size > 2 and not self.alike(axis, 1, size - 1):
            nodes.add(size - 2)
        open_ = list(pairwise(sorted(nodes)))
        while open_:
            low, high = open_.pop()
            if high - low < 2 or self.alike(axis, low, high):
                continue
            step = self._expected_step(axis, low, high)
            if step and self.alike(axis, low, step - 1) and self.alike(axis, step, high):
                nodes |= {step - 1, step}
                continue
            between = (low + high) // 2
            nodes.add(between)
            if self._near(axis, low, between):
                open_.append((between, high))
            elif self._near(axis, between, high):
                open_.append((low, between))
        return self._steps(axis, sorted(nodes))

    def _steps(self, axis: int, nodes: list[int]) -> list[int]:
        """Return the nodes without those whose work is near that of the nodes on both sides."""
        kept = nodes[:1]
        for here, there in pairwise(nodes[1:]):
            if not (self._near(axis, kept[-1], here) and self._near(axis, here, there)):
                kept.append(here)
        return kept + nodes[-1:] if len(nodes) > 1 else kept

    def _near(self, axis: int, one: int, other: int) -> bool:
        """Return True if the work at two positions differs little, as that within an image and at the ends of its rows."""
        here, there = (self.stack(on_axis(axis, position)).sum(axis=1) for position in (one, other))
        return np.allclose(here, there, rtol=NEAR)

    def _expected_step(self, axis: int, low: int, high: int) -> int:
        """Return the first position with the work of `high` if the clusters write a buffer completely, each its own part.

        Clusters that write tiles in turn differ by one tile; 0 when no position between `low` and `high` follows.
        """
        if prod(self.extent) != self.extent[axis]:
            return 0
        for buffer, size in self.observer.buffers.items():
            if not {buffer} & marks_of(self.at((0, 0, 0)), True).keys():
                continue
            before, after = (self.size(on_axis(axis, position), True, buffer) for position in (low, high))
            if before != after:
                step = (size - self.extent[axis] * after) / (before - after)
                return int(step) if step == int(step) and low < step - 1 and step < high else 0
        return 0

    def alike(self, axis: int, one: int, other: int) -> bool:
        """Return True if clusters at two positions of an axis have the same work."""
        return self.same(on_axis(axis, one), on_axis(axis, other))

    def same(self, one: Position, other: Position) -> bool:
        """Return True if the clusters at two positions have the same work."""
        return np.array_equal(self.stack(one), self.stack(other))

    def axes(self) -> tuple[list[dict[int, float]], bool]:
        """Return for each axis position -> number of positions that it represents, and True if they predict the work of further clusters."""
        axes = [self._axis(axis) for axis in range(3)]
        if self.expensive:
            return axes, self._is_predicted(tuple(map(middle_of, self.extent)))
        for part in ASIDE:
            place = tuple(int(size * part) for size in self.extent)
            if self._is_predicted(place):
                return axes, True
            axes = [self._axis(axis, i) for axis, i in enumerate(place)]
        return axes, False

    def _is_predicted(self, place: Position) -> bool:
        """Return True if the work of a cluster is nearly that of the first one and the change along each axis."""
        first = self.stack((0, 0, 0))
        change = sum(self._along(axis, i) - first for axis, i in enumerate(place))
        return np.allclose(self.stack(place).sum(axis=1), (first + change).sum(axis=1), rtol=NEAR)

    def _along(self, axis: int, position: int) -> np.ndarray:
        nodes = self.nodes[axis]
        below = max(i for i in nodes if i <= position)
        above = min(i for i in nodes if i >= position)
        if below == above:
            return self.stack(on_axis(axis, below))
        share = (position - below) / (above - below)
        return (1 - share) * self.stack(on_axis(axis, below)) + share * self.stack(on_axis(axis, above))

    def size(self, place: Position, writes: bool, buffer: str) -> int:
        """Return the bytes of a buffer that the cluster at a position touches."""
        key = place, writes, buffer
        if key not in self.sizes:
            self.sizes[key] = touched(marks_of(self.at(place), writes)[buffer]).bytes
        return self.sizes[key]


def middle_of(size: int) -> int:
    """Return a position in the middle of an axis: of a long one such that it is no row or plane of an image whose sides divide it."""
    return size // 2 if size < LONG else int(size * MIDDLE)


def on_axis(axis: int, position: int) -> Position:
    """Return the position of the grid at a position of an axis."""
    return tuple(position if k == axis else 0 for k in range(3))


def marks_of(observed: ClusterProfile, writes: bool) -> Mapping[str, np.ndarray]:
    """Return the bits of the bytes that a cluster reads, or writes, by the names of the buffers."""
    return observed.written if writes else observed.read
