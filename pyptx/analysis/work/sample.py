"""A launch simulated as far as it takes to know what all of it does: the whole grid, or a few clusters of it.

Along an axis of the grid, five positions show how work changes: the first two, the middle, the last two (not the
middle where one cluster copies much). Where it changes at one place, as when some CTAs have a tile more than others,
that place is searched for; otherwise it is taken to change evenly, which is exact where it grows by the same amount
from one to the next. Axes are taken to be independent of each other; clusters in the middle of the grid show whether
that holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import prod

import numpy as np

from pyptx.analysis.work.calls import Call
from pyptx.errors import SimulationError
from pyptx.runtime import LaunchPlan
from pyptx.sim import Observed, Observer, Program
from pyptx.sim.actions.asynchronous import TryCancel
from pyptx.sim.actions.basic import Atomic

__all__ = ["Footprint", "Sample", "Totals", "sample_of"]

WHOLE = 1_000_000               # warp-instructions up to which all of a grid is simulated: tens of milliseconds
DEAR = 1 << 24                  # bytes copied by one cluster from which on fewer positions are looked at
_NAMES = ("executed", "lanes", "global_requests", "global_sectors", "shared_conflicts", "tma_bytes", "tensor_flops")
_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


@dataclass(frozen=True, eq=False)
class Totals:
    """Counts by instruction, as in sim.Counters; `executed` leaves out what all lanes skipped. Sums over a sample are
    floats."""

    executed: np.ndarray
    lanes: np.ndarray
    global_requests: np.ndarray
    global_sectors: np.ndarray
    shared_conflicts: np.ndarray
    tma_bytes: np.ndarray
    tensor_flops: np.ndarray

    @classmethod
    def of(cls, observed: Observed) -> Totals:
        c = observed.counters
        columns = {name: getattr(c, name).astype(np.float64) for name in _NAMES if name != "executed"}
        return cls(np.minimum(c.issues, c.lanes).astype(np.float64), **columns)

    @property
    def stack(self) -> np.ndarray:
        """The columns as rows of one array."""
        return np.stack([getattr(self, name) for name in _NAMES])


@dataclass(frozen=True, eq=False)
class Footprint:
    """Bytes of one buffer that one cluster touches.

    Attributes:
        bytes: of a cluster.
        sectors: bytes of the 32-byte sectors that they lie in.
        fresh: for each axis of the grid, how many of them its neighbour there does not touch; 0 where there is none.
    """

    buffer: str
    writes: bool
    bytes: int
    sectors: int
    fresh: tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Sample:
    """What was simulated of a launch.

    Attributes:
        program, plan: what and how.
        exact, uniform, how: see work.Work.
        totals: counts of the whole launch, by instruction.
        read, written: buffer -> bytes of it that the launch touches.
        footprints: of a cluster at the start of the grid.
        cluster: counts of a cluster in the middle of the grid.
        issues: its executions by (warp of the cluster, instruction).
        named: bits of the CTA's barriers that each warp of a cluster came to, by (warp, instruction).
        longest: the same three of the cluster that executes most, of those that were simulated.
        barriers: the mbarriers each instruction worked on, as addresses in shared memory.
        free: instructions whose first wait for an mbarrier asked for the phase before its first.
    """

    program: Program
    plan: LaunchPlan
    exact: bool
    uniform: bool
    how: str
    totals: Totals
    read: Mapping[str, int]
    written: Mapping[str, int]
    footprints: tuple[Footprint, ...]
    cluster: Totals
    issues: np.ndarray
    named: np.ndarray
    longest: tuple[Totals, np.ndarray, np.ndarray]
    barriers: tuple[frozenset[int], ...]
    free: frozenset[int]

    @cached_property
    def ctas(self) -> int:
        return prod(self.plan.grid)

    @property
    def clusters(self) -> int:
        return self.ctas // prod(self.plan.cluster)


def sample_of(call: Call) -> Sample:
    """Simulate enough of a call.

    Raises:
        LaunchError: it cannot be launched, or the core of the simulator cannot be loaded.
        SimulationError: it traps.
    """
    call.variant.require_valid()
    observer = call.observer()
    dependent = any(isinstance(action, TryCancel) or (isinstance(action, Atomic) and any(action.data)
                    and action.address.space in ("global", "generic")) for action in observer.program.actions)
    try:
        if dependent:                                   # clusters share out the work among themselves
            return _whole(call, call.observer(own=True))
        first = observer.run(range(1))
    except SimulationError as error:
        if error.kind == "read_only":
            observer = call.observer(own=True)
            first = observer.run(range(1))
        elif error.kind == "deadlock":                  # it waits for other clusters
            return _whole(call, call.observer(own=True))
        else:
            raise
    clusters = observer.plan.clusters
    if clusters * int(first.issues.sum()) <= WHOLE:
        return _whole(call, observer)
    return _Probe(call, observer, first).sample()


def _whole(call: Call, observer: Observer) -> Sample:
    clusters = observer.plan.clusters
    seen = observer.run(range(clusters))
    totals = Totals.of(seen)
    one = Totals(*(column / clusters for column in totals.stack))
    read, written = ({name: _ones(bits) for name, bits in found.items() if bits.any()}
                     for found in (seen.read, seen.written))
    footprints = tuple(
        Footprint(name, writes, size // clusters, _sectors(marks[name]) // clusters, (size // clusters,) * 3)
        for writes, found, marks in ((False, read, seen.read), (True, written, seen.written))
        for name, size in found.items())
    how = f"the whole grid was simulated: {clusters} cluster{'s' * (clusters > 1)}" \
        if prod(call.plan.cluster) > 1 else f"the whole grid was simulated: {clusters} CTA{'s' * (clusters > 1)}"
    issues = np.ceil(seen.issues / clusters)
    return Sample(observer.program, call.plan, True, True, how, totals, read, written, footprints, one, issues,
                  seen.named, (one, issues, seen.named), seen.barriers, seen.free)


class _Probe:
    """A grid of which some clusters are run."""

    def __init__(self, call: Call, observer: Observer, first: Observed):
        self.call, self.observer = call, observer
        plan = observer.plan
        self.extent = tuple(g // c for g, c in zip(plan.grid, plan.cluster, strict=True))
        self.dear = int(first.counters.tma_bytes.sum()) > DEAR
        self.runs: dict[tuple[int, int, int], Observed] = {(0, 0, 0): first}
        self.stacks: dict[tuple[int, int, int], np.ndarray] = {}
        self.sizes: dict[tuple[tuple[int, int, int], bool, str], int] = {}

    def at(self, place: tuple[int, int, int]) -> Observed:
        """The cluster at a place of the grid, run once."""
        if place not in self.runs:
            x, y, z = place
            number = x + self.extent[0] * (y + self.extent[1] * z)
            self.runs[place] = self.observer.run(range(number, number + 1))
        return self.runs[place]

    def stack(self, place: tuple[int, int, int]) -> np.ndarray:
        if place not in self.stacks:
            self.stacks[place] = Totals.of(self.at(place)).stack
        return self.stacks[place]

    def axis(self, axis: int) -> dict[int, float]:
        """Position -> how many positions of the axis it stands for."""
        nodes = self._nodes(axis)
        weights: dict[int, float] = dict.fromkeys(nodes, 0.0)
        for here, there in pairwise(nodes):
            steps = there - here
            weights[here] += (steps + 1) / 2
            weights[there] += (steps - 1) / 2
        weights[nodes[-1]] += 1
        merged: dict[int, float] = {}
        for node, weight in weights.items():
            twin = next((other for other in merged
                         if self._alike(axis, other, node)), node)
            merged[twin] = merged.get(twin, 0) + weight
        return merged

    def _nodes(self, axis: int) -> list[int]:
        """Positions between which work is the same, or changes evenly: where it changes at one place, that is found."""
        size = self.extent[axis]
        nodes = {0, min(1, size - 1), max(0, size - 2), size - 1}
        if not self.dear:
            nodes.add(size // 2)
        open_ = list(pairwise(sorted(nodes)))
        while open_:
            low, high = open_.pop()
            if high - low < 2 or self._alike(axis, low, high):
                continue
            between = (low + high) // 2
            nodes.add(between)
            if self._alike(axis, low, between) or self._alike(axis, between, high):
                open_ += [(low, between), (between, high)]
        return sorted(nodes)

    def _alike(self, axis: int, one: int, other: int) -> bool:
        return np.array_equal(self.stack(_on(axis, one)), self.stack(_on(axis, other)))

    def sample(self) -> Sample:
        axes = [self.axis(axis) for axis in range(3)]
        places = list(product(*axes))
        weight = {place: prod(axes[k][i] for k, i in enumerate(place)) for place in places}
        totals = sum(weight[place] * self.stack(place) for place in places)
        middle = tuple(size // 2 for size in self.extent)
        aside = tuple(int(size * 0.618) for size in self.extent)
        uniform = all(np.allclose(self.stack(place), self._predicted(place, axes), rtol=1e-3)
                      for place in ({middle} if self.dear else {middle, aside}))
        seen = self.at(middle)
        most = max((*places, middle), key=lambda place: self.at(place).issues.sum())
        longest = Totals(*self.stack(most)), self.at(most).issues, self.at(most).named
        footprints = tuple(self._footprints())
        read, written = (self._unions(footprints, axes, writes) for writes in (False, True))
        plan = self.observer.plan
        what = "CTAs" if plan.cluster_size == 1 else "clusters"
        how = f"{len(self.runs)} of {plan.clusters} {what} were simulated" + (
            "; the others are like them" if uniform else "; they differ in ways that do not predict each other")
        return Sample(self.observer.program, self.call.plan, False, uniform, how, Totals(*totals), read, written,
                      footprints, Totals(*self.stack(middle)), seen.issues, seen.named, longest, seen.barriers,
                      seen.free)

    def _predicted(self, place: tuple[int, int, int], axes: list[dict[int, float]]) -> np.ndarray:
        """What the runs along the axes say of a cluster: the first one's work with the change along each axis added."""
        first = self.stack((0, 0, 0))
        change = sum(self._along(axis, i) - first for axis, i in enumerate(place))
        return first + change

    def _along(self, axis: int, position: int) -> np.ndarray:
        known = sorted(place[axis] for place in self.runs if all(i == 0 for k, i in enumerate(place) if k != axis))
        below = max(i for i in known if i <= position)
        above = min(i for i in known if i >= position)
        if below == above:
            return self.stack(_on(axis, below))
        share = (position - below) / (above - below)
        return (1 - share) * self.stack(_on(axis, below)) + share * self.stack(_on(axis, above))

    def _footprints(self):
        first = self.at((0, 0, 0))
        for writes in (False, True):
            for name, bits in _marks(first, writes).items():
                size, fresh = _ones(bits), []
                for axis in range(3):
                    beside = None if self.extent[axis] == 1 else _marks(self.at(_on(axis, 1)), writes)[name]
                    fresh.append(0 if beside is None else _ones(beside, bits))
                if size or any(fresh):
                    yield Footprint(name, writes, size, _sectors(bits), tuple(fresh))

    def _unions(self, footprints: tuple[Footprint, ...], axes: list[dict[int, float]], writes: bool) -> dict[str, int]:
        """Bytes of each buffer that all clusters touch, by how those at the start of the grid share them."""
        limits, found = self.observer.buffers, {}
        for own in footprints:
            if own.writes != writes:
                continue
            sizes = {place: self._size(place, writes, own.buffer) for place in product(*axes)}
            weights = []
            for axis, nodes in enumerate(axes):
                there = self._size(_on(axis, min(1, self.extent[axis] - 1)), writes, own.buffer)
                fresh = own.fresh[axis]
                if fresh == 0 or there - fresh == own.bytes:             # one holds the other
                    largest = max(nodes, key=lambda i: max(s for p, s in sizes.items() if p[axis] == i))
                    weights.append({i: float(i == largest) for i in nodes})
                elif fresh == there:                                     # nothing in common
                    weights.append(nodes)
                else:
                    steps = self.extent[axis] - 1
                    weights.append({i: (1 + steps * fresh / max(own.bytes, 1)) * (i == 0) for i in nodes})
            union = sum(size * prod(weights[k][i] for k, i in enumerate(place)) for place, size in sizes.items())
            found[own.buffer] = min(round(union), limits[own.buffer])
        return found

    def _size(self, place: tuple[int, int, int], writes: bool, buffer: str) -> int:
        """Bytes of a buffer that the cluster at a place touches."""
        key = place, writes, buffer
        if key not in self.sizes:
            self.sizes[key] = _ones(_marks(self.at(place), writes)[buffer])
        return self.sizes[key]


def _on(axis: int, position: int) -> tuple[int, int, int]:
    return tuple(position if k == axis else 0 for k in range(3))


def _marks(observed: Observed, writes: bool) -> Mapping[str, np.ndarray]:
    return observed.written if writes else observed.read


def _sectors(bits: np.ndarray) -> int:
    """Bytes of the 32-byte sectors that were touched."""
    return 32 * int(np.count_nonzero(bits.view(np.uint32)))


def _ones(bits: np.ndarray, without: np.ndarray | None = None) -> int:
    """Bits that are set, and not set in another array."""
    words = bits.view(np.uint64)
    places = np.flatnonzero(words)
    found = words[places]
    if without is not None:
        found &= ~without.view(np.uint64)[places]
    return int(_BITS[found.view(np.uint8)].sum(dtype=np.int64))
