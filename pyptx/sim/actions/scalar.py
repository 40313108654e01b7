"""Actions of each lane by itself: memory accesses, arithmetic, control flow and calls."""

from __future__ import annotations

from typing import Protocol

from pyptx._frozen import frozen
from pyptx.sim.actions.expressions import Node
from pyptx.sim.actions.operands import Address, Reg, Value

__all__ = [
    "Atomic",
    "Branch",
    "Call",
    "Clock",
    "Compute",
    "Exit",
    "HostCall",
    "IsSpace",
    "Jump",
    "Load",
    "Move",
    "Nop",
    "Return",
    "Store",
    "Transfer",
    "Trap",
]


@frozen
class Load:
    """Load `count` elements of `size` bytes, sign- or zero-extended into the registers `data`."""

    address: Address
    size: int
    count: int
    signed: bool
    data: tuple[Reg | None, ...]


@frozen
class Store:
    """Store `count` elements of `size` bytes."""

    address: Address
    size: int
    count: int
    data: tuple[Value, ...]


@frozen
class Atomic:
    """Atomic read-modify-write of each element; `packed` elements are pairs of `type`. `new` is for cas.

    `subnormal`: f32 sums keep subnormals in global memory, too.
    """

    address: Address
    operation: str
    type: str
    packed: bool
    size: int
    count: int
    data: tuple[Reg | None, ...]
    source: tuple[Value, ...]
    new: tuple[Value, ...] = ()
    subnormal: bool = False


@frozen
class Move:
    """Move bits from values to registers, low parts first: packing, unpacking, plain moves."""

    data: tuple[Reg | None, ...]
    source: tuple[Value, ...]


@frozen
class Compute:
    """Assign expressions to registers, one after the other."""

    assignments: tuple[tuple[Reg | None, Node], ...]


# A load, store or computation that moves an argument or result of a call.
Transfer = Load | Store | Compute


@frozen
class Branch:
    """bra."""

    target: int


@frozen
class Jump:
    """brx.idx."""

    index: Value
    targets: tuple[int, ...]


@frozen
class Exit:
    """exit, or ret in an entry."""


class HasRegisters(Protocol):
    """A function of the program with the registers it declares."""

    registers: list[Reg]


@frozen
class Call:
    """Call of the function `name`, or of the function at `address`; `before` and `after` move arguments and results.

    `saves`: the caller, when the callee may call it again (recursion): its registers are saved across the call.
    `mismatch`: prototype that no function matches; `address` is then invalid by NO_FUNCTION.
    """

    name: str | None
    address: Reg | None
    before: tuple[Transfer, ...]
    after: tuple[Transfer, ...]
    saves: HasRegisters | None = None
    mismatch: str = ""


@frozen
class Return:
    """ret in a function; `stores` write the results that are declared as registers."""

    stores: tuple[Transfer, ...] = ()


@frozen
class HostCall:
    """Call of a function of the driver, by one lane after the other."""

    name: str
    arguments: tuple[Value, ...]
    data: Reg | None
    before: tuple[Transfer, ...]
    after: tuple[Transfer, ...]


@frozen
class Trap:
    """trap."""


@frozen
class Nop:
    """Instructions without effect on values: fences, hints, nanosleep."""


@frozen
class Clock:
    """Clock: the instructions that the warp has issued, shifted right."""

    data: Reg
    shift: int


@frozen
class IsSpace:
    """isspacep."""

    data: Reg
    address: Value
    space: str
