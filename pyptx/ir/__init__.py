"""Intermediate representation of a PTX module: nodes, enumerations and traversal."""

from pyptx.ir import nodes
from pyptx.ir.nodes import *  # noqa: F403
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace

__all__ = ["LinkingDirective", "ScalarType", "StateSpace"]
__all__ += nodes.__all__
