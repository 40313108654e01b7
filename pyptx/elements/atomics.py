"""Atomic operations on elements: `x.atomic_add(i, value)`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.values import as_source
from pyptx.errors import OperandError
from pyptx.ir.nodes import AddressOperand
from pyptx.reg import NegPred, Reg
from pyptx.tracing.trace import emit
from pyptx.types import PtxType

__all__ = ["Atomics"]

Guard = Reg | NegPred | None

_INTEGERS = ("u32", "s32", "u64", "s64")
_TYPES_OF = {
    "add": ("u32", "s32", "u64", "s64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"),
    "min": _INTEGERS,
    "max": _INTEGERS,
    "and": (*_INTEGERS, "b32", "b64"),
    "or": (*_INTEGERS, "b32", "b64"),
    "xor": (*_INTEGERS, "b32", "b64"),
    "exch": (*_INTEGERS, "b32", "b64", "f32", "f64"),
    "cas": (*_INTEGERS, "b16", "b32", "b64", "f32", "f64", "u16", "s16"),
}
_HALVES = ("f16", "bf16", "f16x2", "bf16x2")


class Atomics(ABC):
    """Atomic operations on the elements of an array."""

    name: str
    _space: str

    @abstractmethod
    def _typed(self) -> PtxType:
        """Return the type of the elements."""

    @abstractmethod
    def _element(self, indices: Sequence[Any], offset: int | Sequence[int] = 0) -> AddressOperand:
        """Emit the address of an element."""

    def atomic_add(self, *indices_and_value: Any, **options: Any) -> Reg:
        """Add to an element atomically; return its old value.

        Every `atomic_` method emits one `atom`; ptxas makes it a reduction (RED) if the old value is not used.

        Args:
            indices_and_value: an index for each dimension, then the value, a register or a number.
            offset: as in `load`.
            order: "relaxed", "acquire", "release" or "acq_rel"; default: relaxed.
            scope: "cta", "cluster", "gpu" or "sys"; default: gpu.
            pred: only in threads where it holds.
        Raises:
            OperandError: a type without this operation, wrong indices or a value of another type.
            BoundsError: a constant index is out of range.
        """
        return self._atomic("add", indices_and_value, **options)

    def atomic_min(self, *indices_and_value: Any, **options: Any) -> Reg:
        """Replace an integer by the minimum of it and a value atomically; return the old one. See `atomic_add`."""
        return self._atomic("min", indices_and_value, **options)

    def atomic_max(self, *indices_and_value: Any, **options: Any) -> Reg:
        """Replace an integer by the maximum of it and a value atomically; return the old one. See `atomic_add`."""
        return self._atomic("max", indices_and_value, **options)

    def atomic_and(self, *indices_and_value: Any, **options: Any) -> Reg:
        """Replace an element by its bitwise AND with a value atomically; return the old one. See `atomic_add`."""
        return self._atomic("and", indices_and_value, **options)

    def atomic_or(self, *indices_and_value: Any, **options: Any) -> Reg:
        """Replace an element by its bitwise OR with a value atomically; return the old one. See `atomic_add`."""
        return self._atomic("or", indices_and_value, **options)

    def atomic_xor(self, *indices_and_value: Any, **options: Any) -> Reg:
        """Replace an element by its bitwise XOR with a value atomically; return the old one. See `atomic_add`."""
        return self._atomic("xor", indices_and_value, **options)

    def atomic_exch(self, *indices_and_value: Any, **options: Any) -> Reg:
        """Replace an element atomically; return the old one. See `atomic_add`."""
        return self._atomic("exch", indices_and_value, **options)

    def atomic_cas(self, *indices_compare_value: Any, **options: Any) -> Reg:
        """Replace an element by a value if it equals another, `x.atomic_cas(i, compare, value)`; return the old one."""
        return self._atomic("cas", indices_compare_value, values=2, **options)

    def _atomic(
        self,
        op: str,
        given: Sequence[Any],
        *,
        values: int = 1,
        offset: int | Sequence[int] = 0,
        order: str | None = None,
        scope: str | None = None,
        pred: Guard = None,
    ) -> Reg:
        dtype = self._typed()
        if dtype.name not in _TYPES_OF[op]:
            raise OperandError(
                f"atomic {op} is not defined on {dtype} ({self.name}); it takes {', '.join(_TYPES_OF[op])}",
                at=user_place(),
            )
        indices = given[: len(given) - values]
        sources = [as_source(self.name, dtype, value) for value in given[len(given) - values :]]
        address, result = self._element(indices, offset), reg.scalar(dtype)
        if dtype.name in _HALVES:
            sources = [_in_register(dtype, source) for source in sources]
        words = [order, scope, self._space, op, _atomic_type(op, dtype)]
        emit("atom", ".".join(filter(None, words)), result, address, *sources, pred=pred)
        return result


def _in_register(dtype: PtxType, source: object) -> object:
    """Load an immediate of a 16-bit float into a register: instructions on them take no literals."""
    if not isinstance(source, int):
        return source
    register = reg.scalar(dtype)
    emit("mov", f"b{dtype.bits}", register, source)
    return register


def _atomic_type(op: str, dtype: PtxType) -> str:
    """Return the type modifiers of `atom`."""
    if op in ("and", "or", "xor", "exch", "cas"):
        return f"b{dtype.bits}"
    if dtype.name in _HALVES:
        return f"noftz.{dtype}"
    return "u64" if op == "add" and dtype.name == "s64" else dtype.name
