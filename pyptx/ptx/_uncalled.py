"""Objects that give registers but are none themselves."""

from __future__ import annotations

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

    __eq__ = __ne__ = _compare  # pyright: ignore[reportAssignmentType] - refuses every comparison but with a class
    __ptx_operand__ = __lt__ = __le__ = __gt__ = __ge__ = __and__ = __rand__ = __bool__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __mod__ = _refuse
    __lshift__ = __rshift__ = __or__ = __xor__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self._call.removesuffix("()")
