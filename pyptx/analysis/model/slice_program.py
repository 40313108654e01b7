"""SliceProgram of a warp slice: its operations in execution order, by iterations of its loops.

An iteration is a sequence of segments, one for each stretch of straight code. Iterations with equal operations share their
segments, so a program of millions of operations is short, and what a range of iterations executes is counted quickly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.trip_counts import InstructionStep, Loop, WarpPath

__all__ = ["SYNCHRONIZING", "LoopRun", "Segment", "SliceProgram", "chain_ctas", "write_program"]

SYNCHRONIZING = frozenset(
    (
        OpKind.BULK_LOAD,
        OpKind.ARRIVE,
        OpKind.ARRIVE_AFTER_TENSOR,
        OpKind.ARRIVE_AFTER_COPIES,
        OpKind.MBARRIER_WAIT,
        OpKind.BARRIER,
    )
)
SHORTEST = 4  # iterations of a loop that counts as a run
_ARRIVALS = SYNCHRONIZING - {OpKind.MBARRIER_WAIT, OpKind.BARRIER}


@dataclass(frozen=True, eq=False, slots=True)
class Segment:
    """Straight code.

    Attributes:
        operations: its operations.
        synchronizing: those on barriers and mbarriers.
    """

    operations: tuple[Operation, ...]
    synchronizing: tuple[Operation, ...]

    @staticmethod
    def of(operations: Iterable[Operation]) -> Segment:
        """Return the segment of some operations."""
        found = tuple(operations)
        return Segment(found, tuple(op for op in found if op.kind in SYNCHRONIZING and op.detail is not None))


@dataclass(frozen=True, eq=False, slots=True)
class LoopRun:
    """One execution of a loop of at least SHORTEST iterations.

    Attributes:
        starts: number of the first segment of each iteration.
        end: number of the segment that follows the loop.
    """

    starts: Sequence[int]
    end: int

    def iteration(self, at: int) -> int:
        """Return the iteration that segment `at` belongs to."""
        return bisect_right(self.starts, at) - 1

    def moved(self, by: int) -> LoopRun:
        """Return the same run in a program in which `by` segments precede."""
        starts = self.starts
        if isinstance(starts, range):
            return LoopRun(range(starts.start + by, starts.stop + by), self.end + by)
        return LoopRun([start + by for start in starts], self.end + by)


@dataclass(eq=False)
class SliceProgram:
    """All operations of a warp slice, for one or several CTAs.

    Attributes:
        segments: in execution order.
        runs: executions of loops by nesting depth, in order.
        ctas: for each CTA, the numbers of its first segment and of the one that follows it.
    """

    segments: list[Segment] = field(default_factory=list)
    runs: list[list[LoopRun]] = field(default_factory=list)
    ctas: list[tuple[int, int]] = field(default_factory=list)

    @staticmethod
    def of(operations: Iterable[Operation]) -> SliceProgram:
        """Return the program of straight code."""
        return SliceProgram([Segment.of(operations)], [], [(0, 1)])

    def runs_at(self, at: int) -> Iterator[LoopRun]:
        """Yield the runs that contain a segment, outermost first."""
        for runs in self.runs:
            number = bisect_right(runs, at, key=_first) - 1
            if number < 0 or runs[number].end <= at:
                return
            yield runs[number]

    @cached_property
    def executions(self) -> Counter[Segment]:
        """Number of executions of each segment."""
        return Counter(self.segments)

    @cached_property
    def size(self) -> int:
        """Number of operations."""
        return sum(times * len(one.operations) for one, times in self.executions.items())

    @property
    def units(self) -> set[str]:
        """Units that the operations use."""
        return {op.unit for one in self.executions for op in one.operations}


def _first(run: LoopRun) -> int:
    return run.starts[0]


def write_program(path: WarpPath, operation: Callable[[InstructionStep], Operation]) -> SliceProgram:
    """Return the program of one CTA.

    Args:
        path: path of the slice through the code.
        operation: returns the operation of a step.
    """
    program = SliceProgram()
    _Writer(program, operation).sequence(path, 0, 1, 0)
    program.ctas = [(0, len(program.segments))]
    return program


@dataclass
class _Writer:
    """Appends the iterations of loops to a program.

    A step that is executed in a part of the iterations of its loop is spread evenly over all of them, over all entries of
    the loop. A wait for an mbarrier is in the last ones and an arrival in the first ones: a guard leaves out the wait of
    the first iterations, which have no predecessor, and the arrival of the last ones.
    """

    program: SliceProgram
    operation: Callable[[InstructionStep], Operation]
    _known: dict[tuple[int, tuple[bool, ...]], Segment] = field(default_factory=dict)
    _sometimes: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    _parts: dict[int, list[Loop | list[InstructionStep]]] = field(default_factory=dict)
    _kept: list[WarpPath] = field(default_factory=list)  # their ids are keys

    def sequence(self, path: WarpPath, turn: int, turns: int, depth: int) -> None:
        """Append iteration `turn` of the `turns` iterations of a path."""
        segments = self.program.segments
        for part in self._split(path):
            if isinstance(part, Loop):
                self._loop(part, turn, turns, depth)
            else:
                segments.append(self._segment(part, turn, turns))

    def _split(self, path: WarpPath) -> list[Loop | list[InstructionStep]]:
        """Return the loops of a path, and the steps between them."""
        found = self._parts.get(id(path))
        if found is None:
            found = self._parts[id(path)] = []
            self._kept.append(path)
            for part in path:
                if isinstance(part, Loop):
                    found.append(part)
                elif found and isinstance(found[-1], list):
                    found[-1].append(part)
                else:
                    found.append([part])
        return found

    def _loop(self, loop: Loop, entry: int, entries: int, depth: int) -> None:
        """Append all iterations of an entry of a loop."""
        program, trips = self.program, loop.trips
        first = int(entry * trips + 0.5)
        iterations = max(1, int((entry + 1) * trips + 0.5) - first)
        turns, start = max(first + iterations, int(entries * trips + 0.5)), len(program.segments)
        is_run = iterations >= SHORTEST
        parts = self._split(loop.body)
        if len(parts) == 1 and isinstance(parts[0], list):
            if all(step.weight >= 1 for step in parts[0]):
                program.segments += [self._segment(parts[0], 0, 1)] * iterations
            else:
                program.segments += [self._segment(parts[0], first + k, turns) for k in range(iterations)]
            starts: Sequence[int] = range(start, start + iterations)
        else:
            starts = []
            for k in range(iterations):
                starts.append(len(program.segments))
                self.sequence(loop.body, first + k, turns, depth + is_run)
        if is_run:
            while len(program.runs) <= depth:
                program.runs.append([])
            program.runs[depth].append(LoopRun(starts, len(program.segments)))

    def _segment(self, steps: list[InstructionStep], turn: int, turns: int) -> Segment:
        sometimes = self._sometimes.get(id(steps))
        if sometimes is None:
            own = [(self.operation(step).kind, step.weight) for step in steps if step.weight < 1]
            sometimes = self._sometimes[id(steps)] = own
        included = tuple([_included(kind, weight, turn, turns) for kind, weight in sometimes])
        key = id(steps), included
        if key not in self._known:
            flags = iter(included)
            self._known[key] = Segment.of(self.operation(step) for step in steps if step.weight >= 1 or next(flags))
        return self._known[key]


def _included(kind: int, weight: float, turn: int, turns: int) -> bool:
    """Return True when a step that executes in a part of the iterations of its loop does so in one of them."""
    if kind == OpKind.MBARRIER_WAIT:
        return turn >= turns - int(weight * turns + 0.5)
    if kind in _ARRIVALS:
        return turn < int(weight * turns + 0.5)
    return int((turn + 1) * weight + 1e-9) > int(turn * weight + 1e-9)


def chain_ctas(program: SliceProgram | Sequence[Operation], ctas: int, written: int, last: bool) -> SliceProgram:
    """Return the program of one slot of the SM: CTAs one after another, each after the end of its predecessor.

    Args:
        program: program of one CTA's slice, or its operations.
        ctas: number of CTAs.
        written: number of CTAs to replay; the duration of their second half is extrapolated to the others.
        last: append one more CTA.
    """
    one = program if isinstance(program, SliceProgram) else SliceProgram.of(program)
    end = Segment.of(
        (
            Operation(OpKind.BARRIER, 0, (), -1, -1, 0.0, detail=("the end of the CTA", 0, False)),
            _mark(OpKind.NEXT_CTA, None),
        )
    )
    half, skipped, found = written // 2, ctas - written, SliceProgram()
    for number in range(1, written + 1 + last):
        first = len(found.segments)
        _append(found, one)
        if skipped and number == half:
            found.segments.append(Segment.of([_mark(OpKind.ITERATION, ("CTAs", half))]))
        if skipped and number == written:
            found.segments.append(Segment.of([_mark(OpKind.SKIP, ("CTAs", written - half, skipped))]))
        if number < written or (last and number == written):
            found.segments.append(end)
        found.ctas.append((first, len(found.segments)))
    return found


def _append(program: SliceProgram, other: SliceProgram) -> None:
    """Append another program."""
    by = len(program.segments)
    program.segments += other.segments
    while len(program.runs) < len(other.runs):
        program.runs.append([])
    for own, runs in zip(program.runs, other.runs, strict=False):
        own += [run.moved(by) for run in runs] if by else runs


def _mark(kind: int, detail: object) -> Operation:
    return Operation(kind, 0, (), -1, -1, 0.0, detail=detail)
