"""Kernels that are right, each with a way to check it or a mutant of its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from contract.kernels_ampere import ampere_gemm
from contract.kernels_hopper import hopper_gemm
from sim.test_tma_kernels import row_sums, transpose

import pyptx
from pyptx.check import Report
from pyptx.cli.kernels import load_kernel
from pyptx.kernel import Kernel
from pyptx.runtime import runtime_for

__all__ = ["CLEAN", "EXAMPLES", "Clean"]


@dataclass(frozen=True)
class Clean:
    """A kernel, its inputs, and steps after which a run of it surely hangs."""

    source: Kernel | str                        # a kernel, or the file of an example
    inputs: Callable[[], list[np.ndarray]]
    max_steps: int

    @property
    def kernel(self) -> Kernel:
        return _example(self.source) if isinstance(self.source, str) else self.source

    def text(self) -> str:
        return self.kernel.ptx(**self.kernel.binding.sizes_of(runtime_for((), "sim").arrays, self.inputs()))

    def check(self, text: str | None = None, **options: Any) -> Report:
        """Check the kernel itself, or a text in its place."""
        inputs = self.inputs()
        if text is None:
            return self.kernel.check(*inputs, **options)
        _, plan, args = self.kernel.bind(*inputs)
        return pyptx.load(text)[self.kernel.name].check(plan.grid, plan.block, *args, max_steps=self.max_steps,
                                                        cluster=plan.cluster, smem_bytes=plan.smem_bytes, **options)


@cache
def _example(name: str) -> Kernel:
    return load_kernel(str(Path(__file__).parents[2] / "examples" / name))


def _floats(*shapes: tuple[int, ...], seed: int = 0, kind: Any = np.float32) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


CLEAN = {
    "transpose": Clean(transpose, lambda: _floats((64, 64)), 100_000),
    "row_sums": Clean(row_sums, lambda: _floats((16, 224)), 100_000),
    "ampere_gemm": Clean(ampere_gemm, lambda: _floats((128, 160), (160, 128), kind=ml_dtypes.bfloat16), 1_000_000),
    "hopper_gemm": Clean(hopper_gemm, lambda: _floats((128, 576), (256, 576), kind=ml_dtypes.bfloat16), 1_000_000),
}
EXAMPLES = {
    "examples/ampere/gemm": Clean("ampere/gemm.py", lambda: _floats((128, 192), (192, 128), kind=ml_dtypes.bfloat16),
                                  1_000_000),
    "examples/hopper/gemm": Clean("hopper/gemm.py", lambda: _floats((256, 1024), (1024, 256), kind=ml_dtypes.bfloat16),
                                  1_000_000),
    "examples/hopper/attention": Clean("hopper/attention.py", lambda: _floats(
        (1, 1, 256, 64), (1, 1, 768, 64), (1, 1, 768, 64), kind=ml_dtypes.bfloat16), 1_000_000),
}
