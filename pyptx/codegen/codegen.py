"""PTX as editable Python that traces back to it."""

from __future__ import annotations

from dataclasses import replace

from pyptx.codegen.plain import plain
from pyptx.codegen.sugar import apply_sugar
from pyptx.ir.nodes import Function, Module
from pyptx.parser import parse

__all__ = ["ir_to_python", "ptx_to_python"]


def ptx_to_python(source: str | bytes, *, sugar: bool = False, kernel_name: str | None = None,
                  entry: str | None = None) -> str:
    """Python source that traces to the same program as PTX text.

    Args:
        sugar: write what is readable - names as in C++, `if` and loops, operators, wrappers, Python loops over
            repeated groups - wherever that is proven to trace to the same program. Otherwise one call an instruction
            and the exact names.
        kernel_name: the Python name of the kernel (of the first one, if there are several).
        entry: leave out the other entries of the text.
    Returns:
        The text of a Python file.
    Raises:
        ParseError: the text is no PTX.
        KeyError: there is no such entry.
        TranspileError: the result does not trace back to the PTX.
    Examples:
        >>> print(ptx_to_python(".version 8.5 .target sm_90 .address_size 64 .entry f() { bar.sync 0; ret; }"))
        from pyptx import kernel, reg, smem, ptx
        @kernel(arch="sm_90", version=(8, 5), linking=None)
        def f():
            ptx.inst.bar.sync(0)
            ptx.ret()
    """
    module = parse(source)
    if entry is not None:
        module = _only_entry(module, entry)
    return ir_to_python(module, sugar=sugar, kernel_name=kernel_name)


def ir_to_python(module: Module, *, sugar: bool = False, kernel_name: str | None = None) -> str:
    """Python source that traces to the same program as a tree; see ptx_to_python."""
    return (apply_sugar if sugar else plain)(module, kernel_name=kernel_name)


def _only_entry(module: Module, name: str) -> Module:
    """The module without its other entries.

    Raises:
        KeyError: there is no such entry.
    """
    if name not in [f.name for f in module.entries]:
        raise KeyError(f"there is no entry {name!r}; expected one of {', '.join(f.name for f in module.entries)}")
    return replace(module, directives=tuple(
        d for d in module.directives if not (isinstance(d, Function) and d.is_entry and d.name != name)))
