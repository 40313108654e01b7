"""Cells of Triton kernels under `%%tritonkernel`: run on the simulator, checked, debugged."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from pyptx.check import Report
from pyptx.jupyter.cells import Cell, CellSyntaxError, evaluate, run_statement
from pyptx.jupyter.kernel_runs import CompiledKernel
from pyptx.triton import simulate
from pyptx.triton.loading import TritonEntry, load_launch
from pyptx.workbench.tools import check_of, counters_of

__all__ = ["check_launch", "compiled_launches", "debug_launch", "run_triton_cell"]

_EXAMPLE = "add[(8,)](x, y, out, 1000, BLOCK=128)"


def run_triton_cell(shell: InteractiveShell, cell: Cell, target: str, run: str | None) -> dict[str, TritonEntry]:
    """Run a cell, and a statement after it, on the simulator; return the last launch of each kernel by name.

    Args:
        target: the target that its kernels are compiled for.
        run: the statement of `--run`.
    Raises:
        UsageError: the statement launches no Triton kernel.
    """
    __tracebackhide__ = True
    with simulate(target, keep_launches=True) as session:
        cell.run(shell)
        if run is not None:
            before = len(session.launches)
            run_statement(shell, run.rstrip(";") + ";", "--run")  # a launch returns Triton's compiled kernel
            if len(session.launches) == before:
                raise UsageError(f'--run {run}: launched no Triton kernel; expected a launch such as "{_EXAMPLE}"')
    return {entry.name: entry for entry in session.launches}


def compiled_launches(
    launched: Mapping[str, TritonEntry], options: tuple[str, ...], ir: str | None = None
) -> list[CompiledKernel]:
    """Return the launched kernels as compiled, with the counters of their launches.

    Args:
        options: of ptxas.
        ir: "ttgir" or "ttir", an IR to show.
    Raises:
        CompileError: the assembler rejects one.
    """
    found = []
    for entry in launched.values():
        block = entry.config.block
        assert isinstance(block, tuple), "a launch configuration has three sizes"
        params = {
            name: value if isinstance(value, str | bool | int | float | None) else repr(value)
            for name, value in entry._specialization.params.items()
        }
        counters = counters_of(entry._specialization)
        compiled = entry.compile(options=options)
        check = check_of(entry._specialization, compiled)
        lines = None if ir is None else entry.stages.ir(ir)
        found.append(CompiledKernel(compiled, params, block, entry.config.smem_bytes, counters, check=check, ir=lines))
    return found


def check_launch(shell: InteractiveShell, call: str, target: str) -> tuple[TritonEntry, Report]:
    """Check a launch with values of the notebook in several schedules; display the report.

    Raises:
        UsageError: it launches no Triton kernel.
    """
    __tracebackhide__ = True
    entry = _loaded(shell, call, target, "--check")
    report = entry.check()
    display(report)
    return entry, report


def debug_launch(shell: InteractiveShell, call: str, target: str) -> tuple[TritonEntry, Any]:
    """Open a debugging session for a launch with values of the notebook.

    Raises:
        UsageError: it launches no Triton kernel.
    """
    __tracebackhide__ = True
    entry = _loaded(shell, call, target, "--debug")
    return entry, entry.debug()


def _loaded(shell: InteractiveShell, call: str, target: str, option: str) -> TritonEntry:
    __tracebackhide__ = True
    try:
        tree = ast.parse(call.strip(), f"<{option}>", "eval")
    except SyntaxError as error:
        raise CellSyntaxError(f"{option} {call}: {error.msg}") from None
    entry = load_launch(lambda: evaluate(shell, tree, call, option), target)
    if entry is None:
        raise UsageError(f'{option} {call}: launches no Triton kernel; expected a launch such as "{_EXAMPLE}"')
    return entry
