"""Write NVIDIA PTX kernels in Python, one call one instruction, and see what you wrote.

    from pyptx import kernel, reg, smem, ptx, Tile

Names are loaded on use; `import pyptx` needs only the standard library.
"""

import sys
from importlib import import_module
from types import ModuleType

__version__ = "0.1.0"

_MODULES = {"reg", "smem", "ptx", "types", "specs", "spec", "isa", "ir", "sim", "views", "errors",
            "history", "tune"}
_NAMES = {
    "Kernel": "kernel", "intrinsic": "ptx", "Tile": "specs", "Layout": "specs", "use": "runtime",
    "LaunchResult": "runtime", "detect_arch": "runtime.device", "check_ptx": "validate",
    "load": "program", "Program": "program", "Compiled": "compiled", "TensorMap": "tensor_map", "Im2col": "tensor_map",
    "Texture": "texture", "Surface": "texture",
    "differentiable_kernel": "torch_support",
    "diff": "views", "Diagnostic": "errors", "PtxError": "errors", "CompileError": "errors", "LaunchError": "errors",
    "autotune": "tune", "sweep": "tune",
    "load_ipython_extension": "jupyter", "unload_ipython_extension": "jupyter",
}

__all__ = ["__version__", "kernel", *sorted(_MODULES), *_NAMES]

# ruff: noqa: F401
TYPE_CHECKING = False
if TYPE_CHECKING:                               # what `__getattr__` finds, for editors; held against it by a test
    from pyptx import errors, history, ir, isa, ptx, reg, sim, smem, spec, specs, tune, types, views
    from pyptx.compiled import Compiled
    from pyptx.errors import CompileError, Diagnostic, LaunchError, PtxError
    from pyptx.kernel import Kernel, kernel
    from pyptx.program import Program, load
    from pyptx.ptx import intrinsic
    from pyptx.runtime import LaunchResult, use
    from pyptx.runtime.device import detect_arch
    from pyptx.specs import Layout, Tile
    from pyptx.tensor_map import Im2col, TensorMap
    from pyptx.texture import Surface, Texture
    from pyptx.torch_support import differentiable_kernel
    from pyptx.tune import autotune, sweep
    from pyptx.validate import check_ptx
    from pyptx.views import diff


def __getattr__(name: str):
    if name in _NAMES:
        value = getattr(import_module(f"pyptx.{_NAMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"pyptx.{name}")
    else:
        raise AttributeError(f"module 'pyptx' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`pyptx.kernel` is the decorator, also after the submodule of that name was imported."""

    @property
    def kernel(self):
        return import_module("pyptx.kernel").kernel

    @kernel.setter
    def kernel(self, submodule: ModuleType) -> None:
        """The import system binds the submodule here; it stays reachable as sys.modules["pyptx.kernel"]."""


sys.modules[__name__].__class__ = _Package
