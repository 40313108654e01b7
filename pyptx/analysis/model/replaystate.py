"""What the replay of an SM knows at a time: its memory system, its teams of warps, the phases of its rings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyptx.analysis.model.steps import Operation

__all__ = ["UNITS", "Memory", "Phases", "Run", "Span", "Team"]

UNITS = ("issue", "fma", "alu", "mufu", "fp64", "shared", "tensor", "tma", "tmem", "l2", "dram")


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

    __slots__ = ("about", "at", "computes", "copies", "ends", "extra", "groups", "marks", "now", "number", "operations",
                 "pending", "products", "rank", "scoreboards", "turns", "uses", "waits")

    def __init__(self, number: int, rank: int, operations: Sequence[Operation]):
        self.number, self.rank, self.operations = number, rank, operations
        self.at, self.now, self.extra = 0, 0.0, 0.0
        self.scoreboards: list[tuple[float, str]] = [(0.0, "")] * 6
        self.pending = 0.0                      # when the copies and stores not yet in a group are done
        self.groups: list[float] = []           # when each group of them is
        self.products: list[float] = []         # when each group of matrix products is
        self.ends = 0.0                         # of the newest product of tcgen05
        self.waits: dict[int, int] = {}         # ring -> phases waited for
        self.uses: dict[object, int] = {}       # barrier -> times
        self.marks: dict[int, float] = {}
        self.turns: frozenset[int] = frozenset()        # rings that it waits for
        self.computes = False                   # on the unit that the kernel is about, so that its waits matter


class Phases:
    """Phases of one ring of one CTA."""

    __slots__ = ("done", "expects", "given", "parts", "sleepers")

    def __init__(self):
        self.parts: dict[int, int] = {}         # team -> completions it gives to a phase
        self.given: dict[int, int] = {}         # team -> completions so far
        self.done: list[float] = []             # when each phase is over, as far as is known
        self.expects = 1
        self.sleepers: list[tuple[Team, int]] = []
