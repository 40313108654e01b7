"""Actions of tensor copies and tensor maps."""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.sim.actions.operands import Address, Handled, Value

__all__ = ["TensorCopy", "TensormapCopy", "TensormapFence", "TensormapReplace"]


@frozen
class TensorCopy(Handled):
    """cp.async.bulk.tensor: copy a box between a tensor and shared memory, in each lane.

    Attributes:
        direction: load, store, reduce, prefetch.
        mode: tile, gather4, scatter4, im2col, w, w128.
        map: address of the tensor map.
        coordinates, offsets: innermost first; offsets of the w modes are (wHalo, wOffset).
        shared: address of the box in shared memory.
        barrier: mbarrier that counts its bytes.
        mask: CTAs of the cluster that receive a copy.
        base: address of the tensor, in place of the one in the map.
        pair: .cta_group::2; the mbarrier may be in the other CTA.
        reduction: operation, or None.
        inside: im2col_no_offs::w ends at the first pixel outside.
    """

    direction: str
    mode: str
    rank: int
    map: Address
    coordinates: tuple[Value, ...]
    offsets: tuple[Value, ...] = ()
    shared: Address | None = None
    barrier: Address | None = None
    mask: Value | None = None
    base: Value | None = None
    pair: bool = False
    reduction: str | None = None
    inside: bool = False


@frozen
class TensormapReplace(Handled):
    """tensormap.replace: write a field of a tensor map; `ordinal` is the dimension, for fields with one value per dimension."""

    address: Address
    field: str
    ordinal: int
    value: Value


@frozen
class TensormapCopy(Handled):
    """tensormap.cp_fenceproxy: copy 128 bytes from shared to global memory, once per warp."""

    target: Address
    source: Address


@frozen
class TensormapFence(Handled):
    """fence.proxy.tensormap::generic.acquire: only the sanitizer needs it, as there is a single memory."""

    address: Address
