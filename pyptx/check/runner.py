"""Repeated runs of one launch, each on fresh copies of its arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.check.differences import first_difference
from pyptx.errors import SimulationError
from pyptx.runtime import LaunchPlan
from pyptx.runtime.arrays import arrays_of, is_on_gpu
from pyptx.runtime.pointers import address_of
from pyptx.sim.counters import Counters
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.sim.memory.pointers import POINTERS
from pyptx.sim.sanitizer import AccessFinding
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["Outcome", "Schedule", "Runner", "copy_arguments", "copy_launch"]


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
        arrays = [_array_behind(arg) for arg in (*self.args, *self.settings.get("reachable", ()))]
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
        """Run once, on fresh copies of the arguments; variables of the module keep their values.

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
        args, reachable = copy_launch(self.args, self.settings)
        names = (*self.names, *(f"reachable[{k}]" for k in range(len(reachable))))
        arguments = zip(names, (*args, *reachable), strict=True)
        arrays = {name: array for name, arg in arguments if isinstance(array := _array_behind(arg), np.ndarray)}
        found: list[AccessFinding] | None = [] if sanitize else None
        synchronizations = np.zeros(1, np.uint64)
        settings = {**self.settings, "reachable": reachable}
        if max_steps is not None:
            settings["max_steps"] = max_steps
        try:
            result = sim.launch(
                program or self.program,
                self.plan.grid,
                self.plan.block,
                args,
                cluster=self.plan.cluster,
                smem_bytes=self.plan.smem_bytes,
                schedule=schedule.kind,
                seed=schedule.seed,
                land_eagerly=land_eagerly,
                findings=found,
                uninitialized=[arrays[name] for name in self.results if name in arrays],
                synchronizations=synchronizations,
                initial_registers=initial_registers or {},
                initial_register_threads=initial_register_threads,
                keep_variables=True,
                progress=progress,
                **settings,
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


def copy_launch(args: Sequence[Any], settings: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return copies of the arguments of a launch, and of the arrays of its option `reachable`, as `copy_arguments` does."""
    copies = copy_arguments([*args, *settings.get("reachable", ())])
    return copies[: len(args)], copies[len(args) :]


def copy_arguments(args: Sequence[Any]) -> list[Any]:
    """Return the arguments with copies of their arrays in host memory; arrays that share memory still share it.

    Copies of arrays whose address `pyptx.pointer` has fixed are at the same simulated address.
    """
    made: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # by id of the owner: the owner, kept alive, and its copy

    def copied(array: np.ndarray) -> np.ndarray:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not owner.flags.c_contiguous:
            return placed(array, array.copy())
        if id(owner) not in made:
            made[id(owner)] = owner, placed(owner, owner.copy())
        first, start = (a.__array_interface__["data"][0] for a in (owner, array))
        return np.ndarray(array.shape, array.dtype, made[id(owner)][1], start - first, array.strides)

    def placed(original: Any, made: np.ndarray) -> np.ndarray:
        POINTERS.place_copy(made, address_of(original))
        return made

    def fresh(arg: Any) -> Any:
        if isinstance(arg, ArrayPointer):
            return replace(arg, array=copied(arg.array))
        if isinstance(arg, TensorMap):
            if arg.source is None:
                return arg
            other = copy.copy(arg)
            object.__setattr__(other, "source", copied(_required_host(arg.source)))
            object.__setattr__(other, "address", None)
            return other
        if isinstance(arg, (Texture, Surface)):
            return arg.over([copied(_required_host(source)) for source in arg.sources])
        host = _host(arg)
        if host is None:
            return arg
        return placed(arg, host.copy()) if is_on_gpu(arg) else copied(host)

    return list(map(fresh, args))


def _host(value: Any) -> np.ndarray | None:
    """Return an array of any framework as a NumPy array; None if the value is not an array."""
    if isinstance(value, np.generic):
        return None
    arrays = arrays_of(value)
    return None if arrays is None else np.asarray(arrays.host(value))


def _required_host(value: Any) -> np.ndarray:
    host = _host(value)
    assert host is not None, "tensor maps, textures, and surfaces are made of arrays"
    return host


def _array_behind(arg: Any) -> Any:
    """Return the array behind an argument, or the argument itself."""
    if isinstance(arg, (TensorMap, Texture, Surface)):
        return arg.source
    return arg.array if isinstance(arg, ArrayPointer) else arg
