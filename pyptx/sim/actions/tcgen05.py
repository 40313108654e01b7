"""Actions of tcgen05: tensor memory and products on it.

Addresses of tensor memory have space "tmem". `group` is the cta_group, 1 or 2.
"""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.sim.actions.operands import Address, Blocking, Handled, Reg, Value, WholeWarp

__all__ = [
    "Tcgen05Commit",
    "Tcgen05Mma",
    "TmemAlloc",
    "TmemCopy",
    "TmemFree",
    "TmemLoad",
    "TmemRelinquish",
    "TmemShift",
    "TmemStore",
    "TmemWait",
]


@frozen
class TmemAlloc(Blocking):
    """tcgen05.alloc: allocate `columns` in the CTA, or in both CTAs of a pair, and write their address to shared memory.

    An `exclusive` allocation waits until there is no other one, and prevents others until it is freed.
    """

    group: int
    to: Address
    columns: Value
    exclusive: bool = False


@frozen
class TmemFree(WholeWarp):
    """tcgen05.dealloc."""

    group: int
    address: Value
    columns: Value
    exclusive: bool = False


@frozen
class TmemRelinquish(WholeWarp):
    """tcgen05.relinquish_alloc_permit."""

    group: int


@frozen
class TmemLoad(WholeWarp):
    """tcgen05.ld.

    Attributes:
        shape: "32x32b" and others.
        packed: two columns of 16 bits share a register.
        split: columns between the halves of 16x32bx2.
        reduction: ("min" or "max", type, abs, NaN); the last register receives the reduced value.
    """

    shape: str
    packed: bool
    data: tuple[Reg | None, ...]
    address: Address
    split: int = 0
    reduction: tuple[str, str, bool, bool] | None = None


@frozen
class TmemStore(WholeWarp):
    """tcgen05.st."""

    shape: str
    packed: bool
    address: Address
    source: tuple[Value, ...]
    split: int = 0


@frozen
class TmemWait(WholeWarp):
    """tcgen05.wait of `direction` ld or st."""

    direction: str


@frozen
class TmemCopy(Handled):
    """tcgen05.cp; `shape` includes the multicast: "32x128b.warpx4". `expansion`: bits of expanded elements, 0 for none."""

    group: int
    shape: str
    expansion: int
    address: Address
    descriptor: Value


@frozen
class TmemShift(Handled):
    """tcgen05.shift."""

    group: int
    address: Address


@frozen
class Tcgen05Commit(Handled):
    """tcgen05.commit: arrive at an mbarrier (of the CTAs of a mask) when earlier operations of the thread complete."""

    group: int
    barrier: Address
    ctas: Value | None


@frozen
class Tcgen05Mma(Handled):
    """tcgen05.mma in all its forms.

    Attributes:
        kind: "f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4".
        a: address in tensor memory, or descriptor.
        b, descriptor: matrix descriptor of B, and instruction descriptor.
        vector: scales per row, 0 without scales.
        scale: D is multiplied by 2**-scale first.
        mask: lanes of D that are not written.
        zero: zero-column mask descriptor.
        target: target of the module, which selects the hardware arithmetic.
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
