"""Functions that the driver provides to kernels: vprintf, __assertfail, malloc, free.

They are called for one lane after the other and access its memory through a `Lane`.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from pyptx.sim.memory.address_space import Buffer, Segment

__all__ = ["HOST_FUNCTIONS", "Heap", "HostError", "Lane", "heap_among"]

_LONGEST_FIELD = 4096  # characters of a conversion that a width or precision can ask for
_LONGEST_OUTPUT = 1 << 20  # characters of a call, as large as the buffer of printf on a device
_LONGEST = 1 << 16  # bytes of a string that are read
_FORMAT = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+)?)?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>[diouxXcsaAeEfFgGp%])"
)


class Heap(Buffer):
    """Memory of malloc, with the default size of a device.

    Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation".
    """

    BYTES, ALIGNMENT = 8 << 20, 16

    def __init__(self):
        super().__init__(np.zeros(self.BYTES, np.uint8), "the heap of malloc")
        self.used: dict[int, int] = {}  # offset -> bytes of each allocation

    def allocate(self, size: int) -> int | None:
        """Allocate bytes (first fit) and return their offset; None if no gap is large enough."""
        size, start = max(1, -(-size // self.ALIGNMENT)) * self.ALIGNMENT, 0
        for offset, taken in sorted(self.used.items()):
            if offset - start >= size:
                break
            start = offset + taken
        if start + size > self.BYTES:
            return None
        self.used[start] = size
        return start


def heap_among(segments: Sequence[Segment]) -> Segment | None:
    """Return the segment of the heap, if the program has one."""
    return next((s for s in segments if isinstance(s.buffer, Heap)), None)


class Lane(Protocol):
    """Memory as a lane sees it; `heap` is the segment of malloc, for programs that call it."""

    heap: Segment | None

    def read(self, address: int, size: int) -> bytes | None:
        """Read bytes at a generic address; None if some of them are not mapped."""
        ...


class HostError(Exception):
    """A fault of the function: a failed assertion, an argument that is not mapped."""


def _vprintf(lane: Lane, arguments: Sequence[int]) -> int:
    """printf with a format and the address of the arguments, each aligned to its size.

    Source: CUDA C++ Programming Guide, "Formatted Output"; returns the number of arguments, -1 if there is no format.
    """
    text, at = _string(lane, arguments[0]), arguments[1]
    if text is None:
        return -1
    pieces: list[str] = []
    end = count = length = 0

    def take(size: int, layout: str):
        nonlocal at, count
        at = -(-at // size) * size
        data = lane.read(at, size)
        if data is None:
            raise HostError(f"printf: argument {count} of {text.decode(errors='replace')!r} is not in mapped memory")
        at, count = at + size, count + 1
        return struct.unpack(layout, data)[0]

    for found in _FORMAT.finditer(text):
        pieces.append(text[end : found.start()].decode(errors="replace"))
        end = found.end()
        pieces.append(_formatted(found, take, lane))
        length += len(pieces[-2]) + len(pieces[-1])
        if length > _LONGEST_OUTPUT:
            raise HostError(f"printf: the output is longer than {_LONGEST_OUTPUT} characters")
    sys.stdout.write("".join(pieces) + text[end:].decode(errors="replace"))
    return count


def _formatted(found: re.Match, take: Callable, lane: Lane) -> str:
    """Format a conversion as C does."""
    kind, length = found["kind"].decode(), (found["length"] or b"").decode()
    if kind == "%":
        return "%"
    flags = found["flags"].decode()
    width = str(take(4, "<i")) if found["width"] == b"*" else (found["width"] or b"").decode()
    shape = f"%{flags}{width}"
    if b"." in found[0]:
        shape += f".{take(4, '<i') if found['precision'] == b'*' else (found['precision'] or b'0').decode()}"
    for size in re.findall(r"\d+", shape):
        if len(size) > 9 or int(size) > _LONGEST_FIELD:
            raise HostError(f"printf: %{shape[1:]}{kind} asks for {size} characters; at most {_LONGEST_FIELD}")
    long = length in ("l", "ll", "j", "z", "t")
    if kind in "di":
        return (shape + "d") % take(8 if long else 4, "<q" if long else "<i")
    if kind in "ouxX":
        return (shape + ("d" if kind == "u" else kind)) % take(8 if long else 4, "<Q" if long else "<I")
    if kind == "c":
        return (shape + "s") % chr(take(4, "<i") & 255)
    if kind == "p":
        return (shape + "s") % hex(take(8, "<Q"))
    if kind == "s":
        string = _string(lane, take(8, "<Q"))
        return (shape + "s") % ("(null)" if string is None else string.decode(errors="replace"))
    value = take(8, "<d")
    return value.hex() if kind in "aA" else (shape + kind) % value


def _string(lane: Lane, address: int) -> bytes | None:
    data = bytearray()
    while len(data) < _LONGEST:
        byte = lane.read(address + len(data), 1) if address else None
        if byte is None:
            return None
        if byte == b"\0":
            break
        data += byte
    return bytes(data)


def _assertfail(lane: Lane, arguments: Sequence[int]) -> int:
    """assert() with expression, file, line, function and size of a character."""
    expression, file, line, function = (
        (_string(lane, a) or b"?").decode(errors="replace") if k != 2 else str(a) for k, a in enumerate(arguments[:4])
    )
    raise HostError(f"{file}:{line}: {function}: assertion `{expression}` failed")


def _malloc(lane: Lane, arguments: Sequence[int]) -> int:
    """Return the address of new memory, 0 if the heap is full."""
    heap, segment = _heap(lane)
    offset = heap.allocate(arguments[0])
    return 0 if offset is None else segment.address + offset


def _free(lane: Lane, arguments: Sequence[int]) -> int:
    address = arguments[0]
    heap, segment = _heap(lane)
    if address and heap.used.pop(address - segment.address, None) is None:
        raise HostError(f"frees 0x{address:x}, which malloc did not return or which is already free")
    return 0


def _heap(lane: Lane) -> tuple[Heap, Segment]:
    """The heap of a program that allocates; every such program has one."""
    assert lane.heap is not None and isinstance(lane.heap.buffer, Heap)
    return lane.heap.buffer, lane.heap


HOST_FUNCTIONS: dict[str, Callable[[Lane, Sequence[int]], int]] = {
    "vprintf": _vprintf,
    "__assertfail": _assertfail,
    "malloc": _malloc,
    "free": _free,
}
