"""Calls of kernels by number, and the handlers that run them: on the CPU the simulator, on GPUs launch.c."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any

import jax

from pyptx.errors import PtxError
from pyptx.jax_support import frame as ffi
from pyptx.jax_support.records import Call, Records
from pyptx.jax_support.shim import Shim
from pyptx.runtime import runtime_for
from pyptx.runtime.arrays import registered
from pyptx.runtime.cuda import BACKEND

__all__ = ["TARGET", "call_of", "ensure_ffi_registered", "handle_of", "shim_is_available", "shim_load_error"]

TARGET = "pyptx_launch"

_calls: list[Call] = []                                 # of each handle, which is from 1
_handles: dict[tuple, int] = {}
_lock = Lock()


def handle_of(kernel: int, params: Mapping[str, Any], inputs: Sequence[tuple], outputs: Sequence[tuple]) -> int:
    """The number of a kernel with parameter values and (shape, dtype) of its arrays; the same for the same values."""
    key = (kernel, tuple((name, type(value), repr(value)) for name, value in sorted(params.items())), tuple(inputs),
           tuple(outputs))
    with _lock:
        if key not in _handles:
            _calls.append(Call(registered(kernel), dict(params), tuple(inputs), tuple(outputs)))
            _handles[key] = len(_calls)
        return _handles[key]


def call_of(handle: int) -> Call:
    """The call of a number."""
    return _calls[handle - 1]


@cache
def ensure_ffi_registered() -> bool:
    """Make the call known to XLA; whether it runs on a GPU too. Never raises; `shim_load_error` says why not."""
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_handler), platform="cpu", api_version=1)
    shim, _ = _shim()
    if shim is not None:
        stages = {"initialize": shim.capsule, "execute": shim.capsule}
        jax.ffi.register_ffi_target(TARGET, stages, platform="CUDA", api_version=1)
    return shim is not None


def shim_is_available() -> bool:
    """Whether calls on GPUs work."""
    return _shim()[0] is not None


def shim_load_error() -> str | None:
    """Why calls on GPUs do not work; None when they do."""
    return _shim()[1]


@cache
def _shim() -> tuple[Shim | None, str | None]:
    try:
        if not BACKEND.driver.count:
            return None, "there is no GPU"
        function = ctypes.CDLL("libcuda.so.1").cuLaunchKernelEx
        records = Records(BACKEND, call_of)
        return Shim(ctypes.cast(function, ctypes.c_void_p).value, records.prepare, records.encode), None
    except (PtxError, OSError, AttributeError) as missing:
        return None, str(missing)


def _run(frame: ffi.CallFrame) -> None:
    call = call_of(ffi.scalar_attribute(frame, "cubin_handle"))
    inputs = list(ffi.arrays(frame.args, writeable=False))
    outputs = list(ffi.arrays(frame.rets, writeable=True))
    call.kernel.run(runtime_for(inputs, "sim"), inputs, outputs, call.params)


_handler = ffi.handler(_run)
