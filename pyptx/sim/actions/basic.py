"""What an instruction does, decoded: the closed set of things both engines know how to do.

Values are `Reg`, `Const` and `Special`; a destination that is not wanted is None. Sizes are in bytes.
"""

from __future__ import annotations

from pyptx._value import value

__all__ = ["Action", "ActiveMask", "Address", "Atomic", "BarrierOp", "Blocking", "Branch", "Call", "Clock",
           "Collective", "Compute", "Const", "Elect", "Exit", "Handled", "HostCall", "IsSpace", "Jump", "Load",
           "Match", "Move", "Nop", "Redux", "Reg", "Return", "SYNCHRONIZING", "Shuffle", "Special", "Store", "Trap",
           "Value", "Vote", "WarpBarrier"]


@value
class Reg:
    """A register: `index` in the program's list, `width` in bits (1 for predicates)."""

    index: int
    width: int
    name: str


@value
class Const:
    """`bits` of a number, at most `width` of them."""

    bits: int
    width: int


@value
class Special:
    """A special register, `%tid.x`."""

    name: str
    width: int


Value = Reg | Const | Special


@value
class Address:
    """`base` (None: absolute) plus `offset`, in `space`: generic, global, shared, local, const, param."""

    space: str
    base: Reg | None
    offset: int


@value
class Load:
    """`count` elements of `size` bytes, sign- or zero-extended into the registers `data`."""

    address: Address
    size: int
    count: int
    signed: bool
    data: tuple[Reg | None, ...]


@value
class Store:
    address: Address
    size: int
    count: int
    data: tuple[Value, ...]


@value
class Atomic:
    """Element-wise read-modify-write; `type` is the element's, `packed` two of them in 32 bits. `new` is for cas.

    `subnormal`: sums of f32 keep subnormals in global memory too.
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


@value
class Move:
    """Bits from values to registers, low parts first: unpacking, packing and plain moves."""

    data: tuple[Reg | None, ...]
    source: tuple[Value, ...]


@value
class Compute:
    """`target = expression`, one after the other; expressions are `means.Node`s over values."""

    assignments: tuple[tuple[Reg | None, object], ...]


@value
class Branch:
    target: int


@value
class Jump:
    index: Value
    targets: tuple[int, ...]


@value
class Exit:
    pass


@value
class Call:
    """A call of the function `name`, or of the one at `address`; `before` and `after` move arguments and results.

    `keeps`: the caller's Body when the function may call it again, so that its registers are put aside meanwhile.
    """

    name: str | None
    address: Reg | None
    before: tuple[Action, ...]
    after: tuple[Action, ...]
    keeps: object = None


@value
class Return:
    """Back to the caller; `stores` are the results that are declared as registers."""

    stores: tuple[Action, ...] = ()


@value
class HostCall:
    """A call of a function the driver provides, by one lane after the other."""

    name: str
    arguments: tuple[Value, ...]
    data: Reg | None
    before: tuple[Action, ...]
    after: tuple[Action, ...]


@value
class Trap:
    pass


@value
class Nop:
    """Without effect on values: fences, hints, nanosleep."""


@value
class Clock:
    """Instructions this warp has issued, shifted right."""

    data: Reg
    shift: int


@value
class IsSpace:
    data: Reg
    address: Value
    space: str


@value
class Shuffle:
    mode: str                           # up, down, bfly, idx
    data: Reg
    inside: Reg | None
    value: Value
    lane: Value
    segment: Value
    members: Value


@value
class Vote:
    mode: str                           # all, any, uni, ballot
    data: Reg
    value: Value
    negated: bool
    members: Value


@value
class Match:
    mode: str                           # any, all
    data: Reg | None
    equal: Reg | None
    value: Value
    members: Value


@value
class Redux:
    operation: str                      # add, min, max, and, or, xor
    type: str
    absolute: bool
    nan: bool
    data: Reg
    value: Value
    members: Value


@value
class Elect:
    data: Reg | None
    leader: Reg | None
    members: Value


@value
class WarpBarrier:
    members: Value


@value
class ActiveMask:
    data: Reg


@value
class BarrierOp:
    """A CTA barrier: sync, arrive, popc, and, or."""

    mode: str
    barrier: Value
    count: Value | None
    value: Value | None = None
    negated: bool = False
    data: Reg | None = None


Action = (Load | Store | Atomic | Move | Compute | Branch | Jump | Call | Return | HostCall | Exit | Trap
          | Nop | Clock | IsSpace | Shuffle | Vote | Match | Redux | Elect | WarpBarrier | ActiveMask | BarrierOp)


class Collective:
    """Actions of other files that wait for the lanes of a membermask: they have `members`."""

    __slots__ = ()


class Handled:
    """Actions of other files that run at once: reference/handlers.py and core/transfers.py know how."""

    __slots__ = ()


class Blocking(Handled):
    """The same, but they may have to wait: then they change nothing and are asked again (core/async.h)."""

    __slots__ = ()


SYNCHRONIZING = (Shuffle, Vote, Match, Redux, Elect, WarpBarrier, Collective)
