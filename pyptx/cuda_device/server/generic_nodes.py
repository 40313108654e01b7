"""Nodes of any type by one function: cuGraphAddNode."""

from __future__ import annotations

import struct
from typing import Any

from pyptx.cuda_device.server.array_copies import box_copy_3d
from pyptx.cuda_device.server.conditional_nodes import CONDITIONAL, conditional
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
)
from pyptx.cuda_device.server.graph_memory import MEM_ALLOC, MEM_FREE, add_allocation, release_of
from pyptx.cuda_device.server.graph_nodes import Graph
from pyptx.cuda_device.server.graphs import (
    add_child,
    add_empty,
    add_node,
    fill_of,
    kernel_launch,
)
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.host_functions import HostCall
from pyptx.cuda_device.server.session import Session

__all__ = ["UNION", "operation_of"]

UNION = 16  # offset of the parameters of the type in CUgraphNodeParams


@handles("cuGraphAddNode_v2", "cuGraphAddNode_v3")
def add(session: Session, graph: int, dependencies: int, edges: int, count: int, params: int) -> int:
    kind = int.from_bytes(session.read(params, 4), "little", signed=True)
    own = params + UNION
    if kind == EMPTY:
        return add_empty(session, graph, dependencies, count)
    if kind == CHILD:
        return add_child(session, graph, dependencies, count, _word(session, own))
    if kind == MEM_ALLOC:
        return add_allocation(session, graph, dependencies, count, own)
    if kind == CONDITIONAL:
        return _add_conditional(session, graph, dependencies, count, own)
    return add_node(session, graph, dependencies, count, operation_of(session, kind, own))


def _word(session: Session, place: int) -> int:
    return int.from_bytes(session.read(place, 8), "little")


def operation_of(session: Session, kind: int, own: int) -> Any:
    """Return the operation of a node; `own` is the address of the parameters of its type.

    Raises:
        DriverError: they are invalid.
    """
    if kind == KERNEL:
        return kernel_launch(session, session.read(own, 72))
    if kind == MEMCPY:
        copy = box_copy_3d(session, session.read(own + 16, 200))
        if copy is None:
            raise DriverError("INVALID_VALUE", "cuGraphAddNode: the copy is empty")
        return copy
    if kind == MEMSET:
        return fill_of(session, session.read(own, 40))
    if kind == HOST:
        return HostCall(*struct.unpack("<2Q", session.read(own, 16)))
    if kind in (RECORD_EVENT, WAIT_EVENT):
        return EventNode(session.get(_word(session, own), Event), kind)
    if kind == MEM_FREE:
        return release_of(session, _word(session, own))
    raise DriverError("NOT_SUPPORTED", f"cuGraphAddNode: nodes of type {kind} are not simulated")


def _add_conditional(session: Session, graph: int, dependencies: int, count: int, own: int) -> int:
    handle, kind, size = struct.unpack("<QiI", session.read(own, 16))
    made = conditional(session, handle, kind, size)
    if made.value.graph is not session.get(graph, Graph) and not made.value.graph.contains(session.get(graph, Graph)):
        raise DriverError("INVALID_VALUE", "cuGraphAddNode: the handle was created for another graph")
    kept = session.memory.allocate(8 * size, session.context, "host", name="bodies of a conditional node")
    kept.context = 0  # it is the driver's
    kept.bytes[:] = list(struct.pack(f"<{size}Q", *(body.handle for body in made.bodies)))
    session.write(own + 16, kept.address.to_bytes(8, "little"))
    return add_node(session, graph, dependencies, count, made)
