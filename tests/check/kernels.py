"""Correct kernels with small inputs, and a way to check a mutant of their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from compat.kernels_ampere import ampere_gemm
from compat.kernels_hopper import hopper_gemm
from sim.test_tma_kernels import row_sums, transpose

import pyptx
from pyptx.check import Report
from pyptx.cli.kernels import load_kernel
from pyptx.kernel import Kernel

__all__ = ["CLEAN", "Clean", "floats"]

BF16 = ml_dtypes.bfloat16


@dataclass(frozen=True)
class Clean:
    """A kernel, its inputs and template parameters, and steps after which a run of it surely hangs."""

    source: Kernel | str  # a kernel, or "hopper/gemm.py:gemm" among the examples
    inputs: Callable[[], list[np.ndarray]]
    max_steps: int = 1_000_000
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kernel(self) -> Kernel:
        return _example(self.source) if isinstance(self.source, str) else self.source

    @cached_property
    def bound(self) -> tuple[Any, Any, list[Any]]:
        """Specialization, geometry and arguments of a call."""
        return self.kernel.launcher.bind(*self.inputs(), **self.params)

    def text(self) -> str:
        return self.bound[0].emitted.text

    def check(self, text: str | None = None, **options: Any) -> Report:
        """Check the kernel itself, or a text in its place."""
        if text is None:
            return self.kernel.check(*self.inputs(), **self.params, **options)
        _, plan, args = self.bound
        return pyptx.load(text)[self.kernel.name].check(
            plan.grid,
            plan.block,
            *args,
            max_steps=self.max_steps,
            cluster=plan.cluster,
            smem_bytes=plan.smem_bytes,
            **options,
        )

    def finds(self, text: str) -> str | None:
        """The rule of what a check finds in a text in its place; the quick runs first, which find most."""
        for options in ({"schedules": ("eager", "late"), "random": 0}, {"schedules": (), "random": 4}):
            if not (report := self.check(text, **options)).ok:
                return report.findings[0].rule
        report = self.check(text)  # runs that end alike may still end unlike each other
        return None if report.ok else report.findings[0].rule


@cache
def _example(name: str) -> Kernel:
    return load_kernel(str(Path(__file__).parents[2] / "examples" / name))


def floats(*shapes: tuple[int, ...], seed: int = 0, kind: Any = BF16) -> list[np.ndarray]:
    """Arrays of random numbers."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


CLEAN = {
    "transpose by TMA": Clean(transpose, lambda: floats((64, 64), kind=np.float32), 100_000),
    "row_sums": Clean(row_sums, lambda: floats((16, 224), kind=np.float32), 100_000),
    "ampere_gemm": Clean(ampere_gemm, lambda: floats((128, 160), (160, 128))),
    "hopper_gemm": Clean(hopper_gemm, lambda: floats((128, 576), (256, 576))),
}
