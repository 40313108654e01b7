"""`--run`: a statement that calls the kernels of a cell, and the variants of them that are shown."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

from pyptx.compiled import Compiled
from pyptx.errors import Diagnostic
from pyptx.jupyter.cells import run_statement
from pyptx.kernel import Kernel
from pyptx.kernel.variant import Variant
from pyptx.views import LinkedView, linked

__all__ = ["Shown", "run", "shown"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A variant of a kernel that is compiled, kept and shown.

    `counters` are of its launch, when it was launched; `warnings` those of `compiled` at other places, when there are.
    """

    compiled: Compiled
    params: Mapping[str, Any]           # sizes and template values it was traced with
    block: tuple[int, ...] | None       # threads of a block, when known
    dynamic_shared_bytes: int
    counters: Any = None
    warnings: tuple[Diagnostic, ...] = ()

    def view(self, **options: Any) -> LinkedView:
        return linked(self.compiled, counters=self.counters, block=self.block,
                      dynamic_shared_bytes=self.dynamic_shared_bytes, **options)


def shown(kernel: Kernel, params: Mapping[str, Any], *, arch: str | None, version: tuple[int, int] | None,
          options: tuple[str, ...], ran: Variant | None = None) -> Shown:
    """Compile a kernel for these values; where none are given, as it ran.

    Raises:
        CompileError: the table or the assembler refused it.
    """
    variant = ran if ran and not (params or arch or version) else kernel.variant(arch=arch, version=version, **params)
    same = ran is not None and ran.entry == variant.entry       # the target makes no difference to the counts
    if ran and not same:
        words = " ".join(f"{name}={value}" for name, value in _values(ran).items())
        warnings.warn(f"--run ran {kernel.name} for {words}, which is not what is shown; its counts are left out. "
                      "Without -p, --arch and --version it is shown as it ran.", stacklevel=2)
    return Shown(variant.compile(options), _values(variant), kernel.block_of(variant),
                 max(kernel.smem, variant.dynamic_bytes), ran.last_run.counters if same else None)


def run(shell, statement: str, kernels: Mapping[str, Kernel]) -> dict[str, Variant]:
    """Run a statement in the notebook's namespace; the variant that ran last of each kernel it called.

    Raises:
        UsageError: it called none of the kernels.
    """
    __tracebackhide__ = True
    before = {name: kernel.last_run for name, kernel in kernels.items()}
    run_statement(shell, statement, "--run")
    ran = {name: kernel.last_variant for name, kernel in kernels.items() if kernel.last_run is not before[name]}
    if not ran:
        raise UsageError(f"--run {statement}: ran no kernel of this cell ({', '.join(kernels)})")
    return ran


def _values(variant: Variant) -> dict[str, Any]:
    """Sizes and template values of a variant, in words where they are no plain values."""
    return {name: value if isinstance(value, str | bool | int | float | None) else repr(value)
            for name, value in variant.params.items()}
