"""Arrays of a package - NumPy, torch, JAX - as launches see them, and the backend they run on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any, Protocol
from weakref import WeakValueDictionary

from pyptx.errors import LaunchError
from pyptx.ir.nodes import Module
from pyptx.runtime.plan import LaunchPlan, LaunchResult
from pyptx.tensor_map import TensorMap

__all__ = ["Arrays", "Backend", "Runtime", "arrays_of", "on_the_host", "register", "registered"]

PACKAGES = {"numpy": "pyptx.runtime.numpy_arrays", "torch": "pyptx.torch_support.arrays",
            "jax": "pyptx.jax_support.arrays", "jaxlib": "pyptx.jax_support.arrays"}
_ON_GPUS = "pyptx.runtime.cuda"                            # whatever else has __cuda_array_interface__

_kernels: WeakValueDictionary[int, Any] = WeakValueDictionary()
_numbers = count(1)


class Arrays(Protocol):
    """What launches need of the arrays of a package."""

    package: str

    def dtype_name(self, array: Any) -> str:
        """NumPy's name of the element type: "float32", "bfloat16"."""

    def check(self, array: Any, what: str) -> None:
        """Refuse what a kernel cannot address as a dense array."""

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any]) -> Any:
        """A new array, where the others are, of the PTX type of that name."""

    def device(self, array: Any) -> str:
        """Where it lies: "cpu", "cuda:0"."""

    def address(self, array: Any) -> int:
        """Of an array on a GPU."""

    def stream(self, array: Any) -> int:
        """The driver's handle of the stream on which work with an array on a GPU is put now."""

    def host(self, array: Any) -> Any:
        """Its memory as a NumPy array of elements of the same size; of an array on a GPU, a copy."""

    def write_back(self, array: Any, host: Any) -> None:
        """Copy to an array on a GPU what a launch wrote to its copy."""

    def defers(self, inputs: Sequence[Any]) -> bool:
        """Whether a call on these inputs is recorded for later, by a compiler or autograd, instead of run now."""

    def call(self, kernel: int, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Any:
        """Record the call of the kernel of that number; what stands for its outputs."""


class Backend(Protocol):
    """Where kernels run."""

    name: str

    def load(self, module: Module, entry: str, assemble: Callable[[str], Any]) -> Any:
        """The program of an entry, made once for many launches; `assemble` compiles the module for a target."""

    def launch(self, program: Any, plan: LaunchPlan, args: Sequence[Any], options: Mapping[str, Any]) -> LaunchResult:
        """Run it; what it gives."""

    def staged(self, args: Sequence[Any]) -> Any:
        """A context in which arguments are as `launch` takes them; what was written is in place when it ends."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A backend, the package whose arrays a call is about, and where they are (None when there are none)."""

    backend: Backend
    arrays: Arrays
    device: str | None = None

    @property
    def name(self) -> str:
        return self.backend.name

    def check(self, array: Any, what: str) -> None:
        """Refuse arrays of another package, on several devices, and those a kernel cannot address.

        Raises:
            LaunchError: names the array.
        """
        arrays = arrays_of(array)
        if arrays is None:
            raise LaunchError(f"{what} is a {type(array).__name__}, no array; pass one of {', '.join(PACKAGES)}")
        if arrays is not self.arrays:
            raise LaunchError(f"{what} is a {arrays.package} array, the others are of {self.arrays.package}; "
                              "the arrays of a call come from one package")
        arrays.check(array, what)
        where = arrays.device(array)
        if self.device is not None and where != self.device:
            raise LaunchError(f"{what} is on {where}, the first array on {self.device}; the arrays of a call are on "
                              "one device")


def register(kernel: Any) -> int:
    """A number for a kernel, by which recorded calls find it."""
    number = next(_numbers)
    _kernels[number] = kernel
    return number


def registered(number: int) -> Any:
    """The kernel of a number.

    Raises:
        LaunchError: it no longer exists.
    """
    kernel = _kernels.get(number)
    if kernel is None:
        raise LaunchError("the kernel of this compiled function no longer exists; keep a reference to it")
    return kernel


def arrays_of(value: Any) -> Arrays | None:
    """The package an array is of; None for what is no array."""
    if isinstance(value, TensorMap):
        value = value.source
    arrays = _arrays_of_type(type(value))
    if arrays is None:                                          # an attribute of the value, or nothing
        return import_module(_ON_GPUS).ARRAYS if hasattr(value, "__cuda_array_interface__") else None
    if arrays.package == "__cuda_array_interface__":
        return arrays
    return arrays if hasattr(value, "shape") and hasattr(value, "dtype") else None


@cache
def _arrays_of_type(kind: type) -> Arrays | None:
    if any((base.__module__, base.__name__) == ("numpy", "generic") for base in kind.__mro__):
        return None                                             # NumPy's scalars are numbers
    found = (PACKAGES.get(base.__module__.partition(".")[0]) for base in kind.__mro__[:-1])
    name = next(filter(None, found), _ON_GPUS if hasattr(kind, "__cuda_array_interface__") else None)
    return None if name is None else import_module(name).ARRAYS


@contextmanager
def on_the_host(args: Sequence[Any]) -> Iterator[list[Any]]:
    """The arguments with NumPy arrays for arrays; what a launch writes to copies is copied back."""
    staged, copies = [], []
    for arg in args:
        arrays = None if isinstance(arg, TensorMap) else arrays_of(arg)
        if arrays is None or arrays.package == "numpy":
            staged.append(arg)
            continue
        staged.append(arrays.host(arg))
        if arrays.device(arg) != "cpu":
            copies.append((arrays, arg, staged[-1]))
    yield staged
    for arrays, arg, host in copies:
        arrays.write_back(arg, host)
