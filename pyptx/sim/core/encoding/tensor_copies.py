"""Encode tensor copies: every operand is a row, listed in the pool."""

from __future__ import annotations

from pyptx.sim import abi
from pyptx.sim.actions import Address, Leaf, TensorCopy, TensormapCopy, TensormapFence, TensormapReplace, Value
from pyptx.sim.core.encoding.asynchronous import address_row
from pyptx.sim.core.encoding.encoder import NONE, Encoder
from pyptx.sim.core.encoding.expressions import lower

__all__ = ["ENCODERS"]


def _row(e: Encoder, value: Value, width: int = 32) -> int:
    return lower(e, Leaf(value, f"b{width}"))


def _address(e: Encoder, address: Address | None) -> int:
    return NONE if address is None else address_row(e, address)


def _copy(e: Encoder, action: TensorCopy) -> None:
    places = [
        _address(e, action.map),
        _address(e, action.shared),
        _address(e, action.barrier),
        NONE if action.mask is None else _row(e, action.mask),
        NONE if action.base is None else _row(e, action.base, 64),
        *(_row(e, v) for v in action.coordinates),
        *(_row(e, v) for v in action.offsets),
    ]
    mod = (
        abi.TENSOR_COPY_DIRECTIONS.index(action.direction)
        | abi.TENSOR_COPY_MODES.index(action.mode) << 4
        | action.rank << 8
        | (abi.ATOMICS.index(action.reduction) if action.reduction else 0) << 12
        | action.pair << 16
        | action.inside << 17
    )
    e.emit("tensor_copy", aux=e.operand_list(places), mod=mod, aux2=len(action.coordinates) | len(action.offsets) << 8)


def _replace(e: Encoder, action: TensormapReplace) -> None:
    wide = action.field in ("global_address", "global_stride")
    e.emit(
        "tensormap_replace",
        a=_address(e, action.address),
        b=_row(e, action.value, 64 if wide else 32),
        mod=abi.TENSOR_MAP_FIELDS.index(action.field)
        | action.ordinal << 4
        | abi.STATE_SPACES.index(action.address.space) << 8
        | wide << 12,
    )


def _map_copy(e: Encoder, action: TensormapCopy) -> None:
    e.emit("tensormap_copy", a=_address(e, action.target), b=_address(e, action.source))


def _map_fence(e: Encoder, action: TensormapFence) -> None:
    e.emit("tensormap_fence", a=_address(e, action.address))


ENCODERS = {TensorCopy: _copy, TensormapReplace: _replace, TensormapCopy: _map_copy, TensormapFence: _map_fence}
