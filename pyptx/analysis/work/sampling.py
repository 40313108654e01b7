"""Simulated samples of a launch: the whole grid, or a few clusters that determine the work of all.

Along an axis of the grid, five positions are simulated: the first two, one in the middle, and the last two (without the middle
when one cluster copies much data). A single step, as when some CTAs have one tile more than others, is located by
bisection; otherwise work is interpolated linearly, which is exact when it grows by a constant amount. Axes are assumed to
be independent. Further clusters verify all of that; one that is not like the prediction becomes a position of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import prod

import numpy as np

from pyptx.analysis.work.call import Call
from pyptx.analysis.work.footprint import NOTHING, Footprint, Touched, expected_returns, partial_bytes, touched
from pyptx.errors import SimulationError
from pyptx.grid_batch import waits_for_memory
from pyptx.runtime import LaunchPlan
from pyptx.sim import ClusterProfile, ClusterProfiler, Program
from pyptx.sim.actions import Atomic, TryCancel

__all__ = ["Sample", "InstructionTotals", "sample_launch"]

MAX_WHOLE_GRID = 1_000_000  # warp instructions up to which the whole grid is simulated: tens of milliseconds
EXPENSIVE_BYTES = 1 << 24  # bytes copied by one cluster beyond which fewer positions are sampled
LONG = 64  # positions of an axis from which one near the middle is as good as the middle
MIDDLE, ASIDE = 0.497, (0.618, 0.309)  # parts of an axis: near the middle, and where the interpolation is verified
NEAR = 0.05  # relative difference of work that is not a step: that of clusters at the ends of the rows of an image
TRIES = 3  # positions at which the footprints may be taken
SHARED_TURNS = (
    0.5  # fraction of a cluster's atomic operations in blocks of its neighbor from which their blocks are the same
)
_NAMES = ("executed", "lanes", "global_requests", "global_sectors", "shared_conflicts", "tma_bytes", "tensor_flops")
Position = tuple[int, ...]  # of a cluster in the grid: x, y, z


@dataclass(frozen=True, eq=False)
class InstructionTotals:
    """Counts by instruction, as in sim.Counters; `executed` excludes executions with no active lane. Sums over a sample
    are floats."""

    executed: np.ndarray
    lanes: np.ndarray
    global_requests: np.ndarray
    global_sectors: np.ndarray
    shared_conflicts: np.ndarray
    tma_bytes: np.ndarray
    tensor_flops: np.ndarray

    @classmethod
    def of(cls, observed: ClusterProfile) -> InstructionTotals:
        c = observed.counters
        columns = {name: getattr(c, name).astype(np.float64) for name in _NAMES if name != "executed"}
        return cls(np.minimum(c.issues, c.lanes).astype(np.float64), **columns)

    @property
    def moves_memory(self) -> bool:
        """There are accesses to global memory."""
        return bool(self.global_requests.any() or self.tma_bytes.any())

    @property
    def stack(self) -> np.ndarray:
        """The counts as rows of one array."""
        return np.stack([getattr(self, name) for name in _NAMES])


@dataclass(frozen=True, eq=False)
class Sample:
    """Simulated counts of a launch.

    Attributes:
        program, plan: the program and its launch plan.
        exact, uniform, how: as in `count.Work`.
        busy: clusters along each axis of the grid, without those at its end that access no global memory.
        totals: counts of the whole launch, by instruction.
        read, written: buffer -> bytes that the launch touches.
        footprints: footprints of a cluster at the start of the grid, or in its middle if those differ, as at the edge of an image.
        cluster: counts of a cluster in the middle of the busy part of the grid.
        issues: its executions by (warp of the cluster, instruction).
        barrier_bits: bit mask of the CTA's barriers each warp of a cluster used, by (warp, instruction).
        heaviest: counts, executions and barrier bits of the simulated cluster that executes most.
        barriers: addresses of the mbarriers each instruction operated on.
        line_access: of each instruction, the 128-byte lines of one global access, and its passes over the banks of L1
            beyond the minimum; rows of an array.
        wide_passes: of each instruction, the passes over shared memory of one access with 8 bytes for each lane, and with
            16; rows of an array.
        fresh_loads: of each instruction, the fraction of its loads that read a sector which the warp has not read recently,
            those sectors of one load, other sectors, and the lines of the warp's loads since it has read those; rows of an array.
        masked_sectors: of each instruction, the sectors that one store does not write, of lines with a sector that it writes in
            part.
        atomic_turns: turns of L2 for the launch's atomic operations, by (block of 512 bytes of global memory, modulo 512 KiB;
            kind): their sectors, and their lanes beyond the first that name the word that most of a sector's lanes name.
        atomic_passes: of each instruction, the passes over shared memory of one atomic access, one for each lane of a bank.
        buffers: names of the buffers that each instruction loads from; empty for copies.
        initially_free: instructions whose first wait for an mbarrier was for the phase before its first.
    """

    program: Program
    plan: LaunchPlan
    exact: bool
    uniform: bool
    how: str
    busy: Position
    totals: InstructionTotals
    read: Mapping[str, int]
    written: Mapping[str, int]
    footprints: tuple[Footprint, ...]
    cluster: InstructionTotals
    issues: np.ndarray
    barrier_bits: np.ndarray
    heaviest: tuple[InstructionTotals, np.ndarray, np.ndarray]
    barriers: tuple[frozenset[int], ...]
    initially_free: frozenset[int]
    line_access: np.ndarray
    wide_passes: np.ndarray
    fresh_loads: np.ndarray
    masked_sectors: np.ndarray
    atomic_turns: np.ndarray
    atomic_passes: np.ndarray
    buffers: tuple[frozenset[str], ...]

    @cached_property
    def ctas(self) -> int:
        return prod(self.plan.grid)

    @property
    def clusters(self) -> int:
        """Clusters that access global memory."""
        return prod(self.busy)


def sample_launch(call: Call) -> Sample:
    """Simulate as many clusters of a call as its counts require.

    Raises:
        LaunchError: the call cannot be launched, or the simulator core cannot be loaded.
        SimulationError: the kernel traps.
    """
    call.specialization.require_valid()
    observer = call.observer()
    dependent = any(
        isinstance(action, TryCancel)
        or (isinstance(action, Atomic) and any(action.data) and action.address.space in ("global", "generic"))
        for action in observer.program.actions
    ) or waits_for_memory(call.specialization.module)
    try:
        if dependent:  # clusters distribute the work dynamically, or wait for each other
            return _whole(call, call.observer(own=True))
        first = observer.run(range(1))
    except SimulationError as error:
        if error.kind == "read_only":
            observer = call.observer(own=True)
            first = observer.run(range(1))
        elif error.kind == "deadlock":  # it waits for other clusters
            return _whole(call, call.observer(own=True))
        else:
            raise
    try:
        return _rest(call, observer, first)
    except SimulationError as error:
        if error.kind != "read_only":
            raise
    observer = call.observer(own=True)  # the first cluster does not write an array that others write
    return _rest(call, observer, observer.run(range(1)))


def _rest(call: Call, observer: ClusterProfiler, first: ClusterProfile) -> Sample:
    """Simulate further clusters, or all of a small grid."""
    if observer.plan.clusters * int(first.issues.sum()) <= MAX_WHOLE_GRID:
        return _whole(call, observer)
    return _Probe(call, observer, first).sample()


def _whole(call: Call, observer: ClusterProfiler) -> Sample:
    clusters = observer.plan.clusters
    seen = observer.run(range(clusters))
    totals = InstructionTotals.of(seen)
    one = InstructionTotals(*(column / clusters for column in totals.stack))
    sizes = [{name: touched(bits) for name, bits in found.items() if bits.any()} for found in (seen.read, seen.written)]
    read, written = ({name: size.bytes for name, size in found.items()} for found in sizes)
    footprints = tuple(
        Footprint(
            name, bool(writes), each, (each, each, each), partial // clusters, 0.0 if writes else _returned(seen, name)
        )
        for writes, found in enumerate(sizes)
        for name, size in found.items()
        for each in (Touched(*(number // clusters for number in size)),)
        for partial in (partial_bytes(seen.written[name], seen.read.get(name)) if writes else 0,)
    )
    how = (
        f"the whole grid was simulated: {clusters} cluster{'s' * (clusters > 1)}"
        if prod(call.plan.cluster) > 1
        else f"the whole grid was simulated: {clusters} CTA{'s' * (clusters > 1)}"
    )
    issues = np.ceil(seen.issues / clusters)
    return Sample(
        observer.program,
        call.plan,
        True,
        True,
        how,
        tuple(count // each for count, each in zip(call.plan.grid, call.plan.cluster, strict=True)),
        totals,
        read,
        written,
        footprints,
        one,
        issues,
        seen.named,
        (one, issues, seen.named),
        seen.barriers,
        seen.free,
        _line_access(seen),
        _wide_passes(seen),
        seen.fresh_loads.T / _executed(seen),
        seen.masked_sectors / _executed(seen),
        seen.atomic_turns,
        seen.atomic_passes / _executed(seen),
        seen.buffers,
    )


class _Probe:
    """Sampling of a grid."""

    def __init__(self, call: Call, observer: ClusterProfiler, first: ClusterProfile):
        self.call, self.observer = call, observer
        plan = observer.plan
        self.extent = tuple(g // c for g, c in zip(plan.grid, plan.cluster, strict=True))
        self.expensive = int(first.counters.tma_bytes.sum()) > EXPENSIVE_BYTES
        self.busy: Position = self.extent  # without the clusters at the end of an axis that access no global memory
        self.base: Position = (0, 0, 0)  # where the footprints are taken
        self.nodes: list[list[int]] = [[], [], []]  # positions of each axis between which work is interpolated
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
        if place not in self.stacks:
            self.stacks[place] = InstructionTotals.of(self.at(place)).stack
        return self.stacks[place]

    def axis(self, axis: int, further: int = 0) -> dict[int, float]:
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
            twin = next((other for other in merged if self._alike(axis, other, node)), node)
            merged[twin] = merged.get(twin, 0) + weight
        return merged

    def _busy(self, axis: int) -> int:
        """Return the positions of an axis up to the last one with accesses to global memory; all if there are none."""
        nodes = self.nodes[axis]
        moves = [node for node in nodes if InstructionTotals(*self.stack(_on(axis, node))).moves_memory]
        return self.extent[axis] if not moves or moves[-1] == nodes[-1] else moves[-1] + 1

    def _nodes(self, axis: int, further: int) -> list[int]:
        """Return positions between which work is constant or changes linearly; a single step is located by bisection."""
        size = self.extent[axis]
        nodes = {0, min(1, size - 1), size - 1, further}
        if not self.expensive:
            nodes |= {max(0, size - 2), _middle(size)}
        elif size > 2 and not self._alike(axis, 1, size - 1):
            nodes.add(size - 2)
        open_ = list(pairwise(sorted(nodes)))
        while open_:
            low, high = open_.pop()
            if high - low < 2 or self._alike(axis, low, high):
                continue
            step = self._expected_step(axis, low, high)
            if step and self._alike(axis, low, step - 1) and self._alike(axis, step, high):
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
        here, there = (self.stack(_on(axis, position)).sum(axis=1) for position in (one, other))
        return np.allclose(here, there, rtol=NEAR)

    def _expected_step(self, axis: int, low: int, high: int) -> int:
        """Return the first position with the work of `high` if the clusters write a buffer completely, each its own part.

        Clusters that write tiles in turn differ by one tile; 0 when no position between `low` and `high` follows.
        """
        if prod(self.extent) != self.extent[axis]:
            return 0
        for buffer, size in self.observer.buffers.items():
            if not {buffer} & _marks(self.at((0, 0, 0)), True).keys():
                continue
            before, after = (self._size(_on(axis, position), True, buffer) for position in (low, high))
            if before != after:
                step = (size - self.extent[axis] * after) / (before - after)
                return int(step) if step == int(step) and low < step - 1 and step < high else 0
        return 0

    def _alike(self, axis: int, one: int, other: int) -> bool:
        return self._same(_on(axis, one), _on(axis, other))

    def _same(self, one: Position, other: Position) -> bool:
        return np.array_equal(self.stack(one), self.stack(other))

    def sample(self) -> Sample:
        axes, uniform = self._axes()
        places = list(product(*axes))
        weight = {place: prod(axes[k][i] for k, i in enumerate(place)) for place in places}
        totals = np.sum([weight[place] * self.stack(place) for place in places], axis=0)
        self.busy = tuple(map(self._busy, range(3)))
        middle: Position = tuple(map(_middle, self.busy))
        if not self.expensive and not self._same(middle, (0, 0, 0)):
            middle = self.base = self._typical(middle)
        seen = self.at(middle)
        most = max((*places, middle), key=lambda place: self.at(place).issues.sum())
        heaviest = InstructionTotals(*self.stack(most)), self.at(most).issues, self.at(most).named
        footprints = tuple(self._footprints())
        read, written = (self._unions(footprints, axes, writes) for writes in (False, True))
        plan = self.observer.plan
        what = "CTAs" if plan.cluster_size == 1 else "clusters"
        how = f"{len(self.runs)} of {plan.clusters} {what} were simulated" + (
            "; the others are like them" if uniform else "; they differ in ways that do not predict each other"
        )
        return Sample(
            self.observer.program,
            self.call.plan,
            False,
            uniform,
            how,
            self.busy,
            InstructionTotals(*totals),
            read,
            written,
            footprints,
            InstructionTotals(*self.stack(middle)),
            seen.issues,
            seen.named,
            heaviest,
            seen.barriers,
            seen.free,
            _line_access(seen),
            _wide_passes(seen),
            seen.fresh_loads.T / _executed(seen),
            seen.masked_sectors / _executed(seen),
            self._atomic_turns(),
            seen.atomic_passes / _executed(seen),
            seen.buffers,
        )

    def _axes(self) -> tuple[list[dict[int, float]], bool]:
        """Return `axis` of each axis, and True if they predict the work of further clusters."""
        axes = [self.axis(axis) for axis in range(3)]
        if self.expensive:
            return axes, self._is_predicted(tuple(map(_middle, self.extent)))
        for part in ASIDE:
            place = tuple(int(size * part) for size in self.extent)
            if self._is_predicted(place):
                return axes, True
            axes = [self.axis(axis, i) for axis, i in enumerate(place)]
        return axes, False

    def _atomic_turns(self) -> np.ndarray:
        """Return `Sample.atomic_turns`: neighbors along an axis of the grid add to the same blocks, or each to its own."""
        first, times = self.at((0, 0, 0)).atomic_turns, 1
        for axis, count in enumerate(self.extent):
            if count > 1 and first.any():
                common = np.minimum(first, self.at(_on(axis, 1)).atomic_turns).sum()
                times *= count if common > SHARED_TURNS * first.sum() else 1
        return first * np.uint64(times)

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
            return self.stack(_on(axis, below))
        share = (position - below) / (above - below)
        return (1 - share) * self.stack(_on(axis, below)) + share * self.stack(_on(axis, above))

    def _footprints(self) -> Iterator[Footprint]:
        own_profile = self.at(self.base)
        for writes in (False, True):
            for name, bits in _marks(own_profile, writes).items():
                x, y, z = (
                    NOTHING
                    if count == 1
                    else touched(_marks(self.at(self._neighbor(axis, self.base)), writes)[name], bits)
                    for axis, count in enumerate(self.extent)
                )
                own = touched(bits)
                if own.bytes or x.bytes or y.bytes or z.bytes:
                    partial = partial_bytes(bits, own_profile.read.get(name)) if writes else 0
                    returns = () if writes or self.extent[0] == 1 else self._returns(name, bits, own, x)
                    returned = 0.0 if writes else _returned(own_profile, name)
                    yield Footprint(name, writes, own, (x, y, z), partial, returned, returns)

    def _returns(self, buffer: str, bits: np.ndarray, own: Touched, new: Touched) -> tuple[tuple[int, Touched], ...]:
        """Return `Footprint.returns` of the reads of a buffer."""
        clusters, size = self.extent[0], self.observer.buffers[buffer]
        if not new.bytes:  # neighbors share all of it, as the tiles of a product that are in the same row
            others = (_marks(self.at(_on(0, i)), False)[buffer] for i in self.nodes[0])
            moves = any(touched(there, bits).bytes for there in others)
            count = max(2, round(clusters * own.bytes / size))
            return ((count, own),) if moves and count < clusters else ()
        place = self.base
        for _ in range(1 if self.expensive else 2):  # of two places, one is not at the end of a row
            after = self._neighbor(0, place)
            here, there = (_marks(self.at(at), False)[buffer] for at in (place, after))
            later = expected_returns(here, there, clusters) if after > place else []
            if later and place[0] + later[-1] < clusters:
                places = [(place[0] + count, *place[1:]) for count in later]
                found = (touched(_marks(self.at(at), False)[buffer], here | there) for at in places)
                return tuple(zip(later, found, strict=True))
            place = after
        return ()

    def _typical(self, middle: Position) -> Position:
        """Return a position near the middle whose neighbor has the same work, if there is one: not at the edge of an image."""
        place = middle
        for _ in range(TRIES):
            there = self._neighbor(0, place)
            if self._same(place, there):
                return place
            place = there
        return middle

    def _neighbor(self, axis: int, place: Position) -> Position:
        """Return the next position along an axis, or the one before at the end of what is busy."""
        at = place[axis]
        there = at + 1 if at + 1 < self.busy[axis] else max(0, at - 1)
        x, y, z = (there if k == axis else i for k, i in enumerate(place))
        return x, y, z

    def _unions(self, footprints: tuple[Footprint, ...], axes: list[dict[int, float]], writes: bool) -> dict[str, int]:
        """Return the bytes of each buffer that all clusters touch, extrapolated from what neighbors share."""
        limits, found = self.observer.buffers, {}
        for own in footprints:
            if own.writes != writes:
                continue
            sizes = {place: self._size(place, writes, own.buffer) for place in product(*axes)}
            weights = []
            for axis, nodes in enumerate(axes):
                there = self._size(self._neighbor(axis, self.base), writes, own.buffer)
                new_bytes = own.new_bytes[axis]
                moves = axis == 0 and own.returns
                if not moves and (new_bytes == 0 or there - new_bytes == own.bytes):  # one contains the other
                    largest = max(nodes, key=lambda i: max(s for p, s in sizes.items() if p[axis] == i))
                    weights.append({i: float(i == largest) for i in nodes})
                elif moves or new_bytes == there:  # disjoint, or of an earlier cluster
                    active = round(sum(nodes[i] for i in {place[axis] for place, size in sizes.items() if size}))
                    line = tuple(active if k == axis else 1 for k in range(3))
                    times = own.wave(line, active)[0] / max(own.bytes, 1)
                    weights.append({i: weight * times / max(1, active) for i, weight in nodes.items()})
                else:
                    steps = self.extent[axis] - 1
                    like = next(
                        (i for i in nodes if self._alike(axis, i, self.base[axis])), max(nodes, key=nodes.__getitem__)
                    )
                    weights.append({i: (1 + steps * new_bytes / max(own.bytes, 1)) * (i == like) for i in nodes})
            union = sum(size * prod(weights[k][i] for k, i in enumerate(place)) for place, size in sizes.items())
            found[own.buffer] = min(round(union), limits[own.buffer])
        return found

    def _size(self, place: Position, writes: bool, buffer: str) -> int:
        """Return the bytes of a buffer that the cluster at a position touches."""
        key = place, writes, buffer
        if key not in self.sizes:
            self.sizes[key] = touched(_marks(self.at(place), writes)[buffer]).bytes
        return self.sizes[key]


def _middle(size: int) -> int:
    """Return a position in the middle of an axis: of a long one such that it is no row or plane of an image whose sides divide it."""
    return size // 2 if size < LONG else int(size * MIDDLE)


def _on(axis: int, position: int) -> Position:
    return tuple(position if k == axis else 0 for k in range(3))


def _marks(observed: ClusterProfile, writes: bool) -> Mapping[str, np.ndarray]:
    return observed.written if writes else observed.read


def _returned(observed: ClusterProfile, buffer: str) -> float:
    """Return the fraction of the bytes read of a buffer that were written before they were read."""
    size = touched(observed.returned[buffer]).bytes
    return size / touched(observed.read[buffer]).bytes if size else 0.0


def _line_access(observed: ClusterProfile) -> np.ndarray:
    """Return lines and passes over banks of one request, by instruction."""
    requests = np.maximum(1, observed.counters.global_requests).astype(np.float64)
    return np.stack([observed.lines, observed.bank_passes]) / requests


def _wide_passes(observed: ClusterProfile) -> np.ndarray:
    """Return the passes of one access to shared memory with 8 bytes for each lane, and with 16, by instruction."""
    return (observed.wide_passes / _executed(observed)[:, None]).T


def _executed(observed: ClusterProfile) -> np.ndarray:
    """Return the executions of each instruction with an active lane, 1 at least."""
    counters = observed.counters
    return np.maximum(1, np.minimum(counters.issues, counters.lanes)).astype(np.float64)
