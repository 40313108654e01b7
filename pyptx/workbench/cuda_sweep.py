"""Sweeps of CUDA C++ kernels over macros and template arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pyptx.analysis.gpus import Gpu
from pyptx.errors import ArgumentValueError
from pyptx.workbench.entry_sweep import Candidate, EntrySweep, sweep_entries

if TYPE_CHECKING:
    from pyptx.workbench.cuda_program import CudaEntry, CudaProgram

__all__ = ["format_name", "names_in", "sweep"]


def sweep(
    compiled: Callable[[Mapping[str, Any]], CudaProgram],
    kernel: str,
    values: Mapping[str, Sequence[Any]],
    launch: Mapping[str, Any],
    args: Sequence[Any],
    *,
    target: str,
    expected: Mapping[int, np.ndarray],
    device: str | Gpu | None,
) -> EntrySweep:
    """Compile, run and estimate each configuration; see `CudaProgram.sweep`.

    Args:
        compiled: returns the program with additional macros.
        launch: grid, block, cluster and smem_bytes, or functions of the configuration that return them.
    """
    if not values or not all(values.values()):
        raise ArgumentValueError("sweep: no values", hint='pass them by name, such as {"TILE": [16, 32]}')
    in_name = names_in(kernel)

    def candidate(**config: Any) -> Candidate:
        macros = {name: value for name, value in config.items() if name not in in_name}
        entry = compiled(macros)[format_name(kernel, config)]
        sizes: dict[str, Any] = {name: value(**config) if callable(value) else value for name, value in launch.items()}
        return Candidate(
            entry,
            entry.mangled,
            int(sizes.get("smem_bytes") or 0),
            lambda on: entry.estimate(*args, **sizes, device=on),
            lambda: _defect(entry, args, sizes, expected) if expected else "",
        )

    return sweep_entries(candidate, values, title=kernel, target=target, device=device)


def names_in(kernel: str) -> set[str]:
    """Return the names in braces in the name of a kernel, "gemm<float, {TILE}>"."""
    return set(re.findall(r"\{(\w+)\}", kernel))


def format_name(kernel: str, config: Mapping[str, Any]) -> str:
    """Return the name of a kernel with values in place of the names in braces."""
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in config.items()}
    return re.sub(r"\{(\w+)\}", lambda found: texts.get(found[1], found[0]), kernel)


def _defect(entry: CudaEntry, args: Sequence[Any], sizes: Mapping[str, Any], expected: Mapping[int, np.ndarray]) -> str:
    """Run the entry on copies of the arrays; return the first argument that differs from the expected array."""
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    entry.launch(*copies, **sizes, backend="sim")
    for at, wanted in expected.items():
        if not np.allclose(copies[at].astype(np.float64), wanted.astype(np.float64), 1e-3, 1e-3, equal_nan=True):
            return f"{entry.argument_names[at]} differs from the expected array"
    return ""
