"""Simulated addresses of arrays, fixed before a launch: what `pyptx.pointer` returns.

An allocation is the memory that an array and its views share. It keeps its address while its owner is alive and its
memory stays where it is. Launches place an array of an allocation at that address; copies of the array, on which tools
run, are placed at the same address.
"""

from __future__ import annotations

import bisect
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx._loc import SourceLocation
from pyptx.errors import ArgumentValueError
from pyptx.sim.memory.address_space import GAP, POINTER_END, POINTER_START, is_free

__all__ = ["POINTERS", "Allocation", "Pointers"]

_REMEMBERED = 256  # allocations that are gone, for messages


@dataclass(frozen=True, eq=False)
class Allocation:
    """Memory with a fixed simulated address.

    Attributes:
        start, size: the memory in this process or on a GPU: address of its first byte, and bytes.
        address: its simulated address.
        text: the array whose address was taken, for messages.
        place: where it was taken; None for a copy.
        current: returns the present start and size, (0, 0) once freed; None: the memory is not watched.
    """

    start: int
    size: int
    address: int
    text: str
    place: SourceLocation | None
    current: Callable[[], tuple[int, int]] | None = None

    @property
    def is_valid(self) -> bool:
        """True while the owner is alive and has not been resized."""
        return self.current is None or self.current() == (self.start, self.size)

    @property
    def end(self) -> int:
        return self.start + self.size


class Pointers:
    """The allocations of this process."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._starts: list[int] = []  # sorted
        self._allocations: dict[int, Allocation] = {}  # by start; they do not overlap
        self._gone: deque[Allocation] = deque(maxlen=_REMEMBERED)
        self._next = POINTER_START

    def __bool__(self) -> bool:
        return bool(self._starts)

    def address_of(self, start: int, size: int) -> int | None:
        """Return the simulated address of `size` bytes of memory at `start`; None if they have none."""
        if not self._starts:
            return None
        with self._lock:
            allocation = self._containing(start, size)
        return None if allocation is None else allocation.address + start - allocation.start

    def allocate(
        self,
        owner: object,
        extent: Callable[[Any], tuple[int, int]],
        start: int,
        size: int,
        text: str,
        place: SourceLocation,
    ) -> int:
        """Return the simulated address of memory, which is assigned if it has none.

        Args:
            owner: object that keeps the memory; it is not kept alive.
            extent: returns address and size in bytes of the owner's memory.
            start, size: the part of that memory that is asked for.
        """
        with self._lock:
            known = self.address_of(start, size)
            if known is not None:
                return known
            first, whole = extent(owner)
            address = self._vacant(whole)
            self._add(Allocation(first, whole, address, text, place, _watch(owner, extent)))
        return address + start - first

    def keep(self, start: int, size: int, text: str, place: SourceLocation) -> None:
        """Record memory of a GPU: on the simulator, copies of it have the address it has on the GPU."""
        with self._lock:
            if self._containing(start, size) is None:
                self._add(Allocation(start, size, start, text, place))

    def place_copy(self, copy: np.ndarray, address: int | None) -> None:
        """Place a copy, a new array, at the address of its original; None: the original has no address.

        Raises:
            LaunchError: the address is that of an array on a GPU, and the simulator uses it for another state space.
        """
        if address is None or not copy.nbytes:
            return
        if not is_free(address, copy.nbytes):
            raise ArgumentValueError(
                f"an array at 0x{address:x} on a GPU cannot be simulated at that address, which the simulator uses for "
                "another state space",
                hint="copy the arrays to host memory and take their addresses there",
            )
        start, size = _extent(copy)
        with self._lock:
            self._add(Allocation(start, size, address, "", None, _watch(copy, _extent)))

    def find(self, address: int) -> tuple[Allocation, bool] | None:
        """Return the allocation whose simulated memory contains an address, and True if it is still there."""
        with self._lock:
            live = [a for a in self._allocations.values() if a.place is not None]
            for allocation in (*live, *reversed(self._gone)):
                if allocation.address <= address < allocation.address + allocation.size:
                    return allocation, allocation.is_valid and allocation in live
        return None

    def _containing(self, start: int, size: int) -> Allocation | None:
        index = bisect.bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        allocation = self._allocations[self._starts[index]]
        return allocation if start + size <= allocation.end and allocation.is_valid else None

    def _add(self, allocation: Allocation) -> None:
        """Add an allocation. Those it overlaps are gone: memory has one owner, or a larger array owns it now."""
        first = bisect.bisect_left(self._starts, allocation.start)
        if first and self._allocations[self._starts[first - 1]].end > allocation.start:
            first -= 1
        last = bisect.bisect_left(self._starts, max(allocation.end, allocation.start + 1))
        for start in self._starts[first:last]:
            self._remove(start)
        if len(self._starts) >= 2 * self._purged:
            self._purge()
        bisect.insort(self._starts, allocation.start)
        self._allocations[allocation.start] = allocation

    _purged = 64  # allocations left by the last purge

    def _purge(self) -> None:
        for start in [start for start, allocation in self._allocations.items() if not allocation.is_valid]:
            self._remove(start)
        self._purged = max(64, len(self._starts))

    def _remove(self, start: int) -> None:
        allocation = self._allocations.pop(start)
        self._starts.remove(start)
        if allocation.place is not None:
            self._gone.append(allocation)

    def _vacant(self, size: int) -> int:
        """Return an address for `size` bytes: behind all earlier ones, or, at the end of the space, in a gap."""
        stride = -(-max(size, 1) // GAP) * GAP + GAP
        if self._next + stride > POINTER_END:
            self._purge()
            self._next = POINTER_START
            for allocation in sorted(self._allocations.values(), key=lambda a: a.address):
                if self._next <= allocation.address < self._next + stride:
                    self._next = -(-(allocation.address + max(allocation.size, 1)) // GAP) * GAP + GAP
            if self._next + stride > POINTER_END:
                raise ArgumentValueError(
                    f"no simulated addresses are left for an array of {size:,} bytes",
                    hint="release arrays whose pointers were taken",
                )
        address, self._next = self._next, self._next + stride
        return address


def _watch(owner: object, extent: Callable[[Any], tuple[int, int]]) -> Callable[[], tuple[int, int]]:
    reference = weakref.ref(owner)

    def current() -> tuple[int, int]:
        alive = reference()
        return (0, 0) if alive is None else extent(alive)

    return current


def _extent(array: np.ndarray) -> tuple[int, int]:
    return array.__array_interface__["data"][0], array.nbytes


POINTERS = Pointers()
