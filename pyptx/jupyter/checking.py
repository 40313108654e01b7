"""`--check`: a call of a kernel of the cell, checked in several schedules instead of run."""

from __future__ import annotations

from collections.abc import Mapping

from IPython.display import display

from pyptx.check import Report
from pyptx.jupyter.cells import evaluate, method_of_own
from pyptx.kernel import Kernel

__all__ = ["check"]


def check(shell, call: str, kernels: Mapping[str, Kernel]) -> Report:
    """Check a call such as `gemm(a, b, random=8)` with values of the notebook, and display the report.

    Raises:
        UsageError: it is no call of a kernel of the cell.
    """
    __tracebackhide__ = True
    tree = method_of_own(call, "check", kernels, "--check")
    report = evaluate(shell, tree, call, "--check")
    display(report)
    return report
