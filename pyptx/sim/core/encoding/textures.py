"""Encode accesses of textures and surfaces: every operand is a row, listed in the pool."""

from __future__ import annotations

from pyptx.sim import abi
from pyptx.sim.actions import (
    Address,
    Fetch,
    Handle,
    IsType,
    Leaf,
    Query,
    Reg,
    SurfaceLoad,
    SurfaceReduce,
    SurfaceStore,
    Value,
)
from pyptx.sim.core.encoding.encoder import NONE, Encoder
from pyptx.sim.core.encoding.expressions import lower
from pyptx.texture import GEOMETRIES

__all__ = ["ENCODERS"]


def _row(e: Encoder, value: Value | None, width: int = 32) -> int:
    return NONE if value is None else lower(e, Leaf(value, f"b{width}"))


def _handle(e: Encoder, handle: Handle) -> int:
    return e.parameter(handle.offset, 8, False, 64) if isinstance(handle, Address) else _row(e, handle, 64)


def _target(e: Encoder, register: Reg | None) -> int:
    return NONE if register is None else e.register(register)


def _three(e: Encoder, values: tuple[Value, ...]) -> list[int]:
    return [*(_row(e, v) for v in values), *[NONE] * (3 - len(values))]


def _fetch(e: Encoder, action: Fetch) -> None:
    data = [*(_target(e, r) for r in action.data), *[NONE] * (4 - len(action.data))]
    places = [
        _handle(e, action.handle),
        _row(e, action.index),
        _row(e, action.sample),
        *_three(e, action.coordinates),
        _row(e, action.level),
        *_three(e, action.dx),
        *_three(e, action.dy),
        *_three(e, action.offset),
        _target(e, action.inside),
        *data,
    ]
    e.emit(
        "texture",
        aux=e.operand_list(places),
        mod=GEOMETRIES[action.geometry].code
        | abi.TEXTURE_MODES.index(action.mode or "plain") << 4
        | action.integer << 8
        | abi.TEXTURE_TYPES.index(action.type) << 9
        | action.component << 12,
    )


def _head(e: Encoder, action: SurfaceLoad | SurfaceStore | SurfaceReduce) -> list[int]:
    return [_handle(e, action.handle), _row(e, getattr(action, "index", None)), *_three(e, action.coordinates)]


def _mod(action: SurfaceLoad | SurfaceStore | SurfaceReduce, count: int) -> int:
    return (
        GEOMETRIES[action.geometry].code
        | abi.SURFACE_BOUNDS.index(action.outside) << 4
        | getattr(action, "formatted", False) << 6
        | (action.size.bit_length() - 1) << 8
        | count << 12
    )


def _load(e: Encoder, action: SurfaceLoad) -> None:
    rows, wider = [], []
    for register in action.data:
        if register is not None and register.width == 64 and action.size < 8:
            wider.append((register, e.temporary(32)))
            rows.append(wider[-1][1])
        else:
            rows.append(_target(e, register))
    e.emit("surface_load", aux=e.operand_list([*_head(e, action), *rows]), mod=_mod(action, len(rows)))
    for register, place in wider:
        e.emit("zx_64", e.register(register), place)


def _store(e: Encoder, action: SurfaceStore) -> None:
    wide = action.size == 8
    rows = [_row(e, v, 64 if wide else 32) for v in action.source]
    e.emit("surface_store", aux=e.operand_list([*_head(e, action), *rows]), mod=_mod(action, len(rows)) | wide << 16)


def _reduce(e: Encoder, action: SurfaceReduce) -> None:
    row = _row(e, action.source, 64 if action.size == 8 else 32)
    type_name = action.type.replace("b", "u")
    e.emit(
        "surface_reduce",
        aux=e.operand_list([*_head(e, action), row]),
        mod=_mod(action, 1),
        aux2=abi.ATOMICS.index(action.reduction) | abi.NUMBER_FORMATS.index(type_name) << 8,
    )


def _query(e: Encoder, action: Query) -> None:
    e.emit(
        "object_query",
        e.register(action.data),
        _handle(e, action.handle),
        _row(e, action.level),
        mod=abi.OBJECT_QUERIES.index(action.attribute) | abi.OBJECT_KINDS.index(action.kind) << 8,
    )


def _is_type(e: Encoder, action: IsType) -> None:
    e.emit("istypep", e.register(action.data), _handle(e, action.handle), mod=abi.OBJECT_KINDS.index(action.kind))


ENCODERS = {
    Fetch: _fetch,
    SurfaceLoad: _load,
    SurfaceStore: _store,
    SurfaceReduce: _reduce,
    Query: _query,
    IsType: _is_type,
}
