"""State of a launch: clusters, CTAs with shared memory and barriers, warps with groups of lanes, pending operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyptx.sim.counters import Counters
from pyptx.sim.memory.address_space import Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program

__all__ = [
    "ALL",
    "Barrier",
    "Cluster",
    "Cta",
    "Fault",
    "Frame",
    "Group",
    "Join",
    "Operation",
    "Run",
    "Runner",
    "Warp",
    "lanes_of",
]

ALL = 0xFFFFFFFF
READY, AT_BARRIER, PARKED, WAITING = "ready", "barrier", "parked", "waiting"
TRACKS = ("cp", "bulk", "wgmma", "tc", "tc_ld", "tc_st")


class Fault(Exception):
    """Fault of a lane: kind, lane, address and extra as in core.h; `text` is the message of a driver function."""

    def __init__(self, kind: str, lane: int, address: int = 0, extra: int = 0, text: str = ""):
        super().__init__(kind)
        self.kind, self.lane, self.address, self.extra, self.text = kind, lane, address, extra, text
        self.where: tuple[Cta, Warp, int] | None = None  # CTA, warp, instruction; None: the running ones


def lanes_of(mask: int) -> list[int]:
    """Return the lane numbers of a mask, ascending."""
    return [i for i in range(32) if mask >> i & 1]


@dataclass(eq=False, slots=True)
class Join:
    """Reconvergence point: the lanes that are expected and those that have arrived."""

    pc: int
    expected: int
    parent: Join | None
    frame: Frame | None
    arrived: int = 0


@dataclass(eq=False, slots=True)
class Frame:
    """Active call: the lanes that made it reconverge where they return, after the instruction `pc`.

    Attributes:
        parent, join: frame and reconvergence point of the lanes after the return.
        saved: registers of the caller, by index.
        slot: index in the warp's frames.
        size: bytes in the call stack of the warp.
    """

    pc: int
    expected: int
    parent: Frame | None
    join: Join | None
    saved: dict[int, list[int]]
    slot: int
    size: int
    arrived: int = 0


@dataclass(eq=False, slots=True)
class Group:
    """Lanes of a warp that run together."""

    pc: int
    mask: int
    join: Join | None
    frame: Frame | None = None
    state: str = READY
    barrier: int = 0
    again: bool = False  # it has waited and issues its instruction again


@dataclass(eq=False)
class Warp:
    """A warp with its registers, groups, reconvergence points and calls."""

    index: int
    live: int
    registers: list[list[int]]
    local: list[bytearray]
    groups: list[Group | None] = field(default_factory=lambda: [None] * 32)
    joins: list[Join] = field(default_factory=list)
    frames: list[Frame | None] = field(default_factory=list)
    free_frames: list[int] = field(default_factory=list)  # a heap of unused slots of `frames`
    stack_bytes: int = 0  # of all frames
    current: int = 0
    issued: int = 0
    committed: dict[str, list[int]] = field(default_factory=lambda: {track: [0] * 32 for track in TRACKS})
    cluster_here: int = 0  # lanes that arrived at the cluster barrier in this phase
    cluster_left: int = 0  # lanes that arrived and have not waited yet
    registers_held: int = 0  # per thread, 0: unknown (setmaxnreg)
    wanted: list[int] = field(default_factory=list)  # counts requested by each setmaxnreg so far

    def spawn(self, group: Group) -> None:
        """Add a group in the first free slot."""
        self.groups[self.groups.index(None)] = group

    def next_group(self) -> bool:
        """Make the next ready group current, the present one as a last choice; return whether there is one."""
        for k in range(1, 33):
            g = (self.current + k) % 32
            group = self.groups[g]
            if group is not None and group.state == READY:
                self.current = g
                return True
        return False

    def join_at(self, pc: int | None, group: Group) -> Join | None:
        """Return a reconvergence point at `pc` for the lanes of the group, the present one if it is there already."""
        if pc is None or (group.join is not None and group.join.pc == pc):
            return group.join
        join = Join(pc, group.mask, group.join, group.frame)
        self.joins.append(join)
        return join

    def split_off(self, group: Group, mask: int, pc: int) -> None:
        """Keep the lanes `mask` in the group; the others skip the instruction `pc` and reconverge behind it."""
        rest = group.mask & ~mask
        group.join = self.join_at(pc + 1, group)
        if group.join is not None and group.join.pc == pc + 1:
            group.join.arrived |= rest
        else:
            self.spawn(Group(pc + 1, rest, group.join, group.frame))
        group.mask = mask

    def settle_joins(self) -> None:
        """Resume the lanes at reconvergence points where all lanes that still run have arrived."""
        changed = True
        while changed:
            changed = False
            for join in list(self.joins):
                if not join.expected:
                    self.joins.remove(join)
                elif join.arrived == join.expected:
                    self.joins.remove(join)
                    self.spawn(Group(join.pc, join.arrived, join.parent, join.frame))
                    changed = True


@dataclass(eq=False)
class Barrier:
    """Phase of a CTA barrier; it counts warps."""

    count: int = 0
    used: bool = False
    arrived: int = 0
    popc: int = 0
    all: bool = True
    any: bool = False
    partial: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Cta:
    """A CTA; `left` of its warps have not exited."""

    id: int
    shared: bytearray
    warps: list[Warp]
    left: int
    specials: dict[str, int]
    next: int = 0
    barriers: list[Barrier] = field(default_factory=lambda: [Barrier() for _ in range(16)])
    cluster: Cluster = field(init=False)
    rank: int = 0
    base: int = 0  # base of its addresses in the shared window: rank << 24
    registers_free: int = 0
    turn: int = 0  # schedule="random": position in `order`
    order: list[int] = field(default_factory=list)  # order of the warps in this round
    tmem: object = None  # tmem.Tmem, once it is used


@dataclass(eq=False)
class Cluster:
    """CTAs that run together; a single one if the launch has no clusters."""

    id: int
    random: int  # state of the generator
    ctas: list[Cta]
    live: int
    idle: int = 0  # consecutive CTAs that made no progress
    arrived: bool = False  # a thread has arrived at the cluster barrier in this phase
    pending: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Run:
    """State that the warps of a launch share."""

    program: Program
    plan: Plan
    params: bytes
    segments: list[Segment]
    counters: Counters
    steps: int = 0
    next_cluster: int = 0
    landed: bool = False  # an operation completed in this turn
    specials: dict[tuple[str, int], list[int]] = field(default_factory=dict)


class Runner:
    """A warp while it runs, as the handlers of actions see it.

    Attributes:
        run, cta, warp: the launch, the CTA and the warp.
        pc: number of the running instruction.
        left: instructions until the end of the turn.
        turn_end: instructions that the warp will have issued at the end of the turn.
    """

    def __init__(self, run: Run, cta: Cta, warp: Warp):
        self.run, self.cta, self.warp = run, cta, warp
        self.pc = self.left = self.turn_end = 0


class Operation:
    """An asynchronous operation.

    Args:
        land: moves the data; called once per stage.
        lanes: mask of the lanes that started it.
        track: group mechanism it belongs to, of TRACKS; "" for none.
        after: tracks whose earlier operations of these lanes complete first.
        stages: stages of its completion: 2 if the source is read before the destination is written.
        at, barrier, tx, arrivals: mbarrier (CTA and offset) that it signals, with bytes and arrivals.
    Attributes:
        stage: stages that are done.
        group: group of the track.
        data: what `land` keeps between stages.
    """

    def __init__(
        self,
        runner: Runner,
        land: Callable[[Operation], None],
        lanes: int,
        *,
        track: str = "",
        after: frozenset[str] = frozenset(),
        stages: int = 1,
        at: Cta | None = None,
        barrier: int = 0,
        tx: int = 0,
        arrivals: int = 0,
    ):
        self.runner, self.pc, self.land, self.lanes = runner, runner.pc, land, lanes
        self.run, self.cta, self.warp = runner.run, runner.cta, runner.warp
        self.track, self.after, self.stages, self.stage, self.group = track, after, stages, 0, 0
        self.at, self.barrier, self.tx, self.arrivals = at, barrier, tx, arrivals
        self.data: Any = None

    def for_lanes(self, lanes: int, group: int) -> Operation:
        """Return the operation restricted to some of its lanes, in a group of its track."""
        other = object.__new__(Operation)
        other.__dict__.update(self.__dict__)
        other.lanes, other.group = lanes, group
        return other
