"""Where kernels run: the arrays decide, `pyptx.use` and PYPTX_BACKEND override."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from pyptx.errors import LaunchError
from pyptx.runtime import settings
from pyptx.runtime.arrays import PACKAGES, Arrays, Runtime, arrays_of
from pyptx.runtime.plan import Dim3, LaunchPlan, LaunchResult, dim3
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["BACKENDS", "Dim3", "LaunchPlan", "LaunchResult", "Runtime", "chosen", "dim3", "options", "runtime_for",
           "use"]

BACKENDS = {"sim": "pyptx.runtime.simulated", "cuda": "pyptx.runtime.cuda"}
_HOMES = {"cpu": "sim", "cuda": "cuda"}                                    # device of an array -> backend

_DEFAULT: tuple[str | None, Mapping[str, Any]] = (settings.BACKEND, {})
_chosen: list[tuple[str, Mapping[str, Any]]] = []


class use:
    """Choose the backend: `pyptx.use("sim", seed=1)` for the rest of the program, or as a context manager.

    Raises:
        LaunchError: there is no backend of that name.
    Examples:
        >>> with pyptx.use("sim", schedule="random", seed=1):
        ...     pass                                    # calls made in here run on the simulator, in that schedule
    """

    def __init__(self, backend: str, **options: Any):
        _require(backend)
        self._entry = (backend, options)
        _chosen.append(self._entry)

    def __enter__(self) -> use:
        return self

    def __exit__(self, *_exception: object) -> None:
        _chosen.remove(self._entry)


def chosen() -> tuple[str | None, Mapping[str, Any]]:
    """Backend and options of the innermost `use`, or else the backend of PYPTX_BACKEND as it was when pyptx was loaded,
    or None."""
    return _chosen[-1] if _chosen else _DEFAULT


def options() -> Mapping[str, Any]:
    """Options of the innermost `use`."""
    return chosen()[1]


def runtime_for(values: Iterable[object], backend: str | None = None) -> Runtime:
    """The backend named, chosen by `use` or PYPTX_BACKEND, or else the one the arrays live on; and their package.

    Raises:
        LaunchError: arrays of a package that is not served, or on a device that no backend is for.
    """
    arrays, array = _package_of(values)
    device = None if array is None else arrays.device(array)
    name = backend or chosen()[0]
    if name is None:
        name = _HOMES.get((device or "cpu").partition(":")[0])
        if name is None:
            raise LaunchError(f"arrays on {device} cannot be launched on, only those on the CPU and on CUDA GPUs; "
                              "pyptx.use('sim') runs the kernel on copies of them, on the CPU")
    _require(name)
    return Runtime(import_module(BACKENDS[name]).BACKEND, arrays, device)


def _package_of(values: Iterable[object]) -> tuple[Arrays, object | None]:
    """The package of the first array, which is NumPy when there is none, and the array."""
    for value in values:
        arrays = arrays_of(value)
        if arrays is not None:
            return arrays, value.source if isinstance(value, (TensorMap, Texture, Surface)) else value
    return import_module(PACKAGES["numpy"]).ARRAYS, None


def _require(name: str) -> None:
    if name not in BACKENDS:
        raise LaunchError(f"there is no backend {name!r}; expected one of {', '.join(map(repr, BACKENDS))}")
