"""Vector access to arrays: several consecutive elements in one load or store."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Protocol

from pyptx._loc import user_place
from pyptx.elements.indices import Offset, offset_of
from pyptx.elements.values import in_memory, number, register_type
from pyptx.elements.vector import Vector, words_for
from pyptx.errors import OperandError, ShapeError
from pyptx.ir.nodes import AddressOperand
from pyptx.reg import NegPred, Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType
from pyptx.types import pred as pred_type

__all__ = ["VectorElements", "check_alignment", "load_vector", "store_vector"]

Guard = Reg | NegPred | None


class Array(Protocol):
    """The members of an array that a vector access uses."""

    name: str
    shape: Any
    dtype: Any

    def _typed(self) -> PtxType: ...
    def _address(self, offset: Offset, elements: int) -> AddressOperand: ...
    def _modifiers(self, cache: str | None, kind: str) -> str: ...


class VectorElements:
    """An array seen as vectors of `count` elements along its last dimension: `x.vec(4)[i, j]`.

    Attributes:
        array: the array.
        count: elements of a vector.
        shape: sizes, the last one in vectors.
    """

    array: Array
    count: int
    shape: tuple[int, ...]

    def __init__(self, array: Array, count: int):
        if not isinstance(count, int) or count < 2:
            raise ShapeError(f"{array.name}.vec({count!r}); expected an int from 2 on", at=user_place())
        *outer, last = tuple(array.shape)
        if outer and last % count:
            raise ShapeError(
                f"rows of {array.name} have {last} elements, which are not whole vectors of {count}", at=user_place()
            )
        self.array, self.count = array, count
        self.shape = (*outer, last // count)

    def __getitem__(self, index: Any) -> Vector:
        return self.load(*(index if isinstance(index, tuple) else (index,)))

    def __setitem__(self, index: Any, value: Vector) -> None:
        self.store(*(index if isinstance(index, tuple) else (index,)), value)

    def load(self, *indices: Any, cache: str | None = None, pred: Guard = None, other: Any = None) -> Vector:
        """Load a vector; see `Elements.load`."""
        return load_vector(self.array, self._vector(indices), self.count, cache, pred, other)

    def store(self, *indices_and_value: Any, cache: str | None = None, pred: Guard = None) -> None:
        """Store a vector; see `Elements.store`."""
        *indices, value = indices_and_value
        if not isinstance(value, Vector) or value.count != self.count or value.dtype != self.array.dtype:
            hint = None
            if isinstance(value, Vector) and value.count == self.count:
                hint = f"convert it: value.to({self.array.dtype})"
            raise OperandError(
                f"{self.array.name}.vec({self.count}) takes a vector of {self.count} x {self.array.dtype}, not {value!r}",
                at=user_place(),
                hint=hint,
            )
        store_vector(self.array, self._vector(indices), value, cache, pred)

    def _vector(self, indices: Sequence[Any]) -> AddressOperand:
        """Emit the address of a vector: the last index is scaled by the size of a vector."""
        array = self.array
        array._typed()
        if len(indices) != len(self.shape):
            raise OperandError(
                f"{array.name}.vec({self.count}) has shape {self.shape}; expected {len(self.shape)} "
                f"{'index' if len(self.shape) == 1 else 'indices'}, got {len(indices)}",
                at=user_place(),
            )
        found = offset_of(f"{array.name}.vec({self.count})", self.shape, indices)
        scaled = Offset(found.constant * self.count, tuple((r, stride * self.count) for r, stride in found.terms))
        check_alignment(array.name, array.shape, scaled, self.count, array.dtype)
        return array._address(scaled, prod(array.shape))


def load_vector(
    array: Array, address: AddressOperand, count: int, cache: str | None, guard: Guard, other: Any = None
) -> Vector:
    """Emit the load of a vector at an address; where the guard does not hold, its elements are `other`."""
    result = Vector(array.dtype, count)
    words = result.words
    if other is not None:
        for word in words:
            emit("mov", register_type(word.dtype), word, _word_of(array.dtype, word.dtype, other))
    modifiers, operand = array._modifiers(cache, _kind(words)), words if len(words) > 1 else words[0]
    emit("ld", modifiers, operand, address, pred=guard)
    return result


def store_vector(array: Array, address: AddressOperand, value: Vector, cache: str | None, guard: Guard) -> None:
    """Emit the store of a vector at an address."""
    words = value.words
    emit("st", array._modifiers(cache, _kind(words)), address, words if len(words) > 1 else words[0], pred=guard)


def _kind(words: Sequence[Reg]) -> str:
    """Return the modifiers of an access to the memory of words: "v4.b32"."""
    kind = in_memory(words[0].dtype)
    return f"v{len(words)}.{kind}" if len(words) > 1 else kind


def check_alignment(name: str, shape: Sequence[int], offset: Offset, count: int, dtype: PtxType) -> None:
    """Refuse a vector access without an instruction, or whose constant offset or rows misalign it.

    Raises:
        ShapeError: it cannot be made.
    """
    words = words_for(dtype, count) if isinstance(count, int) and count > 0 else None
    if dtype == pred_type or words is None or words[1] not in (1, 2, 4, 8) or count * dtype.bits > 256:
        sizes = [n for n in (2, 4, 8, 16) if 16 <= n * dtype.bits <= 128 and dtype != pred_type]
        raise ShapeError(
            f"no access has {count} elements of type {dtype} ({name}); expected {', '.join(map(str, sizes))}"
            if sizes
            else f"elements of type {dtype} have no vector access ({name})",
            at=user_place(),
        )
    if offset.constant % count or any(s % count for s in shape[-1:] if len(shape) > 1):
        raise ShapeError(
            f"an access of {count} elements to {name}, of shape {tuple(shape)}, is not aligned to its size of "
            f"{count * dtype.bits // 8} bytes: "
            + (
                "constant offset " + str(offset.constant)
                if offset.constant % count
                else f"rows of {shape[-1]} elements"
            ),
            at=user_place(),
        )


def _word_of(dtype: PtxType, word: PtxType, value: Any) -> object:
    """Return a number, repeated for each element of a word, as an immediate."""
    if dtype.bits == word.bits:
        return number(dtype, value)
    one = number(dtype, value)
    bits = one & ((1 << dtype.bits) - 1) if isinstance(one, int) else 0
    return sum(bits << place for place in range(0, word.bits, dtype.bits))
