"""Graphs and their nodes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from pyptx.cuda_device.server.array_copies import box_copy_3d
from pyptx.cuda_device.server.conditional_nodes import Conditional
from pyptx.cuda_device.server.copies import Fill
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.events import Event
from pyptx.cuda_device.server.graph_execution import (
    CHILD,
    EMPTY,
    HOST,
    KERNEL,
    MEMCPY,
    MEMSET,
    RECORD_EVENT,
    WAIT_EVENT,
    EventNode,
    GraphExec,
    Restorable,
    copied,
    executable,
)
from pyptx.cuda_device.server.graph_nodes import Graph, Node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.host_functions import HostCall
from pyptx.cuda_device.server.launches import KernelLaunch, LaunchConfig
from pyptx.cuda_device.server.modules import Kernel
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.user_objects import release_objects, retained_objects

__all__ = [
    "add_child",
    "add_empty",
    "add_node",
    "create",
    "fill_of",
    "handles_at",
    "kernel_launch",
    "write_nodes",
]

_KERNEL_PARAMS = struct.Struct("<Q7I4x4Q")
_MEMSET_PARAMS = struct.Struct("<2Q2I2Q")


@handles("cuGraphCreate")
def create(session: Session, flags: int) -> int:
    if flags:
        raise DriverError("INVALID_VALUE", f"cuGraphCreate: unknown flags 0x{flags:x}")
    handle = session.new_handle()
    return session.add(Graph(handle), handle)


@handles("cuGraphDestroy")
def destroy(session: Session, handle: int) -> None:
    found = session.remove(handle, Graph)
    for node in found.nodes:
        _discard(session, node)
    release_objects(session, found.objects)


def _discard(session: Session, node: Node) -> None:
    """Discard a node, with the graphs that are its own."""
    session.discard(node.handle)
    for memory in node.kept:
        session.memory.free(memory.address)
    for body in node.operation.bodies if isinstance(node.operation, Conditional) else ():
        destroy(session, body.handle)
    if isinstance(node.operation, GraphExec):
        destroy(session, node.operation.graph.handle)


def _add(session: Session, graph: int, dependencies: int, count: int, kind: int, operation: Any) -> int:
    before = [session.get(handle, Node) for handle in handles_at(session, dependencies, count)]
    node = session.get(graph, Graph).add(session.new_handle(), kind, operation, before)
    return session.add(node, node.handle)


def add_node(session: Session, graph: int, dependencies: int, count: int, operation: Any) -> int:
    """Add a node that carries out an operation, and return its handle."""
    return _add(session, graph, dependencies, count, operation.kind, operation)


def handles_at(session: Session, place: int, count: int) -> Sequence[int]:
    """Read handles from the client's memory."""
    return struct.unpack(f"<{count}Q", session.read(place, 8 * count)) if count else ()


def kernel_launch(session: Session, data: bytes) -> KernelLaunch:
    """Return the launch of CUDA_KERNEL_NODE_PARAMS.

    Raises:
        DriverError: it is invalid.
    """
    function, gx, gy, gz, bx, by, bz, shared_bytes, places, extra, kernel, _ = _KERNEL_PARAMS.unpack(data)
    found = session.get(function or kernel, Kernel)
    slots = found.program.symbols.params
    params = bytearray(slots[-1].offset + slots[-1].size if slots else 0)
    if extra:
        raise DriverError("NOT_SUPPORTED", "kernel nodes with packed arguments (extra) are not simulated")
    for slot, address in zip(slots, handles_at(session, places, len(slots)), strict=True):
        params[slot.offset : slot.offset + slot.size] = session.read(address, slot.size)
    launch = KernelLaunch(found, LaunchConfig((gx, gy, gz), (bx, by, bz), (1, 1, 1), shared_bytes), bytes(params))
    launch.check(session)
    return launch


@handles("cuGraphAddKernelNode_v2")
def add_kernel(session: Session, graph: int, dependencies: int, count: int, data: bytes) -> int:
    return _add(session, graph, dependencies, count, KERNEL, kernel_launch(session, data))


@handles("cuGraphAddMemcpyNode")
def add_copy(session: Session, graph: int, dependencies: int, count: int, data: bytes, context: int) -> int:
    copy = box_copy_3d(session, data)
    return _add(session, graph, dependencies, count, MEMCPY, copy)


@handles("cuGraphAddMemsetNode")
def add_fill(session: Session, graph: int, dependencies: int, count: int, data: bytes, context: int) -> int:
    return _add(session, graph, dependencies, count, MEMSET, fill_of(session, data))


def fill_of(session: Session, data: bytes) -> Fill:
    """Return the fill of CUDA_MEMSET_NODE_PARAMS.

    Raises:
        DriverError: it is invalid.
    """
    address, pitch, value, item, width, height = _MEMSET_PARAMS.unpack(data)
    if item not in (1, 2, 4):
        raise DriverError("INVALID_VALUE", f"a memset node with elements of {item} bytes; expected 1, 2 or 4")
    session.memory.require(address, (height - 1) * pitch + width * item, "a memset node")
    return Fill(address, value & (1 << 8 * item) - 1, item, width, height, pitch)


@handles("cuGraphAddHostNode")
def add_host_call(session: Session, graph: int, dependencies: int, count: int, data: bytes) -> int:
    return _add(session, graph, dependencies, count, HOST, HostCall(*struct.unpack("<2Q", data)))


@handles("cuGraphAddEmptyNode")
def add_empty(session: Session, graph: int, dependencies: int, count: int) -> int:
    return _add(session, graph, dependencies, count, EMPTY, None)


@handles("cuGraphAddChildGraphNode")
def add_child(session: Session, graph: int, dependencies: int, count: int, child: int) -> int:
    """Add a node that runs a copy of a graph; the copy is the node's."""
    copy = session.get(clone(session, child), Graph)
    copy.is_owned = True
    return _add(session, graph, dependencies, count, CHILD, executable(copy, 0))


@handles("cuGraphAddEventRecordNode")
def add_event_record(session: Session, graph: int, dependencies: int, count: int, event: int) -> int:
    operation = EventNode(session.get(event, Event), RECORD_EVENT)
    return _add(session, graph, dependencies, count, RECORD_EVENT, operation)


@handles("cuGraphAddEventWaitNode")
def add_event_wait(session: Session, graph: int, dependencies: int, count: int, event: int) -> int:
    operation = EventNode(session.get(event, Event), WAIT_EVENT)
    return _add(session, graph, dependencies, count, WAIT_EVENT, operation)


@handles("cuGraphDestroyNode")
def destroy_node(session: Session, handle: int) -> None:
    node = session.get(handle, Node)
    _discard(session, node)
    node.graph.nodes.remove(node)
    for other in node.graph.nodes:
        other.dependencies = [before for before in other.dependencies if before is not node]


@handles("cuGraphNodeGetType")
def node_type(session: Session, handle: int) -> int:
    return session.get(handle, Node).kind


@handles("cuGraphClone")
def clone(session: Session, handle: int) -> int:
    original = session.get(handle, Graph)
    if any(isinstance(node.operation, (Conditional, Restorable)) for node in original.nodes):
        raise DriverError(
            "NOT_SUPPORTED", "graphs with conditional nodes or allocations cannot be cloned, or be children"
        )
    made = session.get(create(session, 0), Graph)
    made.objects.update(retained_objects(original))
    copies: dict[Node, Node] = {}
    for node in original.ordered():
        before = [copies[dependency] for dependency in node.dependencies]
        operation = copied(node.operation)
        if isinstance(operation, GraphExec):
            own = session.get(clone(session, operation.graph.handle), Graph)
            own.is_owned = True
            operation = executable(own, 0)
        copies[node] = made.add(session.new_handle(), node.kind, operation, before)
        copies[node].original = node
        session.add(copies[node], copies[node].handle)
    return made.handle


def write_nodes(session: Session, place: int, count: int, nodes: Sequence[Node]) -> None:
    """Write handles of nodes as cuGraphGetNodes does: all of them with room for as many as `count` points to."""
    if place:
        room = int.from_bytes(session.read(count, 8), "little")
        data = struct.pack(f"<{len(nodes)}Q", *(node.handle for node in nodes))[: 8 * room]
        if data:
            session.write(place, data)
    session.write(count, len(nodes).to_bytes(8, "little"))


@handles("cuGraphGetNodes")
def nodes(session: Session, handle: int, place: int, count: int) -> None:
    write_nodes(session, place, count, session.get(handle, Graph).nodes)


@handles("cuGraphGetRootNodes")
def root_nodes(session: Session, handle: int, place: int, count: int) -> None:
    write_nodes(session, place, count, [node for node in session.get(handle, Graph).nodes if not node.dependencies])


@handles("cuGraphNodeGetDependencies")
def node_dependencies(session: Session, handle: int, place: int, count: int) -> None:
    write_nodes(session, place, count, session.get(handle, Node).dependencies)


@handles("cuGraphNodeGetDependencies_v2")
def node_dependencies_with_edges(session: Session, handle: int, place: int, edges: int, count: int) -> None:
    write_nodes(session, place, count, session.get(handle, Node).dependencies)


@handles("cuGraphGetEdges")
def graph_edges(session: Session, handle: int, sources: int, targets: int, count: int) -> None:
    graph = session.get(handle, Graph)
    pairs = [(before, node) for node in graph.nodes for before in node.dependencies]
    write_nodes(session, sources, count, [before for before, _ in pairs])
    if targets:
        write_nodes(session, targets, count, [node for _, node in pairs])


@handles("cuGraphGetEdges_v2")
def graph_edges_with_data(session: Session, handle: int, sources: int, targets: int, edges: int, count: int) -> None:
    graph_edges(session, handle, sources, targets, count)


@handles("cuGraphAddDependencies")
def add_dependencies(session: Session, handle: int, sources: int, targets: int, count: int) -> None:
    graph = session.get(handle, Graph)
    pairs = zip(handles_at(session, sources, count), handles_at(session, targets, count), strict=True)
    for before, node in [(session.get(source, Node), session.get(target, Node)) for source, target in pairs]:
        if graph not in (before.graph, node.graph) or before.graph is not node.graph or before is node:
            raise DriverError("INVALID_VALUE", "cuGraphAddDependencies: an edge is not between two nodes of the graph")
        if before in node.dependencies:
            raise DriverError("INVALID_VALUE", "cuGraphAddDependencies: the graph has this edge already")
        node.dependencies.append(before)


@handles("cuGraphAddDependencies_v2")
def add_dependencies_with_edges(
    session: Session, handle: int, sources: int, targets: int, edges: int, count: int
) -> None:
    add_dependencies(session, handle, sources, targets, count)
