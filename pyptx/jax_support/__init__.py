"""Kernels on JAX arrays, eager and under jit. Imported on the first call with a JAX array.

A call becomes a typed XLA FFI call `pyptx_launch`, whose attributes `cubin_handle` and `kernel` identify the kernel and
its parameter values. On the CPU it runs the simulator; on a GPU, a C handler that calls Python once for each call site.

JAX transformations:

* Gradients: wrap a forward and a backward kernel in `jax.custom_vjp`.
* `jax.vmap` launches the kernel once for the whole batch if the kernel allows it, else once for each element,
  sequentially; docs/howto/frameworks.md lists the conditions.
* Sharding: XLA cannot partition a kernel, so a call on sharded arrays gathers them first. Inside `jax.shard_map` each
  device launches on its own shard, which is usually intended.
* `jax.export` needs `disabled_checks=[DisabledSafetyCheck.custom_call("pyptx_launch")]`. The export names the kernel by
  its identity; a process that has imported pyptx finds the kernel in its module, or refuses if it has changed. Shapes may
  be symbolic where the Tiles have names; such exports run on the CPU only. On a GPU call `ensure_ffi_registered()` first.
* The persistent compilation cache distinguishes kernels by their content.
"""

import jax  # noqa: F401  pyptx registers its handler when this import ends, which imports the registry

from pyptx.jax_support.loading import compile_ptx_to_cubin
from pyptx.jax_support.registry import TARGET, ensure_ffi_registered, shim_is_available, shim_load_error

__all__ = ["TARGET", "compile_ptx_to_cubin", "ensure_ffi_registered", "shim_is_available", "shim_load_error"]
