"""Arguments of a Triton launch as arguments of the compiled entry."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.tensor_map import ELEMENTS, Im2col, TensorMap
from pyptx.triton.memory import LaunchMemory

__all__ = ["Parameter", "entry_arguments", "parameters", "scratch"]

_FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}
_SWIZZLES = (None, "32B", "64B", "128B")
_TF32 = "tf32"


class Parameter(NamedTuple):
    """A parameter of a kernel that is not a constant: its name, Triton type, and path in the arguments."""

    name: str
    type: str
    path: tuple[int, ...]


def parameters(signature: Mapping[str, Any]) -> list[Parameter]:
    """Return the parameters of a Triton signature; tuples are flattened, constants left out."""
    return [found for at, (name, kind) in enumerate(signature.items()) for found in _flattened(name, kind, (at,))]


def _flattened(name: str, kind: Any, path: tuple[int, ...]) -> Iterator[Parameter]:
    if isinstance(kind, tuple):
        for at, inner in enumerate(kind):
            yield from _flattened(f"{name}[{at}]", inner, (*path, at))
    elif kind != "constexpr":
        yield Parameter(name, kind, path)


def entry_arguments(
    wanted: Sequence[Parameter], args: Sequence[Any], maps: Sequence[Mapping[str, Any] | None], memory: LaunchMemory
) -> list[Any]:
    """Return the arguments of the entry, without the pointers to scratch memory that follow them.

    Args:
        wanted: the parameters, of `parameters`.
        args: all arguments of the kernel in order, constants included.
        maps: how Triton lays out the tensor map of each tensor descriptor; empty: descriptors are passed in parts.
    Returns:
        ArrayPointers, TensorMaps, and bytes for numbers.
    Raises:
        LaunchError: an argument has another type than the kernel was compiled for.
    """
    found: list[Any] = []
    descriptors = iter(maps)
    for parameter in wanted:
        value: Any = args
        for at in parameter.path:
            value = value[at]
        if parameter.type.startswith("tensordesc"):
            found += _descriptor(parameter.name, value, next(descriptors, None), memory)
        elif parameter.type.startswith("*"):
            found.append(_pointer(parameter.name, value, memory))
        else:
            found.append(_number(parameter.name, parameter.type, value))
    return found


def _pointer(name: str, value: Any, memory: LaunchMemory) -> ArrayPointer | int:
    if value is None:
        return 0
    return value if isinstance(value, int) else memory.pointer(value, name)


def _number(name: str, kind: str, value: Any) -> bytes:
    """Encode a number as Triton's own launcher does: integers wrap, bfloat16 truncates."""
    try:
        if kind in _FLOATS:
            return struct.pack(_FLOATS[kind], float(value))
        if kind == "bf16":
            return struct.pack("<f", float(value))[2:]
        if kind[:1] in "iu" and kind[1:].isdigit():
            size = max(8, int(kind[1:])) // 8
            return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name} is {kind}; pass a number, not a {type(value).__name__}") from None
    except OverflowError:
        raise ArgumentValueError(f"{name} is {kind}; {value!r} does not fit") from None
    raise ArgumentTypeError(f"{name} has the Triton type {kind}, which the simulator's launcher does not pass")


def _descriptor(name: str, value: Any, layout: Mapping[str, Any] | None, memory: LaunchMemory) -> list[Any]:
    """Return the arguments of a tensor descriptor: a tensor map or a base pointer, then shape and strides."""
    if not hasattr(value, "block_shape"):
        raise ArgumentTypeError(f"{name} is a tensor descriptor; pass a TensorDescriptor, not a {type(value).__name__}")
    shape = [_number(name, "i32", size) for size in value.shape]
    strides = [_number(name, "i64", step) for step in value.strides]
    if layout is not None:
        return [_tensor_map(name, value, layout, memory), *shape, *strides]
    wide = [_number(name, "i64", size) for size in value.shape]
    flags = [_number(name, "i1", value.padding == "nan"), _number(name, "i1", value.round_f32_to_tf32)]
    return [_pointer(name, value.base, memory), *wide, *strides, *flags, *shape, *strides]


def _tensor_map(name: str, value: Any, layout: Mapping[str, Any], memory: LaunchMemory) -> TensorMap:
    storage, offset = memory.storage(value.base, name)
    shape, size = list(value.shape), layout["elem_size"]
    if layout["fp4_padded"]:
        shape[-1] *= 2
    box, im2col, steps = list(layout["block_size"]), None, None
    if layout.get("is_im2col"):
        im2col = Im2col(value.pixel_box_lower_corner, value.pixel_box_upper_corner)
        steps = value.element_strides
    return TensorMap(
        storage[offset:],
        box,
        shape=shape,
        strides=[step * size for step in value.strides[:-1]],
        dtype=_TF32 if value.round_f32_to_tf32 else ELEMENTS[layout["elem_type"]].name,
        element_strides=steps,
        swizzle=_SWIZZLES[layout["swizzle"]],
        oob_fill="nan" if value.padding == "nan" else None,
        l2_promotion="128B",
        im2col=im2col,
    )


def scratch(size: int, fill: int) -> np.ndarray | int:
    """Return scratch memory of a launch, filled with a byte; 0 if the kernel needs none."""
    return np.full(size, fill, np.uint8) if size else 0
