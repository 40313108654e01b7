"""Launch plans and launch results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyptx.ir.nodes import Function, Param
from pyptx.launch_config import Dim3, check_geometry, dim3

__all__ = ["Dim3", "LaunchPlan", "LaunchResult", "dim3"]


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """Validated launch configuration of one entry.

    Attributes:
        smem_bytes: dynamic shared memory of a CTA, in bytes.
    """

    entry: Function
    grid: Dim3
    block: Dim3
    cluster: Dim3 = (1, 1, 1)
    smem_bytes: int = 0

    def __post_init__(self) -> None:
        check_geometry(self.entry, self.grid, self.block, self.cluster)

    @property
    def params(self) -> tuple[Param, ...]:
        """Parameters of the entry, in order."""
        return self.entry.params


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """Result of a launch.

    Attributes:
        backend: "sim" or "cuda".
        seconds: duration of the kernel, None when it was not measured; on the simulator, wall time of the simulation.
        counters: the simulator's counters for each PTX instruction, or None.
        findings: findings of the sanitizer; empty when it did not run.
        outputs: output arrays, allocated or passed as `out=`.
    """

    backend: str
    seconds: float | None
    counters: Any = None
    findings: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = field(default=(), repr=False)
