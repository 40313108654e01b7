"""What mbarriers, clusters and asynchronous copies do, decoded (basic.py).

Addresses lie in shared (own CTA), cluster (any CTA of the cluster), global or generic space. Operands are values.
"""

from __future__ import annotations

from pyptx._value import value
from pyptx.sim.actions.basic import Address, Blocking, Handled, Reg, Value

__all__ = ["AsyncGroup", "BulkCopy", "ClusterArrive", "ClusterWait", "CpArrive", "CpAsync", "IsCanceled",
           "MbarrierArrive", "MbarrierInit", "MbarrierInval", "MbarrierLayout", "MbarrierPending", "MbarrierTest",
           "MbarrierWait", "Reduction", "Send", "SetMaxRegisters", "StBulk", "TryCancel"]


@value
class MbarrierInit(Handled):
    address: Address
    count: Value
    layout: int = 0                     # v0, v1


@value
class MbarrierInval(Handled):
    address: Address


@value
class MbarrierLayout(Handled):
    """Whether an mbarrier has a layout."""

    data: Reg
    address: Address
    layout: int


@value
class MbarrierArrive(Handled):
    """arrive, arrive_drop, expect_tx, complete_tx: `count` arrivals (None: 1), or with expect or complete so many bytes
    and `arrivals` (0 or 1). `data` is the state before.
    """

    data: Reg | None
    address: Address
    count: Value | None
    expect: bool = False
    complete: bool = False
    arrivals: int = 0
    drop: bool = False
    no_complete: bool = False


@value
class MbarrierTest(Handled):
    """Whether the phase of a state, or of a parity, is over; `report` is what copies reported, which is nothing."""

    data: Reg | None
    address: Address
    phase: Value
    parity: bool
    report: tuple[Reg | None, ...] = ()


@value
class MbarrierWait(Blocking):
    """try_wait: the same, once it is so for a lane."""

    data: Reg | None
    address: Address
    phase: Value
    parity: bool
    report: tuple[Reg | None, ...] = ()


@value
class MbarrierPending(Handled):
    data: Reg
    state: Value


@value
class CpAsync(Handled):
    """`size` bytes from global to shared memory; only `bytes` of them are read, none where `skip` is true."""

    to: Address
    source: Address
    size: int
    bytes: Value | None = None
    skip: Value | None = None
    negated: bool = False


@value
class CpArrive(Handled):
    """cp.async.mbarrier.arrive; `counted`: the arrival is in the count the mbarrier was initialised with (.noinc)."""

    address: Address
    counted: bool


@value
class AsyncGroup(Handled):
    """Of a track (cp, bulk, wgmma): commit, all (wait for everything), or wait until `most` are left, wholly or (read)
    as far as their sources.
    """

    track: str
    what: str                           # commit, all, wait, read
    most: int = 0


@value
class Reduction:
    """add, min, max, inc, dec, and, or, xor on elements of a type."""

    operation: str
    type: str
    flush: bool = False                 # subnormal f32 become zero


@value
class BulkCopy(Handled):
    """cp.async.bulk and cp.reduce.async.bulk: load (global to shared), peer (shared to shared), store (to global).

    `ctas` is a mask of CTAs, `byte_mask` of bytes in 16; `left` and `right` bytes of the source are not looked at.
    """

    way: str
    to: Address
    source: Address
    bytes: Value
    barrier: Address | None
    reduction: Reduction | None = None
    ctas: Value | None = None
    byte_mask: Value | None = None
    left: Value | None = None
    right: Value | None = None


@value
class Send(Handled):
    """st.async and red.async: `values` of `size` bytes each; without `barrier` to global memory."""

    to: Address
    values: tuple[Value, ...]
    size: int
    barrier: Address | None
    reduction: Reduction | None = None


@value
class StBulk(Handled):
    to: Address
    bytes: Value


@value
class ClusterArrive(Handled):
    pass


@value
class ClusterWait(Blocking):
    pass


@value
class SetMaxRegisters(Blocking):
    count: int
    more: bool


@value
class TryCancel(Handled):
    to: Address
    barrier: Address
    everywhere: bool


@value
class IsCanceled(Handled):
    data: Reg
    handle: Value
