"""Vectors: several consecutive elements in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.arithmetic import VectorOperators
from pyptx.elements.conversions import converted
from pyptx.elements.values import byte_type, in_register
from pyptx.errors import BoundsError, OperandError
from pyptx.ir.nodes import VectorOperand
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, b16, b32, f16, f32

__all__ = ["Vector", "words_for"]


def words_for(dtype: PtxType, count: int) -> tuple[PtxType, int] | None:
    """Return the type and number of the registers that hold `count` elements; None if they fill no register.

    Elements of 32 and 64 bits have a register each. Smaller ones are packed, several to a register
    of 32 bits; two of 8 bits to one of 16 bits.
    """
    if dtype.bits >= 32:
        return dtype, count
    if count * dtype.bits == 16:
        return (b16, 1) if dtype.bits == 8 else (dtype, 1)
    words, rest = divmod(count * dtype.bits, 32)
    packed = {"f16": "f16x2", "bf16": "bf16x2"}.get(dtype.name)
    return None if rest else (PtxType(packed, 32) if packed else b32, words)


class Vector(VectorOperators):
    """Consecutive elements in registers: the result of a vector load and the operand of a vector store.

    Operators apply to the elements: `v * 2.0 + w`. `v[i]` is element i in a register, `v[i] = register` replaces it, and iteration gives all of them. Elements smaller
    than 32 bits are packed into words; reading one extracts it (`mov.b32 {lo, hi}, word`). As an operand the vector is the
    brace list of its words.

    Attributes:
        dtype: type of the elements.
        count: number of elements.
        words: registers that hold them.
    """

    __slots__ = ("count", "dtype", "words")

    dtype: PtxType
    count: int
    words: list[Reg]

    def __init__(self, dtype: PtxType, count: int, words: Sequence[Reg] | None = None):
        if words is None:
            fitting = words_for(dtype, count)
            if fitting is None:
                raise OperandError(f"{count} elements of type {dtype} do not fill words of 32 bits", at=user_place())
            words = [reg.scalar(fitting[0]) for _ in range(fitting[1])]
        self.dtype, self.count, self.words = dtype, count, list(words)

    @classmethod
    def of(cls, elements: Sequence[Reg]) -> Vector:
        """Return a vector of elements in registers of one type; those smaller than 32 bits are packed.

        Raises:
            OperandError: no elements, elements of several types, or a number of them that does not fill words.
        """
        elements = list(elements)
        if not elements or any(not isinstance(one, Reg) or one.dtype != elements[0].dtype for one in elements):
            raise OperandError(f"a vector takes registers of one type, not {elements!r}", at=user_place())
        dtype = elements[0].dtype
        if dtype.bits >= 32:
            return cls(dtype, len(elements), elements)
        vector = cls(dtype, len(elements))
        each = vector.per_word
        for i, word in enumerate(vector.words):
            _pack(word, elements[each * i : each * (i + 1)])
        return vector

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Reg]:
        return iter(self.elements())

    def __getitem__(self, i: int) -> Reg:
        word, place = divmod(self._position(i), self.per_word)
        return self._unpacked(self.words[word])[place]

    def __setitem__(self, i: int, value: Reg) -> None:
        word, place = divmod(self._position(i), self.per_word)
        if not isinstance(value, Reg) or value.dtype != in_register(self.dtype):
            raise OperandError(
                f"element {i} of {self!r} takes a register of type {in_register(self.dtype)}, not {value!r}",
                at=user_place(),
            )
        if self.per_word > 1:
            elements = self._unpacked(self.words[word])
            elements[place] = value
            _pack(self.words[word], elements)
        elif value.name != self.words[word].name:
            emit("mov", f"b{value.dtype.bits}", self.words[word], value)

    def _position(self, i: object) -> int:
        if not isinstance(i, int):
            raise OperandError(
                f"element {i!r} of {self!r}: the elements of a vector are registers, so the index is an int",
                at=user_place(),
            )
        if not 0 <= i < self.count:
            raise BoundsError(f"element {i} of {self!r}; expected 0..{self.count - 1}", at=user_place())
        return i

    def elements(self) -> list[Reg]:
        """Return all elements, each in a register."""
        return [element for word in self.words for element in self._unpacked(word)]

    def _unpacked(self, word: Reg) -> list[Reg]:
        each = self.per_word
        if each == 1:
            return [word]
        held = byte_type(self.dtype) if self.dtype.bits == 8 else self.dtype
        parts = [reg.scalar(held) for _ in range(each)]
        emit("mov", f"b{word.dtype.bits}", parts, word)
        wide = in_register(self.dtype)
        if wide == self.dtype:
            return [Reg(part.name, self.dtype) for part in parts]
        extended = [reg.scalar(wide) for _ in parts]
        for one, part in zip(extended, parts, strict=True):
            emit("cvt", f"{wide}.{self.dtype}", one, part)
        return extended

    def to(self, dtype: PtxType) -> Vector:
        """Convert the elements, as `Reg.to` does; return a new vector.

        f32 to f16, bf16 and fp8, f16 to fp8, and fp8 to f16 convert two elements in one instruction.
        """
        pairs = converted(self.dtype, self.words, self.words if self.dtype == f32 else None, dtype)
        if pairs is not None:
            return Vector(dtype, self.count, pairs)
        if self.dtype.name in ("e4m3", "e5m2"):
            return self.to(f16).to(dtype)
        if dtype.bits == 8 and not dtype.is_float:
            wide = [element.to(in_register(dtype)) for element in self.elements()]
            vector = Vector(dtype, self.count)
            each = vector.per_word
            for i, word in enumerate(vector.words):
                _pack(word, wide[each * i : each * (i + 1)])
            return vector
        if dtype.name in ("e4m3", "e5m2") and self.dtype != f32:
            return self.to(f32).to(dtype)
        return Vector.of([element.to(dtype) for element in self.elements()])

    def map(self, function: Callable[..., Reg], *others: Any) -> Vector:
        """Return the vector of `function(element, *other elements)`; others are vectors of as many elements, or scalars."""
        rows = zip(self.elements(), *(_along(self, other) for other in others), strict=True)
        return Vector.of([function(*row) for row in rows])

    def __ptx_operand__(self) -> VectorOperand:
        return VectorOperand(tuple(word.node for word in self.words))

    def __repr__(self) -> str:
        return f"Vector({self.count} x {self.dtype})"

    def __bool__(self) -> bool:
        return bool(self.words[0])  # raises: a register has no value while the kernel is traced


def _along(vector: Vector, other: Any) -> list[Any]:
    """Return the operand that belongs to each element of a vector."""
    if not isinstance(other, Vector):
        return [other] * len(vector)
    if len(other) != len(vector):
        raise OperandError(f"{vector!r} and {other!r} have different numbers of elements", at=user_place())
    return other.elements()


def _pack(word: Reg, elements: Sequence[Reg]) -> None:
    """Emit the packing of elements into a word."""
    if len(elements) == 1:
        emit("mov", f"b{word.dtype.bits}", word, elements[0])
        return
    parts = list(elements)
    if parts[0].dtype.bits > word.dtype.bits // len(parts):  # 8-bit integers in registers of 32 bits
        narrow = [reg.scalar(byte_type(parts[0].dtype)) for _ in parts]
        for one, part in zip(narrow, parts, strict=True):
            emit("cvt", f"u8.{part.dtype}", one, part)
        parts = narrow
    emit("mov", f"b{word.dtype.bits}", word, parts)
