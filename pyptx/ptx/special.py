"""Special registers: `ptx.special.tid.x()` is `%tid.x`. Nothing is emitted; read them with mov, or compare them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

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


class _Special:
    """`special.tid.x()`, `special.laneid()`, `special.clock64()`: names come from the table of special registers."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if f"%{name}" in registers.SPECIAL:
            row = registers.SPECIAL[f"%{name}"]
            if row.components:
                member = SimpleNamespace(**{axis: _reader(f"%{name}.{axis}") for axis in row.components})
            else:
                member = _reader(f"%{name}")
            setattr(self, name, member)
            return member
        raise AttributeError(f"there is no special register %{name}; see dir(ptx.special)")

    def __dir__(self) -> list[str]:
        return [name.removeprefix("%") for name in registers.SPECIAL]


def _reader(name: str):
    register = sreg(name)

    def read() -> Reg:
        return register
    read.__name__ = read.__qualname__ = sys.intern(name.lstrip("%").replace(".", "_"))
    read.__doc__ = f"The special register {name}."
    return read


special = _Special()


def ctaid_x() -> Reg:
    """`%ctaid.x`."""
    return special.ctaid.x()


def ctaid_y() -> Reg:
    """`%ctaid.y`."""
    return special.ctaid.y()
