"""Guards of memory of the host that asynchronous work uses: the client cannot access its pages until it has waited.

An access faults in the client, which asks the server about it (host_access.py). A page that also holds bytes of the
allocation that the work does not use is not guarded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pyptx.cuda_device.server.device_memory import NONE, PAGE, READ_ONLY, READ_WRITE, DeviceMemory
from pyptx.cuda_device.server.stream_order import Conflict, Operation

__all__ = ["READS", "HostGuards"]

READS = 0  # kinds of accesses of src/host_access.c; others write, or may
_KINDS = ("host", "managed", "managed variable")


@dataclass(frozen=True)
class _Hold:
    start: int
    end: int
    access: int
    allocation: int  # its address


class HostGuards:
    """The guarded pages.

    Args:
        memory: that of the device, which has the pages.
        report: called for each access to what is in use.
    """

    def __init__(self, memory: DeviceMemory, report: Callable[[Conflict], None]):
        self._memory, self._report = memory, report
        self._held: dict[Operation, list[_Hold]] = {}

    def hold(self, operation: Operation) -> None:
        """Guard what an operation uses: the host may not read what it writes, nor write what it uses."""
        holds = [*self._pages(operation.writes, NONE), *self._pages(operation.reads, READ_ONLY)]
        if holds:
            self._held[operation] = holds
            for one in sorted(holds, key=lambda hold: -hold.access):
                self._protect(one)

    def release(self, operation: Operation) -> None:
        """End the guard of an operation."""
        for one in self._held.pop(operation, ()):
            self._protect(one)

    def touched(self, address: int, kind: int, sites: tuple[int, ...]) -> None:
        """Report an access of the host to a guarded page, if it is to a byte in use, and let it continue."""
        for operation in list(self._held):
            writes, reads = _has(operation.writes, address), _has(operation.reads, address)
            if writes or (reads and kind != READS):
                self._report(Conflict(operation, None, address, writes, kind != READS, sites))
                self.release(operation)
        page = address // PAGE * PAGE
        self._memory.protect(page, PAGE, READ_WRITE)

    def _pages(self, ranges: np.ndarray, access: int) -> list[_Hold]:
        found = []
        for start, end in ranges.tolist():
            inside = self._memory.find(start)
            if inside is None or inside.kind not in _KINDS:
                continue
            first, last = start // PAGE * PAGE, -(-end // PAGE) * PAGE
            first += 0 if start <= max(first, inside.address) else PAGE
            last -= 0 if end >= min(last, inside.end) else PAGE
            if first < last:
                found.append(_Hold(first, last, access, inside.address))
        return found

    def _protect(self, hold: _Hold) -> None:
        """Set the access to pages to what all holds permit."""
        start, end = hold.start, hold.end
        if self._memory.find(hold.allocation) is None:
            return  # it was freed
        others = [one for holds in self._held.values() for one in holds if one.start < end and start < one.end]
        edges = sorted({start, end, *(edge for one in others for edge in (one.start, one.end) if start < edge < end)})
        for first, last in pairwise(edges):
            access = min((one.access for one in others if one.start <= first < one.end), default=READ_WRITE)
            self._memory.protect(first, last - first, access)


def _has(ranges: np.ndarray, address: int) -> bool:
    at = int(np.searchsorted(ranges[:, 1], address, "right"))
    return at < len(ranges) and int(ranges[at, 0]) <= address
