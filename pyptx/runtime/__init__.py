"""Backend selection: by the arrays of a call, `pyptx.use`, or PYPTX_BACKEND; backends of other machines by their address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from pyptx.errors import ArgumentValueError, BackendError
from pyptx.runtime import settings
from pyptx.runtime.arrays import ARRAY_PACKAGES, Arrays, Backend, Runtime, arrays_of
from pyptx.runtime.plan import Dim3, LaunchPlan, LaunchResult, dim3
from pyptx.tensor_map import TensorMap
from pyptx.texture._mipped_array import MippedArray

__all__ = [
    "BACKENDS",
    "Dim3",
    "LaunchPlan",
    "LaunchResult",
    "Runtime",
    "backend_of",
    "chosen",
    "dim3",
    "options",
    "runtime_for",
    "selected_address",
    "use",
]

BACKENDS = {"sim": "pyptx.runtime.simulator", "cuda": "pyptx.runtime.cuda"}
_ADDRESSES = "pyptx.remote"  # its `backend_at` returns the backend of an address such as ssh://user@host
_BACKEND_OF_DEVICE = {"cpu": "sim", "cuda": "cuda", "meta": "sim"}  # kernels on meta tensors are only recorded

_DEFAULT: tuple[str | None, Mapping[str, Any]] = (settings.BACKEND, {})
_chosen: list[tuple[str | None, Mapping[str, Any]]] = []


class use:
    """Select the backend: `pyptx.use("sim", seed=1)` for the rest of the program, or as a context manager.

    Args:
        backend: "sim", "cuda", the address of another machine ("ssh://user@host", "dask://scheduler:8786"), which is
            connected to at once, or "local" for the backend of the arrays' device.
        options: options of the backend, for example `schedule=` and `seed=` of the simulator; of an address also
            `device=` ("cuda:1", "sim", or a GPU of the table to simulate there) and `python=`.
    Raises:
        LaunchError: the backend does not exist.
        OptionError: it is not an address.
        RemoteError: the machine cannot be reached, or cannot serve.
    Examples:
        >>> with pyptx.use("sim", schedule="random", seed=1):
        ...     pass                                    # calls in this block run on the simulator, in that schedule
    """

    def __init__(self, backend: str, **options: Any):
        name: str | None = backend
        if "://" in backend:
            remote = import_module(_ADDRESSES)
            name, options = remote.split_options(backend, options)
            self._about = remote.backend_at(name).about()
        elif backend == "local":
            name = None
        else:
            _require(backend)
        self._entry = (name, options)
        _chosen.append(self._entry)

    _about: str | None = None

    def __enter__(self) -> use:
        return self

    def __exit__(self, *_exception: object) -> None:
        _chosen.remove(self._entry)

    def __repr__(self) -> str:
        return f"<pyptx.use {self._about or self._entry[0] or 'local'}>"


def chosen() -> tuple[str | None, Mapping[str, Any]]:
    """Return backend and options of the innermost `use`, else the backend that PYPTX_BACKEND named on import, or None."""
    return _chosen[-1] if _chosen else _DEFAULT


def selected_address() -> str | None:
    """Return the address of the machine that `use` or PYPTX_BACKEND selects; None if it is this one."""
    name, _ = chosen()
    return name if name is not None and "://" in name else None


def options() -> Mapping[str, Any]:
    """Return the options of the innermost `use`."""
    return chosen()[1]


def runtime_for(values: Iterable[object], backend: str | None = None) -> Runtime:
    """Return the runtime of a call: its backend, the package of its arrays, and their device.

    The backend is the argument, else the one selected by `use` or PYPTX_BACKEND, else the one for the arrays' device.

    Raises:
        LaunchError: the arrays' package or device is not supported.
    """
    arrays, array = _package_of(values)
    device = None if array is None else arrays.device(array)
    name = backend or chosen()[0]
    if name is None or name == "local":
        name = _BACKEND_OF_DEVICE.get((device or "cpu").partition(":")[0])
        if name is None:
            raise BackendError(
                f"arrays on {device} are not supported; kernels run on arrays on the CPU and on CUDA GPUs",
                hint="pyptx.use('sim') runs the kernel on the CPU, on copies of the arrays",
            )
    return Runtime(backend_of(name), arrays, device)


def backend_of(name: str) -> Backend:
    """Return a backend by its name, or that of another machine by its address.

    Raises:
        LaunchError: the backend does not exist.
        OptionError: it is not an address.
    """
    if "://" in name:
        return import_module(_ADDRESSES).backend_at(name)
    _require(name)
    return import_module(BACKENDS[name]).BACKEND


def _package_of(values: Iterable[object]) -> tuple[Arrays, object | None]:
    """Return the package of the first array and the array, or NumPy and None."""
    for value in values:
        arrays = arrays_of(value)
        if arrays is not None:
            return arrays, value.source if isinstance(value, (TensorMap, MippedArray)) else value
    return import_module(ARRAY_PACKAGES["numpy"]).ARRAYS, None


def _require(name: str) -> None:
    if name not in BACKENDS:
        raise ArgumentValueError(
            f"backend {name!r} does not exist; expected one of {', '.join(map(repr, BACKENDS))}, "
            "'local', or an address such as 'ssh://user@host'"
        )
