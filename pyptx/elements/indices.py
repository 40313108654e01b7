"""Indices of an element: checked against a shape, split into a constant and registers with strides."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import SupportsIndex

from pyptx import reg
from pyptx._frozen import frozen
from pyptx._loc import user_place
from pyptx.errors import BoundsError, OperandError
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType, s32, u32

__all__ = ["Offset", "checked", "flattened", "offset_of", "strides_of"]


@frozen
class Offset:
    """Distance of an element from the first one.

    Attributes:
        constant: the part known while tracing, in elements.
        terms: registers with their strides in elements, outermost dimension first.
    """

    constant: int
    terms: tuple[tuple[Reg, int], ...]


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array, in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def offset_of(name: str, shape: Sequence[int], indices: Sequence[object], shift: int | Sequence[int] = 0) -> Offset:
    """Return the offset of an element, or of the first one if the trailing indices are omitted.

    Args:
        name: of the array, for messages.
        shape: sizes in elements.
        indices: ints and integer registers, at most one for each dimension.
        shift: constants added to the indices; an int is added to the last one.
    Raises:
        OperandError: an index is neither an int nor an integer register.
        BoundsError: a constant index is out of range.
    """
    steps = [0] * (len(indices) - 1) + [shift] if isinstance(shift, int) else list(shift)
    if len(steps) != len(indices):
        raise OperandError(f"offset={shift!r} for {len(indices)} indices of {name}", at=user_place())
    constant, terms = 0, []
    for value, step, stride in zip(checked(name, shape, indices, steps), steps, strides_of(shape), strict=False):
        if isinstance(value, int):
            constant += (value + step) * stride
        else:
            constant += step * stride
            value = reg.readable(value)
            terms.append((_word(value) if value.dtype.bits == 16 else value, stride))
    return Offset(constant, tuple(terms))


def checked(
    name: str, shape: Sequence[int], indices: Sequence[object], steps: Sequence[int] | None = None
) -> list[int | Reg]:
    """Return indices as ints and registers; emits nothing.

    Args:
        steps: constants that will be added to them.
    Raises:
        OperandError, BoundsError: as `offset_of` does.
    """
    found: list[int | Reg] = []
    for axis, (index, size) in enumerate(zip(indices, shape, strict=False)):
        value = _checked(name, axis, index)
        moved = value + (steps[axis] if steps else 0) if isinstance(value, int) else 0
        if not 0 <= moved < size:
            where = "" if len(shape) == 1 else f" in dimension {axis}"
            raise BoundsError(
                f"index {moved}{where} of {name}, which has shape {tuple(shape)}; expected 0..{size - 1}",
                at=user_place(),
            )
        found.append(value)
    return found


def _checked(name: str, axis: int, index: object) -> int | Reg:
    """Return an index as an int or an integer register of 16, 32 or 64 bits."""
    if isinstance(index, Reg):
        dtype = index.dtype
        if dtype.is_float or dtype.name == "pred" or dtype.bits not in (16, 32, 64):
            fix = "i.to(s32)" if dtype.is_float else "ptx.inst.selp" if dtype.name == "pred" else "i.to(u32)"
            raise OperandError(
                f"index {axis} of {name} is {index!r}; expected an integer register",
                at=user_place(),
                hint=f"convert it with {fix}",
            )
        return index
    if isinstance(index, SupportsIndex) and not isinstance(index, bool):
        return as_int(index)
    refuse = getattr(index, "__ptx_operand__", None)
    if refuse is not None:
        refuse()  # a special register that was not called raises with the call to write
    hint = None
    if isinstance(index, slice):
        hint = f"load several elements with {name}.load(i, vec=4), or {name}.vec(4)[i]"
    elif isinstance(index, float):
        hint = "write the index as an int; `//` divides integers"
    elif index is Ellipsis or index is None:
        hint = f"give one index for each dimension of {name}"
    raise OperandError(
        f"index {axis} of {name} is {index!r}; expected an int or an integer register", at=user_place(), hint=hint
    )


def _word(index: Reg) -> Reg:
    """Widen a 16-bit index to 32 bits."""
    dtype = s32 if index.dtype.is_signed else u32
    wide = reg.scalar(dtype)
    emit("cvt", f"{dtype}.{dtype.name[0]}16", wide, index)
    return wide


def flattened(terms: Sequence[tuple[Reg, int]], dtype: PtxType) -> Reg:
    """Emit the sum of registers times strides in 32 bits; return its register.

    Args:
        terms: at least one register with its stride, the one with stride 1 last.
        dtype: s32 or u32.
    """
    *others, (total, stride) = terms
    if stride != 1:
        product = reg.scalar(dtype)
        emit("mul", f"lo.{dtype}", product, total, stride)
        total = product
    for register, step in reversed(others):
        moved = reg.scalar(dtype)
        if step == 1:
            emit("add", dtype.name, moved, register, total)
        else:
            emit("mad", f"lo.{dtype}", moved, register, step, total)
        total = moved
    return total
