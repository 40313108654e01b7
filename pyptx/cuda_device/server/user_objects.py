"""User objects: resources of the host whose destructors run when the last reference ends, also one that a graph holds."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import Graph
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__ = ["release_objects", "retained_objects"]

_NO_DESTRUCTOR_SYNC, _MOVE = 1, 1  # CU_USER_OBJECT_, CU_GRAPH_USER_OBJECT_
_MOST = (1 << 31) - 1


@dataclass(eq=False)
class UserObject:
    """A user object: the function of the host that destroys `data`, and the number of references."""

    data: int
    destroy: int
    references: int
    handle: int = 0
    missing = "INVALID_VALUE"


def _count(count: int) -> int:
    if not 0 < count <= _MOST:
        raise DriverError("INVALID_VALUE", f"{count} references to a user object; expected 1 to {_MOST}")
    return count


@handles("cuUserObjectCreate")
def create(session: Session, data: int, destroy: int, count: int, flags: int) -> int:
    if flags != _NO_DESTRUCTOR_SYNC or not destroy:
        raise DriverError("INVALID_VALUE", "cuUserObjectCreate takes a destructor and the flag NO_DESTRUCTOR_SYNC")
    made = UserObject(data, destroy, _count(count))
    made.handle = session.add(made)
    return made.handle


@handles("cuUserObjectRetain")
def retain(session: Session, handle: int, count: int) -> None:
    session.get(handle, UserObject).references += _count(count)


@handles("cuUserObjectRelease")
def release(session: Session, handle: int, count: int) -> None:
    _release(session, session.get(handle, UserObject), _count(count))


def _release(session: Session, found: UserObject, count: int) -> None:
    if count > found.references:
        raise DriverError("INVALID_VALUE", f"{count} of {found.references} references to a user object are released")
    found.references -= count
    if not found.references:
        session.discard(found.handle)
        session.call_host(found.destroy, found.data)


@handles("cuGraphRetainUserObject")
def retain_by_graph(session: Session, graph: int, handle: int, count: int, flags: int) -> None:
    owner, found = session.get(graph, Graph), session.get(handle, UserObject)
    if flags & ~_MOVE:
        raise DriverError("INVALID_VALUE", f"cuGraphRetainUserObject: unknown flags 0x{flags:x}")
    if not flags & _MOVE:
        found.references += _count(count)
    elif _count(count) > found.references - owner.objects[found]:
        raise DriverError("INVALID_VALUE", "cuGraphRetainUserObject moves more references than the caller has")
    owner.objects[found] += count


@handles("cuGraphReleaseUserObject")
def release_by_graph(session: Session, graph: int, handle: int, count: int) -> None:
    owner, found = session.get(graph, Graph), session.get(handle, UserObject)
    if _count(count) > owner.objects[found]:
        raise DriverError("INVALID_VALUE", "cuGraphReleaseUserObject releases more references than the graph has")
    owner.objects[found] -= count
    _release(session, found, count)


def retained_objects(owner: Graph) -> dict[UserObject, int]:
    """Return references of a copy of a graph, or of an executable graph, to the objects of the graph."""
    copied = {found: count for found, count in owner.objects.items() if count}
    for found, count in copied.items():
        found.references += count
    return copied


def release_objects(session: Session, objects: dict[UserObject, int]) -> None:
    """Release the references of a graph that is destroyed."""
    for found, count in list(objects.items()):
        if count:
            _release(session, found, count)
