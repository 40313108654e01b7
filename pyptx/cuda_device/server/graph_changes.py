"""Changes and queries of nodes, of graphs and of executable graphs."""

from __future__ import annotations

import struct
from typing import Any

from pyptx.cuda_device.server.array_copies import box_copy_3d
from pyptx.cuda_device.server.copies import Fill
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.events import Event
from pyptx.cuda_device.server.graph_execution import (
    CHILD,
    HOST,
    KERNEL,
    MEMCPY,
    MEMSET,
    RECORD_EVENT,
    WAIT_EVENT,
    EventNode,
    GraphExec,
    executable,
)
from pyptx.cuda_device.server.graph_nodes import Graph, Node
from pyptx.cuda_device.server.graphs import (
    fill_of,
    handles_at,
    kernel_launch,
    write_nodes,
)
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.host_functions import HostCall
from pyptx.cuda_device.server.session import Session

__all__ = ["event_of", "node_of", "replace_in_exec"]


def node_of(session: Session, handle: int, kind: int) -> Node:
    node = session.get(handle, Node)
    if node.kind != kind:
        raise DriverError("INVALID_VALUE", f"node 0x{handle:x} is of type {node.kind}, not {kind}")
    return node


def _step(session: Session, handle: int, node: int, kind: int) -> tuple[GraphExec, int]:
    """Return an executable graph and the place of a node in it."""
    found, own = session.get(handle, GraphExec), node_of(session, node, kind)
    place = next((k for k, (one, _) in enumerate(found.steps) if one is own), None)
    if place is None:
        raise DriverError("INVALID_VALUE", "the node is not in the executable graph")
    return found, place


def replace_in_exec(session: Session, handle: int, node: int, kind: int, operation: Any) -> None:
    found, place = _step(session, handle, node, kind)
    found.steps[place] = found.steps[place][0], operation


# parameters of nodes


@handles("cuGraphKernelNodeSetParams_v2")
def set_kernel(session: Session, handle: int, data: bytes) -> None:
    node_of(session, handle, KERNEL).operation = kernel_launch(session, data)


@handles("cuGraphExecKernelNodeSetParams_v2")
def set_exec_kernel(session: Session, handle: int, node: int, data: bytes) -> None:
    replace_in_exec(session, handle, node, KERNEL, kernel_launch(session, data))


@handles("cuGraphMemcpyNodeSetParams")
def set_copy(session: Session, handle: int, data: bytes) -> None:
    node_of(session, handle, MEMCPY).operation = box_copy_3d(session, data)


@handles("cuGraphExecMemcpyNodeSetParams")
def set_exec_copy(session: Session, handle: int, node: int, data: bytes, context: int) -> None:
    replace_in_exec(session, handle, node, MEMCPY, box_copy_3d(session, data))


@handles("cuGraphMemsetNodeSetParams")
def set_fill(session: Session, handle: int, data: bytes) -> None:
    node_of(session, handle, MEMSET).operation = fill_of(session, data)


@handles("cuGraphExecMemsetNodeSetParams")
def set_exec_fill(session: Session, handle: int, node: int, data: bytes, context: int) -> None:
    replace_in_exec(session, handle, node, MEMSET, fill_of(session, data))


@handles("cuGraphMemsetNodeGetParams")
def fill_params(session: Session, handle: int) -> bytes:
    fill = node_of(session, handle, MEMSET).operation
    assert isinstance(fill, Fill), "a memset node fills"
    return fill.params()


@handles("cuGraphHostNodeSetParams")
def set_host_call(session: Session, handle: int, data: bytes) -> None:
    node_of(session, handle, HOST).operation = HostCall(*struct.unpack("<2Q", data))


@handles("cuGraphExecHostNodeSetParams")
def set_exec_host_call(session: Session, handle: int, node: int, data: bytes) -> None:
    replace_in_exec(session, handle, node, HOST, HostCall(*struct.unpack("<2Q", data)))


@handles("cuGraphHostNodeGetParams")
def host_call_params(session: Session, handle: int) -> bytes:
    operation = node_of(session, handle, HOST).operation
    return struct.pack("<2Q", operation.function, operation.data)


@handles("cuGraphExecChildGraphNodeSetParams")
def set_exec_child(session: Session, handle: int, node: int, child: int) -> None:
    found, place = _step(session, handle, node, CHILD)
    before, made = found.steps[place][1], executable(session.get(child, Graph), 0)
    if made.shape != before.shape or [one.kind for one, _ in made.steps] != [one.kind for one, _ in before.steps]:
        raise DriverError("INVALID_VALUE", "the child graph differs from that of the node in its nodes or edges")
    found.steps[place] = found.steps[place][0], made


@handles("cuGraphChildGraphNodeGetGraph")
def child_graph(session: Session, handle: int) -> int:
    return node_of(session, handle, CHILD).operation.graph.handle


def event_of(session: Session, node: Node) -> int:
    """Return the handle of the event that a node records or waits for; 0 if it was destroyed."""
    event = node.operation.event
    return next((number for number, known in session.all(Event) if known is event), 0)


@handles("cuGraphEventRecordNodeGetEvent")
def recorded_event(session: Session, handle: int) -> int:
    return event_of(session, node_of(session, handle, RECORD_EVENT))


@handles("cuGraphEventWaitNodeGetEvent")
def awaited_event(session: Session, handle: int) -> int:
    return event_of(session, node_of(session, handle, WAIT_EVENT))


@handles("cuGraphEventRecordNodeSetEvent")
def set_recorded_event(session: Session, handle: int, event: int) -> None:
    node_of(session, handle, RECORD_EVENT).operation = EventNode(session.get(event, Event), RECORD_EVENT)


@handles("cuGraphEventWaitNodeSetEvent")
def set_awaited_event(session: Session, handle: int, event: int) -> None:
    node_of(session, handle, WAIT_EVENT).operation = EventNode(session.get(event, Event), WAIT_EVENT)


@handles("cuGraphExecEventRecordNodeSetEvent")
def set_exec_recorded_event(session: Session, handle: int, node: int, event: int) -> None:
    replace_in_exec(session, handle, node, RECORD_EVENT, EventNode(session.get(event, Event), RECORD_EVENT))


@handles("cuGraphExecEventWaitNodeSetEvent")
def set_exec_awaited_event(session: Session, handle: int, node: int, event: int) -> None:
    replace_in_exec(session, handle, node, WAIT_EVENT, EventNode(session.get(event, Event), WAIT_EVENT))


# nodes that are left out


@handles("cuGraphNodeSetEnabled")
def set_enabled(session: Session, handle: int, node: int, enabled: int) -> None:
    own = session.get(node, Node)
    if own.kind not in (KERNEL, MEMCPY, MEMSET):
        raise DriverError("INVALID_VALUE", "only kernel, memcpy and memset nodes can be disabled")
    found, _ = _step(session, handle, node, own.kind)
    (found.disabled.discard if enabled else found.disabled.add)(own)


@handles("cuGraphNodeGetEnabled")
def is_enabled(session: Session, handle: int, node: int) -> int:
    own = session.get(node, Node)
    found, _ = _step(session, handle, node, own.kind)
    return int(own not in found.disabled)


# edges and identities


@handles("cuGraphNodeGetDependentNodes")
def dependents(session: Session, handle: int, place: int, count: int) -> None:
    node = session.get(handle, Node)
    write_nodes(session, place, count, [other for other in node.graph.nodes if node in other.dependencies])


@handles("cuGraphNodeGetDependentNodes_v2")
def dependents_with_edges(session: Session, handle: int, place: int, edges: int, count: int) -> None:
    dependents(session, handle, place, count)


@handles("cuGraphRemoveDependencies")
def remove_dependencies(session: Session, handle: int, sources: int, targets: int, count: int) -> None:
    session.get(handle, Graph)
    pairs = zip(handles_at(session, sources, count), handles_at(session, targets, count), strict=True)
    for source, target in pairs:
        node, before = session.get(target, Node), session.get(source, Node)
        if before not in node.dependencies:
            raise DriverError("INVALID_VALUE", f"node 0x{target:x} does not depend on 0x{source:x}")
        node.dependencies.remove(before)


@handles("cuGraphRemoveDependencies_v2")
def remove_dependencies_with_edges(
    session: Session, handle: int, sources: int, targets: int, edges: int, count: int
) -> None:
    remove_dependencies(session, handle, sources, targets, count)


@handles("cuGraphNodeFindInClone")
def node_in_clone(session: Session, node: int, clone: int) -> int:
    original = session.get(node, Node)
    for copy in session.get(clone, Graph).nodes:
        if copy.original is original:
            return copy.handle
    raise DriverError("INVALID_VALUE", "the graph has no copy of the node")


@handles("cuGraphNodeGetContainingGraph")
def containing_graph(session: Session, handle: int) -> int:
    return session.get(handle, Node).graph.handle


@handles("cuGraphNodeGetLocalId")
def node_number(session: Session, handle: int) -> int:
    return session.get(handle, Node).handle & 0xFFFFFFFF


@handles("cuGraphNodeGetToolsId")
def tools_number(session: Session, handle: int) -> int:
    return session.get(handle, Node).handle


@handles("cuGraphGetId")
def graph_number(session: Session, handle: int) -> int:
    return session.get(handle, Graph).handle & 0xFFFFFFFF


@handles("cuGraphExecGetId")
def exec_number(session: Session, handle: int) -> int:
    session.get(handle, GraphExec)
    return handle & 0xFFFFFFFF
