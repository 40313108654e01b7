"""One kernel, one set of arguments, many runs: each on fresh copies, with what came out."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.errors import SimulationError
from pyptx.runtime import LaunchPlan
from pyptx.runtime.arrays import arrays_of
from pyptx.sim.counters import Counters
from pyptx.sim.watch import Sighting
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["Outcome", "Schedule", "Trial", "copies_of"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """When asynchronous operations land, and, at random, by which seed."""

    kind: str
    seed: int = 0

    def __str__(self) -> str:
        return f"random (seed {self.seed})" if self.kind == "random" else self.kind


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a run gave: its arrays by parameter, or the error that ended it; what the sanitizer saw."""

    arrays: Mapping[str, np.ndarray]
    counters: Counters | None = None
    error: SimulationError | None = None
    seen: tuple[Sighting, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What is run again and again; `names` are the parameters of `args`, `results` those that hold nothing before."""

    program: sim.Program
    plan: LaunchPlan
    args: Sequence[Any]
    names: Sequence[str]
    settings: Mapping[str, Any]
    results: Collection[str] = ()

    def run(self, schedule: Schedule, prompt: Collection[int] = (), program: sim.Program | None = None,
            sanitize: bool = False, left: Mapping[int, int] | None = None, left_threads: range | None = None,
            max_steps: int | None = None) -> Outcome:
        """One run on fresh copies.

        Args:
            prompt: instructions whose asynchronous operations land at once in every schedule.
            program: in place of the trial's own, with the same parameters.
            sanitize: watch every access.
            left, left_threads: what registers hold at first that may be read before they are written, as of sim.launch.
            max_steps: when fewer than the trial's own.
        Raises:
            LaunchError: an argument does not fit.
        """
        args = copies_of(self.args)
        arrays = {name: _memory(arg) for name, arg in zip(self.names, args, strict=True) if _memory(arg) is not None}
        found: list[Sighting] | None = [] if sanitize else None
        settings = {**self.settings, **({"max_steps": max_steps} if max_steps is not None else {})}
        try:
            result = sim.launch(program or self.program, self.plan.grid, self.plan.block, args,
                                cluster=self.plan.cluster, smem_bytes=self.plan.smem_bytes, schedule=schedule.kind,
                                seed=schedule.seed, prompt=prompt, found=found,
                                fresh=[arrays[name] for name in self.results if name in arrays],
                                left=left or {}, left_threads=left_threads, **settings)
        except SimulationError as error:
            if error.kind is None:                              # the program cannot be run at all
                raise
            return Outcome(arrays, error=error, seen=tuple(found or ()))
        return Outcome(arrays, result.counters, seen=result.seen)


def copies_of(args: Sequence[Any]) -> list[Any]:
    """The arguments with copies of their arrays in host memory; arrays that share memory share it still."""
    made: dict[int, tuple[np.ndarray, np.ndarray]] = {}         # by owner of the memory: it, kept alive, and its copy

    def copied(array: np.ndarray) -> np.ndarray:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if not owner.flags.c_contiguous:
            return array.copy()
        if id(owner) not in made:
            made[id(owner)] = owner, owner.copy()
        first, start = (a.__array_interface__["data"][0] for a in (owner, array))
        return np.ndarray(array.shape, array.dtype, made[id(owner)][1], start - first, array.strides)

    def fresh(arg: Any) -> Any:
        if isinstance(arg, TensorMap):
            if arg.source is None:
                return arg
            other = copy.copy(arg)
            object.__setattr__(other, "source", copied(_host(arg.source)))
            object.__setattr__(other, "address", None)
            return other
        if isinstance(arg, (Texture, Surface)):
            return arg.over([copied(_host(source)) for source in arg.sources])
        host = _host(arg)
        return arg if host is None else copied(host)
    return list(map(fresh, args))


def _host(value: Any) -> np.ndarray | None:
    """An array of any package as a NumPy array; None for what is no array."""
    if isinstance(value, np.generic):
        return None
    arrays = arrays_of(value)
    return None if arrays is None else np.asarray(arrays.host(value))


def _memory(arg: Any) -> np.ndarray | None:
    """The array an argument of a run stands for."""
    if isinstance(arg, (TensorMap, Texture, Surface)):
        return arg.source
    return arg if isinstance(arg, np.ndarray) else None
