"""The kernels of a cell: run by `--run`, checked by `--check`, compiled for the view."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from pyptx.assembly import Assembly
from pyptx.check import Report
from pyptx.errors import Diagnostic
from pyptx.jit.specialization import Specialization
from pyptx.jupyter.cells import evaluate, rewrite_kernel_call, run_statement
from pyptx.kernel import Kernel
from pyptx.views import LinkedView, linked
from pyptx.views.code.ir_pane import IrLines
from pyptx.workbench.tools import check_of, counters_of

__all__ = ["CompiledKernel", "check_call", "compile_kernel", "run_kernels"]


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A specialization of a kernel that a cell compiled.

    Attributes:
        params: sizes and template parameters it was traced with.
        block: threads of a block; None if unknown.
        dynamic_shared_bytes: shared memory the launch adds.
        counters: of its simulated launch; None if it was not launched.
        warnings: those of `compiled`, with places in the cell.
        check: verdict of its last check, of `check_of`; None if it was not checked.
        ir: an IR of its compiler to show.
    """

    compiled: Assembly
    params: Mapping[str, Any]
    block: tuple[int, ...] | None
    dynamic_shared_bytes: int
    counters: Any = None
    warnings: tuple[Diagnostic, ...] = ()
    check: Mapping[str, Any] | None = None
    ir: IrLines | None = None

    def view(self, **options: Any) -> LinkedView:
        """Return its linked view; options as for `pyptx.views.linked`."""
        return linked(
            self.compiled,
            counters=self.counters,
            block=self.block,
            dynamic_shared_bytes=self.dynamic_shared_bytes,
            check=self.check,
            ir=self.ir,
            **options,
        )


def compile_kernel(
    kernel: Kernel,
    params: Mapping[str, Any],
    *,
    arch: str | None,
    version: tuple[int, int] | None,
    options: tuple[str, ...],
    ran: Specialization | None = None,
) -> CompiledKernel:
    """Compile a kernel for these parameters; without any, as it ran.

    Args:
        ran: the specialization that `--run` launched last.
    Raises:
        CompileError: the table or the assembler rejects it.
    """
    specialization = (
        ran if ran and not (params or arch or version) else kernel.specialize(arch=arch, version=version, **params)
    )
    same = ran is not None and ran.entry == specialization.entry  # the counts do not depend on the target
    if ran and not same:
        values = " ".join(f"{name}={value}" for name, value in _plain_params(ran).items())
        warnings.warn(
            f"--run launched {kernel.name} with {values}, which is not the version shown, so its counters are omitted. "
            "Drop -p, --arch and --version to show the kernel as it ran.",
            stacklevel=2,
        )
    compiled = specialization.compile(options)
    return CompiledKernel(
        compiled,
        _plain_params(specialization),
        kernel.block_of(specialization),
        max(kernel.smem, specialization.dynamic_bytes),
        counters_of(ran) if ran and same else None,
        check=check_of(specialization, compiled),
    )


def run_kernels(shell: InteractiveShell, statement: str, kernels: Mapping[str, Kernel]) -> dict[str, Specialization]:
    """Run a statement in the notebook's namespace; return the last specialization of each kernel it launched, by name.

    Raises:
        UsageError: it launched none of the kernels.
    """
    __tracebackhide__ = True
    before = {name: kernel.last_run for name, kernel in kernels.items()}
    run_statement(shell, statement, "--run")
    ran = {
        name: kernel.last_specialization
        for name, kernel in kernels.items()
        if kernel.last_specialization is not None and kernel.last_run is not before[name]
    }
    if not ran:
        raise UsageError(f"--run {statement}: launched no kernel of this cell ({', '.join(kernels)})")
    return ran


def check_call(shell: InteractiveShell, call: str, kernels: Mapping[str, Kernel]) -> Report:
    """Check a call such as `gemm(a, b, random=8)` with values of the notebook in several schedules; display the report.

    Raises:
        UsageError: it is not a call of a kernel of the cell.
    """
    __tracebackhide__ = True
    tree = rewrite_kernel_call(call, "check", kernels, "--check")
    report = evaluate(shell, tree, call, "--check")
    display(report)
    return report


def _plain_params(specialization: Specialization) -> dict[str, Any]:
    """Return sizes and template parameters, as text where they are not plain values."""
    return {
        name: value if isinstance(value, str | bool | int | float | None) else repr(value)
        for name, value in specialization.params.items()
    }
