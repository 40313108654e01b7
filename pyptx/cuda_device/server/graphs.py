"""Graphs: capture of streams, nodes made by hand, instantiation, update and launches."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from pyptx.cuda_device.server.array_copies import box_copy_3d
from pyptx.cuda_device.server.conditional_nodes import Conditional
from pyptx.cuda_device.server.copies import Copy, Fill
from pyptx.cuda_device.server.device_memory import Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.events import Event
from pyptx.cuda_device.server.graph_nodes import Capture, Graph, Node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.host_functions import HostCall
from pyptx.cuda_device.server.launches import KernelLaunch, LaunchConfig
from pyptx.cuda_device.server.modules import Kernel
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import Stream, stream_of, submit

__all__ = [
    "CHILD",
    "EMPTY",
    "HOST",
    "KERNEL",
    "MEMCPY",
    "MEMSET",
    "RECORD_EVENT",
    "WAIT_EVENT",
    "EventNode",
    "GraphExec",
    "fill_of",
    "handles_at",
    "kernel_launch",
    "add_child",
    "add_empty",
    "add_node",
    "write_nodes",
]

KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY, WAIT_EVENT, RECORD_EVENT = range(8)  # CUgraphNodeType
_KERNEL_PARAMS = struct.Struct("<Q7I4x4Q")
_MEMSET_PARAMS = struct.Struct("<2Q2I2Q")
_UPDATED, _TOPOLOGY_CHANGED, _TYPE_CHANGED = 0, 2, 3  # CUgraphExecUpdateResult
_AUTO_FREE = 1  # CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
_KNOWN_FLAGS = 1 | 2 | 4 | 8


@runtime_checkable
class Restorable(Protocol):
    """An operation that allocates memory at an address of its own."""

    allocation: Allocation

    def is_live(self, session: Session) -> bool:
        """Return True if the memory is accessible."""
        ...


@dataclass(eq=False)
class GraphExec:
    """An executable graph: the operations of its nodes in order, which later changes of the graph do not affect.

    Attributes:
        disabled: nodes that are left out.
    """

    graph: Graph
    flags: int
    steps: list[tuple[Node, Any]] = field(default_factory=list)
    disabled: set[Node] = field(default_factory=set)
    kind = CHILD
    label = "graph"

    def run(self, session: Session) -> None:
        for _, operation in self.steps:
            if isinstance(operation, Conditional):
                operation.prepare()
        if self.flags & _AUTO_FREE:
            for _, operation in self.steps:
                if isinstance(operation, Restorable) and operation.is_live(session):
                    session.memory.free(operation.allocation.address)
        for node, operation in self.steps:
            if operation is not None and node not in self.disabled:
                operation.run(session)

    def snapshot(self) -> GraphExec:
        """Return the graph as it is, for a launch that later changes do not affect."""
        return replace(self, steps=list(self.steps), disabled=set(self.disabled))

    def event_nodes(self) -> Iterator[EventNode]:
        """Yield the operations that record events or wait for them."""
        for node, operation in self.steps:
            if node not in self.disabled and isinstance(operation, EventNode):
                yield operation
            elif isinstance(operation, GraphExec):
                yield from operation.event_nodes()

    def seconds(self, session: Session) -> float:
        """Return the modeled duration of the longest path."""
        return max((start + taken for _, start, taken in self.timeline(session)), default=0.0)

    def timeline(self, session: Session) -> list[tuple[Any, float, float]]:
        """Return the operations with their modeled start, from that of the graph on, and their duration, in seconds."""
        ends: dict[Node, float] = {}
        found = []
        for node, operation in self.steps:
            start = max((ends[before] for before in node.dependencies), default=0.0)
            taken = operation.seconds(session) if operation is not None else 0.0
            ends[node] = start + taken
            if operation is not None:
                found.append((operation, start, taken))
        return found


@dataclass(eq=False)
class EventNode:
    """A node that records an event, or waits for one."""

    event: Event
    kind: int
    label = "event"

    def run(self, session: Session) -> None:
        if self.kind == RECORD_EVENT:
            if session.order is not None:
                self.event.clock = session.order.everything()

    def seconds(self, session: Session) -> float:
        return 0.0


# capture


@handles("cuStreamBeginCapture_v2")
def begin_capture(session: Session, handle: int, mode: int) -> None:
    stream = stream_of(session, handle)
    if handle in (0, 1):
        raise DriverError("STREAM_CAPTURE_UNSUPPORTED", "the legacy stream cannot capture a graph")
    if stream.capture is not None or mode not in (0, 1, 2):
        raise DriverError("ILLEGAL_STATE", "the stream captures a graph already, or the capture mode is unknown")
    graph = session.get(create(session, 0), Graph)
    stream.capture = Capture(session.new_handle(), graph, stream.handle, mode, session.thread, {stream.handle: []})
    session.captures.append(stream.capture)


@handles("cuStreamBeginCaptureToGraph")
def begin_capture_to(
    session: Session, handle: int, graph: int, dependencies: int, edges: int, count: int, mode: int
) -> None:
    before = [session.get(number, Node) for number in handles_at(session, dependencies, count)]
    stream, made = stream_of(session, handle), session.get(graph, Graph)
    begin_capture(session, handle, mode)
    capture = stream.capture
    assert capture is not None, "the stream captures"
    session.discard(capture.graph.handle)
    capture.graph, capture.frontiers = made, {stream.handle: before}


@handles("cuStreamUpdateCaptureDependencies_v2")
def update_capture(session: Session, handle: int, dependencies: int, edges: int, count: int, flags: int) -> None:
    stream = stream_of(session, handle)
    if stream.capture is None:
        raise DriverError("ILLEGAL_STATE", "the stream does not capture a graph")
    nodes = [session.get(number, Node) for number in handles_at(session, dependencies, count)]
    kept = [] if flags & 1 else stream.capture.frontiers.get(stream.handle, [])  # SET, else ADD
    stream.capture.frontiers[stream.handle] = list(dict.fromkeys([*kept, *nodes]))


@handles("cuStreamBeginCapture")
def begin_global_capture(session: Session, handle: int) -> None:
    begin_capture(session, handle, 0)


@handles("cuStreamEndCapture")
def end_capture(session: Session, handle: int) -> int:
    stream = stream_of(session, handle)
    capture = stream.capture
    if capture is None:
        raise DriverError("ILLEGAL_STATE", "the stream does not capture a graph")
    if capture.origin != stream.handle:
        raise DriverError("STREAM_CAPTURE_UNMATCHED", "the capture began in another stream")
    if capture.mode != 2 and capture.thread != session.thread:
        raise DriverError("STREAM_CAPTURE_WRONG_THREAD", "the capture began in another thread")
    session.captures.remove(capture)
    for stream in (found for _, found in session.all(Stream) if found.capture is capture):
        stream.capture = None
    if capture.invalid:
        raise DriverError("STREAM_CAPTURE_INVALIDATED", "an earlier call invalidated the capture of this stream")
    if not capture.joined():
        raise DriverError(
            "STREAM_CAPTURE_UNJOINED",
            "other streams take part in the capture, and the stream does not wait for them\n"
            "hint: record an event in them, and wait for it in the stream before the end of the capture",
        )
    return capture.graph.handle


@handles("cuStreamGetCaptureInfo")
def capture_status(session: Session, handle: int) -> tuple[int, int]:
    return capture_info(session, handle, 0, 0)[:2]


@handles("cuStreamGetCaptureInfo_v2")
def capture_info(session: Session, handle: int, dependencies: int, count: int) -> tuple[int, int, int]:
    return capture_info_with_edges(session, handle, dependencies, 0, count)


@handles("cuStreamGetCaptureInfo_v3")
def capture_info_with_edges(
    session: Session, handle: int, dependencies: int, edges: int, count: int
) -> tuple[int, int, int]:
    capture = stream_of(session, handle).capture
    if capture is None:
        return 0, 0, 0
    nodes = capture.frontiers.get(stream_of(session, handle).handle, ())
    if dependencies or edges:
        kept = session.kept_memory(16 * len(nodes))  # handles, then the data of the edges, which are all plain
        kept.bytes[: 8 * len(nodes)] = list(struct.pack(f"<{len(nodes)}Q", *(node.handle for node in nodes)))
        for place, address in ((dependencies, kept.address), (edges, kept.address + 8 * len(nodes))):
            if place:
                session.write(place, address.to_bytes(8, "little"))
    if count:
        session.write(count, len(nodes).to_bytes(8, "little"))
    return 2 if capture.invalid else 1, capture.number, capture.graph.handle


# graphs and their nodes


@handles("cuGraphCreate")
def create(session: Session, flags: int) -> int:
    handle = session.new_handle()
    return session.add(Graph(handle), handle)


@handles("cuGraphDestroy")
def destroy(session: Session, handle: int) -> None:
    for node in session.remove(handle, Graph).nodes:
        session.discard(node.handle)
        for body in node.operation.bodies if isinstance(node.operation, Conditional) else ():
            destroy(session, body.handle)


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
    return _add(session, graph, dependencies, count, CHILD, _executable(session.get(child, Graph), 0))


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
    node = session.remove(handle, Node)
    node.graph.nodes.remove(node)
    for other in node.graph.nodes:
        other.dependencies = [before for before in other.dependencies if before is not node]


@handles("cuGraphNodeGetType")
def node_type(session: Session, handle: int) -> int:
    return session.get(handle, Node).kind


@handles("cuGraphClone")
def clone(session: Session, handle: int) -> int:
    if any(isinstance(node.operation, (Conditional, Restorable)) for node in session.get(handle, Graph).nodes):
        raise DriverError("NOT_SUPPORTED", "graphs with conditional nodes or allocations cannot be cloned")
    original, made = session.get(handle, Graph), session.get(create(session, 0), Graph)
    copies: dict[Node, Node] = {}
    for node in original.ordered():
        before = [copies[dependency] for dependency in node.dependencies]
        copies[node] = made.add(session.new_handle(), node.kind, _copied(node.operation), before)
        copies[node].original = node
        session.add(copies[node], copies[node].handle)
    return made.handle


def _copied(operation: Any) -> Any:
    if isinstance(operation, Conditional):
        return operation.executable(lambda body: _executable(body, 0))
    return replace(operation) if isinstance(operation, (KernelLaunch, Copy, Fill, HostCall)) else operation


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
    session.get(handle, Graph)
    for source, target in zip(handles_at(session, sources, count), handles_at(session, targets, count), strict=True):
        session.get(target, Node).dependencies.append(session.get(source, Node))


@handles("cuGraphAddDependencies_v2")
def add_dependencies_with_edges(
    session: Session, handle: int, sources: int, targets: int, edges: int, count: int
) -> None:
    add_dependencies(session, handle, sources, targets, count)


# execution


def _executable(graph: Graph, flags: int) -> GraphExec:
    return GraphExec(graph, flags, [(node, _copied(node.operation)) for node in graph.ordered()])


@handles("cuGraphInstantiateWithFlags")
def instantiate(session: Session, handle: int, flags: int) -> int:
    if flags & ~_KNOWN_FLAGS:
        raise DriverError("INVALID_VALUE", f"cuGraphInstantiate: unknown flags 0x{flags:x}")
    if flags & 4:
        raise DriverError("NOT_SUPPORTED", "cuGraphInstantiate: launches of graphs by kernels are not simulated")
    return session.add(_executable(session.get(handle, Graph), flags))


@handles("cuGraphInstantiateWithParams")
def instantiate_with_params(session: Session, handle: int, params: int) -> int:
    flags = int.from_bytes(session.read(params, 8), "little")
    made = instantiate(session, handle, flags)
    session.write(params + 16, struct.pack("<Qi", 0, 0))  # no node with an error; success
    return made


@handles("cuGraphInstantiate", "cuGraphInstantiate_v2")
def instantiate_with_log(session: Session, handle: int, error_node: int, log: int, size: int) -> int:
    return instantiate(session, handle, 0)


@handles("cuGraphExecGetFlags")
def exec_flags(session: Session, handle: int) -> int:
    return session.get(handle, GraphExec).flags


@handles("cuGraphUpload")
def upload(session: Session, handle: int, stream: int) -> None:
    session.get(handle, GraphExec)
    stream_of(session, stream)


@handles("cuGraphLaunch")
def launch(session: Session, handle: int, stream: int) -> None:
    found = session.get(handle, GraphExec)
    nodes = list(found.event_nodes())
    before = [node.event.work for node in nodes if node.kind == WAIT_EVENT and node.event.work is not None]
    work = submit(session, stream, found.snapshot() if session.work.late else found, before)
    if work is not None and any(isinstance(step, Restorable) for _, step in found.steps):
        session.work.complete(work)  # the launch says if the memory is still in use
    for node in nodes:
        if work is not None and node.kind == RECORD_EVENT:
            node.event.work = work


@handles("cuGraphExecDestroy")
def destroy_exec(session: Session, handle: int) -> None:
    session.remove(handle, GraphExec)


@handles("cuGraphExecUpdate_v2")
def update(session: Session, handle: int, graph: int, result: int) -> None:
    found, other = session.get(handle, GraphExec), session.get(graph, Graph)
    changed = other.ordered()
    before = [node for node, _ in found.steps]
    problem = _UPDATED
    if len(changed) != len(before) or _shape(changed) != _shape(before):
        problem = _TOPOLOGY_CHANGED
    elif [node.kind for node in changed] != [node.kind for node in before]:
        problem = _TYPE_CHANGED
    if result:
        session.write(result, struct.pack("<i4x2Q", problem, 0, 0))
    if problem:
        raise DriverError(
            "GRAPH_EXEC_UPDATE_FAILURE", "the nodes or the edges of the graph changed; instantiate it again"
        )
    found.steps = [(own, _copied(node.operation)) for own, node in zip(before, changed, strict=True)]


def _shape(nodes: Sequence[Node]) -> list[list[int]]:
    places = {node: k for k, node in enumerate(nodes)}
    return [sorted(places[before] for before in node.dependencies) for node in nodes]
