"""The state of a debugged launch that is stopped between two instructions."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from pyptx._frozen import frozen
from pyptx.sim import abi, abi_structures
from pyptx.sim.abi import EventKind, Mark, Reason, Space
from pyptx.sim.core.engine import group_of
from pyptx.sim.core.launch_arguments import CoreLaunch
from pyptx.sim.faults import deadlocks
from pyptx.sim.plan import Plan

__all__ = ["EVENT", "AsyncOperation", "EventKind", "Mark", "Position", "Reason", "ResidentCta", "Space", "WatchedRange"]

EVENT = np.dtype(abi_structures.Event)


@frozen
class WatchedRange:
    """Bytes whose change stops the launch.

    `offset` is in the registers or the local memory of a warp, in the shared or tensor memory of a CTA, or a host address
    (Space.GLOBAL).
    """

    space: Space
    cta: int
    warp: int
    offset: int
    bytes: int


@frozen
class Position:
    """The next instruction to execute: its warp and lanes, and its number in the program."""

    cta: int
    warp: int
    instruction: int
    lanes: int


@frozen
class AsyncOperation:
    """An asynchronous operation in flight.

    Attributes:
        number: counts all operations issued.
        track: the counter that a wait for it names, one of abi.TRACKS; `group`: its group in that.
        stage: how many of its `stages` are complete.
        barrier: (CTA, shared-memory address) of the mbarrier it signals.
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


class _Machine(Protocol):
    """The part of core.debug.Machine that a resident CTA uses."""

    @property
    def launch(self) -> CoreLaunch: ...
    @property
    def plan(self) -> Plan: ...
    def inspect(self, what: str, into: ctypes.Structure, *at: int) -> bool: ...
    def instruction_of(self, op: int) -> int: ...


class ResidentCta:
    """A resident CTA; valid until the launch resumes.

    Attributes:
        id: its number in the grid.
        cluster, rank: its cluster and its rank in it.
        left: warps that have not exited.
        free_registers: registers left in its pool, for each thread of a warp (setmaxnreg).
    """

    def __init__(self, machine: _Machine, slot: int, info: abi_structures.CtaInfo):
        self._machine, self._slot, self._info = machine, slot, info
        self.id: int = info.id
        self.cluster: int = info.cluster
        self.rank: int = info.rank
        self.left: int = info.left
        self.free_registers: int = info.registers

    @property
    def shared(self) -> np.ndarray:
        """Its shared memory as bytes, from SHARED_START on."""
        return _bytes_at(self._info.shared, self._machine.plan.shared_bytes)

    @property
    def tensor(self) -> np.ndarray | None:
        """Its tensor memory, 128 lanes of 512 columns of 32 bits; None before the first allocation."""
        tensor = self._info.tensor
        return _bytes_at(tensor, 128 * 512 * 4).view(np.uint32).reshape(128, 512) if tensor else None

    @property
    def tensor_columns(self) -> list[tuple[int, int]]:
        """Allocated ranges of columns: first, and last + 1."""
        found: list[tuple[int, int]] = []
        for block in (k for k in range(16) if self._info.tensor_blocks >> k & 1):
            if found and found[-1][1] == 32 * block:
                found[-1] = found[-1][0], 32 * block + 32
            else:
                found.append((32 * block, 32 * block + 32))
        return found

    def special(self, row: int) -> int:
        """The value of a special register of the CTA, by its index in abi.CTA_SPECIALS."""
        return int(_bytes_at(self._info.specials + 128 * row, 4).view(np.uint32)[0])

    def live_lanes(self, warp: int) -> int:
        """The lanes of a warp that have not exited, one bit each."""
        return self._warp(warp).live

    def registers(self, warp: int) -> np.ndarray:
        """The registers of a warp as bytes; `register_offsets` locates each."""
        return _bytes_at(self._warp(warp).registers, self._machine.launch.code.reg_bytes)

    def local(self, warp: int) -> np.ndarray:
        """Local memory of a warp [lane][byte]."""
        info = self._warp(warp)
        return _bytes_at(info.local, 32 * info.local_bytes).reshape(32, info.local_bytes)

    def groups(self, warp: int) -> Iterator[deadlocks.Group]:
        """The groups of converged lanes of a warp, each with its instruction and what it waits for."""
        for g in range(32):
            if self._machine.inspect("group", info := abi_structures.GroupInfo(), self._slot, warp, g):
                yield group_of(self.id, warp, self._machine.instruction_of(info.op), info)

    def barriers(self) -> Iterator[tuple[int, int, int, int]]:
        """CTA barriers in use: number, warps arrived, warps expected, the thread count named (0: all)."""
        for number in range(16):
            if self._machine.inspect("barrier", info := abi_structures.BarrierInfo(), self._slot, number):
                yield number, info.arrived, info.expected, info.count

    def async_operations(self) -> Iterator[AsyncOperation]:
        """Asynchronous operations of its cluster in flight, in the order of issue."""
        number = 0
        while self._machine.inspect("async", info := abi_structures.AsyncInfo(), self._slot, number):
            yield AsyncOperation(
                info.serial,
                info.instr,
                info.cta,
                info.warp,
                info.lanes,
                abi.TRACKS[info.track],
                info.group,
                info.stage,
                info.stages,
                (info.barrier_cta, info.barrier) if info.signals else None,
                info.tx,
                info.arrivals,
            )
            number += 1

    def _warp(self, warp: int) -> abi_structures.WarpInfo:
        self._machine.inspect("warp", info := abi_structures.WarpInfo(), self._slot, warp)
        return info


def _bytes_at(address: int, size: int) -> np.ndarray:
    if not size:
        return np.zeros(0, np.uint8)
    return np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), np.uint8)
