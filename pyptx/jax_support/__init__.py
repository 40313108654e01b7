"""Kernels on JAX arrays: eager, under jit, and as part of anything jit lowers. Loaded when the first array comes along.

A call becomes XLA's typed foreign function call `pyptx_launch`, whose attribute `cubin_handle` names the kernel and its
parameter values. On the CPU it runs the simulator, on a GPU a handler in C that asks Python once for each call site.

What XLA does with calls:

* Gradients are the caller's, by `jax.custom_vjp` around a forward and a backward kernel.
* `jax.vmap` launches the kernel once for each element of the batch, one after the other. Where one launch can do them
  all, the kernel takes the batch as a dimension, and `jax.custom_batching.custom_vmap` says so.
* Sharding is the caller's. XLA does not see into a kernel: a call on sharded arrays gathers them first. Inside
  `jax.shard_map` each device launches on its own part, which is what is usually meant.
* `jax.export` takes calls with `disabled_checks=[DisabledSafetyCheck.custom_call("pyptx_launch")]`. The kernel is not
  in what is exported: the process that runs it must have called or traced it once, and is told so if it has not.
"""

from pyptx.jax_support.loading import compile_ptx_to_cubin
from pyptx.jax_support.registry import TARGET, ensure_ffi_registered, shim_is_available, shim_load_error

__all__ = ["TARGET", "compile_ptx_to_cubin", "ensure_ffi_registered", "shim_is_available", "shim_load_error"]
