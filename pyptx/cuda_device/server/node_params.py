"""Parameters of nodes as queries return them, and changes of the parameters of nodes of any type."""

from __future__ import annotations

import struct

from pyptx.cuda_device.server.array_copies import params_of_copy
from pyptx.cuda_device.server.copies import Copy, Fill
from pyptx.cuda_device.server.device_memory import Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.generic_nodes import UNION, operation_of
from pyptx.cuda_device.server.graph_changes import event_of, node_of, replace_in_exec
from pyptx.cuda_device.server.graph_execution import CHILD, KERNEL, MEMCPY, EventNode, GraphExec
from pyptx.cuda_device.server.graph_memory import MemoryAllocation, MemoryRelease, allocation_params
from pyptx.cuda_device.server.graph_nodes import Node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.host_functions import HostCall
from pyptx.cuda_device.server.launches import KernelLaunch
from pyptx.cuda_device.server.session import Session

__all__: list[str] = []

_KERNEL = struct.Struct("<Q7I4x4Q")
_PARAMS_BYTES = 256  # CUgraphNodeParams
_CLUSTER, _COOPERATIVE = 4, 2  # CUlaunchAttributeID
_ATTRIBUTE_BYTES = 64


def _arguments(session: Session, node: Node, launch: KernelLaunch) -> int:
    """Return the address of pointers to the arguments of a kernel node, which live as long as the node."""
    slots, data = launch.kernel.program.symbols.params, launch.params
    start = -(-8 * len(slots) // 16) * 16
    kept: Allocation = session.memory.allocate(start + len(data) or 1, 0, "host", name="arguments of a kernel node")
    pointers = struct.pack(f"<{len(slots)}Q", *(kept.address + start + slot.offset for slot in slots))
    kept.bytes[: len(pointers)] = list(pointers)
    kept.bytes[start : start + len(data)] = list(data)
    node.kept.append(kept)
    return kept.address


def _kernel(session: Session, node: Node) -> bytes:
    launch = node.operation
    config = launch.config
    places = _arguments(session, node, launch)
    return _KERNEL.pack(launch.kernel.handle, *config.grid, *config.block, config.shared_bytes, places, 0, 0, 0)


@handles("cuGraphKernelNodeGetParams_v2")
def kernel_params(session: Session, handle: int) -> bytes:
    return _kernel(session, node_of(session, handle, KERNEL))


@handles("cuGraphMemcpyNodeGetParams")
def copy_params(session: Session, handle: int) -> bytes:
    return params_of_copy(node_of(session, handle, MEMCPY).operation)


# nodes of any type


@handles("cuGraphNodeGetParams")
def params(session: Session, handle: int) -> bytes:
    """Return CUgraphNodeParams of a node."""
    node = session.get(handle, Node)
    match node.operation:
        case None:
            own = b""
        case KernelLaunch():
            own = _kernel(session, node)
        case Copy() as copy:
            own = bytes(16) + params_of_copy(copy)
        case Fill() as fill:
            own = fill.params()
        case HostCall(function, data):
            own = struct.pack("<2Q", function, data)
        case EventNode():
            own = event_of(session, node).to_bytes(8, "little")
        case GraphExec() as child:
            own = child.graph.handle.to_bytes(8, "little")
        case MemoryAllocation():
            own = allocation_params(session, handle)
        case MemoryRelease() as release:
            own = release.address.to_bytes(8, "little")
        case _:
            raise DriverError("NOT_SUPPORTED", f"cuGraphNodeGetParams: nodes of type {node.kind} are not simulated")
    return (struct.pack("<i12x", node.kind) + own).ljust(_PARAMS_BYTES, b"\0")


def _changed(session: Session, node: Node, data: int) -> object:
    kind = int.from_bytes(session.read(data, 4), "little", signed=True)
    if kind != node.kind:
        raise DriverError("INVALID_VALUE", f"parameters of type {kind} for a node of type {node.kind}")
    if isinstance(node.operation, (MemoryAllocation, MemoryRelease)) or kind == CHILD:
        raise DriverError("NOT_SUPPORTED", f"the parameters of nodes of type {kind} cannot be changed")
    return operation_of(session, kind, data + UNION)


@handles("cuGraphNodeSetParams_v2")
def set_params(session: Session, handle: int, data: int) -> None:
    node = session.get(handle, Node)
    node.operation = _changed(session, node, data)


@handles("cuGraphExecNodeSetParams")
def set_exec_params(session: Session, handle: int, node: int, data: int) -> None:
    found = session.get(node, Node)
    replace_in_exec(session, handle, node, found.kind, _changed(session, found, data))


# attributes of kernel nodes


@handles("cuGraphKernelNodeSetAttribute")
def set_attribute(session: Session, handle: int, number: int, value: bytes) -> None:
    launch: KernelLaunch = node_of(session, handle, KERNEL).operation
    changed = launch.with_attributes(session, {**launch.attributes, number: value})
    node_of(session, handle, KERNEL).operation = changed


@handles("cuGraphKernelNodeGetAttribute")
def get_attribute(session: Session, handle: int, number: int) -> bytes:
    launch: KernelLaunch = node_of(session, handle, KERNEL).operation
    if number == _CLUSTER:
        value = struct.pack("<3I", *launch.config.cluster)
    elif number == _COOPERATIVE:
        value = struct.pack("<i", launch.config.cooperative)
    else:
        value = launch.attributes.get(number, b"")
    return value.ljust(_ATTRIBUTE_BYTES, b"\0")


@handles("cuGraphKernelNodeCopyAttributes")
def copy_attributes(session: Session, to: int, source: int) -> None:
    given: KernelLaunch = node_of(session, source, KERNEL).operation
    node = node_of(session, to, KERNEL)
    node.operation = node.operation.with_attributes(session, given.attributes)
