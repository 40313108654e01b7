"""Functions the driver provides to kernels: vprintf, __assertfail, malloc, free.

What they need of the engine is a `Lane`: memory of one lane by generic address. They run for one lane after the other.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from pyptx.sim.memory.spaces import Buffer, Segment

__all__ = ["HOST_FUNCTIONS", "Heap", "HostError", "Lane", "heap_among"]

_LONGEST = 1 << 16              # bytes of a string that are looked at
_FORMAT = re.compile(rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+)?)?"
                     rb"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>[diouxXcsaAeEfFgGp%])")


class Heap(Buffer):
    """The memory malloc gives out, as large as on a device that was not told otherwise.

    Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation".
    """

    BYTES, ALIGNMENT = 8 << 20, 16

    def __init__(self):
        super().__init__(np.zeros(self.BYTES, np.uint8), "the heap of malloc")
        self.used: dict[int, int] = {}                  # offset of what is given out -> bytes

    def allocate(self, size: int) -> int | None:
        """The first place that is free for so many bytes; None: there is none."""
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
    """The segment of the heap, if the program has one."""
    return next((s for s in segments if isinstance(s.buffer, Heap)), None)


class Lane(Protocol):
    """Memory as one lane sees it, by generic address; `heap` is where malloc has its own, for programs that call it."""

    heap: Segment | None

    def read(self, address: int, size: int) -> bytes | None:
        """Bytes, None where some of them lie in no memory."""


class HostError(Exception):
    """The lane cannot go on: an assert does not hold, an argument lies in no memory."""


def _vprintf(lane: Lane, arguments: Sequence[int]) -> int:
    """printf of a lane: the format and the address of its arguments, each aligned to its size.

    Source: CUDA C++ Programming Guide, "Formatted Output"; returns the number of arguments, -1 without a format.
    """
    text, at = _string(lane, arguments[0]), arguments[1]
    if text is None:
        return -1
    pieces: list[str] = []
    end = count = 0

    def take(size: int, layout: str):
        nonlocal at, count
        at = -(-at // size) * size
        data = lane.read(at, size)
        if data is None:
            raise HostError(f"printf: argument {count} of {text.decode(errors='replace')!r} lies in no memory")
        at, count = at + size, count + 1
        return struct.unpack(layout, data)[0]

    for found in _FORMAT.finditer(text):
        pieces.append(text[end:found.start()].decode(errors="replace"))
        end = found.end()
        pieces.append(_formatted(found, take, lane))
    sys.stdout.write("".join(pieces) + text[end:].decode(errors="replace"))
    return count


def _formatted(found: re.Match, take: Callable, lane: Lane) -> str:
    """One conversion of a format, as C prints it."""
    kind, length = found["kind"].decode(), (found["length"] or b"").decode()
    if kind == "%":
        return "%"
    flags = found["flags"].decode()
    width = str(take(4, "<i")) if found["width"] == b"*" else (found["width"] or b"").decode()
    shape = f"%{flags}{width}"
    if b"." in found[0]:
        shape += f".{take(4, '<i') if found['precision'] == b'*' else (found['precision'] or b'0').decode()}"
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
    """assert(): expression, file, line, function, size of a character."""
    expression, file, line, function = ((_string(lane, a) or b"?").decode(errors="replace") if k != 2 else str(a)
                                        for k, a in enumerate(arguments[:4]))
    raise HostError(f"{file}:{line}: {function}: assertion `{expression}` failed")


def _malloc(lane: Lane, arguments: Sequence[int]) -> int:
    """The address of new memory, 0 when the heap is full."""
    place = lane.heap.buffer.allocate(arguments[0])
    return 0 if place is None else lane.heap.address + place


def _free(lane: Lane, arguments: Sequence[int]) -> int:
    address = arguments[0]
    if address and lane.heap.buffer.used.pop(address - lane.heap.address, None) is None:
        raise HostError(f"frees 0x{address:x}, which malloc did not give or which was freed already")
    return 0


HOST_FUNCTIONS: dict[str, Callable[[Lane, Sequence[int]], int]] = {
    "vprintf": _vprintf, "__assertfail": _assertfail, "malloc": _malloc, "free": _free}
