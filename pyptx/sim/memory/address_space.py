"""The simulated address space and the host memory behind it.

Addresses are assigned in the order of the arguments, so that every launch sees the same ones, except for arrays whose
address `pyptx.pointer` has fixed (`pointers.py`). Unmapped gaps between buffers make accesses past the end of a buffer
fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.launch_config import check_plain
from pyptx.sim.abi import Limit

__all__ = [
    "CONST_WINDOW",
    "FUNCTION_STRIDE",
    "FUNCTION_WINDOW",
    "GAP",
    "GRID_WORKSPACE",
    "LOCAL_WINDOW",
    "NO_FUNCTION",
    "OBJECT_STRIDE",
    "OBJECT_WINDOW",
    "PARAM_WINDOW",
    "POINTER_END",
    "POINTER_START",
    "SHARED_START",
    "SHARED_WINDOW",
    "Buffer",
    "Segment",
    "disjoint",
    "is_free",
    "place_buffers",
    "shared_address",
    "shared_offset",
    "space_window",
]

POINTER_START, POINTER_END = 0x6000_0000_0000, 0x7000_0000_0000  # arrays whose address is fixed
GLOBAL_START = POINTER_END
GAP = 2 << 20
ALIGNMENT = 16  # bytes: the largest access of a thread, and what compilers specialize on
SHARED_WINDOW = 0x7F10_0000_0000  # generic address of shared::cta address 0
LOCAL_WINDOW = 0x7F20_0000_0000
CONST_WINDOW = 0x7F30_0000_0000
PARAM_WINDOW = 0x7F40_0000_0000
FUNCTION_WINDOW = 0x7F50_0000_0000  # addresses of functions
FUNCTION_STRIDE = Limit.FUNCTION_STRIDE
NO_FUNCTION = 8  # added to the address of a call that no function matches
OBJECT_WINDOW = Limit.OBJECT_WINDOW  # handles of textures and surfaces
OBJECT_STRIDE = Limit.OBJECT_STRIDE
GRID_WORKSPACE = 0x7F70_0000_0000  # counters of grid-wide cooperative groups
SHARED_START = 0x400  # hardware reserves the first KiB

_WINDOW_BYTES = 1 << 32
_WINDOWS = {
    "global": 0,
    "shared": SHARED_WINDOW,
    "cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
    "const": CONST_WINDOW,
    "param": PARAM_WINDOW,
}


def space_window(space: str) -> int:
    """Return the offset that cvta adds to an address of the space."""
    return _WINDOWS[space]


def shared_address(offset: int) -> str:
    """Return the name of the special register with the address of a byte of the CTA's shared memory.

    In a cluster the address has the rank of the CTA in its upper bits.
    """
    return f"%shared+{offset}"


def shared_offset(name: str) -> int | None:
    """Return the offset of a register of `shared_address`; None for other registers."""
    return int(name[8:]) if name.startswith("%shared+") else None


def is_free(address: int, size: int) -> bool:
    """Return whether a buffer can be at a fixed address: no window of another state space is there."""
    starts = (*_WINDOWS.values(), FUNCTION_WINDOW, OBJECT_WINDOW, GRID_WORKSPACE)
    return all(address + size <= start or start + _WINDOW_BYTES <= address for start in starts if start)


@dataclass(eq=False)
class Buffer:
    """Memory that an argument points to: an array, used in place, with a name for messages.

    With `keeps_alignment` its simulated address has the alignment of its host address, up to 16 bytes.

    Raises:
        LaunchError: the array is not C-contiguous, or its elements hold Python references.
    """

    array: np.ndarray
    name: str = ""
    read_only: bool = False
    keeps_alignment: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.array, np.ndarray):
            raise ArgumentTypeError(f"a Buffer holds a numpy array, not {type(self.array).__name__}")
        check_plain(self.array.dtype, self.name or "the array")
        if not self.array.flags.c_contiguous:
            raise ArgumentValueError(
                f"{self.name or 'the array'} with strides {self.array.strides} is not contiguous; "
                "pass numpy.ascontiguousarray(...) and copy back what the kernel wrote"
            )
        if not self.array.flags.writeable:
            self.read_only = True

    @property
    def bytes(self) -> np.ndarray:
        """Memory as a flat array of bytes."""
        return self.array.reshape(-1).view(np.uint8)

    @property
    def host(self) -> int:
        """Address of the first byte in this process."""
        return self.array.__array_interface__["data"][0]

    def element(self, offset: int) -> str:
        """Describe a byte offset: `x[3, 5]`, or its distance from the buffer if it is outside."""
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
    """A buffer at an address of the simulated memory."""

    address: int
    buffer: Buffer
    space: str = "global"
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = self.buffer.array.nbytes


def place_buffers(
    buffers: Iterable[Buffer], fixed: Callable[[int, int], int | None] = lambda start, size: None
) -> dict[int, Segment]:
    """Assign addresses to buffers; buffers of the same memory share a segment.

    Args:
        fixed: returns the address of memory that has one already, given its address in this process and its size.
    Returns:
        segments by `id` of the buffer; with fixed addresses, one may contain another, see `disjoint`.
    """
    placed: dict[int, Segment] = {}
    by_memory: dict[tuple[int, int], Segment] = {}
    address = GLOBAL_START
    for buffer in buffers:
        key = (buffer.host, buffer.array.nbytes)
        segment = by_memory.get(key)
        if segment is None:
            known = fixed(*key)
            start = address + (buffer.host % ALIGNMENT if buffer.keeps_alignment else 0)
            segment = by_memory[key] = Segment(start if known is None else known, buffer)
            if known is None:
                address += -(-max(buffer.array.nbytes, 1) // GAP) * GAP + GAP
        elif buffer.read_only is False:
            segment.buffer = buffer
        placed[id(buffer)] = segment
    return placed


def disjoint(segments: Iterable[Segment]) -> list[Segment]:
    """Return the segments without those that are part of another.

    Raises:
        LaunchError: two overlap otherwise, or are different memory at one address.
    """
    found: list[Segment] = []
    for segment in sorted(segments, key=lambda s: (s.address, -s.size)):
        last = found[-1] if found else None
        if last is None or segment.address >= last.address + last.size:
            found.append(segment)
            continue
        if segment.size == 0:
            continue
        names = f"{last.buffer.name or 'an array'} and {segment.buffer.name or 'another array'}"
        if segment.buffer.host - last.buffer.host != segment.address - last.address:
            raise ArgumentValueError(
                f"{names} are copies of memory at one address, 0x{segment.address:x}",
                hint="pass the array that both are part of, only once",
            )
        if segment.address + segment.size > last.address + last.size:
            raise ArgumentValueError(
                f"{names} overlap in part, and the address of their memory was taken with pyptx.pointer",
                hint="pass the array that both are part of",
            )
    return found
