"""Executable graphs: instantiation, update and launches."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from pyptx.cuda_device.server.conditional_nodes import Conditional
from pyptx.cuda_device.server.copies import Copy, Fill
from pyptx.cuda_device.server.device_memory import Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.events import Event
from pyptx.cuda_device.server.graph_nodes import Graph, Node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.host_functions import HostCall
from pyptx.cuda_device.server.launches import KernelLaunch
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import stream_of, submit
from pyptx.cuda_device.server.user_objects import release_objects, retained_objects

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
    "Restorable",
    "copied",
    "executable",
]

KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY, WAIT_EVENT, RECORD_EVENT = range(8)  # CUgraphNodeType
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
        shape: places of the steps that each step follows.
        disabled: nodes that are left out.
        objects: references to user objects.
    """

    graph: Graph
    flags: int
    steps: list[tuple[Node, Any]] = field(default_factory=list)
    shape: list[list[int]] = field(default_factory=list)
    disabled: set[Node] = field(default_factory=set)
    objects: dict[Any, int] = field(default_factory=dict)
    kind = CHILD
    missing = "INVALID_VALUE"
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
        ends: list[float] = []
        found = []
        for (_, operation), after in zip(self.steps, self.shape, strict=True):
            start = max((ends[before] for before in after), default=0.0)
            taken = operation.seconds(session) if operation is not None else 0.0
            ends.append(start + taken)
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


def executable(graph: Graph, flags: int) -> GraphExec:
    """Return the executable graph of a graph as it is now."""
    nodes = graph.ordered()
    return GraphExec(graph, flags, [(node, copied(node.operation)) for node in nodes], _shape(nodes))


def copied(operation: Any) -> Any:
    """Return a copy of an operation, which later changes of its node do not affect."""
    if isinstance(operation, Conditional):
        return operation.executable(lambda body: executable(body, 0))
    if isinstance(operation, GraphExec):  # as its graph is now
        return executable(operation.graph, 0)
    return replace(operation) if isinstance(operation, (KernelLaunch, Copy, Fill, HostCall)) else operation


@handles("cuGraphInstantiateWithFlags")
def instantiate(session: Session, handle: int, flags: int) -> int:
    if flags & ~_KNOWN_FLAGS:
        raise DriverError("INVALID_VALUE", f"cuGraphInstantiate: unknown flags 0x{flags:x}")
    if flags & 4:
        raise DriverError("NOT_SUPPORTED", "cuGraphInstantiate: launches of graphs by kernels are not simulated")
    made = executable(session.get(handle, Graph), flags)
    made.objects = retained_objects(made.graph)
    return session.add(made)


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
    release_objects(session, session.remove(handle, GraphExec).objects)


@handles("cuGraphExecUpdate_v2")
def update(session: Session, handle: int, graph: int, result: int) -> None:
    found, other = session.get(handle, GraphExec), session.get(graph, Graph)
    changed = other.ordered()
    before = [node for node, _ in found.steps]
    problem = _UPDATED
    if len(changed) != len(before) or _shape(changed) != found.shape:
        problem = _TOPOLOGY_CHANGED
    elif [node.kind for node in changed] != [node.kind for node in before]:
        problem = _TYPE_CHANGED
    if result:
        session.write(result, struct.pack("<i4x2Q", problem, 0, 0))
    if problem:
        raise DriverError(
            "GRAPH_EXEC_UPDATE_FAILURE", "the nodes or the edges of the graph changed; instantiate it again"
        )
    found.steps = [(own, copied(node.operation)) for own, node in zip(before, changed, strict=True)]
    release_objects(session, found.objects)
    found.objects = retained_objects(other)


def _shape(nodes: Sequence[Node]) -> list[list[int]]:
    places = {node: k for k, node in enumerate(nodes)}
    return [sorted(places[before] for before in node.dependencies) for node in nodes]
