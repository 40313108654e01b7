"""Arguments of a launch: checked against the parameters of the entry, and packed into the parameter block."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from pyptx._frozen import frozen
from pyptx.errors import ArgumentTypeError, ArgumentValueError, SimulationError
from pyptx.ir.nodes import Function, Param
from pyptx.ir.types import ScalarType
from pyptx.sim.memory.address_space import (
    OBJECT_STRIDE,
    OBJECT_WINDOW,
    Buffer,
    Segment,
    disjoint,
    place_buffers,
)
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.sim.memory.pointers import POINTERS
from pyptx.sim.memory.tensor_maps import MapArgument
from pyptx.sim.memory.texture_objects import ObjectArgument, object_table
from pyptx.sim.value_types import width
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["OBJECT_TYPES", "ParamSlot", "layout", "pack", "scalar_bytes", "size_of", "slot_of"]

MAX_PARAM_BYTES = 32764  # of a kernel, from sm_70 on
OBJECT_TYPES = ("texref", "surfref")  # types of parameters that hold a handle


@frozen
class ParamSlot:
    """A parameter in the parameter block; offset, size and alignment in bytes."""

    name: str
    type: str
    offset: int
    size: int
    array: bool
    alignment: int


def size_of(type_name: str) -> int:
    """Return the size of a type in bytes."""
    return 8 if type_name in OBJECT_TYPES else width(type_name) // 8


def layout(function: Function) -> tuple[ParamSlot, ...]:
    """Lay out the parameters of an entry.

    Raises:
        SimulationError: they exceed what a kernel can have, or one has a type that is not simulated.
    """
    slots, offset = [], 0
    for param in function.params:
        slots.append(slot_of(param, offset))
        offset = slots[-1].offset + slots[-1].size
        if offset > MAX_PARAM_BYTES:
            raise SimulationError(
                f"{function.name}: the parameters up to {param.name} take {offset} bytes; a kernel has at most "
                f"{MAX_PARAM_BYTES} bytes of parameters"
            )
    return tuple(slots)


def slot_of(param: Param, offset: int) -> ParamSlot:
    """Place a parameter behind `offset` bytes of others.

    Raises:
        SimulationError: it is a sampler or a predicate.
    """
    if param.type in (ScalarType.PRED, ScalarType.SAMPLERREF):
        raise SimulationError(f"parameter {param.name} is a .{param.type.value}, which is not simulated")
    item = size_of(param.type.value) * (param.vector or 1)
    alignment = max(param.alignment or 1, item)
    size = item if param.array_size is None else item * param.array_size
    return ParamSlot(
        param.name, param.type.value, -(-offset // alignment) * alignment, size, param.array_size is not None, alignment
    )


def pack(
    entry: str,
    slots: Sequence[ParamSlot],
    args: Sequence[object],
    extra: Sequence[Buffer] = (),
    reachable: Sequence[Buffer] = (),
) -> tuple[bytes, list[Segment]]:
    """Pack arguments.

    Args:
        extra: buffers that are placed before those of the arguments: the variables of the module.
        reachable: buffers that the kernel reaches only through addresses in memory.
    Returns:
        the parameter block, and the segments of all buffers.
    Raises:
        LaunchError: the number, a type or the range of an argument is wrong.
    """
    if len(args) != len(slots):
        names = ", ".join(f"{s.name} .{s.type}{f'[{s.size}]' if s.array else ''}" for s in slots) or "none"
        raise ArgumentTypeError(f"{entry} takes {len(slots)} arguments ({names}); got {len(args)}")
    args = [_as_map(slot, arg) if isinstance(arg, TensorMap) else arg for slot, arg in zip(slots, args, strict=True)]
    objects: dict[int, ObjectArgument] = {}
    for slot, arg in zip(slots, args, strict=True):
        if isinstance(arg, (Texture, Surface)):
            objects.setdefault(id(arg), _as_object(slot, arg))
    handles = {key: OBJECT_WINDOW + OBJECT_STRIDE * number for number, key in enumerate(objects, 1)}
    buffers = [_as_buffer(slot, arg) for slot, arg in zip(slots, args, strict=True)]
    of_maps = [b for arg in args if isinstance(arg, MapArgument) for b in arg.buffers]
    of_objects = [b for o in objects.values() for b in o.buffers]
    placed = place_buffers(
        [*extra, *(b for b in buffers if b is not None), *of_maps, *of_objects, *reachable], POINTERS.address_of
    )
    block = bytearray(slots[-1].offset + slots[-1].size if slots else 0)
    for slot, arg, buffer in zip(slots, args, buffers, strict=True):
        where = f"argument {slot.name} of {entry}"
        if isinstance(arg, MapArgument):
            data = arg.data(placed)
        elif id(arg) in handles:
            data = handles[id(arg)].to_bytes(8, "little")
        else:
            address = None if buffer is None else placed[id(buffer)].address
            if address is not None and isinstance(arg, ArrayPointer):
                address += arg.offset
            data = scalar_bytes(where, slot, arg) if address is None else struct.pack("<Q", address)
        block[slot.offset : slot.offset + slot.size] = data
    segments, table = list(dict.fromkeys(placed.values())), object_table(list(objects.values()), placed)
    if POINTERS:
        segments = disjoint(segments)
    return bytes(block), segments if table is None else [*segments, table]


def _as_map(slot: ParamSlot, arg: TensorMap) -> MapArgument:
    by_value = slot.array and slot.size == 128
    if not by_value and (slot.array or slot.type not in ("u64", "b64", "s64")):
        shape = f"[{slot.size}]" if slot.array else ""
        raise ArgumentTypeError(
            f"parameter {slot.name} is .{slot.type}{shape}; a tensor map is 128 bytes by value, .align "
            "64 .b8 map[128], or a pointer, .u64"
        )
    return MapArgument(arg, slot.name, by_value=by_value)


def _as_object(slot: ParamSlot, arg: Texture | Surface) -> ObjectArgument:
    if slot.array or slot.type not in ("u64", "b64", "s64", *OBJECT_TYPES):
        shape = f"[{slot.size}]" if slot.array else ""
        raise ArgumentTypeError(
            f"parameter {slot.name} is .{slot.type}{shape}; the handle of a texture or surface is .u64"
        )
    if slot.type in OBJECT_TYPES and not isinstance(arg, Texture if slot.type == "texref" else Surface):
        raise ArgumentTypeError(_needs_object(f"parameter {slot.name}", slot, arg))
    return ObjectArgument(arg, slot.name)


def _needs_object(where: str, slot: ParamSlot, arg: object) -> str:
    wanted = "Texture" if slot.type == "texref" else "Surface"
    return f"{where} is .{slot.type}; pass a pyptx.{wanted}, not a {type(arg).__name__}"


def _as_buffer(slot: ParamSlot, arg: object) -> Buffer | None:
    if isinstance(arg, ArrayPointer):
        arg = Buffer(arg.array, arg.name, keeps_alignment=True)
    if isinstance(arg, np.ndarray) and arg.ndim == 0 and not isinstance(arg, np.generic):
        arg = Buffer(arg, slot.name)
    if isinstance(arg, np.ndarray):
        arg = Buffer(arg, slot.name)
    if not isinstance(arg, Buffer):
        return None
    if slot.type in OBJECT_TYPES:
        raise ArgumentTypeError(_needs_object(f"parameter {slot.name}", slot, arg.array))
    if slot.array or slot.type not in ("u64", "b64", "s64"):
        shape = f"[{slot.size}]" if slot.array else ""
        raise ArgumentTypeError(
            f"parameter {slot.name} is .{slot.type}{shape}, not a pointer; an array needs a 64-bit integer parameter"
        )
    if not arg.name:
        arg.name = slot.name
    return arg


def scalar_bytes(where: str, slot: ParamSlot, arg: object) -> bytes:
    """Encode a number, or bytes, for a parameter.

    Args:
        where: name of the argument, for messages.
    Raises:
        LaunchError: the type or range is wrong.
    """
    if isinstance(arg, (bytes, bytearray, memoryview)):
        data = bytes(arg)
        if len(data) != slot.size:
            raise ArgumentValueError(f"{where} is {slot.size} bytes; got {len(data)}")
        return data
    if slot.type in OBJECT_TYPES:
        raise ArgumentTypeError(_needs_object(where, slot, arg))
    if slot.array:
        raise ArgumentTypeError(f"{where} is {slot.size} bytes by value; pass bytes, not {type(arg).__name__}")
    if isinstance(arg, np.integer) and arg.nbytes == slot.size and slot.type[0] in "usb":
        return arg.tobytes()  # the bits, regardless of sign
    if isinstance(arg, np.generic):
        arg = arg.item()
    kind, bits = slot.type[0], 8 * slot.size
    if slot.type in ("f16", "f32", "f64"):
        if isinstance(arg, bool) or not isinstance(arg, (int, float)):
            raise ArgumentTypeError(f"{where} is .{slot.type}; pass a number, not {type(arg).__name__}")
        try:
            arg = float(arg)
        except OverflowError:
            raise ArgumentValueError(f"{where} is .{slot.type}; the int is too large") from None
        return np.array(arg, {"f16": "<f2", "f32": "<f4", "f64": "<f8"}[slot.type]).tobytes()
    if isinstance(arg, float) and kind == "b" and bits in (32, 64):
        return struct.pack("<f" if bits == 32 else "<d", arg)
    if not isinstance(arg, int):
        expected = "an array, a Buffer or an address" if bits == 64 else "an integer"
        raise ArgumentTypeError(f"{where} is .{slot.type}; pass {expected}, not {type(arg).__name__}")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s" else (0, (1 << bits) - 1)
    if kind == "b" or slot.type in ("u64", "s64"):
        low, high = -(1 << bits - 1), (1 << bits) - 1
    if not low <= arg <= high:
        hint = f"compilers declare signed C integers like this too: pass numpy.int{bits}({arg})" if arg < 0 else None
        raise ArgumentValueError(f"{where} is .{slot.type}, {low}..{high}; {arg} does not fit", hint=hint)
    return (arg & ((1 << bits) - 1)).to_bytes(slot.size, "little")
