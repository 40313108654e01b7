"""Functions that another machine sent: their arguments on the device here, their outputs, and their times."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from pyptx.benchmarking.function_loading import loaded
from pyptx.benchmarking.measured import CallTimer, Capture
from pyptx.benchmarking.outputs import outputs_of
from pyptx.errors import BackendError, PtxError
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.numpy_arrays import named_dtype

__all__ = ["FunctionCalls", "sendable"]

_TORCH = "pyptx.torch_support.from_host"


def sendable(values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return arguments as plain values: ("array", package, name of the dtype, array in host memory), or ("plain", value)."""
    found: list[tuple[Any, ...]] = []
    for value in values:
        package = arrays_of(value)
        if package is None:
            found.append(("plain", value))
        else:
            found.append(
                ("array", package.package, package.dtype_name(value), np.ascontiguousarray(package.host(value)))
            )
    return found


class FunctionCalls:
    """Functions with their arguments on a device.

    Args:
        functions: descriptions by name, see `function_source.described`.
        values: arguments of all functions, as `sendable` returns them.
        device: "cuda:0", or "cpu". Arrays of torch stay tensors, and NumPy arrays become tensors on a GPU.
        stream: the stream for the work of torch; None: its usual one.
    Raises:
        BackendError: a package is not installed here.
    """

    def __init__(self, functions: Mapping[str, Any], values: Sequence[Any], device: str, stream: int | None = None):
        self._functions = {name: loaded(tree) for name, tree in functions.items()}
        self._device, self._stream = device, stream
        self._arguments = [self._argument(*value) for value in values]

    def calls(self) -> dict[str, Callable[[], object]]:
        """Return the functions bound to their arguments."""
        return {name: lambda name=name: self._call(name) for name in self._functions}

    def outputs(self, name: str) -> dict[str, Any]:
        """Run a function; return {"outputs"}: its arrays, or {"problem"}: the exception that it raised."""
        try:
            return {"outputs": outputs_of(self._call(name))}
        except PtxError as error:
            return {"problem": error.message}
        except Exception as error:  # of a function of the user
            return {"problem": f"{type(error).__name__}: {error}"}

    def timer(self, gpu: Any) -> CallTimer:
        """Return the timer of the functions.

        Args:
            gpu: the `tune.device.DeviceTimer` that times kernels, whose stream is used.
        """
        capture: Capture | None = None
        if self._stream is not None:
            capture = partial(import_module(_TORCH).capturing, self._device, self._stream)
        return CallTimer(gpu.driver, gpu.device, gpu.stream, self.calls(), gpu.conditions, capture)

    def _call(self, name: str) -> object:
        with self._on_stream():
            return self._functions[name](*self._arguments)

    def _on_stream(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._stream is None else import_module(_TORCH).on_stream(self._stream, self._device)

    def _argument(self, kind: str, *value: Any) -> Any:
        if kind == "plain":
            return value[0]
        package, dtype_name, host = value
        if package != "torch" and self._device == "cpu":
            dtype = named_dtype(dtype_name)
            return np.array(host).view(dtype) if host.dtype != dtype else np.array(host)
        try:
            return import_module(_TORCH).tensor_of(host, dtype_name, self._device)
        except ImportError:
            raise _without_torch(self._device) from None
        except (AssertionError, RuntimeError) as refused:  # a torch without CUDA, or for another driver
            raise BackendError(f"torch cannot use {self._device} there: {refused}") from None


def _without_torch(device: str) -> BackendError:
    where = f"arrays on {device} are" if device != "cpu" else "the arguments are"
    return BackendError(
        f"{where} tensors of torch for functions, and torch is not installed for the Python there, {sys.executable}",
        hint=f"{sys.executable} -m pip install torch",
    )
