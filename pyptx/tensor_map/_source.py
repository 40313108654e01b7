"""Memory of arrays of any library: address, shape, strides and dtype."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyptx.errors import OperandError

__all__ = ["Source", "source_of"]


class Source(NamedTuple):
    """Memory as its library describes it.

    Attributes:
        array: the array; None for an address.
        address: device address; None for host arrays, whose address the simulator chooses.
        shape, strides: in elements and bytes, outermost first; None for an address.
        dtype: the library's dtype; None for an address.
    """

    array: object
    address: int | None
    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    dtype: object


def source_of(value: Any, what: str = "TensorMap") -> Source:
    """Describe the memory of an array or address.

    Args:
        value: the array, or an address as an int.
        what: the object made from it, for messages.
    Raises:
        TypeError: `value` is neither.
    """
    if isinstance(value, bool):
        raise OperandError(f"{what}: array_or_address is a bool; pass an array, or an address as an int")
    if isinstance(value, int):
        return Source(None, value, None, None, None)
    if hasattr(value, "data_ptr") and hasattr(value, "element_size"):  # torch
        size = value.element_size()
        on_device = getattr(value.device, "type", "cpu") == "cuda"
        return Source(
            value,
            value.data_ptr() if on_device else None,
            tuple(value.shape),
            tuple(size * s for s in value.stride()),
            value.dtype,
        )
    if hasattr(type(value), "__array_interface__") and hasattr(value, "strides"):  # NumPy
        return Source(value, None, value.shape, value.strides, value.dtype)
    if hasattr(value, "__cuda_array_interface__"):
        interface = value.__cuda_array_interface__
        shape, strides = tuple(interface["shape"]), interface.get("strides")
        return Source(
            value,
            interface["data"][0],
            shape,
            dense_strides(shape, value.dtype.itemsize) if strides is None else tuple(strides),
            value.dtype,
        )
    raise OperandError(
        f"{what}: array_or_address is a {type(value).__name__}; pass a NumPy or torch array, an array "
        "with __cuda_array_interface__, or an address as an int"
    )


def dense_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array in bytes; `size` is that of an element."""
    strides = []
    for extent in reversed(shape):
        strides.append(size)
        size *= extent
    return tuple(reversed(strides))
