"""A call of a kernel, or a launch of an entry, as everything here needs it: what is compiled, its geometry, its
arguments.

Nothing is launched, and nothing of the caller's is written: arrays that a call only reads are used as they are,
marked read-only; what it writes goes to arrays of this module's own.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.compiled import Compiled
from pyptx.kernel import Kernel
from pyptx.kernel.variant import Variant
from pyptx.program import Entry
from pyptx.runtime import LaunchPlan
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["Call", "call_of"]


@dataclass(frozen=True, eq=False)
class Call:
    """One launch that could be made.

    Attributes:
        variant: module and entry.
        plan: grid, block, cluster, dynamic shared bytes.
        args: by parameter: NumPy arrays, numbers, TensorMaps.
        options: of ptxas.
    """

    variant: Variant
    plan: LaunchPlan
    args: tuple[Any, ...]
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.variant.entry.name

    def compiled(self) -> Compiled:
        """The machine code, assembled once.

        Raises:
            CompileError: the table or the assembler refused something.
        """
        return self.variant.compile(self.options)

    def observer(self, *, own: bool = False) -> sim.Observer:
        """Its clusters, to be run one by one on the simulator.

        Args:
            own: give it copies of all arrays, so that it may write those it reads.
        Raises:
            LaunchError, SimulationError: it cannot be launched or simulated.
        """
        args = _copied(self.args) if own else self.args
        return sim.Observer(sim.load(self.variant.module, self.variant.entry.name), self.plan.grid, self.plan.block,
                            args, cluster=self.plan.cluster, smem_bytes=self.plan.smem_bytes)


def call_of(kernel: Kernel | Entry, *args: Any, grid: Any = None, block: Any = None, cluster: Any = None,
            smem_bytes: int = 0, out: Any = None, options: Sequence[str] = (), **params: Any) -> Call:
    """A call.

    Args:
        kernel: a Kernel, called on its input arrays; with `grid`, or for an Entry (which needs `grid` and `block`),
            `args` are all arguments in parameter order, as for launch().
        args: NumPy arrays; of other packages, and on a GPU, zeros of the same shape stand in for them.
        out: arrays whose shapes the outputs have; they are not written.
        params: template parameters and sizes.
    Raises:
        LaunchError, TypeError: it could not be called like that.
    """
    args = tuple(map(_readable, args))
    if isinstance(kernel, Kernel) and grid is None:
        variant, plan, bound = kernel.bind(*args, out=None if out is None else _blank(out), **params)
    else:
        variant, plan, bound = kernel.bind_launch(grid, block, args, cluster=cluster, smem_bytes=smem_bytes, **params)
    return Call(variant, plan, tuple(bound), tuple(options))


def _readable(arg: Any) -> Any:
    """An array in host memory that cannot be written: the memory of a NumPy array, zeros for another one."""
    if isinstance(arg, np.ndarray):
        array = arg.view()
        array.flags.writeable = False
        return array
    package = arrays_of(arg)
    if package is None or isinstance(arg, (TensorMap, Texture, Surface)) or not hasattr(arg, "shape"):
        return arg
    return np.zeros(tuple(arg.shape), numpy_dtype_of(package.dtype_name(arg)))


def numpy_dtype_of(name: str) -> np.dtype:
    """The NumPy type that a package calls so: "float32", "bfloat16"."""
    try:
        return np.dtype(name)
    except TypeError:
        return numpy_dtype({"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.get(name, name))


def _blank(out: Any) -> Any:
    """Arrays as large, to be written."""
    if isinstance(out, list | tuple):
        return [_blank(array) for array in out]
    array = _readable(out)
    return np.zeros(array.shape, array.dtype)


def _copied(args: Sequence[Any]) -> list[Any]:
    """Copies of the arrays, which can be written; what shared memory shares it still."""
    made: dict[tuple[int, int], np.ndarray] = {}

    def own(array: np.ndarray) -> np.ndarray:
        key = array.__array_interface__["data"][0], array.nbytes
        if key not in made:
            made[key] = array.copy()
        return made[key]

    def fresh(arg: Any) -> Any:
        if isinstance(arg, np.ndarray):
            return own(arg)
        if isinstance(arg, (Texture, Surface)) and isinstance(arg.source, np.ndarray):
            return arg.over([own(source) for source in arg.sources])
        if isinstance(arg, TensorMap) and isinstance(arg.source, np.ndarray):
            arg = copy.copy(arg)
            object.__setattr__(arg, "source", own(arg.source))
        return arg
    return [fresh(arg) for arg in args]
