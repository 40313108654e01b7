"""Launch plans and launch results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pyptx._frozen import frozen
from pyptx.ir.nodes import Function, Param
from pyptx.launch_config import Dim3, check_geometry, dim3

__all__ = ["Dim3", "LaunchPlan", "LaunchResult", "dim3"]


@frozen
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


@frozen
class LaunchResult:
    """Result of a launch.

    Attributes:
        backend: "sim" or "cuda".
        seconds: duration of the kernel, None when it was not measured; on the simulator, wall time of the simulation.
        counters: the simulator's counters for each PTX instruction, or None.
        findings: findings of the sanitizer; empty when it did not run.
        outputs: output arrays, allocated or passed as `out=`.
        host: address of the machine that ran it; None: this one.
        conditions: of a launch on another machine: "gpu", "simulated", "driver", "clock_hz", "temperature", "watts" and
            "throttled" as far as known, "bytes_sent", "bytes_received", and "queued_seconds" spent waiting for the GPU.
    """

    backend: str
    seconds: float | None
    counters: Any = None
    findings: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = field(default=(), repr=False)
    host: str | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        totals = self.counters.totals if self.counters is not None else {}
        return f"<LaunchResult: {', '.join([self._headline, *(f'{name}={n:,}' for name, n in totals.items())])}>"

    def _repr_html_(self) -> str:
        """Return the totals of the counters as a table."""
        from html import escape  # a millisecond, which most scripts do not need

        totals = self.counters.totals if self.counters is not None else {}
        rows = "".join(
            f"<tr><td style='text-align:left'>{name.replace('_', ' ')}</td><td>{n:,}</td></tr>"
            for name, n in totals.items()
        )
        return f"<table><caption>{escape(self._headline)}</caption>{rows}</table>"

    @property
    def _headline(self) -> str:
        """Backend, duration, and number of findings."""
        where = {"sim": "simulated", "cuda": "ran on the GPU"}.get(self.backend, self.backend)
        took = "" if self.seconds is None else f" in {self.seconds * 1e3:.3g} ms"
        if self.host is not None:
            simulated = f", {self.conditions.get('gpu')}" if self.conditions.get("simulated") else ""
            where += f" of {self.host}{simulated}" if self.backend == "cuda" else f" on {self.host}"
        return where + took + (f", {len(self.findings)} findings of the sanitizer" if self.findings else "")
