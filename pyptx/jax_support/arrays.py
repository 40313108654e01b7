"""JAX arrays as kernel arguments. They are immutable: a call returns new arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from pyptx.errors import ArgumentTypeError, ArgumentValueError, BackendError
from pyptx.jax_support.calls import issue
from pyptx.runtime.arrays import Record
from pyptx.runtime.identity import resolve

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
        outputs = issue(self, kernel, params, inputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> Any:
        raise ArgumentTypeError("JAX arrays are immutable", hint="call the kernel; it returns new arrays")


ARRAYS = JaxArrays()
