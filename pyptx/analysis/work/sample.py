"""Simulated counts of a launch, from the whole grid or from a few clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from pyptx.analysis.work.footprint import Footprint
from pyptx.runtime import LaunchPlan
from pyptx.sim import ClusterProfile, Program

__all__ = ["InstructionTotals", "Position", "Sample", "executed_of", "line_access", "wide_passes"]

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


def line_access(observed: ClusterProfile) -> np.ndarray:
    """Return lines and passes over banks of one request, by instruction."""
    requests = np.maximum(1, observed.counters.global_requests).astype(np.float64)
    return np.stack([observed.lines, observed.bank_passes]) / requests


def wide_passes(observed: ClusterProfile) -> np.ndarray:
    """Return the passes of one access to shared memory with 8 bytes for each lane, and with 16, by instruction."""
    return (observed.wide_passes / executed_of(observed)[:, None]).T


def executed_of(observed: ClusterProfile) -> np.ndarray:
    """Return the executions of each instruction with an active lane, 1 at least."""
    counters = observed.counters
    return np.maximum(1, np.minimum(counters.issues, counters.lanes)).astype(np.float64)
