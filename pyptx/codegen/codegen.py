"""Compatibility alias: `pyptx.codegen` under the module name of the 0.1 API."""

from pyptx.codegen.transpile import ir_to_python, ptx_to_python

__all__ = ["ir_to_python", "ptx_to_python"]
