"""Protocols of array packages (NumPy, torch, JAX) and backends, and the registry that connects them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from math import prod
from typing import Any, NamedTuple, Protocol

from pyptx._frozen import frozen
from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.ir.nodes import Module
from pyptx.runtime.plan import LaunchPlan, LaunchResult
from pyptx.tensor_map import TensorMap
from pyptx.texture._mipped_array import MippedArray

__all__ = [
    "Arrays",
    "Backend",
    "Elements",
    "Record",
    "Runtime",
    "Placeholder",
    "arrays_of",
    "arrays_of_type",
    "batch_size",
    "is_on_gpu",
    "memory_of",
    "staged_on_host",
]

ARRAY_PACKAGES = {
    "numpy": "pyptx.runtime.numpy_arrays",
    "torch": "pyptx.torch_support.arrays",
    "jax": "pyptx.jax_support.arrays",
    "jaxlib": "pyptx.jax_support.arrays",
}
_ON_GPUS = "pyptx.runtime.cuda"  # any other array with __cuda_array_interface__


# Record a call for later: (kernel identity, inputs, out=, parameters) -> symbolic outputs.
Record = Callable[[str, Sequence[Any], Any, Mapping[str, Any]], Any]


class Arrays(Protocol):
    """Operations on the arrays of one package that a launch needs.

    Methods that write raise LaunchError for packages with immutable arrays.
    """

    package: str

    def dtype_name(self, array: Any) -> str:
        """Return the NumPy name of the element type, for example "float32" or "bfloat16"."""
        ...

    def check(self, array: Any, what: str) -> None:
        """Raise LaunchError unless a kernel can address the array as a dense array; `what` names it in messages."""

    def device(self, array: Any) -> str:
        """Return the device: "cpu", "cuda:0"."""
        ...

    def recorder(self, inputs: Sequence[Any]) -> Record | None:
        """Return the function that records a call for a compiler or autograd; None when the call runs immediately."""
        ...

    def kind(self, array: Any) -> Hashable | None:
        """Return a hashable key of everything but the address that binding depends on; None if there is no such key."""
        ...

    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any], zeroed: bool = False) -> Any:
        """Allocate an array of a PTX type on the device of `like`, zeroed or uninitialized."""
        ...

    def writeable(self, array: Any) -> bool:
        """Return True if a kernel may write to the array."""
        ...

    def address(self, array: Any) -> int:
        """Return the address of its first byte, on a GPU or in this process."""
        ...

    def owner(self, array: Any) -> Any:
        """Return the object that keeps the memory of an array and its views; it can be weakly referenced.

        Raises:
            LaunchError: the array has no memory, because it is being traced.
        """
        ...

    def extent(self, owner: Any) -> tuple[int, int]:
        """Return address and size in bytes of the memory of an owner; (0, 0) if it was freed."""
        ...

    def stream(self, array: Any) -> int:
        """Return the driver's handle of the current stream for an array on a GPU."""
        ...

    def host(self, array: Any) -> Any:
        """Return its memory as a NumPy array with elements of the same size; for an array on a GPU, a copy."""
        ...

    def write_back(self, array: Any, host: Any) -> None:
        """Copy the results of a launch from the host copy to the array on a GPU."""


class Elements(NamedTuple):
    """A dtype known only by its size in bytes."""

    itemsize: int

    @property
    def str(self) -> str:
        return f"|V{self.itemsize}"


class Placeholder:
    """An array of known shape and dtype whose address is supplied at each launch.

    Args:
        index: position among the arrays of a call, inputs first.
        dtype: a NumPy dtype, or Elements.
    """

    dtype: Any
    index: int
    shape: tuple[int, ...]
    nbytes: Any

    def __init__(self, index: int, shape: tuple[int, ...], dtype: Any):
        self.index, self.shape, self.dtype = index, shape, dtype
        self.nbytes = prod(shape) * dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (0, False), "version": 3, "strides": None}


class Backend(Protocol):
    """A device, or the simulator, that launches kernels."""

    name: str
    options: frozenset[str]  # names that `launch` accepts
    loads_machine_code: (
        bool  # of a module, `load` reads version, target, variables and the parameters of the entry only
    )

    def load(self, module: Module, entry: str, assemble: Callable[[str], Any]) -> Any:
        """Return the loaded program of an entry, reusable for many launches; `assemble` compiles the module for a target."""

    def variable(self, program: Any, shared: Mapping[str, Any], name: str) -> Any:
        """Return the memory of a variable, with `read()` and `write(data)`; `shared` is what the entries have in common."""
        ...

    def launch(self, program: Any, plan: LaunchPlan, args: Sequence[Any], options: Mapping[str, Any]) -> LaunchResult:
        """Launch the program and return its result."""
        ...

    def bind(
        self,
        program: Any,
        plan: LaunchPlan,
        runtime: Runtime,
        placeholders: Sequence[Placeholder],
        values: Sequence[Any],
        maps: Sequence[TensorMap],
        *,
        apart: int,
    ) -> Callable[..., Any] | None:
        """Return a function that repeats the launch with other arrays and values; None if `launch` must be used.

        The function takes the arrays, the values and whether the caller passed the outputs. It returns the result of
        the launch, True if the result is not known yet, or a false value if nothing was launched and the call must be
        bound again.

        Args:
            placeholders: of the arrays, which are the first parameters; the values and the tensor maps follow.
            values: of the other parameters.
            apart: number of trailing arrays that must not overlap the others.
        """

    def staged(self, args: Sequence[Any]) -> Any:
        """Return a context that gives the arguments as `launch` takes them and copies results back on exit."""


@frozen
class Runtime:
    """The backend of a call, the package of its arrays, and their device (None without arrays)."""

    backend: Backend
    arrays: Arrays
    device: str | None = None

    @property
    def name(self) -> str:
        """Name of the backend: "cuda" or "sim"."""
        return self.backend.name

    def check(self, array: Any, what: str) -> None:
        """Check that an array belongs to this package and device and that a kernel can address it.

        Raises:
            LaunchError: it does not; the message names the array.
        """
        arrays = arrays_of(array)
        if arrays is None:
            raise ArgumentTypeError(
                f"{what} is a {type(array).__name__}, not an array; pass an array of NumPy, torch or JAX, or one "
                "with __dlpack__ or __cuda_array_interface__"
            )
        if arrays is not self.arrays:
            raise ArgumentTypeError(
                f"{what} is a {arrays.package} array, but the others are {self.arrays.package} arrays; "
                "all arrays of a call must come from one package"
            )
        arrays.check(array, what)
        where = arrays.device(array)
        if self.device is not None and where != self.device:
            raise ArgumentValueError(
                f"{what} is on {where}, but the first array is on {self.device}; all arrays of a call must be on one device"
            )


def arrays_of(value: Any) -> Arrays | None:
    """Return the package of an array; None for other values."""
    if isinstance(value, (TensorMap, MippedArray)):
        value = value.source
    arrays = arrays_of_type(type(value))
    if arrays is None:  # an attribute of the instance, not of its type
        return import_module(_ON_GPUS).ARRAYS if hasattr(value, "__cuda_array_interface__") else None
    if arrays.package == "__cuda_array_interface__":
        return arrays
    return arrays if hasattr(value, "shape") and hasattr(value, "dtype") else None


@cache
def arrays_of_type(kind: type) -> Arrays | None:
    """Return the package of all instances of a type; None if they are not arrays or only the instance can tell."""
    if any((base.__module__, base.__name__) == ("numpy", "generic") for base in kind.__mro__):
        return None  # NumPy's scalars are numbers
    found = (ARRAY_PACKAGES.get(base.__module__.partition(".")[0]) for base in kind.__mro__[:-1])
    name = next(filter(None, found), _ON_GPUS if hasattr(kind, "__cuda_array_interface__") else None)
    return None if name is None else import_module(name).ARRAYS


def memory_of(arrays: Arrays, array: Any) -> tuple[int, int]:
    """Return address and size in bytes of the elements of an array, also of an immutable one."""
    start, size = arrays.extent(arrays.owner(array))
    nbytes = getattr(array, "nbytes", size)
    return (start if arrays.package == "jax" else arrays.address(array)), nbytes


def is_on_gpu(array: Any) -> bool:
    """Return True for an array in the memory of a GPU; False for one in host memory, and for other values."""
    arrays = arrays_of(array)
    return arrays is not None and arrays.device(array) != "cpu"


def batch_size(inputs: Sequence[Any], batched: Sequence[bool]) -> Any:
    """Return the number of elements of a batch: the first size of the inputs that are batched."""
    return next(x.shape[0] for x, one in zip(inputs, batched, strict=True) if one)


@contextmanager
def staged_on_host(args: Sequence[Any]) -> Iterator[list[Any]]:
    """Replace arrays by NumPy arrays over their memory or a copy of it; copy the results back on exit."""
    from pyptx.sim.memory.pointers import POINTERS  # late: it needs NumPy

    staged, copies = [], []
    for arg in args:
        arrays = None if isinstance(arg, (TensorMap, MippedArray)) else arrays_of(arg)
        if arrays is None or arrays.package == "numpy":
            staged.append(arg)
            continue
        staged.append(arrays.host(arg))
        if arrays.device(arg) != "cpu":
            copies.append((arrays, arg, staged[-1]))
            POINTERS.place_copy(staged[-1], POINTERS.address_of(*memory_of(arrays, arg)))
    yield staged
    for arrays, arg, host in copies:
        arrays.write_back(arg, host)
