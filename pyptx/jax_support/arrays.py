"""JAX arrays as kernel arguments. They are immutable: a call returns new arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import jax
import jax.export
import numpy as np
from jax.core import Tracer

from pyptx.errors import ArgumentTypeError, ArgumentValueError, BackendError
from pyptx.jax_support.registry import (
    TARGET,
    description_of,
    ensure_ffi_registered,
    handle_of,
    shim_load_error,
    symbolic_handle_of,
)
from pyptx.runtime.arrays import Record
from pyptx.runtime.identity import resolve
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.specs import unify_envs

__all__ = ["ARRAYS"]


class JaxArrays:
    """Operations on JAX arrays and tracers."""

    package = "jax"

    def dtype_name(self, array: Any) -> str:
        return array.dtype.name

    def check(self, array: Any, what: str) -> None:
        if not hasattr(array, "dtype") or jax.numpy.issubdtype(array.dtype, jax.dtypes.extended):
            raise ArgumentTypeError(
                f"{what} has elements that kernels do not support ({getattr(array, 'dtype', type(array))})"
            )

    def device(self, array: Any) -> str:
        if isinstance(array, Tracer):
            return "cpu"  # decided when the computation is lowered
        devices = sorted(array.devices(), key=lambda device: device.id)  # a sharded array has several
        return "cpu" if devices[0].platform == "cpu" else f"cuda:{'+'.join(str(device.id) for device in devices)}"

    def address(self, array: Any) -> int:
        raise ArgumentTypeError("JAX arrays are immutable", hint="call the kernel; it returns new arrays")

    def owner(self, array: Any) -> Any:
        if isinstance(array, Tracer):
            raise ArgumentTypeError("a traced JAX array has no address", hint="take the address outside of jax.jit")
        if len(array.devices()) > 1:
            raise ArgumentValueError("an array on several devices has no single address")
        return array

    def extent(self, owner: Any) -> tuple[int, int]:
        return (0, 0) if owner.is_deleted() else (owner.unsafe_buffer_pointer(), owner.nbytes)

    def stream(self, array: Any) -> int:
        raise BackendError("XLA chooses the stream of JAX arrays", hint="call the kernel instead of launching it")

    def host(self, array: Any) -> np.ndarray:
        return np.asarray(array)

    def write_back(self, array: Any, host: Any) -> None:
        raise ArgumentTypeError("JAX arrays are immutable", hint="call the kernel; it returns new arrays")

    def writeable(self, array: Any) -> bool:
        return False

    def recorder(self, inputs: Sequence[Any]) -> Record:
        return self.call

    def kind(self, array: Any) -> None:
        """Return None: JAX caches calls itself."""

    def call(self, kernel: str, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Any:
        """Issue the FFI call that runs the kernel.

        Raises:
            LaunchError: shapes or dtypes do not match the Tiles, or `out=` was passed.
        """
        found = resolve(kernel)
        if out is not None:
            raise ArgumentTypeError(f"{found.name}: JAX arrays are immutable; use the result of the call, not out=")
        env = unify_envs([found.binder.sizes_of(self, inputs), found.binder.split(params)[0]])
        symbolic = any(map(jax.export.is_symbolic_dim, env.values()))
        if not symbolic:
            found.binder.check_values(params, env)
        results = [
            jax.ShapeDtypeStruct(shape, _result_dtype(found.name, spec.dtype.name))
            for shape, spec in zip(found.binder.shapes(env), found.out_specs, strict=True)
        ]
        if results and not symbolic and not any(result.size for result in results):
            empty = [jax.numpy.zeros(result.shape, result.dtype) for result in results]
            return empty[0] if len(empty) == 1 else tuple(empty)
        if not ensure_ffi_registered() and any(self.device(x) != "cpu" for x in inputs):
            raise BackendError(f"{found.name}: launches on JAX arrays on a GPU are not available: {shim_load_error()}")
        arrays = [(x.shape, np.dtype(x.dtype)) for x in inputs]
        made = [(r.shape, np.dtype(r.dtype)) for r in results]
        if symbolic:
            handle, text = symbolic_handle_of(kernel, params), description_of(kernel, params, None, ())
        else:
            handle, text = handle_of(kernel, params, arrays, made, env), description_of(kernel, params, arrays, made)
        zeroed = tuple(k for k, spec in enumerate(found.out_specs) if spec.zeroed)
        call = _call(handle, text, len(inputs), tuple((r.shape, r.dtype) for r in results), zeroed)
        outputs = (call[1] if any(isinstance(x, Tracer) for x in inputs) else call[0])(*inputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> Any:
        raise ArgumentTypeError("JAX arrays are immutable", hint="call the kernel; it returns new arrays")


@cache
def _call(
    handle: int, text: str, inputs: int, results: tuple[tuple[tuple[int, ...], Any], ...], zeroed: tuple[int, ...]
) -> tuple[Callable[..., Sequence[Any]], Callable[..., Sequence[Any]]]:
    """Return the FFI call of a handle, jitted for eager calls so that they are compiled once, and plain for tracers.

    Zero-initialized results, whose indices are `zeroed`, are passed as arguments after the inputs and aliased by XLA.
    """
    shapes = [jax.ShapeDtypeStruct(*result) for result in results]
    launch = jax.ffi.ffi_call(
        TARGET,
        shapes,
        has_side_effect=False,
        vmap_method="sequential",
        input_output_aliases={inputs + k: result for k, result in enumerate(zeroed)},
    )

    def call(*inputs: Any) -> Sequence[Any]:
        return launch(
            *inputs, *(jax.numpy.zeros(*results[k]) for k in zeroed), cubin_handle=np.int64(handle), kernel=text
        )

    return jax.jit(call), call


def _result_dtype(kernel: str, name: str) -> np.dtype:
    dtype = numpy_dtype(name)
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ArgumentValueError(
            f"{kernel} returns {dtype}, which JAX does not support by default",
            hint="jax.config.update('jax_enable_x64', True)",
        )
    return dtype


ARRAYS = JaxArrays()
