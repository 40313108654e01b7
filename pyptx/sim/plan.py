"""The shape of a launch, checked, and the constants of its schedule that both engines share."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from pyptx._geometry import check_geometry, dim3
from pyptx.errors import LaunchError
from pyptx.isa import targets
from pyptx.sim.memory.spaces import SHARED_START
from pyptx.sim.program.program import Program

__all__ = ["Plan"]

WARP_QUANTUM = 1024             # warp-instructions before the next warp has its turn
SPINNING_QUANTUM = 256          # and when threads may wait for each other through memory
CTA_QUANTUM = 1 << 20           # before the next CTA has, when CTAs cannot wait for each other
POLLING_QUANTUM = 8192          # and when they may
RESIDENT = 1024                 # CTAs that run at the same time at most
RESIDENT_BYTES = 512 << 20
MAX_SHARED = 232448             # bytes a CTA can have on the largest device


SCHEDULES = ("eager", "late", "random")
TENSOR_CORES = ("fast", "hw", "none")           # none: their work is counted and not done
MAX_CLUSTER = 16                # CTAs


def _cluster(program: Program, cluster: tuple[int, int, int]) -> tuple[tuple[int, int, int], bool]:
    """The size of a cluster, and whether launch or kernel gives it.

    Raises:
        LaunchError: the launch and the kernel's .reqnctapercluster or .maxclusterrank differ, or it is too large.
    """
    directives = {d.name: [int(v) for v in d.values] for d in program.entry.directives
                  if d.name in ("reqnctapercluster", "maxclusterrank")}
    explicit = cluster != (1, 1, 1)
    if required := directives.get("reqnctapercluster"):
        wanted = dim3(required, "reqnctapercluster")
        if explicit and cluster != wanted:
            raise LaunchError(f"{program.entry.name}: cluster {cluster}, but the kernel requires "
                              f".reqnctapercluster {wanted}")
        cluster, explicit = wanted, True
    most = min([MAX_CLUSTER, *directives.get("maxclusterrank", [])])
    if prod(cluster) > most:
        raise LaunchError(f"{program.entry.name}: a cluster of {prod(cluster)} CTAs; at most {most}")
    return cluster, explicit


@dataclass(frozen=True)
class Plan:
    """Sizes of a launch in CTAs, threads and bytes, and how turns are taken."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_bytes: int
    shared_bytes: int                   # static and dynamic
    cta_quantum: int
    warp_quantum: int
    resident: int
    yields: bool                        # lanes that wait for others of their warp go on when these take long
    max_steps: int
    tensor_cores: str = "fast"          # TENSOR_CORES
    schedule: str = "eager"             # when asynchronous operations land: SCHEDULES
    seed: int = 0
    explicit_cluster: bool = False
    prompt: frozenset[int] = frozenset()        # instructions whose asynchronous operations land at once
    left: frozenset[tuple[int, int]] = frozenset()      # of registers of Program.undefined, the word each begins with
    left_threads: tuple[int, int] = (0, 0)      # in these threads, counted over the grid, up to the second

    @classmethod
    def of(cls, program: Program, grid, block, cluster, dynamic_bytes: int, max_steps: int | None,
           schedule: str = "eager", seed: int = 0) -> Plan:
        cluster, explicit = _cluster(program, cluster)
        check_geometry(program.entry, grid, block, cluster)
        if schedule not in SCHEDULES:
            raise LaunchError(f"schedule {schedule!r}; expected {', '.join(map(repr, SCHEDULES))}")
        size = prod(cluster)
        threads = block[0] * block[1] * block[2]
        names = program.names
        static = names.shared_bytes
        target = targets.parse(program.module.target.targets[0])
        most = target.limits.smem_per_cta if target.suffix else MAX_SHARED      # without one it runs on later GPUs, too
        if dynamic_bytes < 0 or static + dynamic_bytes > most:
            whose = f" of {target}" if target.suffix else ""
            raise LaunchError(f"{program.entry.name}: {static} static and {dynamic_bytes} dynamic bytes of shared "
                              f"memory; a CTA{whose} has at most {most} in all", hint="fewer stages, or smaller tiles")
        polls = program.polls
        rows = len(names.registers) + names.local_bytes // 4 + 16
        state = static + dynamic_bytes + (threads + 31) // 32 * 128 * rows
        resident = max(1, min(RESIDENT, RESIDENT_BYTES // state) // size) * size if polls else size
        return cls(grid, block, cluster, dynamic_bytes, static + dynamic_bytes,
                   POLLING_QUANTUM if polls or size > 1 else CTA_QUANTUM,
                   SPINNING_QUANTUM if program.spins else WARP_QUANTUM, resident, program.spins,
                   max_steps if max_steps is not None else (1 << 63) - 1, schedule=schedule, seed=seed & (1 << 64) - 1,
                   explicit_cluster=explicit)

    @property
    def cluster_size(self) -> int:
        return prod(self.cluster)

    @property
    def clusters(self) -> int:
        return self.ctas // self.cluster_size

    def place_of(self, cluster: int, rank: int) -> tuple[int, int, int]:
        """Where in the grid a CTA of a cluster is."""
        at = []
        for size, own in zip(self.grid, self.cluster, strict=True):
            at.append(cluster % (size // own) * own + rank % own)
            cluster, rank = cluster // (size // own), rank // own
        return at[0], at[1], at[2]

    def cta_of(self, cluster: int, rank: int) -> int:
        """Its number in the grid."""
        x, y, z = self.place_of(cluster, rank)
        return x + self.grid[0] * (y + self.grid[1] * z)

    @property
    def ctas(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        return (self.threads + 31) // 32

    @property
    def shared_end(self) -> int:
        return SHARED_START + self.shared_bytes
