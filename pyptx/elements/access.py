"""Element access to arrays in global and shared memory: `x[i, j]`, `x.load(...)`, `x.store(...)`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.atomics import Atomics
from pyptx.elements.indices import Offset, offset_of
from pyptx.elements.values import as_source, in_memory, in_register, number, register_type
from pyptx.elements.vector import Vector
from pyptx.elements.vector_access import VectorElements, check_alignment, load_vector, store_vector
from pyptx.errors import OperandError
from pyptx.ir.nodes import AddressOperand
from pyptx.reg import NegPred, Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, u8, u32
from pyptx.types import pred as pred_type

__all__ = ["Elements"]

Guard = Reg | NegPred | None


class Elements(Atomics):
    """An array whose elements a kernel loads and stores; the element at `[i, j]` is that of NumPy's `x[i, j]`.

    A subclass gives the address of an element (`_address`) and the state space.

    Attributes:
        name: of the array, for messages.
        shape: sizes in elements; None if a symbolic size is not bound.
        dtype: type of the elements; None for a parameter without a Tile.
    """

    name: str
    shape: Any
    dtype: Any
    _space: str
    _remaining: str = "{}.row(i) is the array of the remaining dimensions"

    # subclass ---------------------------------------------------------------------------------------------------------

    @abstractmethod
    def _address(self, offset: Offset, elements: int) -> AddressOperand:
        """Emit the address of an element; `elements` is the number of elements of the array."""

    @abstractmethod
    def _copied(self, address: AddressOperand) -> Reg:
        """Emit a copy of an address; return its register."""

    # access -----------------------------------------------------------------------------------------------------------

    def _refuse_permuted(self) -> None:
        """Raise OperandError if elements do not lie where their indices say."""

    def load(
        self,
        *indices: Any,
        vec: int | None = None,
        offset: int | Sequence[int] = 0,
        cache: str | None = None,
        pred: Guard = None,
        other: Any = None,
    ) -> Any:
        """Load an element into a new register, or `vec` consecutive ones into a vector.

        8-bit integers are extended to 32 bits; an element of type pred (a bool of NumPy) becomes a predicate.

        Args:
            indices: one for each dimension, ints or integer registers; with `vec`, of the first element.
            vec: number of elements: 2, 4, ..., in one access of up to 16 bytes (32 on sm_100), whose address must be
                aligned to its size.
            offset: constants added to the indices and folded into the address, in elements: an int for the last index,
                or one for each index. The address, not the index, is moved, so an unsigned index does not wrap.
            cache: cache operator: "ca", "cg", "cs", "lu", "cv" or "nc"; or further modifiers, "L1::no_allocate".
            pred: load only in threads where it holds; elsewhere the result is `other`.
            other: a number; default: the result is uninitialized where `pred` does not hold.
        Returns:
            A Reg, with `vec` a Vector.
        Raises:
            OperandError: a wrong number or type of indices.
            BoundsError: a constant index is out of range.
            ShapeError: the access cannot be aligned, or has no instruction.
        """
        self._refuse_permuted()
        address = self._element(indices, offset, vec)
        if vec is not None:
            return load_vector(self, address, vec, cache, pred, other)
        dtype = self.dtype
        result = reg.scalar(u32 if dtype == pred_type else in_register(dtype))
        if other is not None:
            emit("mov", register_type(result.dtype), result, number(result.dtype, other))
        emit("ld", self._modifiers(cache, in_memory(dtype)), result, address, pred=pred)
        return result != 0 if dtype == pred_type else result

    def store(
        self,
        *indices_and_value: Any,
        offset: int | Sequence[int] = 0,
        cache: str | None = None,
        pred: Guard = None,
    ) -> None:
        """Store an element, `x.store(i, j, value)`; a Vector stores its elements from that one on.

        Args:
            indices_and_value: an index for each dimension, then the value: a register of the type of the elements, a
                number, or a Vector.
            offset: as in `load`.
            cache: "wb", "cg", "cs" or "wt", or further modifiers.
            pred: store only in threads where it holds.
        Raises:
            OperandError: a wrong number or type of indices, or a value of another type.
            BoundsError, ShapeError: as in `load`.
        """
        if len(indices_and_value) < 2:
            raise OperandError(
                f"{self.name}.store takes the indices and the value, as in {self.name}.store(i, value)", at=user_place()
            )
        *indices, value = indices_and_value
        if isinstance(value, Vector):
            if value.dtype != self.dtype:
                raise OperandError(
                    f"{self.name} has elements of type {self.dtype}, not {value!r}",
                    at=user_place(),
                    hint=f"convert it: value.to({self.dtype})",
                )
            store_vector(self, self._element(indices, offset, value.count), value, cache, pred)
            return
        dtype = self._typed()
        if dtype == pred_type and isinstance(value, Reg | NegPred):
            value, dtype = _as_number(value), u8
        source = as_source(self.name, dtype, value)
        address = self._element(indices, offset)
        emit("st", self._modifiers(cache, in_memory(dtype)), address, source, pred=pred)

    def pointer(self, *indices: Any, offset: int | Sequence[int] = 0) -> Reg:
        """Return the address of an element in a new register; of the first of a row if trailing indices are omitted."""
        return self._copied(self._element(indices, offset, partial=True))

    def vec(self, count: int) -> VectorElements:
        """Return the array seen as vectors of `count` elements: `x.vec(4)[i]` is elements 4 * i to 4 * i + 3."""
        return VectorElements(self, count)

    # implementation ---------------------------------------------------------------------------------------------------

    def _typed(self) -> PtxType:
        if self.dtype is None:
            raise OperandError(
                f"{self.name} has no type: it has no Tile in in_specs or out_specs",
                at=user_place(),
                hint=f'declare it, as in @kernel(in_specs=(Tile("N", f32), ...)), or use ptx.global_ptrs({self.name})',
            )
        return self.dtype

    def _element(
        self, indices: Sequence[Any], offset: int | Sequence[int] = 0, vec: int | None = None, partial: bool = False
    ) -> AddressOperand:
        """Emit the address of an element, after the checks of indices and alignment."""
        self._typed()
        shape = tuple(self.shape)  # TypeError on None: the tracer names the sizes that are missing
        if len(indices) != len(shape) and not (partial and len(indices) < len(shape)):
            wanted = "one index" if len(shape) == 1 else f"{len(shape)} indices"
            raise OperandError(
                f"{self.name} has shape {shape}; expected {wanted}, got {len(indices)}",
                at=user_place(),
                hint=self._remaining.format(self.name) if 0 < len(indices) < len(shape) else None,
            )
        found = offset_of(self.name, shape, indices, offset if indices else 0)
        if vec is not None:
            check_alignment(self.name, shape, found, vec, self.dtype)
        return self._address(found, prod(shape))

    def _modifiers(self, cache: str | None, kind: str) -> str:
        return f"{self._space}.{cache}.{kind}" if cache else f"{self._space}.{kind}"


def _as_number(condition: Reg | NegPred) -> Reg:
    """Emit 1 or 0 for a predicate; return its register."""
    result, negated = reg.scalar(u32), isinstance(condition, NegPred)
    register = condition.reg if isinstance(condition, NegPred) else condition
    emit("selp", "u32", result, int(not negated), int(negated), register)
    return result
