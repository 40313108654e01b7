"""The CPU simulator as a backend: NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.errors import LaunchError
from pyptx.ir.nodes import Module
from pyptx.runtime.plan import LaunchPlan, LaunchResult

__all__ = ["RUNTIME"]

_PTX_TO_NUMPY = {"f16": "float16", "f32": "float32", "tf32": "float32", "f64": "float64", "s8": "int8", "s16": "int16",
                 "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
                 "b8": "uint8", "b16": "uint16", "b32": "uint32", "b64": "uint64", "pred": "bool"}
_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


class Simulated:
    """Runs plans on the CPU."""

    name = "sim"

    def load(self, module: Module, entry: str) -> sim.Program:
        """The program of an entry, resolved once for many launches."""
        return sim.load(module, entry)

    def dtype_name(self, array: Any) -> str:
        return _name_of(array.dtype)

    def check_array(self, array: Any, what: str) -> None:
        """Refuse what a kernel could not address as a dense array."""
        if not isinstance(array, np.ndarray):
            raise LaunchError(f"{what} is a {type(array).__name__}; the simulator takes NumPy arrays")
        if not array.flags.c_contiguous:
            raise LaunchError(f"{what} is not contiguous (shape {array.shape}, strides {array.strides}); pass "
                              "numpy.ascontiguousarray(x)")
        if array.dtype.byteorder == ">":
            raise LaunchError(f"{what} is big-endian; pass x.astype(x.dtype.newbyteorder('='))")

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any]) -> np.ndarray:
        """A new array filled with 0xFF bytes (NaN, -1), so that what a kernel forgets to write shows."""
        array = np.empty(shape, _numpy_dtype(dtype_name))
        array.reshape(-1).view(np.uint8).fill(0xFF)
        return array

    def launch(self, program: sim.Program, plan: LaunchPlan, args: Sequence[Any],
               options: Mapping[str, Any]) -> LaunchResult:
        """Run the program; NumPy arrays among the arguments are pointers, written in place."""
        result = sim.launch(program, plan.grid, plan.block, args, cluster=plan.cluster, smem_bytes=plan.smem_bytes,
                            **options)
        return LaunchResult(self.name, result.seconds, result.counters)


@cache
def _name_of(dtype: np.dtype) -> str:
    return dtype.name                                           # NumPy puts it together anew each time


def _numpy_dtype(name: str) -> np.dtype:
    if name in _ML_DTYPES:
        try:
            import ml_dtypes
        except ImportError:
            raise LaunchError(f"arrays of {name} need the package ml_dtypes (pip install ml_dtypes)") from None
        return np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
    return np.dtype(_PTX_TO_NUMPY[name])


RUNTIME = Simulated()
