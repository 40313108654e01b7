"""Launch plans: the checked sizes of a launch, and the scheduling parameters that both engines share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

from pyptx.errors import ArgumentValueError
from pyptx.isa import targets
from pyptx.launch_config import Extent, check_geometry, choice, dim3, integer
from pyptx.sim.abi import SCHEDULES, TENSOR_CORES
from pyptx.sim.memory.address_space import SHARED_START
from pyptx.sim.program.program import Program

__all__ = ["SCHEDULES", "TENSOR_CORES", "UNLIMITED", "Plan"]

WARP_QUANTUM = 1024  # warp instructions in a turn of a warp
SPINNING_QUANTUM = 256  # the same if threads may wait for each other through memory
CTA_QUANTUM = 1 << 20  # warp instructions in a turn of a CTA
POLLING_QUANTUM = 8192  # the same if CTAs may wait for each other
RESIDENT = 1024  # maximum number of CTAs that run concurrently
RESIDENT_BYTES = 512 << 20
MAX_CLUSTER = 16  # CTAs
UNLIMITED = (1 << 63) - 1  # maximum number of steps of a launch without a limit


def _cluster(program: Program, cluster: tuple[int, int, int]) -> tuple[tuple[int, int, int], bool]:
    """Return the size of a cluster, and whether launch or kernel specify it.

    Raises:
        LaunchError: it contradicts .reqnctapercluster or .maxclusterrank of the kernel, or is too large.
    """
    directives = {
        d.name: [int(v) for v in d.values]
        for d in program.entry.directives
        if d.name in ("reqnctapercluster", "maxclusterrank")
    }
    explicit = cluster != (1, 1, 1)
    if required := directives.get("reqnctapercluster"):
        wanted = dim3(required, "reqnctapercluster")
        if explicit and cluster != wanted:
            raise ArgumentValueError(
                f"{program.entry.name}: cluster {cluster}, but the kernel requires .reqnctapercluster {wanted}"
            )
        cluster, explicit = wanted, True
    limit = min([MAX_CLUSTER, *directives.get("maxclusterrank", [])])
    if prod(cluster) > limit:
        raise ArgumentValueError(f"{program.entry.name}: a cluster of {prod(cluster)} CTAs; at most {limit}")
    return cluster, explicit


@dataclass(frozen=True)
class Plan:
    """Sizes of a launch in CTAs, threads and bytes, and its scheduling parameters."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_bytes: int
    shared_bytes: int  # static and dynamic
    cta_quantum: int
    warp_quantum: int
    resident: int
    yields: bool  # lanes that wait to reconverge may resume early
    max_steps: int
    tensor_cores: str = "fast"  # TENSOR_CORES
    schedule: str = "eager"  # SCHEDULES: when asynchronous operations complete
    seed: int = 0
    explicit_cluster: bool = False
    land_eagerly: frozenset[int] = frozenset()  # instructions whose asynchronous operations complete at issue
    initial_registers: frozenset[tuple[int, int]] = frozenset()  # (register of Program.undefined, initial word)
    initial_register_threads: tuple[int, int] = (
        0,
        (1 << 64) - 1,
    )  # first and last + 1 thread of the grid they apply to

    @classmethod
    def of(
        cls,
        program: Program,
        grid: Extent,
        block: Extent,
        cluster: Extent,
        dynamic_bytes: int,
        max_steps: int | None = None,
        *,
        tensor_cores: str = "fast",
        schedule: str = "eager",
        seed: int = 0,
        land_eagerly: Collection[int] = (),
        initial_registers: Mapping[int, int] = MappingProxyType({}),
        initial_register_threads: range | None = None,
    ) -> Plan:
        """Make the plan of a launch; the arguments are those of `sim.launch`.

        Raises:
            LaunchError: a size or an option is invalid for the kernel or its target.
        """
        ctas, threads = dim3(grid, "grid"), dim3(block, "block")
        tile, explicit = _cluster(program, dim3(cluster, "cluster"))
        check_geometry(program.entry, ctas, threads, tile)
        choice(schedule, "schedule", SCHEDULES)
        choice(tensor_cores, "tensor_cores", TENSOR_CORES)
        seed = integer(seed, "seed")
        max_steps = None if max_steps is None else integer(max_steps, "max_steps", 0)
        size = prod(tile)
        symbols = program.symbols
        static = symbols.shared_bytes
        target = targets.parse(program.module.target.targets[0])
        limit = target.shared_memory_limit
        if dynamic_bytes < 0 or static + dynamic_bytes > limit:
            whose = f" of {target}" if target.suffix else ""
            raise ArgumentValueError(
                f"{program.entry.name}: {static} static and {dynamic_bytes} dynamic bytes of shared "
                f"memory; a CTA{whose} has at most {limit} in total",
                hint="use fewer stages or smaller tiles",
            )
        polls = program.polls
        rows = len(symbols.registers) + symbols.local_bytes // 4 + 16
        state = static + dynamic_bytes + (prod(threads) + 31) // 32 * 128 * rows
        resident = max(1, min(RESIDENT, RESIDENT_BYTES // state) // size) * size if polls else size
        span = initial_register_threads
        return cls(
            ctas,
            threads,
            tile,
            dynamic_bytes,
            static + dynamic_bytes,
            POLLING_QUANTUM if polls or size > 1 else CTA_QUANTUM,
            SPINNING_QUANTUM if program.spins else WARP_QUANTUM,
            resident,
            program.spins,
            max_steps if max_steps is not None else UNLIMITED,
            tensor_cores=tensor_cores,
            schedule=schedule,
            seed=seed & (1 << 64) - 1,
            explicit_cluster=explicit,
            land_eagerly=frozenset(land_eagerly),
            initial_registers=frozenset(initial_registers.items()),
            initial_register_threads=(0, (1 << 64) - 1) if span is None else (span.start, span.stop),
        )

    @property
    def cluster_size(self) -> int:
        """CTAs per cluster."""
        return prod(self.cluster)

    @property
    def clusters(self) -> int:
        """Clusters of the grid."""
        return self.ctas // self.cluster_size

    def index_of(self, cluster: int, rank: int) -> tuple[int, int, int]:
        """Return the index in the grid of a CTA of a cluster."""
        at = []
        for size, own in zip(self.grid, self.cluster, strict=True):
            at.append(cluster % (size // own) * own + rank % own)
            cluster, rank = cluster // (size // own), rank // own
        return at[0], at[1], at[2]

    def cta_of(self, cluster: int, rank: int) -> int:
        """Return the linear index in the grid of a CTA of a cluster."""
        x, y, z = self.index_of(cluster, rank)
        return x + self.grid[0] * (y + self.grid[1] * z)

    @property
    def ctas(self) -> int:
        """CTAs of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps of a CTA."""
        return (self.threads + 31) // 32

    @property
    def shared_end(self) -> int:
        """End of the shared memory of a CTA."""
        return SHARED_START + self.shared_bytes
