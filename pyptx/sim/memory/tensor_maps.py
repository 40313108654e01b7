"""Tensor maps as arguments of a launch: their arrays in the simulated address space."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pyptx.errors import ArgumentValueError
from pyptx.sim.memory.address_space import Buffer, Segment
from pyptx.tensor_map import TensorMap

__all__ = ["OOB_NAN", "MapArgument", "memory_behind"]

OOB_NAN = 0x7FF7  # fill of out-of-bounds elements with oob_fill="nan", per 16 bits; observed on sm_120


class MapArgument:
    """A tensor map passed to a parameter, which holds its 128 bytes (`by_value`) or points to them.

    Raises:
        LaunchError: the array is on a GPU, or a view whose base is not contiguous.
    """

    by_value: bool
    map: TensorMap
    offset: int
    tensor: Buffer | None
    bytes: Buffer

    def __init__(self, tensor_map: TensorMap, name: str, *, by_value: bool):
        self.map, self.by_value = tensor_map, by_value
        self.tensor, self.offset = None, 0
        if tensor_map.source is not None:
            if tensor_map.address is not None:
                raise ArgumentValueError(
                    f"parameter {name}: the tensor map's array is on a GPU; the simulator takes NumPy arrays"
                )
            self.tensor, self.offset = memory_behind(tensor_map.source, name, "tensor map")
        self.bytes = Buffer(np.zeros(128, np.uint8), f"the tensor map of {name}")

    @property
    def buffers(self) -> list[Buffer]:
        """Buffers that must be placed before `data` is called."""
        return [b for b in (self.tensor, None if self.by_value else self.bytes) if b is not None]

    def data(self, placed: Mapping[int, Segment]) -> bytes:
        """Return the bytes of the parameter: the map, or its address."""
        address = None if self.tensor is None else placed[id(self.tensor)].address + self.offset
        encoded = self.map.encode(address)
        if self.by_value:
            return encoded
        self.bytes.array[:] = np.frombuffer(encoded, np.uint8)
        return placed[id(self.bytes)].address.to_bytes(8, "little")


def memory_behind(source: object, name: str, what: str) -> tuple[Buffer, int]:
    """Return the memory that an array is a view of, as a buffer, and the byte offset of the array in it.

    Args:
        name: parameter, for messages.
        what: kind of object the array belongs to, for messages.
    Raises:
        LaunchError: the array is a view whose base is not contiguous.
    """
    array = base = np.asarray(source)
    while not base.flags.c_contiguous:
        if not isinstance(base.base, np.ndarray):
            raise ArgumentValueError(
                f"parameter {name}: the {what}'s array has strides {array.strides} and is not a view of a "
                "contiguous array; pass numpy.ascontiguousarray(...)"
            )
        base = base.base
    offset = 0
    if base is not array:
        start, first = (a.__array_interface__["data"][0] for a in (array, base))
        offset = start - first
    return Buffer(base, name.removesuffix("_tma_desc")), offset
