"""State of a replay: the memory system, warp slices, and results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.slice_program import SliceProgram

__all__ = ["UNITS", "Cta", "Memory", "Recorder", "ReplayResult", "SliceCycles", "SliceState", "Span", "Stall", "Turn"]

UNITS = ("issue", "fma", "alu", "mufu", "fp64", "shared", "tensor", "tma", "tmem", "l2", "dram")
Cta = tuple[int, int]  # (slot on the SMs, sequence number in that slot)
Turn = tuple[
    float, int, float, int
]  # (clock, order of the CTA, when the operation asked for its unit, slice): earliest first
Stall = tuple[int, str, int]  # (row of the waiting instruction, reason, row of the instruction it waits for or -1)


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory system as seen by one SM; rates in bytes per cycle.

    Attributes:
        port: rate to and from L2.
        dram: the SM's part of the DRAM rate.
        from_dram, to_dram: fraction of the read and written bytes that reach DRAM.
        backlog: fraction of the SM's DRAM queue that a read waits for.
        load_cycles: latency of a load.
        lead_cycles: cycles that data which another warp has requested before takes less, on average over all bytes from L2.
        copy_cycles: latency of a bulk copy until its mbarrier completes.
        remote_cycles: latency of an arrival at the mbarrier of another CTA of the cluster.
        store_cycles: time until a store has reached L2; a CTA keeps its slot until then.
    """

    port: float
    dram: float
    from_dram: float
    to_dram: float
    load_cycles: float
    copy_cycles: float
    remote_cycles: float = 0.0
    store_cycles: float = 0.0
    backlog: float = 1.0
    lead_cycles: float = 0.0


class Span(NamedTuple):
    """An interval in cycles: a wait of a warp slice, or a busy unit of an SM (`who` is -1 - SM). `what` is "" at the end
    of a slice."""

    who: int
    what: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class SliceCycles:
    """Cycles of one warp slice by instruction, skipped iterations included.

    Attributes:
        executions: row -> executions; each takes its issue cycle and its stall count.
        stalls: further cycles by row and reason.
        cycles: time until the slice is done, the sum of all of them.
    """

    executions: dict[int, float]
    stalls: dict[Stall, float]
    cycles: float


@dataclass
class ReplayResult:
    """Result of a replay.

    Attributes:
        cycles: time until the last slice is done.
        replayed: the same without skipped iterations and CTAs.
        drained: time until the last write has left as well.
        busy: unit -> busy cycles.
        stalls: reason of waits -> cycles, summed over the slices that compute.
        slices: cycles of each slice by instruction.
    """

    cycles: float = 0.0
    replayed: float = 0.0
    drained: float = 0.0
    busy: dict[str, float] = field(default_factory=lambda: dict.fromkeys(UNITS, 0.0))
    stalls: dict[str, float] = field(default_factory=dict)
    slices: list[SliceCycles] = field(default_factory=list)


class SliceState:
    """Progress of one warp slice."""

    __slots__ = (
        "asked",
        "at",
        "attributed",
        "computes",
        "cta",
        "delay",
        "ends",
        "executions",
        "extra",
        "groups",
        "marks",
        "misses",
        "now",
        "number",
        "operations",
        "order",
        "parts",
        "pending",
        "products",
        "program",
        "rank",
        "scoreboards",
        "segment",
        "stalls",
        "stored",
        "waited_rings",
        "waits",
    )

    def __init__(self, number: int, rank: int, cta: Cta, program: SliceProgram, delay: float = 0.0, start: float = 0.0):
        self.number, self.rank, self.cta, self.program, self.delay = number, rank, cta, program, delay
        self.segment, self.operations = 0, program.segments[0].operations if program.segments else ()
        self.at, self.now, self.extra = 0, start + delay, 0.0
        self.order, self.asked = (
            cta[0],
            0.0,
        )  # of the start of the CTA among those of the SM; time at which the slice began to wait for a unit
        self.scoreboards: list[tuple[float, str, int]] = [(0.0, "", -1)] * 6  # (clear at, why, set by row)
        self.attributed = 0.0  # time up to which cycles are attributed to instructions
        self.executions: dict[int, float] = defaultdict(float)
        self.stalls: dict[Stall, float] = defaultdict(float)
        self.misses = 1.0  # loads that were to wait for L2 or DRAM, and have not; the first one does
        self.parts: dict[str, float] = defaultdict(
            float
        )  # unit -> time at which the parts of it that the slice uses are free
        self.pending = 0.0  # completion of copies and stores not yet in a group
        self.stored = 0.0  # arrival of the last store in L2
        self.groups: list[float] = []  # completion of each such group
        self.products: list[float] = []  # completion of each group of wgmma products
        self.ends = 0.0  # completion of the last matrix product
        self.waits: dict[int, int] = {}  # ring -> number of phases waited for
        # chain -> start of the CTAs that stand for skipped ones, executions and stalls until then
        self.marks: dict[object, tuple[float, dict[int, float], dict[Stall, float]]] = {}
        self.waited_rings = frozenset(
            op.detail.number
            for one in program.executions
            for op in one.synchronizing
            if op.kind == OpKind.MBARRIER_WAIT
        )
        self.computes = False  # uses the main unit of the kernel, so its waits are reported
        self.attribute(-1, "start of the next CTA", self.now)

    @property
    def turn(self) -> Turn:
        """When it is the slice's turn."""
        return self.now, self.order, self.asked, self.number

    @property
    def over(self) -> bool:
        """True when all operations are done."""
        return self.at >= len(self.operations) and self.segment + 1 >= len(self.program.segments)

    def next_segment(self) -> bool:
        """Continue with the next segment of the program; return False at its end."""
        if self.segment + 1 >= len(self.program.segments):
            return False
        self.segment += 1
        self.operations, self.at = self.program.segments[self.segment].operations, 0
        return True

    def attribute(self, row: int, reason: str, until: float, cause: int = -1) -> None:
        """Attribute the cycles up to a time to a stall of an instruction.

        Args:
            row: the instruction.
            reason: why it waits.
            until: end of the stall.
            cause: row of the instruction it waits for.
        """
        if until > self.attributed:
            self.stalls[row, reason, cause] += until - self.attributed
            self.attributed = until

    def start_steady(self, chain: object) -> None:
        """Mark the start of the CTAs that stand for skipped ones."""
        if chain not in self.marks:
            self.marks[chain] = self.now + self.extra, dict(self.executions), dict(self.stalls)

    def skip(self, chain: object, ctas: float, skipped: float) -> None:
        """Extrapolate the CTAs since a mark to the skipped ones."""
        mark = self.marks.pop(chain, None)
        if mark is None or ctas <= 0:
            return
        factor = skipped / ctas
        self.extra += factor * (self.now + self.extra - mark[0])
        for row, times in self.executions.items():
            self.executions[row] += factor * (times - mark[1].get(row, 0.0))
        for stall, cycles in self.stalls.items():
            self.stalls[stall] += factor * (cycles - mark[2].get(stall, 0.0))

    def synchronization(self) -> Iterator[tuple[Cta, Operation, int]]:
        """Yield the operations on barriers and mbarriers, with the CTA each belongs to and its executions."""
        place, number = self.cta
        for k, (first, end) in enumerate(self.program.ctas):
            for segment, times in Counter(self.program.segments[first:end]).items():
                for op in segment.synchronizing:
                    yield (place, number + k), op, times


class Recorder:
    """Accumulates the result and an optional log of intervals."""

    def __init__(self, log: list[Span] | None):
        self.run, self.log = ReplayResult(), log
        self.skipped = 0.0  # cycles that stand for skipped iterations; intervals of the log do not contain them

    def occupy(self, rank: int, unit: str, start: float, cycles: float) -> None:
        """Record busy cycles of a unit."""
        self.run.busy[unit] += cycles
        if self.log is not None:
            self.log.append(Span(-1 - rank, unit, start - self.skipped, start + cycles - self.skipped))

    def stall(self, state: SliceState, why: str, start: float, end: float) -> None:
        """Record a stall of a slice; `why` is "" for its own fixed latencies."""
        if state.computes and why:
            self.run.stalls[why] = self.run.stalls.get(why, 0.0) + end - start
        self.wait(state, why or "fixed latencies", start, end)

    def wait(self, state: SliceState, what: str, start: float, end: float) -> None:
        """Log a wait without counting it."""
        if self.log is not None:
            self.log.append(Span(state.number, what, start - self.skipped, end - self.skipped))
