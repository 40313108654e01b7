"""Registry of kernel calls by handle, and the FFI handlers that run them: the simulator on the CPU, launch.c on GPUs."""

from __future__ import annotations

import ast
import ctypes
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any

import jax
import numpy as np

from pyptx.errors import BackendError, PtxError
from pyptx.jax_support import frame as ffi
from pyptx.jax_support.records import Call, Records
from pyptx.jax_support.shim import Shim
from pyptx.runtime import runtime_for, selected_address
from pyptx.runtime.cuda import BACKEND
from pyptx.runtime.identity import resolve
from pyptx.specs import unify_envs

__all__ = [
    "TARGET",
    "call_of",
    "description_of",
    "ensure_ffi_registered",
    "handle_of",
    "register_on_cpu",
    "shim_is_available",
    "shim_load_error",
    "symbolic_handle_of",
]

TARGET = "pyptx_launch"

_calls: dict[int, tuple[Call, bytes]] = {}  # handle -> call and the full digest that the handle is a part of
_digests: dict[tuple, bytes] = {}
_lock = Lock()


def handle_of(
    kernel: str,
    params: Mapping[str, Any],
    inputs: Sequence[tuple],
    outputs: Sequence[tuple],
    env: Mapping[str, int],
    batched: tuple[bool, ...] = (),
) -> int:
    """Return the handle of a kernel with parameter values, sizes, and (shape, dtype) of its arrays.

    The handle is a hash of the launch, so that it identifies the same call in every process: computations outlive a
    process in jax.export and in JAX's persistent cache.

    Args:
        batched: inputs with a leading batch dimension, for a call that launches once for a batch.
    Raises:
        TraceError: the kernel cannot be traced.
        LaunchError: the kernel cannot launch once for the batch.
    """
    found = resolve(kernel)
    values = _values_key(params)
    key = (kernel, values, tuple(inputs), tuple(outputs), batched, found.captures.key())
    with _lock:
        if key not in _digests:
            _digests[key] = _digest(found, values, inputs, outputs, {**params, **env}, env, batched)
        return _keep(Call(found, dict(params), tuple(inputs), tuple(outputs), batched), _digests[key])


def symbolic_handle_of(kernel: str, params: Mapping[str, Any], batched: tuple[bool, ...] = ()) -> int:
    """Return the handle of a kernel with parameter values, for arrays whose shapes are known when the call runs."""
    values = _values_key(params)
    with _lock:
        parts = (kernel, values, "symbolic", batched) if batched else (kernel, values, "symbolic")
        digest = hashlib.sha256(repr(parts).encode()).digest()
        return _keep(Call(resolve(kernel), dict(params), None, (), batched), digest)


def _values_key(params: Mapping[str, Any]) -> tuple[tuple[str, type, str], ...]:
    return tuple((name, type(value), repr(value)) for name, value in sorted(params.items()))


def _keep(call: Call, digest: bytes) -> int:
    """Remember a call under the handle of its digest, in place of an equal call of a kernel declared earlier."""
    handle = int.from_bytes(digest[:8], "little") >> 1
    if _calls.get(handle, (None, digest))[1] != digest:
        raise BackendError(f"{call.kernel.name}: another call has the same handle {handle:#x}; change a parameter")
    _calls[handle] = call, digest
    return handle


def description_of(
    kernel: str,
    params: Mapping[str, Any],
    inputs: Sequence[tuple] | None,
    outputs: Sequence[tuple],
    batched: tuple[bool, ...] = (),
) -> str:
    """Return the text from which another process restores a call: identity, values, shapes and dtypes, batched inputs."""
    arrays = [None if group is None else [[list(s), str(d)] for s, d in group] for group in (inputs, outputs)]
    parts = [kernel, {name: repr(value) for name, value in params.items()}, *arrays]
    return json.dumps([*parts, batched] if batched else parts)


def _restored(handle: int, text: str) -> Call:
    """Restore a call of another process.

    Raises:
        LaunchError: the kernel does not exist here or has changed, or a parameter value has no literal form.
    """
    kernel, texts, *arrays, batched = [*json.loads(text), ()][:5]
    found, params, batched = resolve(kernel), {}, tuple(batched)
    for name, value in texts.items():
        try:
            params[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise BackendError(
                f"{found.name}: {name}={value} cannot be restored from an exported computation",
                hint="export calls whose parameters are numbers, strings, booleans, tuples or None",
            ) from None
    if arrays[0] is None:
        call, own = Call(found, params, None, (), batched), symbolic_handle_of(kernel, params, batched)
    else:
        inputs, outputs = ([(tuple(s), np.dtype(d)) for s, d in group] for group in arrays)
        shapes = [s[1:] if batched and batched[k] else s for k, (s, _) in enumerate(inputs)]
        env = unify_envs(spec.extract_env(s) for spec, s in zip(found.in_specs, shapes, strict=True))
        call = Call(found, params, tuple(inputs), tuple(outputs), batched)
        own = handle_of(kernel, params, inputs, outputs, env, batched)
    if own != handle:
        raise BackendError(
            f"kernel {found.name} launches differently than when this computation was exported",
            hint="export the computation again",
        )
    return call


def _digest(
    kernel: Any,
    values: tuple,
    inputs: Sequence[tuple],
    outputs: Sequence[tuple],
    params: Mapping[str, Any],
    env: Mapping[str, int],
    batched: tuple[bool, ...],
) -> bytes:
    binding = kernel.binder
    sizes, template, _ = binding.split(params)
    found = kernel.specialize(**{**sizes, **template})
    if batched:
        found = kernel.batch_launcher.specialize(env, params, batched, outputs[0][0][0])
        if isinstance(found, str):
            raise BackendError(f"{kernel.name} cannot launch once for a batch: {found}")
    parts = (
        found.emitted.text,
        binding.grid(sizes, template),
        binding.block(sizes, template),
        binding.cluster(sizes, template),
        kernel.smem,
        [(name, text) for name, _, text in values],
        kernel.in_specs,
        kernel.out_specs,
        [(shape, str(dtype)) for shape, dtype in (*inputs, *outputs)],
    )
    return hashlib.sha256(repr(parts).encode()).digest()


def call_of(handle: int, description: str = "") -> Call:
    """Return the call of a handle.

    Args:
        description: of `description_of`, for a handle of another process.
    Raises:
        LaunchError: the kernel of the call does not exist in this process, or has changed.
    """
    found = _calls.get(handle)
    if found is not None:
        return found[0]
    if not description:
        raise BackendError(
            f"no kernel with handle {handle:#x} in this process; the computation was exported by another process",
            hint="first call the kernel, or trace it with jax.jit, with the same shapes, dtypes and parameters",
        )
    return _restored(handle, description)


@cache
def register_on_cpu() -> None:
    """Register the FFI target for the CPU."""
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_handler), platform="cpu", api_version=1)


@cache
def ensure_ffi_registered() -> bool:
    """Register the FFI target; return True if it also runs on GPUs. Never raises; see `shim_load_error`."""
    register_on_cpu()
    shim, _ = _shim()
    if shim is not None:
        stages = {"initialize": shim.capsule, "execute": shim.capsule}
        jax.ffi.register_ffi_target(TARGET, stages, platform="CUDA", api_version=1)
    return shim is not None


def shim_is_available() -> bool:
    """Return True if calls on GPUs are available."""
    return _shim()[0] is not None


def shim_load_error() -> str | None:
    """Return the reason why calls on GPUs are not available, else None."""
    return _shim()[1]


@cache
def _shim() -> tuple[Shim | None, str | None]:
    try:
        if not BACKEND.driver.count:
            return None, "no GPU"
        function = ctypes.CDLL("libcuda.so.1").cuLaunchKernelEx
        records = Records(BACKEND, call_of)
        address = ctypes.cast(function, ctypes.c_void_p).value
        return Shim(address or 0, records.prepare, records.encode), None
    except (PtxError, OSError, AttributeError) as missing:
        return None, str(missing)


def _run(frame: ffi.CallFrame) -> None:
    call = call_of(ffi.scalar_attribute(frame, "cubin_handle"), ffi.text_attribute(frame, "kernel"))
    inputs = list(ffi.arrays(frame.args, writeable=False))[: len(call.kernel.in_specs)]
    outputs = list(ffi.arrays(frame.rets, writeable=True))
    runtime = runtime_for(inputs, selected_address() or "sim")
    if call.batched:
        call.kernel.batch_launcher.run(runtime, inputs, call.batched, call.params, outputs)
    else:
        call.kernel.run(runtime, inputs, outputs, call.params)


_handler = ffi.handler(_run)


register_on_cpu()  # on import, which the import of jax causes: a loaded export calls the target
