"""Calls of kernels by number, and the handlers that run them: on the CPU the simulator, on GPUs launch.c."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any

import jax

from pyptx.errors import LaunchError, PtxError
from pyptx.jax_support import frame as ffi
from pyptx.jax_support.records import Call, Records
from pyptx.jax_support.shim import Shim
from pyptx.runtime import runtime_for
from pyptx.runtime.arrays import registered
from pyptx.runtime.cuda import BACKEND

__all__ = ["TARGET", "call_of", "ensure_ffi_registered", "handle_of", "shim_is_available", "shim_load_error"]

TARGET = "pyptx_launch"

_calls: dict[int, tuple[Call, bytes]] = {}              # of each handle; with all 32 bytes it was made of
_handles: dict[tuple, int] = {}
_lock = Lock()


def handle_of(kernel: int, params: Mapping[str, Any], inputs: Sequence[tuple], outputs: Sequence[tuple],
              env: Mapping[str, int]) -> int:
    """The number of a kernel with parameter values, sizes, and (shape, dtype) of its arrays.

    It is made of what would be launched, so that it means the same in every process, or nothing: computations outlive
    a process, in jax.export and in JAX's cache.

    Raises:
        TraceError: the kernel cannot be traced.
    """
    found = registered(kernel)
    values = tuple((name, type(value), repr(value)) for name, value in sorted(params.items()))
    key = (kernel, values, tuple(inputs), tuple(outputs), found.outside.key())
    with _lock:
        if key not in _handles:
            digest = _digest(found, values, inputs, outputs, {**params, **env})
            handle = int.from_bytes(digest[:8], "little") >> 1
            call = Call(found, dict(params), tuple(inputs), tuple(outputs))
            if _calls.setdefault(handle, (call, digest))[1] != digest:
                raise LaunchError(f"{found.name}: another call has the same handle {handle:#x}; change a parameter")
            _handles[key] = handle
        return _handles[key]


def _digest(kernel: Any, values: tuple, inputs: Sequence[tuple], outputs: Sequence[tuple],
            params: Mapping[str, Any]) -> bytes:
    binding = kernel.binding
    sizes, template, _ = binding.split(params)
    parts = (kernel.ptx(**{**sizes, **template}), binding.grid(sizes, template), binding.block(sizes, template),
             binding.cluster(sizes, template), kernel.smem, [(name, text) for name, _, text in values],
             kernel.in_specs, kernel.out_specs, [(shape, str(dtype)) for shape, dtype in (*inputs, *outputs)])
    return hashlib.sha256(repr(parts).encode()).digest()


def call_of(handle: int) -> Call:
    """The call of a number.

    Raises:
        LaunchError: it was made in another process, and not in this one.
    """
    found = _calls.get(handle)
    if found is None:
        raise LaunchError(f"this process knows no kernel of handle {handle:#x}: a computation that was exported "
                          "elsewhere runs after its kernel was called here once, or traced by jax.jit, with the same "
                          "shapes, types and parameters")
    return found[0]


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
    inputs = list(ffi.arrays(frame.args, writeable=False))[:len(call.inputs)]
    outputs = list(ffi.arrays(frame.rets, writeable=True))
    call.kernel.run(runtime_for(inputs, "sim"), inputs, outputs, call.params)


_handler = ffi.handler(_run)
