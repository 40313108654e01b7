"""Special registers: `ptx.special.tid.x()` is `%tid.x`. Nothing is emitted; read them with mov, or compare them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pyptx.isa import registers
from pyptx.reg import Reg
from pyptx.types import PtxType, from_name, pred, u32

__all__ = ["ctaid_x", "ctaid_y", "special", "sreg"]


def sreg(name: str) -> Reg:
    """Any special register by its name, `%` included; u32 unless it only exists wider or as a predicate."""
    return Reg(name, _type_of(name))


def _type_of(name: str) -> PtxType:
    row = registers.lookup(name)
    if row is None or "u32" in row.types:
        return u32
    return pred if "pred" in row.types else from_name(row.types[0])


class _Uncalled:
    """What is no register yet: it says how one is had of it, where one was expected."""

    _call: str                          # what would be one

    def _refuse(self, *_: object) -> Reg:
        raise TypeError(f"{self!r} is no register; {self._call} is")

    def _compare(self, other: object) -> Reg:
        return NotImplemented if isinstance(other, type) else self._refuse()        # inspect asks whether it is a class

    __eq__ = __ne__ = _compare
    __ptx_operand__ = __lt__ = __le__ = __gt__ = __ge__ = __and__ = __rand__ = __bool__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __mod__ = _refuse
    __lshift__ = __rshift__ = __or__ = __xor__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self._call.removesuffix("()")


class _Reader(_Uncalled):
    """A function that gives a special register."""

    def __init__(self, name: str):
        self._register, self._call = sreg(name), f"ptx.special.{name.removeprefix('%')}()"
        self.__name__ = self.__qualname__ = sys.intern(name.lstrip("%").replace(".", "_"))
        self.__doc__ = f"The special register {name}."

    def __call__(self) -> Reg:
        return self._register


class _Components(_Uncalled):
    """`special.tid`: its `x`, `y` and `z` are functions that give registers."""

    def __init__(self, name: str, axes: Iterable[str]):
        self.__dict__ |= {axis: _Reader(f"{name}.{axis}") for axis in axes}
        self._name = f"ptx.special.{name.removeprefix('%')}"
        self._call = f"{self._name}.x()"

    def __repr__(self) -> str:
        return self._name

    def __call__(self) -> Reg:
        return self._refuse()


class _Special:
    """`special.tid.x()`, `special.laneid()`, `special.clock64()`: names come from the table of special registers."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if f"%{name}" in registers.SPECIAL:
            row = registers.SPECIAL[f"%{name}"]
            if row.components:
                member = _Components(f"%{name}", row.components)
            else:
                member = _Reader(f"%{name}")
            setattr(self, name, member)
            return member
        raise AttributeError(f"there is no special register %{name}; see dir(ptx.special)")

    def __dir__(self) -> list[str]:
        return [name.removeprefix("%") for name in registers.SPECIAL]


special = _Special()


def ctaid_x() -> Reg:
    """`%ctaid.x`."""
    return special.ctaid.x()


def ctaid_y() -> Reg:
    """`%ctaid.y`."""
    return special.ctaid.y()
