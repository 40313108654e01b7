"""Arrays of a package - NumPy, torch, JAX - as launches see them, and the backend they run on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import count
from math import prod
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

from pyptx._value import value
from pyptx.errors import LaunchError
from pyptx.ir.nodes import Module
from pyptx.runtime.plan import LaunchPlan, LaunchResult
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["Arrays", "Backend", "Elements", "Record", "Runtime", "StandIn", "arrays_of", "arrays_of_type",
           "on_the_host", "register", "registered"]

PACKAGES = {"numpy": "pyptx.runtime.numpy_arrays", "torch": "pyptx.torch_support.arrays",
            "jax": "pyptx.jax_support.arrays", "jaxlib": "pyptx.jax_support.arrays"}
_ON_GPUS = "pyptx.runtime.cuda"                            # whatever else has __cuda_array_interface__

_kernels: WeakValueDictionary[int, Any] = WeakValueDictionary()
_numbers = count(1)


# Records the call of the kernel of a number: inputs, `out=`, parameters; what stands for its outputs.
Record = Callable[[int, Sequence[Any], Any, Mapping[str, Any]], Any]


class Arrays(Protocol):
    """What launches need of the arrays of a package. Arrays that may not be written to refuse it with a LaunchError."""

    package: str

    def dtype_name(self, array: Any) -> str:
        """NumPy's name of the element type: "float32", "bfloat16"."""

    def check(self, array: Any, what: str) -> None:
        """Refuse what a kernel cannot address as a dense array."""

    def device(self, array: Any) -> str:
        """Where it lies: "cpu", "cuda:0"."""

    def recorder(self, inputs: Sequence[Any]) -> Record | None:
        """What records a call on these inputs for later, for a compiler or autograd; None when it runs now."""

    def kind(self, array: Any) -> Hashable | None:
        """All of an array but its address that a call is checked for and bound by; None where that is not known."""

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> Any:
        """A new array, where the others are, of the PTX type of that name; all zeros or with nothing certain in it."""

    def writeable(self, array: Any) -> bool:
        """Whether a kernel may write to it."""

    def address(self, array: Any) -> int:
        """Where its memory starts, on a GPU or in this process."""

    def stream(self, array: Any) -> int:
        """The driver's handle of the stream on which work with an array on a GPU is put now."""

    def host(self, array: Any) -> Any:
        """Its memory as a NumPy array of elements of the same size; of an array on a GPU, a copy."""

    def write_back(self, array: Any, host: Any) -> None:
        """Copy to an array on a GPU what a launch wrote to its copy."""


class Elements(NamedTuple):
    """A dtype of which only the size counts, in bytes."""

    itemsize: int

    @property
    def str(self) -> str:
        return f"|V{self.itemsize}"


class StandIn:
    """Stands for an array whose address is told at each launch.

    Args:
        index: which of the arrays of a call, inputs first.
        dtype: NumPy's, or Elements.
    """

    def __init__(self, index: int, shape: tuple[int, ...], dtype: Any):
        self.index, self.shape, self.dtype = index, shape, dtype
        self.nbytes = prod(shape) * dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (0, False), "version": 3, "strides": None}


class Backend(Protocol):
    """Where kernels run."""

    name: str

    def load(self, module: Module, entry: str, assemble: Callable[[str], Any]) -> Any:
        """The program of an entry, made once for many launches; `assemble` compiles the module for a target."""

    def launch(self, program: Any, plan: LaunchPlan, args: Sequence[Any], options: Mapping[str, Any]) -> LaunchResult:
        """Run it; what it gives."""

    def bind(self, program: Any, plan: LaunchPlan, runtime: Runtime, stand_ins: Sequence[StandIn],
             values: Sequence[Any], maps: Sequence[TensorMap], *, apart: int) -> Callable[..., Any] | None:
        """What launches the plan again with other arrays and values of the same kinds; None where `launch` does it.

        It is given arrays, values and whether the outputs are the caller's. It returns what the launch gave, True where
        that is known later, or what is false when nothing was launched and the call must be looked at anew.

        Args:
            stand_ins: for the arrays, which are the first parameters. The others' values and the tensor maps follow.
            apart: how many of the last arrays may not overlap the others.
        """

    def staged(self, args: Sequence[Any]) -> Any:
        """A context in which arguments are as `launch` takes them; what was written is in place when it ends."""


@value
class Runtime:
    """A backend, the package whose arrays a call is about, and where they are (None when there are none)."""

    backend: Backend
    arrays: Arrays
    device: str | None = None

    @property
    def name(self) -> str:
        """Name of the backend: "cuda" or "sim"."""
        return self.backend.name

    def check(self, array: Any, what: str) -> None:
        """Refuse arrays of another package, on several devices, and those a kernel cannot address.

        Raises:
            LaunchError: names the array.
        """
        arrays = arrays_of(array)
        if arrays is None:
            raise LaunchError(f"{what} is a {type(array).__name__}, no array; pass one of NumPy, torch or JAX, or one "
                              "with __dlpack__ or __cuda_array_interface__")
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
    if isinstance(value, (TensorMap, Texture, Surface)):
        value = value.source
    arrays = arrays_of_type(type(value))
    if arrays is None:                                          # an attribute of the value, or nothing
        return import_module(_ON_GPUS).ARRAYS if hasattr(value, "__cuda_array_interface__") else None
    if arrays.package == "__cuda_array_interface__":
        return arrays
    return arrays if hasattr(value, "shape") and hasattr(value, "dtype") else None


@cache
def arrays_of_type(kind: type) -> Arrays | None:
    """The package of all values of a type; None when they are no arrays, or one of them must be looked at to know."""
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
        arrays = None if isinstance(arg, (TensorMap, Texture, Surface)) else arrays_of(arg)
        if arrays is None or arrays.package == "numpy":
            staged.append(arg)
            continue
        staged.append(arrays.host(arg))
        if arrays.device(arg) != "cpu":
            copies.append((arrays, arg, staged[-1]))
    yield staged
    for arrays, arg, host in copies:
        arrays.write_back(arg, host)
