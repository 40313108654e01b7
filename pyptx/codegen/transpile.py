"""Entry points of the transpiler: PTX text or a tree to Python source."""

from __future__ import annotations

from dataclasses import replace

from pyptx.codegen.file_writer import plain_python
from pyptx.codegen.sugar import apply_sugar
from pyptx.errors import UnknownNameError
from pyptx.ir.nodes import Function, Module, RawLine
from pyptx.parser import parse

__all__ = ["ir_to_python", "ptx_to_python"]


def ptx_to_python(
    source: str | bytes, *, sugar: bool = False, kernel_name: str | None = None, entry: str | None = None
) -> str:
    """Return Python source that traces to the same program as PTX text.

    Args:
        source: a PTX module.
        sugar: write readable Python (C++ names, `if` and loops, operators, wrappers, Python loops over repeated groups)
            wherever it is verified to trace to the same program and, if ptxas is installed, to the same machine code. By default: one call per instruction, exact names.
        kernel_name: Python name of the kernel; of the first one if there are several.
        entry: keep this entry only.
    Returns:
        The text of a Python file.
    Raises:
        ParseError: the text is not PTX.
        UnknownNameError: the module has no such entry. It is a KeyError.
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
        module = _select_entry(module, entry)
    return ir_to_python(module, sugar=sugar, kernel_name=kernel_name)


def ir_to_python(module: Module, *, sugar: bool = False, kernel_name: str | None = None) -> str:
    """Return Python source that traces to the same program as a tree; see `ptx_to_python`."""
    return (apply_sugar if sugar else plain_python)(_without_final_nul(module), kernel_name=kernel_name)


def _without_final_nul(module: Module) -> Module:
    """Return the module without the NUL that ends a C string."""
    match module.directives:
        case (*others, RawLine(text)) if text.endswith("\0"):
            return replace(module, directives=tuple(others))
    return module


def _select_entry(module: Module, name: str) -> Module:
    """Return the module without its other entries.

    Raises:
        UnknownNameError: the module has no such entry. It is a KeyError.
    """
    if name not in [f.name for f in module.entries]:
        raise UnknownNameError(
            f"the module has no entry {name!r}; expected one of {', '.join(f.name for f in module.entries)}"
        )
    return replace(
        module,
        directives=tuple(
            d for d in module.directives if not (isinstance(d, Function) and d.is_entry and d.name != name)
        ),
    )
