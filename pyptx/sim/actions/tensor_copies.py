"""What tensor copies and instructions on tensor maps do, decoded (the closed set of basic.py goes on here)."""

from __future__ import annotations

from pyptx._value import value
from pyptx.sim.actions.basic import Address, Handled, Value

__all__ = ["FIELDS", "TensorCopy", "TensormapCopy", "TensormapFence", "TensormapReplace"]

FIELDS = ("global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride", "elemtype",
          "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode")


@value
class TensorCopy(Handled):
    """A copy of a box between a tensor and shared memory, started by each lane.

    Attributes:
        direction: load, store, reduce, prefetch.       mode: tile, gather4, scatter4, im2col, w, w128.
        map: address of the tensor map.                 base: of the tensor, instead of the map's own.
        coordinates, offsets: innermost first; of the w modes (wHalo, wOffset).
        shared: where the box lies, or goes to.         barrier: the mbarrier that counts its bytes.
        mask: CTAs of the cluster that get a copy.      pair: .cta_group::2, the mbarrier may be the other CTA's.
        reduction: its operation, or None.              inside: im2col_no_offs::w ends at the first pixel outside.
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


@value
class TensormapReplace(Handled):
    """Write one field of the tensor map at an address; `ordinal` is the dimension of fields that have five."""

    address: Address
    field: str
    ordinal: int
    value: Value


@value
class TensormapCopy(Handled):
    """tensormap.cp_fenceproxy: 128 bytes from shared to global memory, once for the warp."""

    target: Address
    source: Address


@value
class TensormapFence(Handled):
    """fence.proxy.tensormap::generic.acquire: nothing but for the sanitizer, as all see one memory."""

    address: Address
