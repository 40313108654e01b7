"""`--check`: a call of a kernel of the cell, checked in several schedules instead of run."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from IPython.core.error import UsageError
from IPython.display import display

from pyptx.check import Report
from pyptx.jupyter.cells import evaluate
from pyptx.kernel import Kernel

__all__ = ["check"]


def check(shell, call: str, kernels: Mapping[str, Kernel]) -> Report:
    """Check a call such as `gemm(a, b, random=8)` with values of the notebook, and display the report.

    Raises:
        UsageError: it is no call of a kernel of the cell.
    """
    __tracebackhide__ = True
    try:
        tree = ast.parse(call.strip(), "<--check>", "eval")
    except SyntaxError:
        tree = None
    match tree:
        case ast.Expression(ast.Call(func=ast.Name(id=name))) if name in kernels:
            tree.body.func = ast.copy_location(ast.Attribute(tree.body.func, "check", ast.Load()), tree.body.func)
        case _:
            raise UsageError(f"--check {call}: expected a call of a kernel of this cell, such as "
                             f'"{next(iter(kernels))}(x)"')
    report = evaluate(shell, ast.fix_missing_locations(tree), call, "--check")
    display(report)
    return report
