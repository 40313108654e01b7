"""Calls of kernels by number, and the handler that runs them on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import Any

import jax

from pyptx.jax_support import frame as ffi
from pyptx.runtime import runtime_for
from pyptx.runtime.arrays import registered

__all__ = ["TARGET", "ensure_ffi_registered", "handle_of"]

TARGET = "pyptx_launch"

_calls: list[tuple[Any, dict[str, Any]]] = []           # kernel and parameter values of each handle, which is from 1
_handles: dict[tuple, int] = {}
_lock = Lock()


def handle_of(kernel: int, params: Mapping[str, Any]) -> int:
    """The number of a kernel with parameter values; the same for the same values."""
    key = kernel, tuple((name, type(value), repr(value)) for name, value in sorted(params.items()))
    with _lock:
        if key not in _handles:
            _calls.append((registered(kernel), dict(params)))
            _handles[key] = len(_calls)
        return _handles[key]


@cache
def ensure_ffi_registered() -> bool:
    """Make the call known to XLA; whether it runs on a GPU too."""
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_handler), platform="cpu", api_version=1)
    return False


def _run(frame: ffi.CallFrame) -> None:
    kernel, params = _calls[ffi.scalar_attribute(frame, "cubin_handle") - 1]
    inputs = list(ffi.arrays(frame.args, writeable=False))
    outputs = list(ffi.arrays(frame.rets, writeable=True))
    kernel.run(runtime_for(inputs, "sim"), inputs, outputs, params)


_handler = ffi.handler(_run)
