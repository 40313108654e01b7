"""Repeated runs of one launch, each on fresh copies of the arrays that the kernel writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.check.argument_copies import array_behind, copy_arguments, host_array
from pyptx.check.differences import first_difference
from pyptx.check.written_arrays import expected_writes, forget_writes, learn_writes
from pyptx.errors import SimulationError
from pyptx.runtime import LaunchPlan
from pyptx.sim.counters import Counters
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.sim.memory.pointers import POINTERS
from pyptx.sim.sanitizer import AccessFinding

__all__ = ["Outcome", "Runner", "Schedule"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule of asynchronous operations and warps, with the seed of a random one."""

    kind: str
    seed: int = 0

    def __str__(self) -> str:
        return f"random (seed {self.seed})" if self.kind == "random" else self.kind


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The outcome of a run: arrays by parameter, counters or the error that ended it, findings of the sanitizer.

    Attributes:
        synchronization: a hash of how the threads synchronized, as `synchronizations` of `sim.launch`.
        race_free: the sanitizer found every two conflicting accesses ordered.
    """

    arrays: Mapping[str, np.ndarray]
    counters: Counters | None = None
    error: SimulationError | None = None
    access_findings: tuple[AccessFinding, ...] = ()
    synchronization: int = 0
    race_free: bool = False

    def sharing(self, first: Outcome) -> Outcome:
        """Return the outcome with the arrays of an earlier one, whose memory they then share, if both are equal."""
        if self.error is not None or first.error is not None:
            return self
        equal = all(first_difference(array, first.arrays[name]) is None for name, array in self.arrays.items())
        return replace(self, arrays=first.arrays) if equal else self


@dataclass(frozen=True, slots=True, eq=False)
class Runner:
    """A launch that can be repeated; `names` are the parameters of `args`, `results` those that are uninitialized."""

    program: sim.Program
    plan: LaunchPlan
    args: Sequence[Any]
    names: Sequence[str]
    settings: Mapping[str, Any]
    results: Collection[str] = ()

    def shown_name(self, name: str) -> str:
        """Return the name of a parameter's array for messages: that of an ArrayPointer, else the parameter's."""
        found = dict(zip(self.names, self.args, strict=False)).get(name)
        return (isinstance(found, ArrayPointer) and found.name) or name.removesuffix("_tma_desc")

    @property
    def array_bytes(self) -> int:
        """Bytes of the arrays that each run copies; those of several parameters count several times."""
        arrays = [array_behind(arg) for arg in (*self.args, *self.settings.get("reachable", ()))]
        return sum(getattr(array, "nbytes", 0) for array in arrays)

    @property
    def warps(self) -> int:
        """Warps of a CTA."""
        return -(-prod(self.plan.block) // 32)

    @property
    def is_clustered(self) -> bool:
        """True if the launch asks for clusters of several CTAs."""
        return prod(self.plan.cluster) > 1

    def run(
        self,
        schedule: Schedule,
        land_eagerly: Collection[int] = (),
        program: sim.Program | None = None,
        sanitize: bool = False,
        initial_registers: Mapping[int, int] | None = None,
        initial_register_threads: range | None = None,
        max_steps: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Outcome:
        """Run once; the arrays of the arguments and the variables of the module keep their values.

        The run is on copies of all arrays, or of those that the kernel is expected to write. In the latter case it shares the
        others, which are read-only, and is repeated on copies of all if it ends in a fault: it may have written one of them.

        Args:
            land_eagerly: instructions whose asynchronous operations complete immediately in every schedule.
            program: a program to run in place of the launch's own, with the same parameters.
            sanitize: watch every access.
            initial_registers, initial_register_threads: initial values of registers, as for sim.launch.
            max_steps: a limit below the launch's own.
            progress: as for sim.launch.
        Raises:
            LaunchError: an argument is invalid.
        """
        options: dict[str, Any] = dict(
            land_eagerly=land_eagerly,
            initial_registers=initial_registers or {},
            initial_register_threads=initial_register_threads,
            progress=progress,
            **self.settings,
        )
        if max_steps is not None:
            options["max_steps"] = max_steps
        program = program or self.program
        given, names = self._given()
        written = None if POINTERS or self.settings.get("reachable") else expected_writes(self.program, self.results)
        if written is not None:
            copied = {number for number, name in enumerate(names) if name in written}
            outcome = self._run(program, copy_arguments(given, copied), names, schedule, sanitize, options)
            if outcome.error is None or outcome.error.kind in ("deadlock", "steps"):
                return outcome
        outcome = self._run(program, copy_arguments(given), names, schedule, sanitize, options)
        if outcome.error is None:
            if written is not None:  # a shared array was written
                forget_writes(self.program)
            learn_writes(self.program, dict(zip(names, map(host_array, given), strict=True)), outcome.arrays)
        return outcome

    def _given(self) -> tuple[list[Any], list[str]]:
        """Return the arguments and the arrays that are reachable otherwise, and their names."""
        reachable = self.settings.get("reachable", ())
        return [*self.args, *reachable], [*self.names, *(f"reachable[{k}]" for k in range(len(reachable)))]

    def _run(
        self,
        program: sim.Program,
        args: Sequence[Any],
        names: Sequence[str],
        schedule: Schedule,
        sanitize: bool,
        options: Mapping[str, Any],
    ) -> Outcome:
        """Run on these arguments."""
        arrays = _arrays(names, args)
        found: list[AccessFinding] | None = [] if sanitize else None
        synchronizations = np.zeros(1, np.uint64)
        try:
            result = sim.launch(
                program,
                self.plan.grid,
                self.plan.block,
                args[: len(self.args)],
                cluster=self.plan.cluster,
                smem_bytes=self.plan.smem_bytes,
                schedule=schedule.kind,
                seed=schedule.seed,
                findings=found,
                uninitialized=[arrays[name] for name in self.results if name in arrays],
                synchronizations=synchronizations,
                keep_variables=True,
                **{**options, "reachable": args[len(self.args) :]},
            )
        except SimulationError as error:
            if error.kind is None:  # the program cannot be simulated
                raise
            return Outcome(arrays, error=error, access_findings=tuple(found or ()))
        return Outcome(
            arrays,
            result.counters,
            access_findings=result.findings,
            synchronization=int(synchronizations[0]),
            race_free=result.race_free,
        )


def _arrays(names: Sequence[str], args: Sequence[Any]) -> dict[str, np.ndarray]:
    """Return the arrays of arguments by name."""
    arguments = zip(names, args, strict=True)
    return {name: array for name, arg in arguments if isinstance(array := array_behind(arg), np.ndarray)}
