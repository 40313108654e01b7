"""Objects that give registers but are none themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyptx.errors import OperandError
from pyptx.reg import Reg

__all__ = ["Uncalled"]


class Uncalled:
    """Base of objects that are not registers but give some; used as one, it raises with what to write."""

    _call: str  # the call that returns a register

    @property
    def _instead(self) -> str:
        return f"call it: {self._call}"

    def _refuse(self, *_: object) -> Reg:
        raise OperandError(f"{self!r} is not a register; {self._instead}")

    def _compare(self, other: object) -> Reg:
        return NotImplemented if isinstance(other, type) else self._refuse()  # `inspect` compares with classes

    __eq__: Callable[..., Any] = _compare  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]
    __ne__: Callable[..., Any] = _compare  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]
    __ptx_operand__: Callable[..., Any] = _refuse
    __lt__: Callable[..., Any] = _refuse
    __le__: Callable[..., Any] = _refuse
    __gt__: Callable[..., Any] = _refuse
    __ge__: Callable[..., Any] = _refuse
    __and__: Callable[..., Any] = _refuse
    __rand__: Callable[..., Any] = _refuse
    __bool__: Callable[..., Any] = _refuse
    __add__: Callable[..., Any] = _refuse
    __radd__: Callable[..., Any] = _refuse
    __sub__: Callable[..., Any] = _refuse
    __rsub__: Callable[..., Any] = _refuse
    __mul__: Callable[..., Any] = _refuse
    __rmul__: Callable[..., Any] = _refuse
    __floordiv__: Callable[..., Any] = _refuse
    __mod__: Callable[..., Any] = _refuse
    __lshift__: Callable[..., Any] = _refuse
    __rshift__: Callable[..., Any] = _refuse
    __or__: Callable[..., Any] = _refuse
    __xor__: Callable[..., Any] = _refuse
    __hash__: Callable[..., int] = object.__hash__  # pyright: ignore[reportIncompatibleMethodOverride]

    def __repr__(self) -> str:
        return self._call.removesuffix("()")
