"""Kernels on JAX arrays: eager, under jit, and as part of anything jit lowers. Loaded when the first array comes along.

A call becomes XLA's typed foreign function call `pyptx_launch`, whose attribute `cubin_handle` names the kernel and its
parameter values. On the CPU it runs the simulator, on a GPU a handler in C that asks Python once for each call site.
"""

from pyptx.jax_support.loading import compile_ptx_to_cubin
from pyptx.jax_support.registry import TARGET, ensure_ffi_registered, shim_is_available, shim_load_error

__all__ = ["TARGET", "compile_ptx_to_cubin", "ensure_ffi_registered", "shim_is_available", "shim_load_error"]
