"""Variables of a loaded program: `.global` and `.const` memory that is read and set between launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Protocol

import numpy as np

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.ir.nodes import VarDecl
from pyptx.ir.operands import VectorOperand
from pyptx.runtime.numpy_arrays import numpy_dtype

__all__ = ["Variable", "VariableMemory"]


class VariableMemory(Protocol):
    """Memory of a variable on a backend, as bytes."""

    def read(self) -> np.ndarray: ...

    def write(self, data: np.ndarray) -> None: ...


class Variable:
    """A variable of a loaded program, like an array: `v[...]`, `v[2:4] = 1`, `np.asarray(v)`, `int(v)`.

    Every access reads or writes the memory of the backend; launches that are running are waited for.

    Attributes:
        name: its name.
        space: "global" or "const".
        shape: () for a scalar; a vector such as `.v4` is the last dimension.
    """

    name: str
    space: str
    shape: tuple[int, ...]

    def __init__(self, declaration: VarDecl, memory: Callable[[], VariableMemory]):
        name, type_name = declaration.symbol, declaration.type.value
        self._element = "u8" if type_name == "b128" else type_name.removesuffix("x2")
        packed = 16 if type_name == "b128" else 2 if type_name.endswith("x2") else 1
        given = declaration.initializer
        unsized = len(given.elements) if isinstance(given, VectorOperand) else 0
        sizes = tuple(size or unsized for size in declaration.dimensions)
        self.name, self.space, self._memory = name, declaration.state_space.value, memory
        self.shape = (*sizes, *((n,) if (n := (declaration.vector or 1) * packed) > 1 else ()))

    def typed(self, element: str, shape: tuple[int, ...]) -> Variable:
        """Return the same variable with another element type, such as "f32", and shape, of the same size in bytes."""
        found = copy(self)
        found._element, found.shape = element, shape
        return found

    @property
    def dtype(self) -> np.dtype:
        """NumPy dtype of its PTX type; bits are unsigned integers, 128 bits are 16 bytes.

        Raises:
            BackendError: it is `.bf16`, and the package ml_dtypes is not installed.
        """
        return numpy_dtype(self._element)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def get(self) -> np.ndarray:
        """Return a copy of its values."""
        return self._memory().read().view(self.dtype).reshape(self.shape)

    def set(self, values: Any) -> None:
        """Set all elements; `values` are broadcast to its shape.

        Raises:
            LaunchError: the shape does not fit, or an element is not a number.
        """
        self[...] = values

    def __getitem__(self, key: Any) -> Any:
        return self.get()[key]

    def __setitem__(self, key: Any, values: Any) -> None:
        memory = self._memory()
        changed = memory.read().view(self.dtype).reshape(self.shape)
        try:
            changed[key] = values
        except (ValueError, OverflowError) as refused:
            raise ArgumentValueError(f"{self.name} is {self.dtype}{list(self.shape)}: {refused}") from None
        except TypeError as refused:
            raise ArgumentTypeError(f"{self.name} is {self.dtype}{list(self.shape)}: {refused}") from None
        memory.write(np.ascontiguousarray(changed).reshape(-1).view(np.uint8))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.get() if dtype is None else self.get().astype(dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError(f"{self.name} is a scalar and has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __repr__(self) -> str:
        return f"<pyptx variable {self.name}: .{self.space} {self.dtype}{list(self.shape)}>"
