"""Actions of mbarriers, clusters and asynchronous copies.

Addresses are in shared (own CTA), cluster (any CTA of the cluster), global or generic space.
"""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.sim.actions.operands import Address, Blocking, Handled, Reg, Value

__all__ = [
    "AsyncGroup",
    "BulkCopy",
    "ClusterArrive",
    "ClusterWait",
    "CpAsyncArrive",
    "CpAsync",
    "IsCanceled",
    "MbarrierArrive",
    "MbarrierInit",
    "MbarrierInval",
    "MbarrierLayout",
    "MbarrierPending",
    "MbarrierTest",
    "MbarrierWait",
    "Reduction",
    "AsyncStore",
    "SetMaxRegisters",
    "StBulk",
    "TryCancel",
]


@frozen
class MbarrierInit(Handled):
    """mbarrier.init, for layout v0 or v1."""

    address: Address
    count: Value
    layout: int = 0  # v0, v1


@frozen
class MbarrierInval(Handled):
    """mbarrier.inval."""

    address: Address


@frozen
class MbarrierLayout(Handled):
    """mbarrier.check_layout: test the layout of an mbarrier."""

    data: Reg
    address: Address
    layout: int


@frozen
class MbarrierArrive(Handled):
    """mbarrier.arrive, arrive_drop, expect_tx, complete_tx.

    Attributes:
        data: receives the state before.
        count: arrivals (None is 1); with `expect` or `complete`, bytes.
        arrivals: 0 or 1 arrivals beside the bytes.
    """

    data: Reg | None
    address: Address
    count: Value | None
    expect: bool = False
    complete: bool = False
    arrivals: int = 0
    drop: bool = False
    no_complete: bool = False


@frozen
class MbarrierTest(Handled):
    """mbarrier.test_wait: test whether the phase of a state or parity is complete; `report` receives zeros."""

    data: Reg | None
    address: Address
    phase: Value
    parity: bool
    report: tuple[Reg | None, ...] = ()


@frozen
class MbarrierWait(Blocking):
    """mbarrier.try_wait: wait until the phase is complete in at least one lane."""

    data: Reg | None
    address: Address
    phase: Value
    parity: bool
    report: tuple[Reg | None, ...] = ()


@frozen
class MbarrierPending(Handled):
    """mbarrier.pending_count."""

    data: Reg
    state: Value


@frozen
class CpAsync(Handled):
    """cp.async: copy `size` bytes from global to shared memory; `bytes` of them are read, none if `skip` is true."""

    to: Address
    source: Address
    size: int
    bytes: Value | None = None
    skip: Value | None = None
    negated: bool = False


@frozen
class CpAsyncArrive(Handled):
    """cp.async.mbarrier.arrive; `counted` (.noinc): the count of the mbarrier includes the arrival."""

    address: Address
    counted: bool


@frozen
class AsyncGroup(Handled):
    """commit_group, wait_group and wait_all of cp.async and bulk copies.

    Attributes:
        track: cp or bulk.
        operation: commit; all (wait for everything); wait (until `pending` groups are left); read (the same, for their
            sources only).
    """

    track: str
    operation: str
    pending: int = 0


@frozen
class Reduction:
    """Reduction of a copy: add, min, max, inc, dec, and, or, xor of elements of a type."""

    operation: str
    type: str
    flush: bool = False  # flush subnormal f32 to zero


@frozen
class BulkCopy(Handled):
    """cp.async.bulk and cp.reduce.async.bulk: load (global to shared), peer (shared to shared), store (to global).

    `ctas` is a mask of CTAs, `byte_mask` a mask of bytes in 16; `left` and `right` bytes of the source are ignored.
    """

    direction: str
    to: Address
    source: Address
    bytes: Value
    barrier: Address | None
    reduction: Reduction | None = None
    ctas: Value | None = None
    byte_mask: Value | None = None
    left: Value | None = None
    right: Value | None = None


@frozen
class AsyncStore(Handled):
    """st.async and red.async: store `values` of `size` bytes each; without `barrier` to global memory."""

    to: Address
    values: tuple[Value, ...]
    size: int
    barrier: Address | None
    reduction: Reduction | None = None


@frozen
class StBulk(Handled):
    """st.bulk: set bytes of shared memory to zero."""

    to: Address
    bytes: Value


@frozen
class ClusterArrive(Handled):
    """barrier.cluster.arrive."""


@frozen
class ClusterWait(Blocking):
    """barrier.cluster.wait."""


@frozen
class SetMaxRegisters(Blocking):
    """setmaxnreg.inc (`more`) and setmaxnreg.dec."""

    count: int
    more: bool


@frozen
class TryCancel(Handled):
    """clusterlaunchcontrol.try_cancel; `everywhere`: the result goes to every CTA of the cluster."""

    to: Address
    barrier: Address
    everywhere: bool


@frozen
class IsCanceled(Handled):
    """clusterlaunchcontrol.query_cancel.is_canceled."""

    data: Reg
    handle: Value
