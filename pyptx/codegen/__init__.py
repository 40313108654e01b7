"""The transpiler: PTX to Python source that traces back to the same program."""

from pyptx.codegen.execution import TranspileError
from pyptx.codegen.transpile import ir_to_python, ptx_to_python

__all__ = ["TranspileError", "ir_to_python", "ptx_to_python"]
