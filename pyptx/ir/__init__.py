"""The tree of a PTX module: `nodes`, their enumerations, and walking them."""

from pyptx.ir.nodes import *  # noqa: F403
from pyptx.ir.nodes import __all__ as _nodes
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace

__all__ = [*_nodes, "LinkingDirective", "ScalarType", "StateSpace"]
