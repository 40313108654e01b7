"""The address of an operation as its cells: the register it is in, the offset, and in `mod` state space and width.

Bits of `mod`: 12-15 the state space, 16 the register has 64 bits, 17 there is none. See access.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyptx.sim.actions.basic import Address

if TYPE_CHECKING:
    from pyptx.sim.core.encode import Encoder

__all__ = ["SPACES", "cells"]

SPACES = {"generic": 0, "global": 1, "shared": 2, "local": 3, "const": 4, "param": 5, "cluster": 7}
_WIDE, _ABSOLUTE = 1 << 16, 1 << 17


def cells(e: Encoder, address: Address, mod: int, *, space: str | None = None) -> dict:
    """Cells `a`, `mod` and `imm`.

    Args:
        mod: its other bits.
        space: instead of the address's own.
    """
    mod |= SPACES[space or address.space] << 12
    base = address.base
    if base is None:
        return {"a": 0, "mod": mod | _ABSOLUTE, "imm": address.offset}
    return {"a": e.register(base), "mod": mod | (_WIDE if base.width == 64 else 0), "imm": address.offset}
