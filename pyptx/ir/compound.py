"""Compatibility alias: the node of `with ptx.expr():` under the module name of the 0.1 API."""

from pyptx.ir.nodes import CompoundExpr

__all__ = ["CompoundExpr"]
