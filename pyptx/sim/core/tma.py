"""Tensor copies as operations of the core: every operand a row of its own, listed in the pool."""

from __future__ import annotations

from pyptx.sim.actions.basic import Address, Value
from pyptx.sim.actions.means import Leaf
from pyptx.sim.actions.tensor_copies import FIELDS, TensorCopy, TensormapCopy, TensormapFence, TensormapReplace
from pyptx.sim.core.encode import NONE, Encoder
from pyptx.sim.core.lower import lower
from pyptx.sim.core.transfers import address_row

__all__ = ["ENCODERS"]

_DIRECTIONS = ("load", "store", "reduce", "prefetch")
_MODES = ("tile", "gather4", "scatter4", "im2col", "w", "w128")
_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")             # as in atomic.c
_SPACES = ("generic", "global", "shared")


def _row(e: Encoder, value: Value, width: int = 32) -> int:
    return lower(e, Leaf(value, f"b{width}"))


def _address(e: Encoder, address: Address | None) -> int:
    return NONE if address is None else address_row(e, address)


def _copy(e: Encoder, action: TensorCopy) -> None:
    places = [_address(e, action.map), _address(e, action.shared), _address(e, action.barrier),
              NONE if action.mask is None else _row(e, action.mask),
              NONE if action.base is None else _row(e, action.base, 64),
              *(_row(e, v) for v in action.coordinates), *(_row(e, v) for v in action.offsets)]
    mod = (_DIRECTIONS.index(action.direction) | _MODES.index(action.mode) << 4 | action.rank << 8
           | (_OPERATIONS.index(action.reduction) if action.reduction else 0) << 12 | action.pair << 16
           | action.inside << 17)
    e.emit("tensor_copy", aux=e.operand_list(places), mod=mod, aux2=len(action.coordinates) | len(action.offsets) << 8)


def _replace(e: Encoder, action: TensormapReplace) -> None:
    wide = action.field in ("global_address", "global_stride")
    e.emit("tensormap_replace", a=_address(e, action.address), b=_row(e, action.value, 64 if wide else 32),
           mod=FIELDS.index(action.field) | action.ordinal << 4 | _SPACES.index(action.address.space) << 8 | wide << 12)


def _map_copy(e: Encoder, action: TensormapCopy) -> None:
    e.emit("tensormap_copy", a=_address(e, action.target), b=_address(e, action.source))


def _map_fence(e: Encoder, action: TensormapFence) -> None:
    e.emit("tensormap_fence", a=_address(e, action.address))


ENCODERS = {TensorCopy: _copy, TensormapReplace: _replace, TensormapCopy: _map_copy, TensormapFence: _map_fence}
