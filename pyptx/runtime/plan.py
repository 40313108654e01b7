"""What a launch is: computed once for a specialization, checked completely, then handed to a backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyptx._geometry import Dim3, check_geometry, dim3
from pyptx.ir.nodes import Function, Param

__all__ = ["Dim3", "LaunchPlan", "LaunchResult", "dim3"]


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """One launch of one entry.

    Attributes:
        smem_bytes: dynamic shared memory of a CTA, in bytes.
    """

    entry: Function
    grid: Dim3
    block: Dim3
    cluster: Dim3 = (1, 1, 1)
    smem_bytes: int = 0

    def __post_init__(self):
        check_geometry(self.entry, self.grid, self.block, self.cluster)

    @property
    def params(self) -> tuple[Param, ...]:
        """Parameters of the entry, in order."""
        return self.entry.params


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """What a launch gave.

    Attributes:
        backend: "sim" or "cuda".
        seconds: duration of the kernel; None when it was not measured. On the simulator: time of the simulation.
        counters: the simulator's counts per instruction, or None.
        findings: of the sanitizer; empty when it did not run.
        outputs: the arrays a call allocated or was given for the kernel's results.
    """

    backend: str
    seconds: float | None
    counters: Any = None
    findings: tuple = ()
    outputs: tuple = field(default=(), repr=False)
