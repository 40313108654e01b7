"""Comparison of kernels, recorded versions, files and PTX text."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pyptx import history
from pyptx.assembly import Assembly, compile_module
from pyptx.compiled import Compiled, load_cubin
from pyptx.errors import OperandError, OptionError
from pyptx.ir.visit import undefined_functions
from pyptx.jit import JitKernel
from pyptx.parser import parse
from pyptx.views.diffs.diff import Diff, DiffOperand, compare
from pyptx.workbench.program import Entry, Program, load

__all__ = ["compiled_of", "diff", "operand_of"]


def diff(
    a: Any,
    b: Any,
    *,
    level: str = "sass",
    block: int | tuple[int, ...] | None = None,
    dynamic_shared_bytes: int | None = None,
    titles: tuple[str | None, str | None] = (None, None),
    counters: tuple[Any, Any] = (None, None),
) -> Diff:
    """Compare two kernels: identical, renamed, rescheduled and different instructions, and the Python lines behind them.

    Args:
        a, b: references as for `compiled_of`: a Compiled, a Kernel, an Entry, a path to a .cu, .ptx or .cubin file, PTX text,
            or a version.
        level: "sass", "ptx" or "python": the level shown first; the diff contains all of them.
        block: threads of a block, for the occupancy; default: that of the kernel or version.
        dynamic_shared_bytes: dynamic shared memory of a launch, for the occupancy; default: that of the kernel, or 0.
        titles: titles of the sides; default: the name of the kernel, or of the version.
        counters: of a simulated launch of each side, as of `linked`; default: what the version was kept with. With
            both, issue cycles are modeled for the executed instructions.
    Raises:
        ValueError: an unknown level; also the errors of `compiled_of`.
    """
    return compare(
        operand_of(a),
        operand_of(b),
        level=level,
        block=block,
        dynamic_shared_bytes=dynamic_shared_bytes,
        titles=titles,
        counters=counters,
    )


def compiled_of(reference: Any) -> Compiled:
    """Return the compiled code of a reference; references and errors as for `operand_of`."""
    return cast("Compiled", operand_of(reference).compiled)


def operand_of(reference: Any) -> DiffOperand:
    """Resolve a reference to one side of a comparison.

    Args:
        reference: a Compiled; a Kernel, or an Entry or Program that was loaded, which is compiled with its defaults; a
            path to a .cu file, which is compiled for sm_90a, a .ptx file, which is assembled for its target, or a .cubin
            file; PTX text; a version of the
            history, or its name such as "rms_norm@3" or a label.
    Raises:
        ValueError: a path with another suffix, or PTX without a target.
        VersionError: no such version.
        TypeError: anything else.
        OSError, ParseError, CompileError, ToolError: the file cannot be read or compiled.
    """
    if isinstance(reference, DiffOperand):
        return reference
    if isinstance(reference, Assembly):
        return DiffOperand(reference)
    if isinstance(reference, JitKernel):
        specialization = reference.specialize()
        return DiffOperand(specialization.compile(), reference.block_of(specialization), reference.smem)
    if isinstance(reference, Entry | Program):
        return DiffOperand(reference.compile())
    if isinstance(reference, str) and "\n" in reference:
        return DiffOperand(replace(load(reference).compile(), name="PTX text"))
    if isinstance(reference, str) and ("@" in reference or not Path(reference).suffix):
        reference = history.version(reference)
    if isinstance(reference, history.Version):
        return DiffOperand(
            replace(reference.compiled(), name=reference.ref),
            reference.block,
            reference.dynamic_shared_bytes,
            reference.counters,
        )
    if isinstance(reference, str | os.PathLike):
        return DiffOperand(_from_file(Path(reference)))
    raise OperandError(
        f"cannot compare {type(reference).__name__}; expected a Compiled, a kernel, an entry, a path to a "
        ".cu, .ptx or .cubin file, PTX text or the name of a version"
    )


def _from_file(path: Path) -> Compiled:
    if path.suffix == ".cubin":
        return load_cubin(path)
    if path.suffix == ".cu":
        from pyptx.workbench.cuda_program import cuda  # late: it needs NumPy

        return cuda(path).compile()
    if path.suffix != ".ptx":
        raise OptionError(f"{path}: expected a file that ends in .cu, .ptx or .cubin")
    source = path.read_text(encoding="utf-8")
    module = parse(source)
    places = (None,) * len(source.split("\n"))
    return compile_module(
        module,
        source,
        places,
        target=module.target.targets[0],
        name=path.stem,
        artifact=Compiled,
        relocatable=not module.entries or bool(undefined_functions(module)),
    )
