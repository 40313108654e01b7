"""Sweeps of CUDA C++ kernels over macros and template arguments, timed by the performance model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pyptx.analysis.gpus import Gpu
from pyptx.errors import ArgumentValueError, CompileError, LaunchError, PtxError
from pyptx.views.sweeps.sweep import Parameter, Point, Progress, SweepView

if TYPE_CHECKING:
    from pyptx.workbench.cuda_program import CudaEntry, CudaProgram

__all__ = ["sweep"]


def sweep(
    compiled: Callable[[Mapping[str, Any]], CudaProgram],
    kernel: str,
    values: Mapping[str, Sequence[Any]],
    launch: Mapping[str, Any],
    args: Sequence[Any],
    *,
    expected: Mapping[int, np.ndarray],
    device: str | Gpu | None,
) -> SweepView:
    """Compile, run and estimate each configuration; see `CudaProgram.sweep`.

    Args:
        compiled: returns the program with additional macros.
        launch: grid, block, cluster and smem_bytes, or functions of the configuration that return them.
    """
    if not values or not all(values.values()):
        raise ArgumentValueError("sweep: no values", hint='pass them by name, such as {"TILE": [16, 32]}')
    axes = tuple(Parameter(name, tuple(given)) for name, given in values.items())
    in_name = set(re.findall(r"\{(\w+)\}", kernel))
    points, gpu, target = [], "", ""
    for indices in product(*(range(len(axis.values)) for axis in axes)):
        config = {axis.name: axis.values[at] for axis, at in zip(axes, indices, strict=True)}
        try:
            macros = {name: value for name, value in config.items() if name not in in_name}
            entry = compiled(macros)[_formatted(kernel, config)]
            target = entry.target
            sizes = {name: value(**config) if callable(value) else value for name, value in launch.items()}
            point, used = _point(entry, indices, sizes, args, expected, device)
            gpu = used or gpu
        except CompileError as error:
            point = Point(indices, "refused", str(error.diagnostics[0]).partition("\n")[0])
        except PtxError as error:
            state = "refused" if isinstance(error, LaunchError) else "failed"
            point = Point(indices, state, str(error).partition("\n")[0])
        points.append(point)
    timed = [at for at, point in enumerate(points) if point.seconds is not None]
    best = min(timed, key=lambda at: points[at].seconds or 0.0, default=-1)
    done = Progress(len(points), len(points), 0.0, "finished")
    return SweepView(kernel, target, f"model of {gpu}" if gpu else "model", axes, tuple(points), (), done, best)


def _formatted(kernel: str, config: Mapping[str, Any]) -> str:
    texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in config.items()}
    return re.sub(r"\{(\w+)\}", lambda found: texts.get(found[1], found[0]), kernel)


def _point(
    entry: CudaEntry,
    indices: tuple[int, ...],
    sizes: Mapping[str, Any],
    args: Sequence[Any],
    expected: Mapping[int, np.ndarray],
    device: str | Gpu | None,
) -> tuple[Point, str]:
    """Return the result of a configuration, and the name of the GPU."""
    if expected:
        copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        entry.launch(*copies, **sizes, backend="sim")
        for at, wanted in expected.items():
            if not np.allclose(copies[at].astype(np.float64), wanted.astype(np.float64), 1e-3, 1e-3, equal_nan=True):
                return Point(indices, "wrong", f"{entry.argument_names[at]} differs from the expected array"), ""
    found = entry.estimate(*args, **sizes, device=device)
    used = entry.compile().resources[entry.mangled]
    finite = found.seconds != float("inf")
    return Point(
        indices,
        "modeled" if finite else "refused",
        "" if finite else found.summary,
        found.seconds if finite else None,
        kind="modeled" if finite else "",
        bound=found.summary,
        registers=used.registers,
        spill_bytes=used.spill_stores + used.spill_loads,
        shared_bytes=used.shared_bytes + int(sizes.get("smem_bytes") or 0),
        occupancy=found.occupancy.warps / found.occupancy.max_warps,
        confidence=found.confidence,
    ), found.gpu
