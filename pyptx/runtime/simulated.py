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
from pyptx.sim.repeated import Repeated

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
             values: Sequence[Any], maps: Sequence[Any], *, apart: int) -> BoundRun | None:
        """What runs the plan again over NumPy arrays; None for others, and where tensor maps are parameters."""
        if maps or runtime.arrays.package != "numpy":
            return None
        return BoundRun(Repeated(program, plan.grid, plan.block, plan.cluster, plan.smem_bytes), apart)


class BoundRun:
    """Runs a plan again.

    Args:
        apart: how many of the last arrays may not overlap the others.
    """

    def __init__(self, repeated: Repeated, apart: int):
        self._repeated, self._apart = repeated, apart

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any], given: bool) -> LaunchResult | None:
        """Run; None when the call must be looked at anew, as where the outputs were `given` and overlap others."""
        if given and self._apart and _overlap(arrays, len(arrays) - self._apart):
            return None
        result = self._repeated.run(arrays, values)
        return None if result is None else LaunchResult("sim", result.seconds, result.counters, result.seen)


def _overlap(arrays: Sequence[Any], first: int) -> bool:
    """Whether one of the arrays from `first` on shares memory with one before it."""
    ends = [(start := array.__array_interface__["data"][0], start + array.nbytes) for array in arrays]
    return any(ends[k][0] < end and start < ends[k][1] for k in range(first, len(ends)) for start, end in ends[:k])


BACKEND = Simulated()
