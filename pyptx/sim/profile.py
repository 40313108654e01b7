"""Profiles of single clusters: instructions executed by each warp, and bytes accessed, beside the counters.

By default tensor core products are counted but not computed, so that a large product takes milliseconds. Control flow
that depends on results of a product then sees zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pyptx.errors import BackendError
from pyptx.sim.abi import Limit
from pyptx.sim.core import library
from pyptx.sim.core import parallel as core
from pyptx.sim.core.launch_arguments import ProfileArrays
from pyptx.sim.counters import Counters
from pyptx.sim.memory.address_space import Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program
from pyptx.sim.simulation import count_products, memory_of

__all__ = ["ClusterProfile", "ClusterProfiler"]


@dataclass(frozen=True, eq=False)
class ClusterProfile:
    """Profile of some clusters.

    Attributes:
        clusters: their numbers in the grid.
        counters: counters of all of them.
        issues: executions by (warp of a cluster, instruction); warps of the second CTA follow those of the first.
        named: by (warp of a cluster, instruction), a bit mask of the CTA barriers it arrived at.
        barriers: mbarriers that each instruction used, at most 16, as addresses in shared memory.
        free: instructions whose first wait for an mbarrier was for the phase before its first, which is complete.
        lines: 128-byte lines of accesses to global memory, by instruction.
        bank_passes: their passes over the banks of L1 beyond the minimum, by instruction, as `Counters.shared_conflicts`.
        wide_passes: by (instruction, width), the passes that its accesses to shared memory would take with 8, and with 16,
            bytes for each lane. ptxas merges narrower accesses. A pass serves half, or a quarter, of the lanes, and twice as
            many where lanes n and n ^ 1, or n and n ^ 2, of the warp read the same address.
        fresh_loads: by (instruction, kind), loads from global memory of a sector that the warp has not read recently, and those
            sectors; other sectors, and the lines of 128 bytes of the warp's loads since it has read those.
        masked_sectors: sectors that stores to global memory do not write, of lines of 128 bytes with a sector that they write
            in part, by instruction.
        atomic_turns: by (block of 512 bytes of global memory, modulo 512 KiB; kind), the sectors of atomic accesses, and
            their lanes beyond the first that name the word that most of a sector's lanes name.
        atomic_passes: passes over the banks of shared memory of atomic accesses, one for each lane of a bank, by instruction.
        buffers: names of the buffers that each instruction loads from, of the first `Limit.NAMED_SEGMENTS` of the launch.
        read, written: by name of a buffer, a bit per byte that was accessed, lowest bit first, padded to a multiple of
            8 bytes.
        returned: the same for the bytes read that these clusters wrote before they read them.
    """

    clusters: range
    counters: Counters
    issues: np.ndarray
    named: np.ndarray
    barriers: tuple[frozenset[int], ...]
    free: frozenset[int]
    lines: np.ndarray
    bank_passes: np.ndarray
    wide_passes: np.ndarray
    fresh_loads: np.ndarray
    masked_sectors: np.ndarray
    atomic_turns: np.ndarray
    atomic_passes: np.ndarray
    buffers: tuple[frozenset[str], ...]
    read: dict[str, np.ndarray]
    written: dict[str, np.ndarray]
    returned: dict[str, np.ndarray]


class ClusterProfiler:
    """A launch whose clusters can be run and profiled one by one.

    Args:
        as for `sim.launch`; arrays are written by the clusters that run.
        tensor_cores: as for `sim.launch`; by default products are counted, not computed.
    Raises:
        LaunchError: an argument or a size is invalid, or the C core of the simulator cannot be loaded.
    """

    plan: Plan
    program: Program

    def __init__(
        self,
        program: Program,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object],
        *,
        cluster: int | Sequence[int] = (1, 1, 1),
        smem_bytes: int = 0,
        reachable: Sequence[np.ndarray] = (),
        max_steps: int | None = None,
        tensor_cores: str = "none",
    ):
        problem = library.problem()
        if problem is not None:
            raise BackendError(f"profiling needs the simulator's C core, which is unavailable: {problem}")
        self.program = program
        self.plan = Plan.of(program, grid, block, cluster, smem_bytes, max_steps, tensor_cores=tensor_cores)
        self._params, self._segments = memory_of(program, args, program.symbols.copied_buffers(), reachable)

    @classmethod
    def over(cls, program: Program, plan: Plan, params: bytes, segments: Sequence[Segment]) -> ClusterProfiler:
        """Return the profiler of a launch whose parameter block and memory exist."""
        made = cls.__new__(cls)
        made.program, made.plan, made._params, made._segments = program, plan, params, list(segments)
        return made

    @property
    def buffers(self) -> dict[str, int]:
        """Sizes in bytes of the buffers in global memory, by name."""
        return {self._name(s): s.size for s in self._segments if s.space == "global"}

    def run(self, clusters: range) -> ClusterProfile:
        """Run these clusters, in order.

        Raises:
            SimulationError: as for `sim.launch`; also a deadlock if they wait for clusters that do not run.
        """
        profile = ProfileArrays.of(self.program, self.plan, self._segments, clusters)
        launch = core.prepare(self.program, self.plan, self._params, self._segments, 1, profile)
        counters = core.run_launch(launch, 1)
        counters = replace(counters, issues=profile.issues.sum(axis=0, dtype=np.uint64))
        count_products(self.program, counters)
        names = {id(s.buffer): self._name(s) for s in self._segments if s.space == "global"}
        ordered = [names.get(id(s.buffer)) for s in launch.segments]
        links = profile.links & 0x7FFFFFFF
        free = frozenset(map(int, np.flatnonzero((profile.links >> 31).any(axis=1))))
        barriers = tuple(frozenset(map(int, row[row > 0])) for row in links)
        return ClusterProfile(
            clusters,
            counters,
            profile.issues,
            profile.barriers,
            barriers,
            free,
            profile.lines,
            profile.bank_passes,
            profile.wide_passes,
            profile.fresh_loads,
            profile.masked_sectors,
            profile.atomic_turns,
            profile.atomic_passes,
            tuple(_named(int(bits), ordered) for bits in profile.read_segments),
            *(
                {names[key]: bits for key, bits in found.items()}
                for found in (profile.read, profile.written, profile.returned)
            ),
        )

    def _name(self, segment: Segment) -> str:
        same = [s for s in self._segments if s.buffer.name == segment.buffer.name]
        return segment.buffer.name if len(same) == 1 else f"{segment.buffer.name} at {segment.address:#x}"


def _named(bits: int, names: Sequence[str | None]) -> frozenset[str]:
    """Return the names of the segments whose bits are set; None is one that is no buffer."""
    return frozenset(name for k, name in enumerate(names[: Limit.NAMED_SEGMENTS]) if bits >> k & 1 and name is not None)
