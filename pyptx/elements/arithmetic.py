"""Arithmetic on vectors: element by element, in pairs for f16 and bf16."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import OperandError
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType

__all__ = ["VectorOperators", "apply"]


class VectorOperators:
    """Operators of a vector with a vector of the same type and length, a register of that type, or a number.

    An in-place operator (`v += w`) writes the registers of the vector.
    """

    __slots__ = ()

    dtype: PtxType
    count: int
    words: list[Reg]

    @property
    def per_word(self) -> int:
        """Number of elements in each word."""
        return self.count // len(self.words)

    def __add__(self, other: Any) -> Self:
        return apply(operator.add, self, other)

    def __radd__(self, other: Any) -> Self:
        return apply(operator.add, other, self)

    def __sub__(self, other: Any) -> Self:
        return apply(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Self:
        return apply(operator.sub, other, self)

    def __mul__(self, other: Any) -> Self:
        return apply(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Self:
        return apply(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Self:
        return apply(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return apply(operator.truediv, other, self)

    def __neg__(self) -> Self:
        return apply(operator.neg, self)

    def __iadd__(self, other: Any) -> Self:
        return _in_place(operator.iadd, self, other)

    def __isub__(self, other: Any) -> Self:
        return _in_place(operator.isub, self, other)

    def __imul__(self, other: Any) -> Self:
        return _in_place(operator.imul, self, other)

    def __itruediv__(self, other: Any) -> Self:
        return _in_place(operator.itruediv, self, other)


def apply(function: Callable[..., Any], *operands: Any) -> Any:
    """Return the vector of a function of registers, applied to each element, or each pair of f16 or bf16.

    Args:
        function: of registers and numbers; returns a register.
        operands: vectors of one length and type, at least one; registers of that type and numbers belong to every element.
    Raises:
        OperandError: the vectors differ in length or type, or are of packed integers or fp8.
    """
    first, columns = _columns(operands)
    return cast(Any, type(first))(first.dtype, first.count, [function(*row) for row in zip(*columns, strict=True)])


def _in_place(function: Callable[[Reg, Any], Any], vector: Any, other: Any) -> Any:
    """Apply an in-place operator to the registers of a vector."""
    _, columns = _columns((vector, other))
    for word, operand in zip(*columns, strict=True):
        function(word, operand)
    return vector


def _columns(operands: Sequence[Any]) -> tuple[VectorOperators, list[list[Any]]]:
    """Return the first vector, and for each operand the registers or numbers that belong to each word."""
    vectors = [x for x in operands if isinstance(x, VectorOperators)]
    first = vectors[0]
    for other in vectors[1:]:
        if other.count != first.count or other.dtype != first.dtype:
            raise OperandError(
                f"{first!r} and {other!r} cannot be combined",
                at=user_place(),
                hint=f"convert one: v.to({first.dtype})" if other.count == first.count else None,
            )
    if first.per_word > 1 and first.dtype.name not in ("f16", "bf16"):
        raise OperandError(
            f"arithmetic is not defined on {first!r}, whose elements are packed",
            at=user_place(),
            hint=f"convert it: v.to({'f32' if first.dtype.is_float else 's32'})",
        )
    columns = [
        x.words if isinstance(x, VectorOperators) else [_whole_word(first, x)] * len(first.words) for x in operands
    ]
    return first, columns


def _whole_word(vector: VectorOperators, value: Any) -> Any:
    """Return a register in every place of a word; a number is unchanged."""
    if vector.per_word == 1 or not isinstance(value, Reg) or value.dtype != vector.dtype:
        return value
    word = reg.scalar(vector.words[0].dtype)
    emit("mov", "b32", word, [value, value])
    return word
