"""A launch that stands between two instructions: what is there, and the words for it (core/debug.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from pyptx._value import value
from pyptx.sim.core.engine import STATES
from pyptx.sim.faults import deadlocks

__all__ = ["EVENT", "TRACKS", "Flight", "Happened", "Mark", "Reason", "Resident", "Space", "Spot", "Turn"]

TRACKS = ("cp.async", "bulk", "wgmma", "tcgen05", "tcgen05.ld", "tcgen05.st", "")    # what a wait counts it in

EVENT = np.dtype([("step", "<u8"), ("cta", "<u8"), *((n, "<u4") for n in ("kind", "warp", "instr", "lanes")),
                  ("a", "<u8"), ("b", "<u8")])


class Mark:
    """Bits of an instruction: stop there; not while a warp is followed; keep its executions."""

    STOP, PASS, LOG = 1, 2, 4


class Happened(IntEnum):
    """Kinds of events. `step` counts the warp-instructions begun before; `a` and `b`:

    RUN     a warp has its turn
    LEFT    it is over; a: bits, 1 can go on, 2 waits at a barrier, 4 for other lanes, 8 otherwise, 16 exited
    EXECUTED an instruction that is kept
    ISSUED  an asynchronous operation; a: its number, its track from bit 56 on; b: 0, or bit 63, CTA << 32 | mbarrier
    LANDED  a: its number; b: 1 when only its source was read so far
    WAITED  lanes found the phase b of a mbarrier over; a: CTA << 32 | mbarrier
    PHASE   a mbarrier comes to phase b; a: CTA << 32 | mbarrier
    STARTED, ENDED  a CTA; a: its cluster, b: its rank
    """

    RUN, LEFT, EXECUTED, ISSUED, LANDED, WAITED, PHASE, STARTED, ENDED = range(9)


class Reason(IntEnum):
    """Why a launch stopped."""

    NONE, STEP, WARP, OTHER, MARK, CHANGE, FOUND = range(7)


class Space(IntEnum):
    """Where the bytes of a Spot lie."""

    REGISTERS, SHARED, LOCAL, TENSOR, GLOBAL = range(5)


@value
class Spot:
    """Bytes whose change stops the launch: `offset` in the registers or the local memory of a warp, in the shared or
    tensor memory of a CTA; in host memory for global memory.
    """

    space: Space
    cta: int
    warp: int
    offset: int
    bytes: int


@value
class Turn:
    """The instruction that is next, and whose it is."""

    cta: int
    warp: int
    instruction: int
    lanes: int


@value
class Flight:
    """An asynchronous operation under way.

    Attributes:
        number: counts all that were started.       track: one of TRACKS; `group` in it.
        stage: how many of its `stages` are done.   barrier: (CTA, place in its shared memory) of the mbarrier it tells.
    """

    number: int
    instruction: int
    cta: int
    warp: int
    lanes: int
    track: str
    group: int
    stage: int
    stages: int
    barrier: tuple[int, int] | None
    bytes: int
    arrivals: int


class Resident:
    """A CTA that runs, as it is now; valid until the launch goes on.

    Attributes:
        id: its number in the grid.     cluster, rank: of its cluster.      left: warps that have not exited.
    """

    def __init__(self, machine: Any, slot: int, row: Sequence[int]):
        self._machine, self._slot = machine, slot
        self.id, self.cluster, self.rank, self.left, self.free_registers, self._shared, self._sregs, self._named, \
            self._tmem, self._tmem_used = row

    @property
    def shared(self) -> np.ndarray:
        """Its shared memory as bytes, from SHARED_START on."""
        return _bytes_at(self._shared, self._machine.plan.shared_bytes)

    @property
    def tensor(self) -> np.ndarray | None:
        """Its tensor memory, 128 lanes of 512 columns of 32 bits; None before the first allocation."""
        return _bytes_at(self._tmem, 128 * 512 * 4).view(np.uint32).reshape(128, 512) if self._tmem else None

    @property
    def tensor_columns(self) -> list[tuple[int, int]]:
        """Allocated columns: first, and behind the last."""
        found: list[tuple[int, int]] = []
        for block in (k for k in range(16) if self._tmem_used >> k & 1):
            if found and found[-1][1] == 32 * block:
                found[-1] = found[-1][0], 32 * block + 32
            else:
                found.append((32 * block, 32 * block + 32))
        return found

    def special(self, row: int) -> int:
        """What a special register of the CTA holds, by its place in CTA_ROWS."""
        return int(_bytes_at(self._sregs + 128 * row, 4).view(np.uint32)[0])

    def warp(self, warp: int) -> tuple[int, int, int]:
        """Of a warp: live lanes, the address of its registers on the host, that of its local memory."""
        out = self._machine.look("warp", 7, self._slot, warp)
        return out[3], out[0], out[2]

    def registers(self, warp: int) -> np.ndarray:
        """The registers of a warp as bytes; `places` says where each lies."""
        return _bytes_at(self.warp(warp)[1], self._machine.job.code.reg_bytes)

    def local(self, warp: int) -> np.ndarray:
        """Local memory of a warp's lanes [lane][byte]."""
        size = self._machine.job.scalars["local_bytes"]
        return _bytes_at(self.warp(warp)[2], 32 * size).reshape(32, size)

    def groups(self, warp: int) -> Iterator[deadlocks.Group]:
        """Lanes of a warp that are together, each with where it is and what it waits for."""
        for g in range(32):
            row = self._machine.look("group", 13, self._slot, warp, g)
            if row is not None:
                state, op, mask, *rest = row
                yield deadlocks.Group(self.id, warp, mask, self._machine.instruction_of(op), STATES[state], *rest)

    def barriers(self) -> Iterator[tuple[int, int, int, int]]:
        """Barriers of the CTA somebody has come to: number, warps that came, warps expected, the thread count named."""
        for number in range(16):
            row = self._machine.look("barrier", 3, self._slot, number)
            if row is not None:
                yield number, *row

    def flights(self) -> Iterator[Flight]:
        """Operations of its cluster under way, in the order they were started."""
        number = 0
        while (row := self._machine.look("async", 14, self._slot, number)) is not None:
            serial, instr, cta, warp, lanes, track, group, stage, stages, signals, at, barrier, tx, arrivals = row
            yield Flight(serial, instr, cta, warp, lanes, TRACKS[track], group, stage, stages,
                         (at, barrier) if signals else None, tx, arrivals)
            number += 1


def _bytes_at(address: int, size: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8) if size else np.zeros(0, np.uint8)
