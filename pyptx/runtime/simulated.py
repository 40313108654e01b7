"""The CPU simulator as a backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from pyptx import sim
from pyptx.errors import LaunchError
from pyptx.ir.nodes import Module
from pyptx.runtime.arrays import Runtime, StandIn, on_the_host
from pyptx.runtime.plan import LaunchPlan, LaunchResult

__all__ = ["BACKEND"]


_OPTIONS = {name: p.default for name, p in signature(sim.launch).parameters.items()
            if p.kind is p.KEYWORD_ONLY and name not in ("cluster", "smem_bytes")}


class Simulated:
    """Runs plans on the CPU."""

    name = "sim"
    staged = staticmethod(on_the_host)

    def load(self, module: Module, entry: str, assemble: Callable[[str], Any]) -> sim.Program:
        return sim.load(module, entry)

    def launch(self, program: sim.Program, plan: LaunchPlan, args: Sequence[Any],
               options: Mapping[str, Any]) -> LaunchResult:
        """Run the program; NumPy arrays among the arguments are pointers, written in place."""
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise LaunchError(f"{plan.entry.name}: the sim backend has no option {', '.join(sorted(unknown))}; it has "
                              f"{', '.join(_OPTIONS)}")
        result = sim.launch(program, plan.grid, plan.block, args, cluster=plan.cluster, smem_bytes=plan.smem_bytes,
                            **options)
        return LaunchResult(self.name, result.seconds, result.counters, result.seen)

    def bind(self, program: sim.Program, plan: LaunchPlan, runtime: Runtime, stand_ins: Sequence[StandIn],
             values: Sequence[Any], maps: Sequence[Any], *, apart: int) -> None:
        """Nothing: beside a simulation, looking at a call costs nothing."""


BACKEND = Simulated()
