"""Python with one call an instruction and the exact names: what every program can be written as."""

from __future__ import annotations

from pyptx.codegen.directives import FileWriter
from pyptx.codegen.prove import TranspileError, proven
from pyptx.ir.nodes import Function, Module

__all__ = ["plain"]


def plain(module: Module, *, kernel_name: str | None = None) -> str:
    """One call an instruction, and the exact names; proven.

    Raises:
        TranspileError: it does not trace back.
    """
    first = next((f.name for f in module.entries), None)

    def name(function: Function) -> str:
        return kernel_name if kernel_name and function.name == first and function.is_entry else function.name

    text = FileWriter(module, function_name=name).text()
    found = proven(text, module)
    if found:
        raise TranspileError("the Python that was written traces to another program: " + "; ".join(found[:3]))
    return text
