"""Write NVIDIA PTX kernels in Python, one instruction per call, and run, check and view them with or without a GPU.

    from pyptx import kernel, reg, smem, ptx, Tile

Names are loaded on first use; `import pyptx` needs only the standard library.
"""

import sys
from importlib import import_module
from os import environ
from types import ModuleType
from typing import TYPE_CHECKING

from pyptx._distribution import warn_of_other_project
from pyptx._import_hook import when_imported
from pyptx._notebook import FrontEnd, connect
from pyptx._version import __version__

if TYPE_CHECKING:  # the names that `__getattr__` loads, for type checkers and editors; a test compares the two
    from pyptx import (
        errors,
        history,
        ir,
        isa,
        ledger,
        lib,
        ptx,
        reg,
        sim,
        smem,
        spec,
        specs,
        triton,
        tune,
        types,
        views,
    )
    from pyptx.benchmarking import Benchmark, benchmark
    from pyptx.compiled import Compiled
    from pyptx.cuda_device.in_process import device
    from pyptx.errors import CompileError, Diagnostic, LaunchError, PtxError
    from pyptx.jupyter import load_ipython_extension, unload_ipython_extension
    from pyptx.kernel import Kernel, kernel
    from pyptx.launch_config import LaunchConfig
    from pyptx.program import Program, load
    from pyptx.ptx import intrinsic
    from pyptx.runtime import LaunchResult, use
    from pyptx.runtime.device import detect_arch
    from pyptx.runtime.pointers import pointer
    from pyptx.specs import Layout, Tile
    from pyptx.tensor_map import Im2col, TensorMap
    from pyptx.texture import Surface, Texture
    from pyptx.torch_support import differentiable_kernel
    from pyptx.tune.sweeps import sweep
    from pyptx.validate import check_ptx
    from pyptx.workbench.autotune import autotune
    from pyptx.workbench.comparing import diff
    from pyptx.workbench.cuda_program import cuda
    from pyptx.workbench.numba_kernels import numba
    from pyptx.workbench.side_by_side import compare

__all__ = [
    "__version__",
    "autotune",
    "Benchmark",
    "benchmark",
    "check_ptx",
    "compare",
    "Compiled",
    "CompileError",
    "cuda",
    "detect_arch",
    "device",
    "Diagnostic",
    "diff",
    "differentiable_kernel",
    "errors",
    "history",
    "Im2col",
    "intrinsic",
    "ir",
    "isa",
    "Kernel",
    "kernel",
    "LaunchConfig",
    "LaunchError",
    "ledger",
    "lib",
    "LaunchResult",
    "Layout",
    "load",
    "load_ipython_extension",
    "numba",
    "pointer",
    "Program",
    "ptx",
    "PtxError",
    "reg",
    "sim",
    "smem",
    "spec",
    "specs",
    "Surface",
    "sweep",
    "TensorMap",
    "Texture",
    "Tile",
    "triton",
    "tune",
    "types",
    "unload_ipython_extension",
    "use",
    "views",
]

_MODULES = {
    "errors",
    "history",
    "ir",
    "isa",
    "ledger",
    "lib",
    "ptx",
    "reg",
    "sim",
    "smem",
    "spec",
    "specs",
    "triton",
    "tune",
    "types",
    "views",
}
_NAMES = {
    "Kernel": "kernel",
    "intrinsic": "ptx",
    "Tile": "specs",
    "Layout": "specs",
    "use": "runtime",
    "LaunchConfig": "launch_config",
    "LaunchResult": "runtime",
    "detect_arch": "runtime.device",
    "pointer": "runtime.pointers",
    "check_ptx": "validate",
    "load": "program",
    "Program": "program",
    "Compiled": "compiled",
    "TensorMap": "tensor_map",
    "Im2col": "tensor_map",
    "Texture": "texture",
    "Surface": "texture",
    "differentiable_kernel": "torch_support",
    "cuda": "workbench.cuda_program",
    "device": "cuda_device.in_process",
    "numba": "workbench.numba_kernels",
    "diff": "workbench.comparing",
    "compare": "workbench.side_by_side",
    "Diagnostic": "errors",
    "PtxError": "errors",
    "CompileError": "errors",
    "LaunchError": "errors",
    "autotune": "workbench.autotune",
    "Benchmark": "benchmarking",
    "benchmark": "benchmarking",
    "sweep": "tune.sweeps",
    "load_ipython_extension": "jupyter",
    "unload_ipython_extension": "jupyter",
}

if not TYPE_CHECKING:

    def __getattr__(name):
        if name in _NAMES:
            value = getattr(import_module(f"pyptx.{_NAMES[name]}"), name)
        elif name in _MODULES:
            value = import_module(f"pyptx.{name}")
        else:
            raise AttributeError(f"module 'pyptx' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _front_end() -> FrontEnd:
    from pyptx.jupyter import display

    return display


def _register_operator(torch: ModuleType) -> None:
    if hasattr(getattr(torch, "library", None), "custom_op"):  # torch 2.4; older versions run eager calls only
        import_module("pyptx.torch_support")


def _register_handler(jax: ModuleType) -> None:
    if hasattr(getattr(jax, "ffi", None), "register_ffi_target"):
        import_module("pyptx.jax_support.registry")


def _simulate_triton(triton: ModuleType) -> None:
    if not getattr(triton.__spec__, "_initializing", False):  # else Triton activates the backend when it needs it
        import_module("pyptx.triton").activate()


warn_of_other_project()
connect(_front_end)
if environ.get("PYPTX_TRITON"):
    when_imported("triton", _simulate_triton)
when_imported("torch", _register_operator)
when_imported("jax", _register_handler)


class _Package(ModuleType):
    """The module type of pyptx: `pyptx.kernel` stays the decorator when the submodule of that name is imported."""

    @property
    def kernel(self) -> object:
        return import_module("pyptx.workbench.kernel").kernel

    @kernel.setter
    def kernel(self, submodule: ModuleType) -> None:
        """Ignore the submodule that the import system binds; it is sys.modules["pyptx.kernel"]."""


sys.modules[__name__].__class__ = _Package
