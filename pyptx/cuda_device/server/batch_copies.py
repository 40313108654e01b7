"""Copies in batches, and copies with attributes, of linear memory and of boxes.

Source of the layouts: CUmemcpyAttributes and CUDA_MEMCPY3D_BATCH_OP of cuda.h.
"""

from __future__ import annotations

import struct

from pyptx.cuda_device.server.array_copies import Operand, box_copy_between
from pyptx.cuda_device.server.arrays import Array
from pyptx.cuda_device.server.copies import Copy, linear
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import LEGACY, submit

__all__: list[str] = []

_ATTRIBUTES = struct.Struct("<i4i I")
_BOX = struct.Struct("<i4x4Q i4x4Q 3Q iI")
_POINTER, _ARRAY = 1, 2  # CUmemcpy3DOperandType
_ORDERS = (1, 2, 3)  # CUmemcpySrcAccessOrder: in stream order, during the call, at any time
_DURING_CALL = 2
_KNOWN_FLAGS = 1  # CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE, a hint


def words_at(session: Session, place: int, count: int) -> tuple[int, ...]:
    """Read 8-byte words from the client's memory."""
    return struct.unpack(f"<{count}Q", session.read(place, 8 * count))


def first_places(name: str, places: tuple[int, ...], count: int) -> None:
    """Check the first operation of each group of a batch.

    Raises:
        DriverError: they do not start with 0, do not rise, or exceed the batch.
    """
    if not places or places[0] or any(a >= b for a, b in zip(places, (*places[1:], count), strict=True)):
        raise DriverError(
            "INVALID_VALUE",
            f"{name}: the indices {list(places)} for a batch of {count}; they start with 0, rise, and are less than {count}",
        )


def _refuse_legacy(name: str, stream: int) -> None:
    if stream in (0, LEGACY):
        raise DriverError("INVALID_VALUE", f"{name} cannot be issued in the legacy default stream")


def _order(name: str, order: int, flags: int) -> int:
    if order not in _ORDERS or flags & ~_KNOWN_FLAGS:
        raise DriverError("INVALID_VALUE", f"{name}: source access order {order} or flags 0x{flags:x} are unknown")
    return order


def _issue(session: Session, stream: int, copy: Copy, order: int) -> None:
    work = submit(session, stream, copy)
    if order == _DURING_CALL and work is not None:
        session.work.complete(work)


@handles("cuMemcpyBatchAsync_v2")
def copy_batch(
    session: Session, to: int, sources: int, sizes: int, count: int, attributes: int, indices: int, kinds: int,
    stream: int,
) -> None:  # fmt: skip
    name = "cuMemcpyBatchAsync"
    _refuse_legacy(name, stream)
    if not count:
        raise DriverError("INVALID_VALUE", f"{name}: the batch is empty")
    places = words_at(session, indices, kinds)
    first_places(name, places, count)
    given = session.read(attributes, _ATTRIBUTES.size * kinds)
    orders = [_order(name, order, flags) for order, *_, flags in _ATTRIBUTES.iter_unpack(given)]
    lists = [words_at(session, place, count) for place in (to, sources, sizes)]
    copies = [linear(session, name, one, source, size) for one, source, size in zip(*lists, strict=True) if size]
    which = [sum(place <= k for place in places) - 1 for k, size in enumerate(lists[2]) if size]
    for k, copy in zip(which, copies, strict=True):
        _issue(session, stream, copy, orders[k])


@handles("cuMemcpyWithAttributesAsync")
def copy_with_attributes(session: Session, to: int, source: int, size: int, attributes: bytes, stream: int) -> None:
    order, *_, flags = _ATTRIBUTES.unpack(attributes)
    order = _order("cuMemcpyWithAttributesAsync", order, flags)
    if size:
        _issue(session, stream, linear(session, "cuMemcpyWithAttributesAsync", to, source, size), order)


def _operand(kind: int, words: tuple[int, ...], extent: tuple[int, ...], element: int) -> Operand:
    if kind == _ARRAY:
        array, x, y, z = words
        return Operand(array=array, x=x * element, y=y, z=z)
    if kind != _POINTER:
        raise DriverError("INVALID_VALUE", f"cuMemcpy3DBatchAsync: operand type {kind} is unknown")
    pointer, row, height, _ = words
    return Operand(pointer=pointer, pitch=(row or extent[0]) * element, rows=height or extent[1])


def _box(session: Session, name: str, data: bytes) -> tuple[Copy, int]:
    """Return the copy of CUDA_MEMCPY3D_BATCH_OP, whose widths are in elements, and the order of its accesses."""
    values = _BOX.unpack(data)
    kinds, operands, extent = (values[0], values[5]), (values[1:5], values[6:10]), values[10:13]
    order = _order(name, *values[13:])
    if 0 in extent:
        raise DriverError("INVALID_VALUE", f"{name}: an extent of {extent} is empty")
    arrays = [session.get(words[0], Array) for kind, words in zip(kinds, operands, strict=True) if kind == _ARRAY]
    sizes = {array.description.element_bytes for array in arrays} or {1}
    if len(sizes) > 1:
        raise DriverError("INVALID_VALUE", f"{name}: the elements of the arrays have {sorted(sizes)} bytes")
    (element,) = sizes
    source, to = (_operand(kind, words, extent, element) for kind, words in zip(kinds, operands, strict=True))
    return box_copy_between(session, source, to, (extent[0] * element, extent[1], extent[2])), order


@handles("cuMemcpy3DBatchAsync_v2")
def copy_boxes(session: Session, count: int, operations: int, flags: int, stream: int) -> None:
    name = "cuMemcpy3DBatchAsync"
    _refuse_legacy(name, stream)
    if not count or flags:
        raise DriverError(
            "INVALID_VALUE", f"{name}: {count} copies with flags 0x{flags:x}; expected some, without flags"
        )
    data = session.read(operations, _BOX.size * count)
    for copy, order in [_box(session, name, data[k : k + _BOX.size]) for k in range(0, len(data), _BOX.size)]:
        _issue(session, stream, copy, order)


@handles("cuMemcpy3DWithAttributesAsync")
def copy_box_with_attributes(session: Session, operation: bytes, flags: int, stream: int) -> None:
    name = "cuMemcpy3DWithAttributesAsync"
    if flags:
        raise DriverError("INVALID_VALUE", f"{name}: unknown flags 0x{flags:x}")
    copy, order = _box(session, name, operation)
    _issue(session, stream, copy, order)
