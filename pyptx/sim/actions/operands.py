"""Operands of actions (registers, constants, addresses) and the base classes that tell an engine how to run an action.

Sizes are in bytes and widths in bits.
"""

from __future__ import annotations

from pyptx._frozen import frozen

__all__ = ["Address", "Blocking", "Collective", "Const", "Handled", "Reg", "Special", "Sum", "Value", "WholeWarp"]


@frozen
class Reg:
    """A register: `index` in the program's register list, `width` in bits (1 for predicates)."""

    index: int
    width: int
    name: str


@frozen
class Const:
    """A constant of `width` bits, as an unsigned integer."""

    bits: int
    width: int


@frozen
class Special:
    """A special register such as `%tid.x`."""

    name: str
    width: int


@frozen
class Sum:
    """A register plus a constant, as the operand `%r1+1`: an integer addition in the width of the register.

    `result` is a register of the operand's own, in which the C core computes the sum.
    """

    register: Reg
    constant: int
    result: Reg

    @property
    def width(self) -> int:
        """Width of the register, in bits."""
        return self.register.width


Value = Reg | Const | Special | Sum


@frozen
class Address:
    """`base + offset` in `space`: generic, global, shared, cluster, local, const, param or tmem.

    `base` is None for an absolute address.
    """

    space: str
    base: Reg | None
    offset: int


class Handled:
    """Base of actions that complete when they are issued and have a registered handler in each engine."""

    __slots__ = ()


class Blocking(Handled):
    """Base of actions that may have to wait: until they can complete they change nothing and are issued again."""

    __slots__ = ()


class Collective:
    """Base of warp-synchronous actions: the lanes named by the operand `members` execute them together."""

    __slots__ = ()
    members: Value


class WholeWarp(Collective):
    """Base of actions that all 32 lanes of a warp execute together (`.aligned`)."""

    __slots__ = ()
    members: Value = Const(0xFFFFFFFF, 32)
