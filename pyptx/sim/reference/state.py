"""State of a run: warps with their groups of lanes, CTAs with their shared memory and barriers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pyptx.sim.counters import Counters
from pyptx.sim.memory.spaces import Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program

__all__ = ["ALL", "Barrier", "Cluster", "Cta", "Fault", "Frame", "Group", "Join", "Run", "Warp", "lanes_of"]

ALL = 0xFFFFFFFF
READY, AT_BARRIER, PARKED, WAITING = "ready", "barrier", "parked", "waiting"
TRACKS = ("cp", "bulk", "wgmma", "tc", "tc_ld", "tc_st")


class Fault(Exception):
    """A lane did what traps: kind, lane, address, extra as in core.h; what happened in words where only it knows."""

    def __init__(self, kind: str, lane: int, address: int = 0, extra: int = 0, text: str = ""):
        super().__init__(kind)
        self.kind, self.lane, self.address, self.extra, self.text = kind, lane, address, extra, text
        self.where: tuple[Cta, Warp, int] | None = None         # CTA, warp, instruction; None: those that run


def lanes_of(mask: int) -> list[int]:
    """Lane numbers of a mask, ascending."""
    return [i for i in range(32) if mask >> i & 1]


@dataclass(eq=False, slots=True)
class Join:
    """Where lanes meet again: `expected` of them, `arrived` so far."""

    pc: int
    expected: int
    parent: Join | None
    frame: Frame | None
    arrived: int = 0


@dataclass(eq=False, slots=True)
class Frame:
    """A call that runs: the lanes that made it meet again where they return, behind the instruction `pc`.

    `parent` and `join` are the frame and the meeting point they have then; `kept` the caller's registers, by index.
    """

    pc: int
    expected: int
    parent: Frame | None
    join: Join | None
    kept: dict[int, list[int]]
    arrived: int = 0


@dataclass(eq=False, slots=True)
class Group:
    """Lanes of a warp at one place."""

    pc: int
    mask: int
    join: Join | None
    frame: Frame | None = None
    state: str = READY
    barrier: int = 0
    again: bool = False                 # it waited, and asks again


@dataclass(eq=False)
class Warp:
    index: int
    live: int
    registers: list[list[int]]
    local: list[bytearray]
    groups: list[Group | None] = field(default_factory=lambda: [None] * 32)
    joins: list[Join] = field(default_factory=list)
    frames: list[Frame | None] = field(default_factory=list)
    current: int = 0
    issued: int = 0
    committed: dict[str, list[int]] = field(default_factory=lambda: {track: [0] * 32 for track in TRACKS})
    cluster_here: int = 0               # lanes that came to the cluster barrier in this phase
    cluster_left: int = 0               # and that have not waited yet
    registers_held: int = 0             # of a thread, 0: unknown (setmaxnreg)
    wanted: list[int] = field(default_factory=list)     # what each setmaxnreg so far asked for

    def spawn(self, group: Group) -> None:
        """Put a group into the first free place."""
        self.groups[self.groups.index(None)] = group

    def next_group(self) -> bool:
        """Make the next ready group current, the present one considered last."""
        for k in range(1, 33):
            g = (self.current + k) % 32
            group = self.groups[g]
            if group is not None and group.state == READY:
                self.current = g
                return True
        return False

    def join_at(self, pc: int | None, group: Group) -> Join | None:
        """A new place to meet for all lanes of the group, unless it already meets there."""
        if pc is None or (group.join is not None and group.join.pc == pc):
            return group.join
        join = Join(pc, group.mask, group.join, group.frame)
        self.joins.append(join)
        return join


@dataclass(eq=False)
class Barrier:
    """A CTA barrier in one phase; it counts warps."""

    count: int = 0
    used: bool = False
    arrived: int = 0
    popc: int = 0
    all: bool = True
    any: bool = False
    partial: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Cta:
    id: int
    shared: bytearray
    warps: list[Warp]
    left: int
    specials: dict[str, int]
    next: int = 0
    barriers: list[Barrier] = field(default_factory=lambda: [Barrier() for _ in range(16)])
    cluster: Cluster | None = None
    rank: int = 0
    base: int = 0                       # of its addresses in the shared window: rank << 24
    registers_free: int = 0
    turn: int = 0                       # schedule=random: warps have their turns in this order
    order: list[int] = field(default_factory=list)
    tmem: object = None                 # tmem.Tmem; none allocated so far


@dataclass(eq=False)
class Cluster:
    """CTAs that run together; one where a launch has no clusters."""

    id: int
    random: int                         # state of the generator
    ctas: list[Cta]
    live: int
    idle: int = 0                       # CTAs that could do nothing, one after the other
    came: bool = False                  # somebody has come to its barrier in this phase
    pending: list = field(default_factory=list)


@dataclass(eq=False)
class Run:
    """What the warps of a launch share."""

    program: Program
    plan: Plan
    params: bytes
    segments: list[Segment]
    counters: Counters
    steps: int = 0
    next_cluster: int = 0
    landed: bool = False                # something happened beside instructions in this turn
    place_specials: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)
