"""JAX arrays as arguments of kernels. They are not written to: a call gives new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import jax
import numpy as np

from pyptx.errors import LaunchError
from pyptx.jax_support.registry import TARGET, ensure_ffi_registered, handle_of, shim_load_error
from pyptx.runtime.arrays import Record, registered
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.specs import unify_envs

__all__ = ["ARRAYS"]


class JaxArrays:
    """Arrays and tracers."""

    package = "jax"

    def dtype_name(self, array: Any) -> str:
        return array.dtype.name

    def check(self, array: Any, what: str) -> None:
        if not hasattr(array, "dtype") or jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
            raise LaunchError(f"{what} has no elements a kernel can address ({getattr(array, 'dtype', type(array))})")

    def device(self, array: Any) -> str:
        if isinstance(array, jax.core.Tracer):
            return "cpu"                                            # decided when the computation is lowered
        devices = sorted(array.devices(), key=lambda device: device.id)     # several of a sharded array
        return "cpu" if devices[0].platform == "cpu" else f"cuda:{'+'.join(str(device.id) for device in devices)}"

    def address(self, array: Any) -> int:
        raise LaunchError("JAX arrays cannot be written to; call the kernel, which gives new arrays")

    def stream(self, array: Any) -> int:
        raise LaunchError("JAX chooses the stream itself; call the kernel")

    def host(self, array: Any) -> np.ndarray:
        return np.asarray(array)

    def write_back(self, array: Any, host: Any) -> None:
        raise LaunchError("JAX arrays cannot be written to; call the kernel, which gives new arrays")

    def writeable(self, array: Any) -> bool:
        return False

    def recorder(self, inputs: Sequence[Any]) -> Record:
        return self.call

    def kind(self, array: Any) -> None:
        """Nothing: JAX remembers its calls itself."""

    def call(self, kernel: int, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Any:
        """The foreign function call that runs the kernel.

        Raises:
            LaunchError: shapes or types do not fit the Tiles; `out=` is given.
        """
        found = registered(kernel)
        if out is not None:
            raise LaunchError(f"{found.name}: JAX arrays cannot be written to; use what the call returns, not out=")
        env = unify_envs([found.binding.sizes_of(self, inputs), found.binding.split(params)[0]])
        found.binding.check_values(params, env)
        results = [jax.ShapeDtypeStruct(shape, _result_dtype(found.name, spec.dtype.name))
                   for shape, spec in zip(found.binding.shapes(env), found.out_specs, strict=True)]
        if not ensure_ffi_registered() and any(self.device(x) != "cpu" for x in inputs):
            raise LaunchError(f"{found.name}: kernels cannot run on GPU arrays of JAX here: {shim_load_error()}")
        handle = handle_of(kernel, params, [(x.shape, np.dtype(x.dtype)) for x in inputs],
                           [(r.shape, np.dtype(r.dtype)) for r in results], env)
        zeroed = tuple(k for k, spec in enumerate(found.out_specs) if spec.zeroed)
        call = _call(handle, len(inputs), tuple((r.shape, r.dtype) for r in results), zeroed)
        outputs = (call.__wrapped__ if any(isinstance(x, jax.core.Tracer) for x in inputs) else call)(*inputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> Any:
        raise LaunchError("JAX arrays cannot be written to; call the kernel, which gives new arrays")


@cache
def _call(handle: int, inputs: int, results: tuple[tuple[tuple[int, ...], Any], ...],
          zeroed: tuple[int, ...]) -> Callable[..., Sequence[Any]]:
    """The foreign function call of a handle, jitted: an eager call is then compiled once.

    Results that begin as zeros, those of the numbers `zeroed`, are arguments behind the inputs, in whose memory XLA
    puts them.
    """
    shapes = [jax.ShapeDtypeStruct(*result) for result in results]
    launch = jax.ffi.ffi_call(TARGET, shapes, has_side_effect=False, vmap_method="sequential",
                              input_output_aliases={inputs + k: result for k, result in enumerate(zeroed)})
    return jax.jit(lambda *given: launch(*given, *(jax.numpy.zeros(*results[k]) for k in zeroed),
                                         cubin_handle=np.int64(handle)))


def _result_dtype(kernel: str, name: str) -> np.dtype:
    dtype = numpy_dtype(name)
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise LaunchError(f"{kernel} gives {dtype}, which JAX does not hold by default; "
                          "jax.config.update('jax_enable_x64', True) turns it on")
    return dtype


ARRAYS = JaxArrays()
