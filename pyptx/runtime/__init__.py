"""Where kernels run: the arrays decide, `pyptx.use` and PYPTX_BACKEND override."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from pyptx.errors import LaunchError
from pyptx.runtime.plan import Dim3, LaunchPlan, LaunchResult, Runtime, dim3
from pyptx.tensor_map import TensorMap

__all__ = ["BACKENDS", "Dim3", "LaunchPlan", "LaunchResult", "Runtime", "dim3", "options", "runtime_for", "use"]

BACKENDS = {"sim": "pyptx.runtime.simulated"}
ADAPTERS = {"numpy": "sim"}                                # package of an array's type -> backend

_chosen: list[tuple[str, dict[str, Any]]] = []


class use:
    """Choose the backend: `pyptx.use("sim", seed=1)` for the rest of the program, or as a context manager.

    Raises:
        LaunchError: there is no backend of that name.
    """

    def __init__(self, backend: str, **options: Any):
        _require(backend)
        self._entry = (backend, options)
        _chosen.append(self._entry)

    def __enter__(self) -> use:
        return self

    def __exit__(self, *_exception: object) -> None:
        _chosen.remove(self._entry)


def options() -> Mapping[str, Any]:
    """Options of the innermost `use`."""
    return _chosen[-1][1] if _chosen else {}


def runtime_for(values: Iterable[object], backend: str | None = None) -> Runtime:
    """The backend named, chosen by `use` or PYPTX_BACKEND, or else the one the arrays live on.

    Raises:
        LaunchError: an array of a package that no backend serves.
    """
    name = backend or (_chosen[-1][0] if _chosen else os.environ.get("PYPTX_BACKEND")) or _home_of(values)
    _require(name)
    return import_module(BACKENDS[name]).RUNTIME


def _home_of(values: Iterable[object]) -> str:
    for value in values:
        value = value.source if isinstance(value, TensorMap) else value
        package = type(value).__module__.partition(".")[0]
        if package in ADAPTERS:
            return ADAPTERS[package]
        if hasattr(value, "__dlpack__"):
            raise LaunchError(f"cannot launch on {type(value).__module__}.{type(value).__name__}; expected NumPy "
                              "arrays, which run on the CPU simulator")
    return "sim"


def _require(name: str) -> None:
    if name not in BACKENDS:
        raise LaunchError(f"there is no backend {name!r}; expected one of {', '.join(map(repr, BACKENDS))}")
