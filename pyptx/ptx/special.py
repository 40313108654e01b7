"""Special registers: `ptx.special.tid.x()` is `%tid.x`. Nothing is emitted; read them with mov, or compare them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from pyptx.isa import registers
from pyptx.ptx._uncalled import Uncalled
from pyptx.reg import Reg
from pyptx.types import PtxType, from_name, pred, u32

__all__ = ["ctaid_x", "ctaid_y", "special", "sreg"]


def sreg(name: str) -> Reg:
    """Return a special register by name.

    Args:
        name: with its `%`, such as "%laneid". The type is u32 if the register has one of 32 bits.
    """
    return Reg(name, _type_of(name))


def _type_of(name: str) -> PtxType:
    row = registers.lookup(name)
    if row is None or "u32" in row.types:
        return u32
    return pred if "pred" in row.types else from_name(row.types[0])


class _Reader(Uncalled):
    """A function that returns a special register."""

    def __init__(self, name: str):
        self._register, self._call = sreg(name), f"ptx.special.{name.removeprefix('%')}()"
        self.__name__ = self.__qualname__ = sys.intern(name.lstrip("%").replace(".", "_"))
        self.__doc__ = f"The special register {name}."

    def __call__(self) -> Reg:
        return self._register


class _Components(Uncalled):
    """A register with components, such as `special.tid`; `x`, `y` and `z` are functions that return registers."""

    def __init__(self, name: str, axes: Iterable[str]):
        self.__dict__ |= {axis: _Reader(f"{name}.{axis}") for axis in axes}
        self._name = f"ptx.special.{name.removeprefix('%')}"
        self._call = f"{self._name}.x()"

    def __repr__(self) -> str:
        return self._name

    def __call__(self) -> Reg:
        return self._refuse()


class _Special:
    """The special registers: `special.tid.x()`, `special.laneid()`, `special.clock64()`."""

    def __getattr__(self, name: str) -> Any:
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
        raise AttributeError(f"%{name} is not a special register; see dir(ptx.special)")

    def __dir__(self) -> list[str]:
        return [name.removeprefix("%") for name in registers.SPECIAL]


special = _Special()


def ctaid_x() -> Reg:
    """`%ctaid.x`."""
    return sreg("%ctaid.x")


def ctaid_y() -> Reg:
    """`%ctaid.y`."""
    return sreg("%ctaid.y")
