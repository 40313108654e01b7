"""PTX as Python: `ptx_to_python` writes a file that traces back to the same program."""

from pyptx.codegen.codegen import ir_to_python, ptx_to_python
from pyptx.codegen.prove import TranspileError

__all__ = ["TranspileError", "ir_to_python", "ptx_to_python"]
