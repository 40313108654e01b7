"""The node of `with ptx.expr():`, under the name the contract gives it."""

from pyptx.ir.nodes import CompoundExpr

__all__ = ["CompoundExpr"]
