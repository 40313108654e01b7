"""Bound calls for analysis: specialized module, launch plan and arguments.

Nothing is launched and no array of the caller is modified: inputs are used read-only, outputs go to separate arrays.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.assembly import Assembly
from pyptx.jit import JitKernel, Launchable
from pyptx.jit.specialization import Specialization
from pyptx.launch_config import Extent, split_launch
from pyptx.runtime import LaunchPlan
from pyptx.runtime.arrays import arrays_of, is_on_gpu
from pyptx.runtime.numpy_arrays import ARRAYS, numpy_dtype
from pyptx.runtime.pointers import address_of
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.sim.memory.pointers import POINTERS
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["Call", "bind_call"]

COPIED_AT_ONCE = 1 << 23  # bytes


@dataclass(frozen=True, eq=False)
class Call:
    """A launch that is analyzed instead of executed.

    Attributes:
        specialization: module and entry.
        plan: grid, block, cluster, dynamic shared bytes.
        args: arguments in parameter order: NumPy arrays, numbers, TensorMaps.
        options: ptxas options.
        reachable: arrays that the kernel reaches only through addresses in memory.
    """

    specialization: Specialization
    plan: LaunchPlan
    args: tuple[Any, ...]
    options: tuple[str, ...] = ()
    reachable: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """Name of the entry."""
        return self.specialization.title

    @property
    def problem(self) -> str:
        """Types and shapes of its arguments: "float32[1024x1024], float32[1024x1024], 7"."""
        return ", ".join(map(_argument_text, self.args))

    def compiled(self) -> Assembly:
        """Return the machine code, assembled once.

        Raises:
            CompileError: the table or the assembler refused the module.
        """
        return self.specialization.compile(self.options)

    def observer(self, *, own: bool = False) -> sim.ClusterProfiler:
        """Its clusters, to be run one by one on the simulator.

        Args:
            own: give it copies of all arrays, so that it may write those it reads.
        Raises:
            LaunchError, SimulationError: it cannot be launched or simulated.
        """
        values = (*self.args, *self.reachable)
        values = _copied(values) if own else values
        return sim.ClusterProfiler(
            sim.load(self.specialization.module, self.specialization.entry.name),
            self.plan.grid,
            self.plan.block,
            values[: len(self.args)],
            cluster=self.plan.cluster,
            smem_bytes=self.plan.smem_bytes,
            reachable=values[len(self.args) :],
        )


def _argument_text(arg: Any) -> str:
    if isinstance(arg, (TensorMap, Texture, Surface)):
        return type(arg).__name__
    package = arrays_of(arg)
    if package is not None:
        return f"{package.dtype_name(arg)}[{'x'.join(map(str, arg.shape))}]"
    return str(arg) if isinstance(arg, int | float | np.generic) else type(arg).__name__


def bind_call(
    kernel: Launchable,
    *args: Any,
    grid: Extent | None = None,
    block: Extent | None = None,
    cluster: Extent | None = None,
    smem_bytes: int = 0,
    out: Any = None,
    options: Sequence[str] = (),
    **params: Any,
) -> Call:
    """Resolve a call of a kernel, or a launch of an entry, without executing it.

    Args:
        args: input arrays; none: random arrays of the sizes in `params`; or a LaunchConfig (or `grid=`, `block=`) and
            all arguments in parameter order. NumPy arrays are read in place; for arrays of other packages and of a GPU,
            zeros of the same shape are used.
        out: arrays with the shapes of the outputs; they are not written.
        options: ptxas options.
        params: template parameters and sizes.
    Raises:
        LaunchError: the arguments do not fit.
    """
    config, rest = split_launch(args, grid=grid, block=block, cluster=cluster, smem_bytes=smem_bytes)
    reachable = params.get("reachable", config.reachable if config else ())
    if config is not None:
        config = replace(config, reachable=())
    others = {name: value for name, value in params.items() if name != "reachable"}
    read = _contents if reachable else _readable
    launch = kernel.resolve(config, tuple(map(read, rest)), others, None if out is None else _blank(out))
    if isinstance(kernel, JitKernel):
        kernel.binder.split(others)  # refuses backend options, which have no meaning here
    return Call(
        launch.specialization, launch.plan, tuple(launch.args), tuple(options), tuple(map(_contents, reachable))
    )


def _contents(arg: Any) -> Any:
    """Return a read-only view of an array, or of a copy in host memory at the same simulated address."""
    package = arrays_of(arg)
    if package is None or isinstance(arg, (TensorMap, Texture, Surface)):
        return arg
    host = package.host(arg)
    if is_on_gpu(arg):
        POINTERS.place_copy(host, address_of(arg))
    return _readable(host)


def _readable(arg: Any) -> Any:
    """Return a read-only view of a NumPy array; zeros for arrays of other packages."""
    if isinstance(arg, ArrayPointer):
        return replace(arg, array=_readable(arg.array))
    if isinstance(arg, np.ndarray):
        array = arg.view()
        array.flags.writeable = False
        return array
    package = arrays_of(arg)
    if package is None or isinstance(arg, (TensorMap, Texture, Surface)) or not hasattr(arg, "shape"):
        return arg
    return np.zeros(tuple(arg.shape), numpy_dtype_of(package.dtype_name(arg)))


def numpy_dtype_of(name: str) -> np.dtype:
    """Return the NumPy type for a package's type name: "float32", "bfloat16"."""
    try:
        return np.dtype(name)
    except TypeError:
        return numpy_dtype({"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.get(name, name))


def _blank(out: Any) -> Any:
    """Return arrays of zeros with the same shapes and types."""
    if isinstance(out, list | tuple):
        return [_blank(array) for array in out]
    array = _readable(out)
    return np.zeros(array.shape, array.dtype)


def _copy_of(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array. Parts of zeros are not written, so that large arrays of zeros take no memory."""
    if array.nbytes < 2 * COPIED_AT_ONCE or not array.flags.c_contiguous:
        return array.copy()
    made = np.zeros(array.shape, array.dtype)
    source, target = array.reshape(-1).view(np.uint8), made.reshape(-1).view(np.uint8)
    for start in range(0, array.nbytes, COPIED_AT_ONCE):
        part = source[start : start + COPIED_AT_ONCE]
        if (part.view(np.uint64) if part.nbytes % 8 == 0 else part).any():
            target[start : start + COPIED_AT_ONCE] = part
    return made


def _copied(args: Sequence[Any]) -> list[Any]:
    """Return writable copies of the arrays; arrays that shared memory still share it."""
    made: dict[tuple[int, int], np.ndarray] = {}

    def own(array: np.ndarray) -> np.ndarray:
        address = address_of(array)
        owner = array if address is None else ARRAYS.owner(array)
        key, start = ARRAYS.extent(owner), ARRAYS.extent(array)[0]
        if key not in made:
            made[key] = _copy_of(owner)
            POINTERS.place_copy(made[key], address_of(owner))
        if owner is array:
            return made[key]
        return np.ndarray(array.shape, array.dtype, made[key], start - key[0])

    def fresh(arg: Any) -> Any:
        if isinstance(arg, np.ndarray):
            return own(arg)
        if isinstance(arg, ArrayPointer):
            return replace(arg, array=own(arg.array))
        if isinstance(arg, (Texture, Surface)) and isinstance(arg.source, np.ndarray):
            return arg.over([own(source) for source in arg.sources])
        if isinstance(arg, TensorMap) and isinstance(arg.source, np.ndarray):
            arg = copy.copy(arg)
            object.__setattr__(arg, "source", own(arg.source))
        return arg

    return [fresh(arg) for arg in args]
