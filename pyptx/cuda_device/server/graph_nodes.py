"""Graphs as data: nodes with their dependencies, and the capture of streams into a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pyptx.cuda_device.server.errors import DriverError

__all__ = ["GLOBAL", "RELAXED", "THREAD_LOCAL", "Capture", "Graph", "Node"]

GLOBAL, THREAD_LOCAL, RELAXED = range(3)  # CUstreamCaptureMode


@dataclass(eq=False)
class Node:
    """A node of a graph.

    Attributes:
        kind: CUgraphNodeType.
        operation: what it does; None for an empty node.
        original: the node that it is a copy of, in a clone.
        kept: memory of queries of its parameters, freed with it.
    """

    handle: int
    graph: Graph
    kind: int
    operation: Any
    dependencies: list[Node]
    original: Node | None = None
    kept: list[Any] = field(default_factory=list)
    missing = "INVALID_VALUE"


@dataclass(eq=False)
class Graph:
    """A graph of operations.

    Attributes:
        objects: references to user objects.
        is_owned: True for a graph that is part of a node.
    """

    handle: int
    nodes: list[Node] = field(default_factory=list)
    is_owned: bool = False
    objects: Counter[Any] = field(default_factory=Counter)
    missing = "INVALID_VALUE"

    def add(self, handle: int, kind: int, operation: Any, dependencies: Iterable[Node]) -> Node:
        """Add a node.

        Raises:
            DriverError: a dependency is a node of another graph.
        """
        before = list(dict.fromkeys(dependencies))
        if any(node.graph is not self for node in before):
            raise DriverError("INVALID_VALUE", "a dependency is a node of another graph")
        node = Node(handle, self, kind, operation, before)
        self.nodes.append(node)
        return node

    def contains(self, other: Graph) -> bool:
        """Return True if a graph is the body of a conditional node of this one, or of such a body."""
        bodies = [body for node in self.nodes for body in getattr(node.operation, "bodies", ())]
        return other in bodies or any(body.contains(other) for body in bodies)

    def ordered(self) -> list[Node]:
        """Return the nodes, each after those it depends on.

        Raises:
            DriverError: they depend on each other in a cycle.
        """
        found: list[Node] = []
        done: set[Node] = set()
        remaining = list(self.nodes)
        while remaining:
            ready = [node for node in remaining if done.issuperset(node.dependencies)]
            if not ready:
                raise DriverError("INVALID_VALUE", "the nodes of the graph depend on each other in a cycle")
            found += ready
            done.update(ready)
            remaining = [node for node in remaining if node not in done]
        return found


@dataclass(eq=False)
class Capture:
    """The capture of streams into a graph.

    Attributes:
        origin: handle of the stream in which it began.
        frontiers: by stream, the nodes that its next operation depends on.
        invalid: True after a call that a capture does not permit.
    """

    number: int
    graph: Graph
    origin: int
    mode: int
    thread: int
    frontiers: dict[int, list[Node]]
    invalid: bool = False

    def joined(self) -> bool:
        """Return True if the operations of all streams precede the end of the origin."""
        pending, reached = list(self.frontiers.get(self.origin, ())), set()
        while pending:
            node = pending.pop()
            if node not in reached:
                reached.add(node)
                pending += node.dependencies
        return all(node in reached for nodes in self.frontiers.values() for node in nodes)
