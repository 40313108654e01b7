"""The transpiler: PTX to Python source that traces back to the same program."""

from pyptx.codegen.transpile import ir_to_python, ptx_to_python
from pyptx.codegen.verify import TranspileError

__all__ = ["TranspileError", "ir_to_python", "ptx_to_python"]
