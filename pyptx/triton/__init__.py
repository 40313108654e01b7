"""Triton kernels on the simulator: run, check, view and debug them without a GPU.

    import pyptx.triton

    with pyptx.triton.simulate("sm_90a"):
        add_kernel[(8,)](x, y, out, 1000, BLOCK=128)        # torch tensors on the CPU, NumPy arrays

    entry = pyptx.triton.load(add_kernel, x, y, out, 1000, grid=8, target="sm_90a", BLOCK=128)
    entry.view()

Triton itself compiles the kernels; pyptx runs their PTX. Names are loaded on first use, so that Triton can import the
backend in this package, which the environment variable PYPTX_TRITON activates.
"""

from typing import TYPE_CHECKING

from pyptx._lazy import from_modules

if TYPE_CHECKING:
    from pyptx.triton.idioms import COMPILER_IDIOMS
    from pyptx.triton.loading import TritonEntry, load
    from pyptx.triton.session import activate, deactivate, simulate
    from pyptx.triton.targets import TARGETS

__all__ = ["COMPILER_IDIOMS", "TARGETS", "TritonEntry", "activate", "deactivate", "load", "simulate"]

if not TYPE_CHECKING:
    __getattr__ = from_modules(
        __name__,
        {
            "COMPILER_IDIOMS": "idioms",
            "TARGETS": "targets",
            "TritonEntry": "loading",
            "activate": "session",
            "deactivate": "session",
            "load": "loading",
            "simulate": "session",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
