"""What the replay of an SM knows at a time: its memory system, its teams of warps, and what came out so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyptx.analysis.model.steps import Kind, Operation

__all__ = ["UNITS", "Cta", "Memory", "Record", "Run", "Span", "Team"]

UNITS = ("issue", "fma", "alu", "mufu", "fp64", "shared", "tensor", "tma", "tmem", "l2", "dram")
Cta = tuple[int, int]                           # its place on the SMs, and the how manieth there


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory system as one SM has it: bytes a clock and cycles.

    Attributes:
        port: bytes a clock from and to L2.         dram: share of DRAM's rate.
        from_dram: share of what is read that DRAM delivers; to_dram the same of what is written.
        load_cycles: from a load to its result; copy_cycles: from a bulk copy to its mbarrier.
        remote_cycles: from an arrival to the mbarrier of another CTA of the cluster.
    """

    port: float
    dram: float
    from_dram: float
    to_dram: float
    load_cycles: float
    copy_cycles: float
    remote_cycles: float = 0.0


class Span(NamedTuple):
    """A wait of a team, or (`who` is -1 - SM) a unit of an SM at work; cycles. `what` is "" where a team ends."""

    who: int
    what: str
    start: float
    end: float


@dataclass
class Run:
    """What came out.

    Attributes:
        cycles: until the last team is done; replayed: the same without what was left out of long loops.
        drained: until the last write has left, too.
        busy: unit -> cycles it worked.
        lost: what teams waited for -> cycles, summed over teams that compute.
    """

    cycles: float = 0.0
    replayed: float = 0.0
    drained: float = 0.0
    busy: dict[str, float] = field(default_factory=lambda: dict.fromkeys(UNITS, 0.0))
    lost: dict[str, float] = field(default_factory=dict)


class Team:
    """Where a team is."""

    __slots__ = ("at", "computes", "cta", "ends", "extra", "groups", "marks", "now", "number", "operations", "pending",
                 "products", "rank", "scoreboards", "turns", "waits")

    def __init__(self, number: int, rank: int, cta: Cta, operations: Sequence[Operation]):
        self.number, self.rank, self.cta, self.operations = number, rank, cta, operations
        self.at, self.now, self.extra = 0, 0.0, 0.0
        self.scoreboards: list[tuple[float, str]] = [(0.0, "")] * 6
        self.pending = 0.0                      # when the copies and stores not yet in a group are done
        self.groups: list[float] = []           # when each group of them is
        self.products: list[float] = []         # when each group of matrix products is
        self.ends = 0.0                         # of the newest product of tcgen05
        self.waits: dict[int, int] = {}         # ring -> phases waited for
        self.marks: dict[int, float] = {}       # loop -> when the turns that stand for those left out began
        self.turns = frozenset(op.about.number for op in operations if op.kind == Kind.RING_WAIT and op.about)
        self.computes = False                   # on the unit that the kernel is about, so that its waits matter

    @property
    def over(self) -> bool:
        return self.at >= len(self.operations)

    def way(self) -> Iterator[tuple[Cta, Operation]]:
        """All its operations, with the CTA each belongs to."""
        place, number = self.cta
        for op in self.operations:
            if op.kind == Kind.NEXT:
                number += 1
            else:
                yield (place, number), op


class Record:
    """The result as it grows, and what happened, for whoever asked for a log."""

    def __init__(self, log: list[Span] | None):
        self.run, self.log = Run(), log

    def works(self, rank: int, unit: str, start: float, cycles: float) -> None:
        """A unit of an SM is at work."""
        self.run.busy[unit] += cycles
        if self.log is not None:
            self.log.append(Span(-1 - rank, unit, start, start + cycles))

    def loses(self, team: Team, why: str, start: float, end: float) -> None:
        """A team waits; why: "" for its own fixed latencies."""
        if team.computes and why:
            self.run.lost[why] = self.run.lost.get(why, 0.0) + end - start
        self.waits(team, why or "fixed latencies", start, end)

    def waits(self, team: Team, what: str, start: float, end: float) -> None:
        """A wait that counts for nothing, or has been counted."""
        if self.log is not None:
            self.log.append(Span(team.number, what, start, end))
