"""Conditional nodes of graphs: bodies that run as a value tells, which kernels set by cudaGraphSetConditional.

A handle is the address of the value, so that the device function is a store (images/device_functions.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyptx.cuda_device.server.device_memory import Allocation
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import Graph
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__ = ["CONDITIONAL", "Conditional", "ConditionalValue", "value_of"]

CONDITIONAL = 13  # CUgraphNodeType
_IF, _WHILE, _SWITCH = range(3)  # CUgraphConditionalNodeType
_ASSIGN_DEFAULT = 1
_MOST_TURNS = 1 << 20  # of a loop, which would not end on a GPU either


@dataclass(eq=False)
class ConditionalValue:
    """The value of a handle.

    Attributes:
        default: assigned at each launch of the graph; None: the value is kept.
    """

    graph: Graph
    memory: Allocation
    default: int | None
    context: int

    def get(self) -> int:
        return int.from_bytes(self.memory.bytes[:4].tobytes(), "little")

    def set(self, value: int) -> None:
        self.memory.bytes[:4] = list(value.to_bytes(4, "little"))


@dataclass(frozen=True, eq=False)
class Conditional:
    """A conditional node: IF and IF-ELSE, WHILE, or SWITCH.

    Attributes:
        bodies: graphs; executable ones in an executable graph.
    """

    value: ConditionalValue
    type: int
    bodies: tuple[Any, ...]
    kind = CONDITIONAL
    label = "conditional node"

    def executable(self, instantiate: Any) -> Conditional:
        """Return the node of an executable graph."""
        return replace(self, bodies=tuple(instantiate(body) for body in self.bodies))

    def prepare(self) -> None:
        """Assign the default value, at the launch of the graph."""
        if self.value.default is not None:
            self.value.set(self.value.default)

    def run(self, session: Session) -> None:
        value = self.value.get()
        if self.type == _WHILE:
            for _ in range(_MOST_TURNS):
                if not self.value.get():
                    return
                self.bodies[0].run(session)
            raise DriverError("LAUNCH_TIMEOUT", f"the body of a conditional node ran {_MOST_TURNS:,} times")
        chosen = value if self.type == _SWITCH else 0 if value else 1
        if chosen < len(self.bodies):
            self.bodies[chosen].run(session)

    def seconds(self, session: Session) -> float:
        return 0.0


def value_of(session: Session, handle: int) -> ConditionalValue:
    """Return the value of a handle.

    Raises:
        DriverError: it is not a handle of a conditional node.
    """
    for _, found in session.all(ConditionalValue):
        if found.memory.address == handle:
            return found
    raise DriverError("INVALID_VALUE", f"0x{handle:x} is not a handle of cuGraphConditionalHandleCreate")


@handles("cuGraphConditionalHandleCreate")
def create_handle(session: Session, graph: int, context: int, default: int, flags: int) -> int:
    found = session.get(graph, Graph)
    if flags & ~_ASSIGN_DEFAULT:
        raise DriverError("INVALID_VALUE", f"cuGraphConditionalHandleCreate: unknown flags 0x{flags:x}")
    memory = session.memory.allocate(4, session.context, "variable", name="value of a conditional node")
    value = ConditionalValue(found, memory, default if flags & _ASSIGN_DEFAULT else None, session.context)
    session.add(value)
    return memory.address


def conditional(session: Session, handle: int, kind: int, size: int) -> Conditional:
    """Return a conditional node with empty bodies.

    Raises:
        DriverError: the type or the number of bodies is invalid.
    """
    most = {_IF: 2, _WHILE: 1, _SWITCH: 1 << 16}.get(kind, 0)
    if not 1 <= size <= most:
        raise DriverError("INVALID_VALUE", f"a conditional node of type {kind} with {size} bodies; at most {most}")
    bodies = []
    for _ in range(size):
        number = session.new_handle()
        bodies.append(session.get(session.add(Graph(number, is_owned=True), number), Graph))
    return Conditional(value_of(session, handle), kind, tuple(bodies))
