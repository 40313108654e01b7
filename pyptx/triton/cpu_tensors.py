"""The backend for kernels of CPU tensors, by which torch.compile finds that Triton compiles them."""

from __future__ import annotations

import sys
from typing import Any

import triton.backends
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

from pyptx.triton.targets import TritonTarget

__all__ = ["NAME", "cpu_backend", "forget_backends"]

NAME = "cpu"  # of the target that torch's compiler takes for CPU tensors, and of the backend that it looks for


def cpu_backend(target: TritonTarget, driver: type) -> Any:
    """Return a Triton backend that compiles kernels of CPU tensors for a target of the simulator.

    Args:
        driver: as Triton asks for it; the active driver is used instead.
    """

    class Compiler:
        """Returns Triton's own compiler for the target."""

        def __new__(cls, asked: Any) -> Any:
            return make_backend(GPUTarget("cuda", target.capability, 32))

        @staticmethod
        def supports_target(asked: Any) -> bool:
            return asked.backend == NAME

    return triton.backends.Backend(compiler=Compiler, driver=driver)  # type: ignore[arg-type] - only called


def forget_backends() -> None:
    """Have torch look for Triton's backends again: it remembers what it found first."""
    known = getattr(sys.modules.get("torch.utils._triton"), "has_triton", None)
    if clear := getattr(known, "cache_clear", None):
        clear()
