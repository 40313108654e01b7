"""Where things lie: the simulated address space, and the host memory behind it.

Addresses are chosen by us, in the order of the arguments, so that every run sees the same ones; buffers keep unmapped
gaps between them, so that a run past the end is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from pyptx.errors import LaunchError

__all__ = ["CONST_WINDOW", "FUNCTION_STRIDE", "FUNCTION_WINDOW", "GRID_WORKSPACE", "LOCAL_WINDOW", "OBJECT_STRIDE",
           "OBJECT_WINDOW", "PARAM_WINDOW", "SHARED_START", "SHARED_WINDOW", "Buffer", "Segment",
           "place_buffers", "shared_address", "shared_offset",
           "space_window"]

GLOBAL_START = 0x7000_0000_0000
GAP = 2 << 20
SHARED_WINDOW = 0x7F10_0000_0000        # a shared::cta address plus this is its generic address
LOCAL_WINDOW = 0x7F20_0000_0000
CONST_WINDOW = 0x7F30_0000_0000
PARAM_WINDOW = 0x7F40_0000_0000
FUNCTION_WINDOW = 0x7F50_0000_0000      # addresses of functions
FUNCTION_STRIDE = 16
OBJECT_WINDOW = 0x7F60_0000_0000        # handles of textures and surfaces: objects.py
OBJECT_STRIDE = 4096
GRID_WORKSPACE = 0x7F70_0000_0000       # what cooperative groups count arrivals of a whole grid in
SHARED_START = 0x400                    # hardware keeps the first KiB

_WINDOWS = {"global": 0, "shared": SHARED_WINDOW, "cluster": SHARED_WINDOW, "local": LOCAL_WINDOW,
            "const": CONST_WINDOW, "param": PARAM_WINDOW}


def space_window(space: str) -> int:
    """What cvta adds to an address of the space."""
    return _WINDOWS[space]


def shared_address(offset: int) -> str:
    """The special register that holds the address of a place in the shared memory of the CTA: in a cluster it has the
    rank of the CTA in its upper bits.
    """
    return f"%shared+{offset}"


def shared_offset(name: str) -> int | None:
    """The offset such a register is for."""
    return int(name[8:]) if name.startswith("%shared+") else None


@dataclass(eq=False)
class Buffer:
    """Memory an argument points to: an array (used in place) with a name for messages.

    Raises:
        LaunchError: the array is not C-contiguous.
    """

    array: np.ndarray
    name: str = ""
    read_only: bool = False

    def __post_init__(self):
        if not isinstance(self.array, np.ndarray):
            raise LaunchError(f"a Buffer holds a numpy array, not {type(self.array).__name__}")
        if not self.array.flags.c_contiguous:
            raise LaunchError(f"{self.name or 'the array'} with strides {self.array.strides} is not contiguous; "
                              "pass numpy.ascontiguousarray(...) and copy back what the kernel wrote")
        if not self.array.flags.writeable:
            self.read_only = True

    @property
    def bytes(self) -> np.ndarray:
        """The memory as bytes."""
        return self.array.reshape(-1).view(np.uint8)

    @property
    def host(self) -> int:
        """Address of its first byte in this process."""
        return self.array.__array_interface__["data"][0]

    def element(self, offset: int) -> str:
        """`x[3, 5]` for a byte offset inside, `x + 40 bytes` outside."""
        name = self.name or "buffer"
        item = self.array.itemsize
        if 0 <= offset < self.array.nbytes and self.array.size:
            index = np.unravel_index(offset // item, self.array.shape) if self.array.shape else ()
            return f"{name}[{', '.join(str(int(i)) for i in index)}]"
        whole = f"{name}{list(self.array.shape)} {self.array.dtype}"
        if offset >= self.array.nbytes:
            return f"{offset - self.array.nbytes} bytes past the end of {whole}"
        return f"{-offset} bytes before {whole}"


@dataclass(eq=False)
class Segment:
    """A buffer at its address."""

    address: int
    buffer: Buffer
    space: str = "global"
    size: int = field(init=False)

    def __post_init__(self):
        self.size = self.buffer.array.nbytes


def place_buffers(buffers: Iterable[Buffer]) -> dict[int, Segment]:
    """Addresses for buffers, by `id` of the buffer; buffers over the very same memory share one."""
    placed: dict[int, Segment] = {}
    by_memory: dict[tuple[int, int], Segment] = {}
    address = GLOBAL_START
    for buffer in buffers:
        key = (buffer.host, buffer.array.nbytes)
        segment = by_memory.get(key)
        if segment is None:
            segment = by_memory[key] = Segment(address, buffer)
            address += -(-max(buffer.array.nbytes, 1) // GAP) * GAP + GAP
        elif buffer.read_only is False:
            segment.buffer = buffer
        placed[id(buffer)] = segment
    return placed
