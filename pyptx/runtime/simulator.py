"""The CPU simulator as a backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.errors import ArgumentTypeError
from pyptx.ir.nodes import Module
from pyptx.runtime.arrays import Placeholder, Runtime, staged_on_host
from pyptx.runtime.plan import LaunchPlan, LaunchResult
from pyptx.sim.prepared_launch import PreparedLaunch
from pyptx.sim.variables import ModuleVariables

__all__ = ["BACKEND"]


_OPTIONS = {
    name: p.default
    for name, p in signature(sim.launch).parameters.items()
    if p.kind is p.KEYWORD_ONLY and name not in ("cluster", "smem_bytes")
}


class SimulatorBackend:
    """Runs plans on the CPU."""

    name = "sim"
    options = frozenset(_OPTIONS)
    loads_machine_code = False
    staged = staticmethod(staged_on_host)

    def load(self, module: Module, entry: str, assemble: Callable[[str], Any]) -> sim.Program:
        return sim.load(module, entry)

    def variable(self, program: sim.Program, shared: Mapping[str, Any], name: str) -> SimulatedVariable:
        """Return the memory of a variable of the module whose entries share `shared`."""
        return SimulatedVariable(shared["sim"], name)

    def launch(
        self, program: sim.Program, plan: LaunchPlan, args: Sequence[Any], options: Mapping[str, Any]
    ) -> LaunchResult:
        """Run the program; NumPy arrays among the arguments are pointers, written in place."""
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise ArgumentTypeError(
                f"{plan.entry.name}: the sim backend has no option {', '.join(sorted(unknown))}; its options are "
                f"{', '.join(_OPTIONS)}"
            )
        result = sim.launch(
            program, plan.grid, plan.block, args, cluster=plan.cluster, smem_bytes=plan.smem_bytes, **options
        )
        return LaunchResult(self.name, result.seconds, result.counters, result.findings)

    def bind(
        self,
        program: sim.Program,
        plan: LaunchPlan,
        runtime: Runtime,
        placeholders: Sequence[Placeholder],
        values: Sequence[Any],
        maps: Sequence[Any],
        *,
        apart: int,
    ) -> BoundSimulation | None:
        """Return a function that repeats the launch on NumPy arrays; None for other arrays and for tensor maps."""
        if maps or runtime.arrays.package != "numpy":
            return None
        return BoundSimulation(PreparedLaunch(program, plan.grid, plan.block, plan.cluster, plan.smem_bytes), apart)


class SimulatedVariable:
    """Memory of a variable on the simulator."""

    def __init__(self, variables: ModuleVariables, name: str):
        self._variables, self._name = variables, name

    def read(self) -> np.ndarray:
        return self._variables.read(self._name)

    def write(self, data: np.ndarray) -> None:
        self._variables.write(self._name, data)


class BoundSimulation:
    """A prepared simulation that can be repeated with other arrays and values.

    Args:
        repeated: the prepared launch.
        apart: number of trailing arrays that must not overlap the others.
    """

    def __init__(self, repeated: PreparedLaunch, apart: int):
        self._repeated, self._apart = repeated, apart

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any], given: bool) -> LaunchResult | None:
        """Run; return None if the call must be bound again, for example when `given` outputs overlap inputs."""
        result = self._repeated.run(arrays, values, self._apart if given else 0)
        return None if result is None else LaunchResult("sim", result.seconds, result.counters, result.findings)


BACKEND = SimulatorBackend()
