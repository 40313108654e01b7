"""The shape of a launch, checked, and the constants of its schedule that both engines share."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx._geometry import check_geometry
from pyptx.errors import LaunchError
from pyptx.sim.memory import SHARED_START
from pyptx.sim.program import Program

__all__ = ["Plan"]

WARP_QUANTUM = 1024             # warp-instructions before the next warp has its turn
SPINNING_QUANTUM = 256          # and when threads may wait for each other through memory
CTA_QUANTUM = 1 << 20           # before the next CTA has, when CTAs cannot wait for each other
POLLING_QUANTUM = 8192          # and when they may
RESIDENT = 1024                 # CTAs that run at the same time at most
RESIDENT_BYTES = 512 << 20
MAX_SHARED = 232448             # bytes a CTA can have on the largest device


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
    tensor_cores: str = "fast"          # or "hw"

    @classmethod
    def of(cls, program: Program, grid, block, cluster, dynamic_bytes: int, max_steps: int | None) -> Plan:
        check_geometry(program.entry, grid, block, cluster)
        if cluster != (1, 1, 1):
            raise LaunchError(f"clusters are not simulated yet; cluster is {cluster}")
        threads = block[0] * block[1] * block[2]
        names = program.names
        static = names.shared_bytes
        if dynamic_bytes < 0 or static + dynamic_bytes > MAX_SHARED:
            raise LaunchError(f"{static} static and {dynamic_bytes} dynamic bytes of shared memory; "
                              f"at most {MAX_SHARED} in all")
        polls = program.polls
        rows = len(names.registers) + names.local_bytes // 4 + 16
        state = static + dynamic_bytes + (threads + 31) // 32 * 128 * rows
        resident = max(1, min(RESIDENT, RESIDENT_BYTES // state)) if polls else 1
        return cls(grid, block, cluster, dynamic_bytes, static + dynamic_bytes, POLLING_QUANTUM if polls
                   else CTA_QUANTUM,
                   SPINNING_QUANTUM if program.spins else WARP_QUANTUM, resident, program.spins,
                   max_steps if max_steps is not None else (1 << 63) - 1)

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
