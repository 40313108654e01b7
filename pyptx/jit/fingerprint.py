"""Kernel fingerprints: hashes of a kernel's Python, of the functions it calls, its Tiles and launch sizes."""

from __future__ import annotations

from pyptx._version import __version__
from pyptx.jit.declaration import Declaration
from pyptx.runtime.fingerprint import digest, function_fingerprint
from pyptx.runtime.identity import KernelIdentity, module_of

__all__ = ["kernel_fingerprint", "kernel_identity"]


def kernel_identity(declared: Declaration) -> KernelIdentity:
    """Return the identity of a declared kernel with the values that it captures now."""
    function = declared.function
    sizes = [
        function_fingerprint(value) if callable(value) else repr(value)
        for value in (declared.grid, declared.block, declared.cluster, declared.reqntid)
    ]
    specs = [[repr(spec) for spec in group] for group in (declared.in_specs, declared.out_specs)]
    launch = [
        declared.name,
        declared.arch,
        declared.version,
        sizes,
        declared.smem_bytes,
        declared.extern_smem,
        repr(declared.directives),
        repr(declared.linking),
        declared.in_place,
        *([] if declared.debug else ["debug=False"]),
        *([] if declared.tensor_maps == "pointer" else [f"tensor_maps={declared.tensor_maps}"]),
    ]
    return KernelIdentity(
        module_of(function),
        getattr(function, "__qualname__", declared.name),
        __version__,
        function_fingerprint(function)[:16],
        digest([specs, declared.raw_params])[:16],
        digest(launch)[:16],
    )


def kernel_fingerprint(declared: Declaration) -> str:
    """Return the hash of a declared kernel, 32 hexadecimal digits: its identity without module and qualified name."""
    found = kernel_identity(declared)
    return digest([found.version, found.source, found.specs, found.launch])
