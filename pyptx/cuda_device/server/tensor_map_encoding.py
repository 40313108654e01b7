"""Encoding of tensor maps, in the layout that the simulator decodes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.errors import PtxError
from pyptx.tensor_map import ELEMENTS, Im2col, TensorMap

__all__: list[str] = []

# In the order of the driver's enumerations.
_TYPES = (
    "UINT8 UINT16 UINT32 INT32 UINT64 INT64 FLOAT16 FLOAT32 FLOAT64 BFLOAT16 FLOAT32_FTZ TFLOAT32 TFLOAT32_FTZ "
    "16U4_ALIGN8B 16U4_ALIGN16B 16U6_ALIGN16B"
).split()
_ELEMENTS = {element.driver: element.name for element in ELEMENTS}
_INTERLEAVES = (None, "16B", "32B")
_SWIZZLES = (None, "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
_PROMOTIONS = (None, "64B", "128B", "256B")
_FILLS = (None, "nan")
_WIDE_MODES = ("w", "w128")
_ADDRESS_AT = 16  # place of the address in an encoded map


def _numbers(data: bytes | None, letter: str, what: str) -> tuple[int, ...]:
    if data is None:
        raise DriverError("INVALID_VALUE", f"encoding a tensor map: {what} is a null pointer")
    return struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)


def _choose(choices: Sequence[Any], number: int, what: str) -> Any:
    if not 0 <= number < len(choices):
        raise DriverError("INVALID_VALUE", f"encoding a tensor map: {what} {number} is unknown")
    return choices[number]


def _encode(
    kind: int,
    address: int,
    dims: bytes | None,
    strides: bytes | None,
    box: Sequence[int],
    steps: bytes | None,
    interleave: int,
    swizzle: int,
    promotion: int,
    fill: int,
    im2col: Im2col | None = None,
) -> bytes:
    shape, pitches = _numbers(dims, "Q", "globalDim"), _numbers(strides or b"", "Q", "globalStrides")
    name = _ELEMENTS[_choose(_TYPES, kind, "data type")]
    try:
        return TensorMap(
            address,
            tuple(box),
            shape=shape[::-1],
            strides=pitches[::-1] or None,
            dtype=name,
            element_strides=_numbers(steps, "I", "elementStrides")[::-1],
            swizzle=_choose(_SWIZZLES, swizzle, "swizzle"),
            interleave=_choose(_INTERLEAVES, interleave, "interleave"),
            oob_fill=_choose(_FILLS, fill, "fill"),
            l2_promotion=_choose(_PROMOTIONS, promotion, "L2 promotion"),
            im2col=im2col,
        ).encode()
    except PtxError as error:
        raise DriverError("INVALID_VALUE", f"encoding a tensor map: {error.message}") from error


@handles("cuTensorMapEncodeTiled")
def encode_tiled(
    session: Session,
    kind: int,
    rank: int,
    address: int,
    dims: bytes | None,
    strides: bytes | None,
    box: bytes | None,
    steps: bytes | None,
    interleave: int,
    swizzle: int,
    promotion: int,
    fill: int,
) -> bytes:
    sizes = _numbers(box, "I", "boxDim")[::-1]
    return _encode(kind, address, dims, strides, sizes, steps, interleave, swizzle, promotion, fill)


@handles("cuTensorMapEncodeIm2col")
def encode_im2col(
    session: Session,
    kind: int,
    rank: int,
    address: int,
    dims: bytes | None,
    strides: bytes | None,
    lower: bytes | None,
    upper: bytes | None,
    channels: int,
    pixels: int,
    steps: bytes | None,
    interleave: int,
    swizzle: int,
    promotion: int,
    fill: int,
) -> bytes:
    corners = Im2col(_numbers(lower, "i", "lower corner")[::-1], _numbers(upper, "i", "upper corner")[::-1])
    box = (pixels, channels)
    return _encode(kind, address, dims, strides, box, steps, interleave, swizzle, promotion, fill, corners)


@handles("cuTensorMapEncodeIm2colWide")
def encode_im2col_wide(
    session: Session,
    kind: int,
    rank: int,
    address: int,
    dims: bytes | None,
    strides: bytes | None,
    lower: int,
    upper: int,
    channels: int,
    pixels: int,
    steps: bytes | None,
    interleave: int,
    mode: int,
    swizzle: int,
    promotion: int,
    fill: int,
) -> bytes:
    corners = Im2col((lower,), (upper,), _choose(_WIDE_MODES, mode, "mode"))
    box = (pixels, channels)
    return _encode(kind, address, dims, strides, box, steps, interleave, swizzle, promotion, fill, corners)


@handles("cuTensorMapReplaceAddress")
def replace_address(session: Session, place: int, address: int) -> None:
    if address % 16:
        raise DriverError("INVALID_VALUE", f"cuTensorMapReplaceAddress: 0x{address:x} is not a multiple of 16")
    session.write(place + _ADDRESS_AT, address.to_bytes(8, "little"))


_ANY_CLASS, _SMALL_CLASS = range(3), 1  # CUtensorMapAllocClass


@handles("cuTensorMapSetAllocationClass")
def set_allocation_class(session: Session, place: int, wanted: int, result: int) -> None:
    if result:
        session.write(result, _SMALL_CLASS.to_bytes(4, "little"))
    if wanted not in _ANY_CLASS:
        raise DriverError("INVALID_VALUE", f"cuTensorMapSetAllocationClass: class {wanted} is unknown")
    session.read(place, 128)  # the class has no effect on the simulated architectures
