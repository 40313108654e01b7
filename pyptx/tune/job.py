"""Serializable launches, which another process repeats without the kernel's Python."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.errors import ArgumentValueError
from pyptx.tensor_map import TensorMap
from pyptx.tune.problem import ConfigLaunch

__all__ = ["Array", "Job", "ArrayRef", "with_source"]


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """Reference to an array by number, inputs before outputs."""

    index: int


@dataclass(frozen=True, slots=True)
class Array:
    """Shape and type of an array; `zeroed`: it must be zero before the launch."""

    shape: tuple[int, ...]
    dtype: np.dtype
    zeroed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One launch.

    Attributes:
        key: key of the configuration.
        ptx, entry, target: the PTX text, the entry to launch, and the target to assemble for.
        grid, block, cluster, smem_bytes: the launch configuration.
        args: arguments; an ArrayRef in place of each array and of the source of each tensor map.
        arrays: the arrays, inputs first.
        inputs: number of inputs among the arrays.
        options: ptxas options.
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
    def of(cls, key: str, launch: ConfigLaunch, *, target: str = "", options: tuple[str, ...] = ()) -> Job:
        """Serialize a launch.

        Raises:
            LaunchError: a tensor map describes memory that is not an argument.
        """
        at = (*launch.inputs, *launch.outputs)
        arrays = [launch.args[k] for k in at]
        refs = {id(array): ArrayRef(i) for i, array in enumerate(arrays)}

        def plain(arg: Any) -> Any:
            if not isinstance(arg, TensorMap):
                return refs.get(id(arg), arg)
            if id(arg.source) not in refs:
                raise ArgumentValueError(
                    f"{launch.specialization.entry.name}: {arg} describes memory that is not an argument of the kernel"
                )
            return with_source(arg, refs[id(arg.source)])

        plan, specialization = launch.plan, launch.specialization
        return cls(
            key,
            specialization.emitted.text,
            specialization.entry.name,
            target or specialization.module.target.targets[0],
            plan.grid,
            plan.block,
            plan.cluster,
            plan.smem_bytes,
            tuple(map(plain, launch.args)),
            tuple(
                Array(tuple(array.shape), array.dtype, k in launch.zeroed) for k, array in zip(at, arrays, strict=True)
            ),
            len(launch.inputs),
            options,
        )

    @property
    def outputs(self) -> tuple[Array, ...]:
        return self.arrays[self.inputs :]

    def arguments(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the arguments with arrays in place of references."""

        def filled(arg: Any) -> Any:
            if isinstance(arg, ArrayRef):
                return arrays[arg.index]
            if isinstance(arg, TensorMap) and isinstance(arg.source, ArrayRef):
                return with_source(arg, arrays[arg.source.index])
            return arg

        return list(map(filled, self.args))


def with_source(value: TensorMap, source: Any) -> TensorMap:
    """Return the same tensor map over other memory: an array, or a reference to one."""
    other = copy.copy(value)
    object.__setattr__(other, "source", source)
    object.__setattr__(other, "address", None)
    return other
