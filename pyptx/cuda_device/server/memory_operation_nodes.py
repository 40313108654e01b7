"""Nodes of graphs with batches of stream memory operations."""

from __future__ import annotations

import struct

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_changes import node_of, replace_in_exec
from pyptx.cuda_device.server.graphs import add_node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.value_operations import BATCH_MEM_OP, Operations, operations_of

__all__: list[str] = []

_PARAMS = struct.Struct("<QI4xQI4x")  # CUDA_BATCH_MEM_OP_NODE_PARAMS: context, count, array, flags


def _operations(session: Session, data: bytes) -> Operations:
    _, count, place, flags = _PARAMS.unpack(data)
    return operations_of(session, count, place, flags)


@handles("cuGraphAddBatchMemOpNode")
def add(session: Session, graph: int, dependencies: int, count: int, data: bytes) -> int:
    return add_node(session, graph, dependencies, count, _operations(session, data))


@handles("cuGraphBatchMemOpNodeGetParams")
def params(session: Session, handle: int) -> bytes:
    node = node_of(session, handle, BATCH_MEM_OP)
    if not isinstance(node.operation, Operations):
        raise DriverError("NOT_SUPPORTED", "parameters of a memory operation that was captured alone")
    given = node.operation.given
    kept = session.memory.allocate(len(given), 0, "host", name="parameters of a node")
    kept.bytes[:] = list(given)
    node.kept.append(kept)
    return _PARAMS.pack(session.context, len(given) // 48, kept.address, 0)


@handles("cuGraphBatchMemOpNodeSetParams")
def set_params(session: Session, handle: int, data: bytes) -> None:
    node_of(session, handle, BATCH_MEM_OP).operation = _operations(session, data)


@handles("cuGraphExecBatchMemOpNodeSetParams")
def set_exec_params(session: Session, handle: int, node: int, data: bytes) -> None:
    replace_in_exec(session, handle, node, BATCH_MEM_OP, _operations(session, data))
