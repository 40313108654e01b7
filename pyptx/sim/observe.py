"""Run some clusters of a launch and keep more than the counters: what each warp executed, which bytes were touched.

Nothing is computed on tensor cores unless asked for: their work is counted all the same, and a large product is
observed in milliseconds. What a kernel decides by the results of a product is then decided by zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pyptx._geometry import dim3
from pyptx.errors import LaunchError
from pyptx.sim.core import engine as core
from pyptx.sim.core import library
from pyptx.sim.counters import Counters
from pyptx.sim.launch import count_products, memory_of
from pyptx.sim.memory.spaces import Segment
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program

__all__ = ["Observed", "Observer"]


@dataclass(frozen=True, eq=False)
class Observed:
    """What some clusters did.

    Attributes:
        clusters: their numbers in the grid.
        counters: per instruction, of all of them.
        issues: executions by (warp of a cluster, instruction); warps of the second CTA follow those of the first.
        named: by (warp of a cluster, instruction): bits of the CTA's barriers that it came to.
        barriers: the mbarriers each instruction worked on, at most 16, as addresses in shared memory.
        free: instructions whose first wait for an mbarrier was for the phase before its first, which is over.
        read, written: by the name of a buffer, the bits of its bytes that were touched, lowest bit first; a multiple
            of 8 bytes long.
    """

    clusters: range
    counters: Counters
    issues: np.ndarray
    named: np.ndarray
    barriers: tuple[frozenset[int], ...]
    free: frozenset[int]
    read: dict[str, np.ndarray]
    written: dict[str, np.ndarray]


class Observer:
    """A launch of which clusters can be run one by one.

    Args:
        as of sim.launch; arrays are written by the clusters that run.
        tensor_cores: "none", or what they compute as in sim.launch.
    Raises:
        LaunchError: an argument or a size is wrong; the C core of the simulator cannot be loaded.
    """

    def __init__(self, program: Program, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[object],
                 *, cluster: int | Sequence[int] = (1, 1, 1), smem_bytes: int = 0, max_steps: int | None = None,
                 tensor_cores: str = "none"):
        problem = library.problem()
        if problem is not None:
            raise LaunchError(f"work is counted by the simulator core, which cannot be used: {problem}")
        plan = Plan.of(program, dim3(grid, "grid"), dim3(block, "block"), dim3(cluster, "cluster"), smem_bytes,
                       max_steps)
        self.program, self.plan = program, replace(plan, tensor_cores=tensor_cores)
        self._params, self._segments = memory_of(program, args, [v.buffer for v in program.names.globals])

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes of each buffer of global memory, by name."""
        return {self._name(s): s.size for s in self._segments if s.space == "global"}

    def run(self, clusters: range) -> Observed:
        """Run these clusters, in order.

        Raises:
            SimulationError: as of sim.launch; "deadlock" also when they wait for clusters that do not run.
        """
        seen = core.Seen.of(self.program, self.plan, self._segments, clusters)
        counters = core.run(self.program, self.plan, self._params, self._segments, 1, seen)
        counters = replace(counters, issues=seen.issues.sum(axis=0, dtype=np.uint64))
        count_products(self.program, counters)
        names = {id(s.buffer): self._name(s) for s in self._segments if s.space == "global"}
        links = seen.links & 0x7FFFFFFF
        free = frozenset(map(int, np.flatnonzero((seen.links >> 31).any(axis=1))))
        barriers = tuple(frozenset(map(int, row[row > 0])) for row in links)
        return Observed(clusters, counters, seen.issues, seen.named, barriers, free,
                        {names[key]: bits for key, bits in seen.read.items()},
                        {names[key]: bits for key, bits in seen.written.items()})

    def _name(self, segment: Segment) -> str:
        same = [s for s in self._segments if s.buffer.name == segment.buffer.name]
        return segment.buffer.name if len(same) == 1 else f"{segment.buffer.name} at {segment.address:#x}"
