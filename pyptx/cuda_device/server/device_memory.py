"""Memory of a simulated device: one sparse shared mapping, and the allocations in it.

The mapping has the same address in the client and in kernels, so that host code may use managed and pinned memory
through device pointers. It is larger than the device's memory: freed addresses are not reused soon, and unmapped gaps
between allocations make out-of-bounds accesses fault.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pyptx.cuda_device.server.errors import DriverError
from pyptx.sim.memory.address_space import Buffer, Segment

__all__ = ["FILE_NAME", "HOST_KINDS", "NONE", "PAGE", "READ_ONLY", "READ_WRITE", "Allocation", "DeviceMemory"]

BASE = 0x3000_0000_0000  # free in every process: below what sanitizers, executables and mmap use
PAGE = 4096
FILE_NAME = "pyptx-device"  # of the shared memory
LARGE, SMALL = 2 << 20, 512  # alignment of allocations of at least LARGE bytes, and of smaller ones
KINDS = ("device", "host", "managed", "variable", "array", "mapped", "registered", "managed variable")
HOST_KINDS = ("host", "managed", "managed variable", "registered")  # that the host may access
NONE, READ_ONLY, READ_WRITE = 0, 1, 3  # access of the host to pages
_READ_WRITE, _SHARED_FIXED = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | 0x10

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_size_t
_libc.mmap.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


@dataclass(eq=False, slots=True)
class Allocation:
    """Memory that one call allocated.

    Attributes:
        address: of its first byte, in kernels and in the client.
        size: in bytes, as requested.
        kind: one of KINDS; "variable": of a module; "array": a CUDA array; "mapped": by virtual memory management;
            "registered": memory of the host, at its addresses there.
        context: that it belongs to.
        name: for messages.
        flags: of cuMemHostAlloc or cuMemAllocManaged.
        segment: the memory as the simulator takes it.
        sites: return addresses of the call that made it, under `pyptx exec --check`.
        release: unmaps memory of a file of its own; None for the device's.
        advice: of managed memory: start, end, what was advised, and the location or None, in order.
    """

    address: int
    size: int
    kind: str
    context: int
    name: str
    segment: Segment = field(repr=False)
    flags: int = 0
    sites: tuple[int, ...] = ()
    release: Callable[[], None] | None = field(default=None, repr=False)
    advice: list[tuple[int, int, str, tuple[int, int] | None]] = field(default_factory=list, repr=False)

    @property
    def end(self) -> int:
        return self.address + self.size

    @property
    def bytes(self) -> np.ndarray:
        return self.segment.buffer.array


class DeviceMemory:
    """The allocations of a process.

    Attributes:
        total: size of the device's memory in bytes.
        used: bytes allocated in it.
        version: changes with every allocation and release.
        file: descriptor of the shared memory.
        sites: returns the return addresses of the call that is carried out.
        protect: lets the host access pages, by address, size and access.
    """

    base = BASE

    def __init__(self, total: int):
        self.total, self.used, self.version = total, 0, 0
        self.size = 1 << (4 * total - 1).bit_length()
        self.file = os.memfd_create(FILE_NAME, os.MFD_CLOEXEC)
        os.ftruncate(self.file, self.size)
        self._map = mmap.mmap(self.file, self.size)
        self._bytes = np.frombuffer(self._map, np.uint8)
        self._starts: list[int] = []  # sorted
        self._allocations: dict[int, Allocation] = {}
        self._next = BASE
        self._count = 0
        self._reserved: dict[int, int] = {}  # address -> size of ranges that hold no allocation of their own
        self._aside: dict[int, Allocation] = {}  # memory of graphs, by address
        self._most = 0  # bytes of it that were accessible at a time
        self.protect: Callable[[int, int, int], None] = lambda address, size, access: None
        self.sites: Callable[[], tuple[int, ...]] = lambda: ()
        self.freed: list[tuple[int, int, str]] = []  # of late: address, end, name

    @property
    def allocations(self) -> list[Allocation]:
        """All allocations, by address."""
        return [self._allocations[start] for start in self._starts]

    def allocate(
        self, size: int, context: int, kind: str = "device", *, name: str = "", flags: int = 0, alignment: int = 0
    ) -> Allocation:
        """Allocate zeroed memory.

        Raises:
            DriverError: the device has not enough memory.
        """
        on_device = kind != "host"
        if on_device and self.used + size > self.total:
            raise DriverError(
                "OUT_OF_MEMORY",
                f"cannot allocate {size:,} bytes: {self.used:,} of the device's {self.total:,} bytes are in use",
            )
        alignment = max(alignment, LARGE if size >= LARGE else PAGE if kind in HOST_KINDS else SMALL)
        address = self._vacant(size, alignment)
        self._count += 1
        at = address - BASE
        label = name or f"{kind} memory #{self._count}"
        segment = Segment(address, Buffer(self._bytes[at : at + size], label))
        found = Allocation(address, size, kind, context, label, segment, flags, self.sites())
        bisect.insort(self._starts, address)
        self._allocations[address] = found
        self.used += size if on_device else 0
        self.version += 1
        if kind in HOST_KINDS:
            self.let_host_access(address, size, READ_WRITE)
        return found

    def let_host_access(self, address: int, size: int, access: int) -> None:
        """Let the host access the pages of a range: NONE, READ_ONLY or READ_WRITE."""
        start, end = address // PAGE * PAGE, -(-(address + size) // PAGE) * PAGE
        self.protect(start, end - start, access)

    def free(self, address: int) -> Allocation:
        """Release the allocation at an address.

        Raises:
            DriverError: nothing was allocated there.
        """
        found = self._allocations.pop(address, None)
        if found is None:
            raise DriverError("INVALID_VALUE", f"cannot free 0x{address:x}: {self.describe(address)}")
        self._starts.remove(address)
        if found.kind in ("mapped", "registered", "managed variable"):
            raise AssertionError("it is removed by unmap, or unregistered")
        if found.kind in HOST_KINDS:
            self.let_host_access(address, found.size, NONE)
        self.used -= found.size if found.kind != "host" else 0
        self.version += 1
        self.freed = [*self.freed[-255:], (address, found.end, found.name)]
        if found.release is not None:
            found.release()
            return found
        start = -(-(address - BASE) // PAGE) * PAGE
        stop = (found.end - BASE) // PAGE * PAGE
        if stop > start:
            self._map.madvise(mmap.MADV_REMOVE, start, stop - start)
        head, tail = self._bytes[address - BASE : found.end - BASE], max(stop, start) - (address - BASE)
        if stop <= start:
            head[:] = 0  # new memory is zeroed
        else:
            head[: start - (address - BASE)] = 0
            head[tail:] = 0
        return found

    # memory of graphs

    def set_aside(self, size: int, context: int) -> Allocation:
        """Return an allocation that is not accessible until `restore`; its addresses remain its own."""
        found = self.allocate(size, context)
        self.free(found.address)
        self._reserved[found.address] = size
        self._aside[found.address] = found
        return found

    def aside(self, address: int) -> Allocation | None:
        """Return the allocation of `set_aside` that contains an address."""
        return next((found for start, found in self._aside.items() if start <= address < found.end), None)

    def restore(self, found: Allocation) -> None:
        """Make an allocation of `set_aside` accessible, until it is freed.

        Raises:
            DriverError: the device has not enough memory.
        """
        if self.used + found.size > self.total:
            raise DriverError(
                "OUT_OF_MEMORY", f"a graph cannot allocate {found.size:,} bytes: {self.used:,} are in use"
            )
        bisect.insort(self._starts, found.address)
        self._allocations[found.address] = found
        self.used += found.size
        self.version += 1
        self._most = max(self._most, self.restored[0])

    @property
    def restored(self) -> tuple[int, int]:
        """Bytes of graphs that are accessible, and the most that were."""
        now = sum(found.size for address, found in self._aside.items() if self._allocations.get(address) is found)
        return now, self._most

    def reset_restored(self) -> None:
        """Count the most bytes of graphs from now on."""
        self._most = self.restored[0]

    def find(self, address: int) -> Allocation | None:
        """Return the allocation that contains an address."""
        k = bisect.bisect_right(self._starts, address) - 1
        if k < 0:
            return None
        found = self._allocations[self._starts[k]]
        return found if address < found.end or (address == found.address and not found.size) else None

    def contains(self, address: int) -> bool:
        """Return True for addresses of the mapping, allocated or not."""
        return BASE <= address < BASE + self.size

    def require(self, address: int, size: int, what: str) -> Allocation:
        """Return the allocation that contains `size` bytes at an address.

        Raises:
            DriverError: they are not all in one allocation.
        """
        found = self.find(address) or self.aside(address)
        last = found
        while last is not None and last.kind == "mapped" and address + size > last.end:  # the next one may adjoin it
            last = self.find(last.end)
        if found is None or last is None or address + size > last.end:
            where = self.describe(address)
            raise DriverError("INVALID_VALUE", f"{what} uses {size:,} bytes at 0x{address:x}: {where}")
        return found

    def view(self, address: int, size: int) -> np.ndarray:
        """Return bytes of the mapping, or of registered memory."""
        if not self.contains(address):
            found = self.find(address)
            assert found is not None, "it was checked"
            return found.bytes[address - found.address : address - found.address + size]
        return self._bytes[address - BASE : address - BASE + size]

    def describe(self, address: int) -> str:
        """Describe an address for messages."""
        found = self.find(address)
        if found is not None:
            at = f"byte {address - found.address:,} of " if address != found.address else ""
            return f"it is {at}{found.name}, of {found.size:,} bytes"
        for start, end, name in reversed(self.freed):
            if start <= address < end:
                return f"it was {name}, which has been freed"
        if not address:
            return "it is a null pointer"
        k = bisect.bisect_right(self._starts, address) - 1
        if k >= 0:
            before = self._allocations[self._starts[k]]
            if address - before.end < LARGE:
                return f"it is {address - before.end:,} bytes past the end of {before.name}, of {before.size:,} bytes"
        return "nothing is allocated there"

    def host_address(self, address: int) -> int:
        """Return the address of a byte in this process."""
        return self._bytes.ctypes.data + address - BASE

    def move(self, to: int, source: int, size: int) -> None:
        """Copy within the mapping, at the speed of memmove."""
        ctypes.memmove(self.host_address(to), self.host_address(source), size)

    def _vacant(self, size: int, alignment: int) -> int:
        stride = max(size, 1) + SMALL
        for start in (self._next, BASE):
            address = -(-start // alignment) * alignment
            if start == BASE and self._starts:
                address = self._gap(stride, alignment)
            if address + stride <= BASE + self.size:
                self._next = address + stride
                return address
        raise DriverError("OUT_OF_MEMORY", f"no addresses are left for {size:,} bytes")

    def _gap(self, stride: int, alignment: int) -> int:
        """Return the first vacant address."""
        address = BASE
        taken = [*((start, self._allocations[start].end) for start in self._starts)]
        taken += [(start, start + size) for start, size in self._reserved.items()]
        for start, end in sorted(taken):
            if address + stride <= start:
                break
            address = max(address, -(-(end + SMALL) // alignment) * alignment)
        return address

    # virtual memory management

    def reserve(self, size: int, alignment: int) -> int:
        """Reserve addresses, at which nothing is accessible until something is mapped there."""
        address = self._vacant(size, max(alignment, LARGE))
        self._reserved[address] = size
        return address

    def unreserve(self, address: int) -> int | None:
        """Release reserved addresses; return their number, None if they were not reserved."""
        return self._reserved.pop(address, None)

    def reserved(self, address: int, size: int) -> bool:
        """Return True if a range is within reserved addresses."""
        return any(start <= address and address + size <= start + n for start, n in self._reserved.items())

    def remap(self, address: int, size: int, source: int) -> None:
        """Map the memory behind `source`, an address of the mapping, at `address`, in this process."""
        found = _libc.mmap(self.host_address(address), size, _READ_WRITE, _SHARED_FIXED, self.file, source - BASE)
        if found != self.host_address(address):
            raise DriverError("OUT_OF_MEMORY", f"cannot map {size:,} bytes at 0x{address:x}")

    def add_registered(self, address: int, size: int, place: int) -> None:
        """Make memory of the host accessible at its address; its bytes are at `place`, an address of the mapping."""
        self._count += 1
        label = f"registered memory #{self._count}"
        segment = Segment(address, Buffer(self.view(place, size), label))
        bisect.insort(self._starts, address)
        self._allocations[address] = Allocation(address, size, "registered", 0, label, segment)
        self.version += 1

    def map_file(self, address: int, size: int, file: int, offset: int) -> None:
        """Map bytes of the memory of another device, an open file, in this process."""
        found = _libc.mmap(self.host_address(address), size, _READ_WRITE, _SHARED_FIXED, file, offset)
        if found != self.host_address(address):
            raise DriverError("OUT_OF_MEMORY", f"cannot map {size:,} bytes at 0x{address:x}")

    def add_part(self, address: int, size: int, context: int, release: Callable[[], None]) -> None:
        """Add an allocation in mapped memory of another file, which `release` unmaps when it is freed."""
        self._count += 1
        label = f"device memory #{self._count}"
        segment = Segment(address, Buffer(self.view(address, size), label))
        bisect.insort(self._starts, address)
        self._allocations[address] = Allocation(
            address, size, "device", context, label, segment, sites=self.sites(), release=release
        )
        self.used += size
        self.version += 1

    def add_mapping(self, address: int, size: int, context: int, name: str = "") -> None:
        """Make a mapping accessible."""
        label = name or f"mapping at 0x{address:x}"
        segment = Segment(address, Buffer(self.view(address, size), label))
        bisect.insort(self._starts, address)
        self._allocations[address] = Allocation(address, size, "mapped", context, label, segment)
        self.version += 1

    def remove_mapping(self, address: int) -> None:
        """Make a mapping inaccessible."""
        if self._allocations.pop(address, None) is not None:
            self._starts.remove(address)
            self.version += 1

    def discard(self, address: int, size: int) -> None:
        """Give the pages of a range back."""
        self._map.madvise(mmap.MADV_REMOVE, address - BASE, size)
