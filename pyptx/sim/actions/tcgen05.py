"""Actions of tcgen05: tensor memory and the products that work on it.

Addresses of tensor memory have space "tmem". `group` is the cta_group, 1 or 2.
"""

from __future__ import annotations

from pyptx._value import value
from pyptx.sim.actions.basic import Address, Blocking, Collective, Const, Handled, Reg, Value

__all__ = ["Commit", "Product5", "TmemAlloc", "TmemCopy", "TmemFree", "TmemLoad", "TmemRelinquish", "TmemShift",
           "TmemStore", "TmemWait"]


class _Whole(Collective):
    """What all 32 lanes execute together."""

    __slots__ = ()
    members = Const(0xFFFFFFFF, 32)


@value
class TmemAlloc(Blocking):
    """`columns` for the CTA (group 2: the same in both of a pair); the address goes to shared memory.

    `exclusive`: it waits until there is no other allocation, and there is none besides until it is freed.
    """

    group: int
    to: Address
    columns: Value
    exclusive: bool = False


@value
class TmemFree(_Whole):
    group: int
    address: Value
    columns: Value
    exclusive: bool = False


@value
class TmemRelinquish(_Whole):
    group: int


@value
class TmemLoad(_Whole):
    """tcgen05.ld of `shape` ("32x32b" ..). `packed`: two columns of 16 bits to a register; `split`: columns between the
    halves of 16x32bx2. With `reduction` ("min", "max", type, abs, NaN) the last register takes the reduced ones.
    """

    shape: str
    packed: bool
    data: tuple[Reg | None, ...]
    address: Address
    split: int = 0
    reduction: tuple[str, str, bool, bool] | None = None


@value
class TmemStore(_Whole):
    shape: str
    packed: bool
    address: Address
    source: tuple[Value, ...]
    split: int = 0


@value
class TmemWait(_Whole):
    what: str                           # ld, st


@value
class TmemCopy(Handled):
    """tcgen05.cp; `shape` includes the multicast: "32x128b.warpx4". `expansion`: bits of the elements, 0: none."""

    group: int
    shape: str
    expansion: int
    address: Address
    descriptor: Value


@value
class TmemShift(Handled):
    group: int
    address: Address


@value
class Commit(Handled):
    """An arrival at an mbarrier (of the CTAs of a mask) when what the thread started so far has landed."""

    group: int
    barrier: Address
    ctas: Value | None


@value
class Product5(Handled):
    """tcgen05.mma in all its forms.

    Attributes:
        kind: "f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4".
        a: an address in tensor memory, or a descriptor.        b, descriptor: values.
        vector: scales of a row, 0 without.                     scale: D is scaled by 2**-scale first.
        mask: of lanes that stay.                               zero: the zero-column mask descriptor.
        target: the module's, for the model of the hardware.
    """

    kind: str
    group: int
    d: Address
    a: Address | Value
    b: Value
    descriptor: Value
    enable: Value
    enable_negated: bool
    ws: bool = False
    ashift: bool = False
    scale: int = 0
    metadata: Address | None = None
    vector: int = 0
    scale_a: Address | None = None
    scale_b: Address | None = None
    mask: tuple[Value, ...] = ()
    zero: Value | None = None
    target: str = "sm_100a"
