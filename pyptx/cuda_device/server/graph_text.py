"""Graphs as text for Graphviz: cuGraphDebugDotPrint."""

from __future__ import annotations

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import Graph
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__ = ["graphviz"]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def graphviz(graph: Graph) -> str:
    """Return a graph in the language of Graphviz: nodes with what they do, and their dependencies."""
    names = {node: f"node_{k}" for k, node in enumerate(graph.nodes)}
    rows = [f"  {names[node]} [label={_quoted(getattr(node.operation, 'label', 'empty'))}];" for node in graph.nodes]
    rows += [f"  {names[before]} -> {names[node]};" for node in graph.nodes for before in node.dependencies]
    return "\n".join(["digraph cuda_graph {", "  node [shape=box];", *rows, "}", ""])


@handles("cuGraphDebugDotPrint")
def write(session: Session, handle: int, name: bytes, flags: int) -> None:
    path = session.path(name)
    try:
        path.write_text(graphviz(session.get(handle, Graph)), encoding="utf-8")
    except OSError as error:
        raise DriverError("OPERATING_SYSTEM", f"cuGraphDebugDotPrint: {error}") from error
