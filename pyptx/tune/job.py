"""A launch as plain values, which another process can repeat without the kernel's Python."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.errors import LaunchError
from pyptx.tensor_map import TensorMap
from pyptx.tune.problem import Launch

__all__ = ["Array", "Job", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Stands for the array of that number: the inputs first, then the outputs."""

    index: int


@dataclass(frozen=True, slots=True)
class Array:
    """Shape and type of an array, and whether it is all zeros before the kernel runs."""

    shape: tuple[int, ...]
    dtype: np.dtype
    zeroed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One launch.

    Attributes:
        key: of the configuration.
        ptx, entry, target: the text, what of it is launched, and what it is assembled for.
        args: numbers as they are, a Place for an array, a tensor map whose source is a Place.
        arrays: the arrays, inputs first.
        inputs: how many of them are inputs.
        options: of ptxas.
    """

    key: str
    ptx: str
    entry: str
    target: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    smem_bytes: int
    args: tuple[Any, ...]
    arrays: tuple[Array, ...]
    inputs: int
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, key: str, launch: Launch, *, target: str = "", options: tuple[str, ...] = ()) -> Job:
        """Of a launch.

        Raises:
            LaunchError: a tensor map of memory that is no argument.
        """
        at = (*launch.inputs, *launch.outputs)
        arrays = [launch.args[k] for k in at]
        places = {id(array): Place(i) for i, array in enumerate(arrays)}

        def plain(arg: Any) -> Any:
            if not isinstance(arg, TensorMap):
                return places.get(id(arg), arg)
            if id(arg.source) not in places:
                raise LaunchError(f"{launch.variant.entry.name}: {arg} is of memory that is no argument of the kernel")
            return _with_source(arg, places[id(arg.source)])
        plan, variant = launch.plan, launch.variant
        return cls(key, variant.emitted.text, variant.entry.name, target or variant.module.target.targets[0], plan.grid,
                   plan.block, plan.cluster, plan.smem_bytes, tuple(map(plain, launch.args)),
                   tuple(Array(tuple(array.shape), array.dtype, k in launch.zeroed)
                         for k, array in zip(at, arrays, strict=True)), len(launch.inputs), options)

    @property
    def outputs(self) -> tuple[Array, ...]:
        return self.arrays[self.inputs:]

    def arguments(self, arrays: Sequence[Any]) -> list[Any]:
        """The arguments with arrays in their places."""
        def filled(arg: Any) -> Any:
            if isinstance(arg, Place):
                return arrays[arg.index]
            if isinstance(arg, TensorMap) and isinstance(arg.source, Place):
                return _with_source(arg, arrays[arg.source.index])
            return arg
        return list(map(filled, self.args))


def _with_source(value: TensorMap, source: Any) -> TensorMap:
    other = copy.copy(value)
    object.__setattr__(other, "source", source)
    object.__setattr__(other, "address", None)
    return other
