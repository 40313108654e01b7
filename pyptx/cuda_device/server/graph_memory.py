"""Nodes of graphs that allocate and free memory; the address of an allocation is known when its node is made."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from pyptx.cuda_device.server.device_memory import Allocation
from pyptx.cuda_device.server.devices import check_device
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.footprints import NOTHING, ranges_of_rows
from pyptx.cuda_device.server.graph_nodes import Node
from pyptx.cuda_device.server.graphs import add_node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__ = ["MemoryAllocation", "MemoryRelease", "add_allocation", "allocation_of", "release_of"]

MEM_ALLOC, MEM_FREE = 10, 11  # CUgraphNodeType
_BYTES = 120  # CUDA_MEM_ALLOC_NODE_PARAMS
_SIZE_AT, _ADDRESS_AT = 104, 112
_PINNED, _DEVICE = 1, 1


@dataclass(eq=False)
class MemoryAllocation:
    """An allocation by a graph; its memory is accessible from when the node runs until it is freed."""

    allocation: Allocation
    kind = MEM_ALLOC

    @property
    def label(self) -> str:
        return f"allocation of {self.allocation.size:,} bytes by a graph"

    def run(self, session: Session) -> None:
        if self.is_live(session):
            raise DriverError(
                "INVALID_VALUE",
                f"the graph allocates {self.allocation.name}, which its last launch allocated and nothing freed\n"
                "hint: free it in the graph or in the stream, or instantiate the graph with AUTO_FREE_ON_LAUNCH",
            )
        session.memory.restore(self.allocation)

    def is_live(self, session: Session) -> bool:
        """Return True if the memory is accessible."""
        return session.memory.find(self.allocation.address) is self.allocation

    def footprint(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranges of bytes that it reads, and that it writes."""
        return NOTHING, ranges_of_rows(self.allocation.address, self.allocation.size)

    def seconds(self, session: Session) -> float:
        return 0.0


@dataclass(eq=False)
class MemoryRelease:
    """A release of memory that a graph or a stream allocated."""

    address: int
    size: int
    name: str
    kind = MEM_FREE

    @property
    def label(self) -> str:
        return f"release of {self.name} (cuMemFreeAsync)"

    def run(self, session: Session) -> None:
        session.memory.free(self.address)

    def footprint(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranges of bytes that it reads, and that it writes."""
        return NOTHING, ranges_of_rows(self.address, self.size)

    def seconds(self, session: Session) -> float:
        return 0.0


def allocation_of(session: Session, size: int) -> MemoryAllocation:
    """Return an allocation by a graph, with the addresses that it will have."""
    return MemoryAllocation(session.memory.set_aside(size, session.context))


@handles("cuGraphAddMemAllocNode")
def add_allocation(session: Session, graph: int, dependencies: int, count: int, params: int) -> int:
    kind, handle_types, location, device = struct.unpack("<4i", session.read(params, 16))
    if kind != _PINNED or location != _DEVICE or handle_types:
        raise DriverError(
            "NOT_SUPPORTED", "a node that allocates other memory than the device's own, pinned memory is not simulated"
        )
    check_device(device)
    size = int.from_bytes(session.read(params + _SIZE_AT, 8), "little")
    if not size:
        raise DriverError("INVALID_VALUE", "a node cannot allocate 0 bytes")
    operation = allocation_of(session, size)
    session.write(params + _ADDRESS_AT, operation.allocation.address.to_bytes(8, "little"))
    return add_node(session, graph, dependencies, count, operation)


@handles("cuGraphMemAllocNodeGetParams")
def allocation_params(session: Session, handle: int) -> bytes:
    operation = session.get(handle, Node).operation
    if not isinstance(operation, MemoryAllocation):
        raise DriverError("INVALID_VALUE", f"node 0x{handle:x} does not allocate memory")
    data = bytearray(_BYTES)
    struct.pack_into("<4i", data, 0, _PINNED, 0, _DEVICE, 0)
    struct.pack_into("<2Q", data, _SIZE_AT, operation.allocation.size, operation.allocation.address)
    return bytes(data)


@handles("cuGraphAddMemFreeNode")
def add_release(session: Session, graph: int, dependencies: int, count: int, address: int) -> int:
    return add_node(session, graph, dependencies, count, release_of(session, address))


def release_of(session: Session, address: int) -> MemoryRelease:
    """Return a release of memory that a graph or a stream allocates.

    Raises:
        DriverError: nothing is allocated there.
    """
    found = session.memory.find(address) or session.memory.aside(address)
    if found is None or found.address != address:
        raise DriverError("INVALID_VALUE", f"cannot free 0x{address:x}: {session.memory.describe(address)}")
    return MemoryRelease(address, found.size, found.name)


@handles("cuGraphMemFreeNodeGetParams")
def release_params(session: Session, handle: int) -> int:
    operation = session.get(handle, Node).operation
    if not isinstance(operation, MemoryRelease):
        raise DriverError("INVALID_VALUE", f"node 0x{handle:x} does not free memory")
    return operation.address


# memory of graphs: it is the device's, so that nothing is kept for them


@handles("cuDeviceGraphMemTrim")
def trim(session: Session, device: int) -> None:
    check_device(device)


@handles("cuDeviceGetGraphMemAttribute")
def memory_attribute(session: Session, device: int, number: int, place: int) -> None:
    check_device(device)
    if number not in range(4):
        raise DriverError("INVALID_VALUE", f"attribute {number} of the memory of graphs is unknown")
    now, most = session.memory.restored
    session.write(place, (most if number % 2 else now).to_bytes(8, "little"))


@handles("cuDeviceSetGraphMemAttribute")
def set_memory_attribute(session: Session, device: int, number: int, place: int) -> None:
    check_device(device)
    if number not in (1, 3):
        raise DriverError("INVALID_VALUE", f"attribute {number} of the memory of graphs cannot be set")
    session.memory.reset_restored()
