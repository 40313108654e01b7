"""Versions of the kernels that cells compile: recorded in the history, compared with the previous one."""

from __future__ import annotations

import os
import warnings
from pathlib import PurePath
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from pyptx import history
from pyptx.history import Version, VersionError
from pyptx.jupyter.baselines import Baseline, BaselineLookup, compare
from pyptx.jupyter.cells import Cell
from pyptx.jupyter.kernel_runs import CompiledKernel
from pyptx.views import LinkedView
from pyptx.views.code.counters import by_ptx_line
from pyptx.views.diffs.diff import Diff

__all__ = ["VersionRecorder", "notebook_file_name"]

MAX_AUTO_DIFF = 10_000  # instructions; a larger kernel is compared only by --diff


class VersionRecorder:
    """Records the versions that one shell compiles, and finds the previous one to compare with."""

    def __init__(self, shell: InteractiveShell):
        self.shell = shell
        self.session_refs: set[str] = set()  # such as "rms_norm@3"
        self.last: dict[str, CompiledKernel] = {}  # by name, as a cell compiled it last

    def record(self, made: CompiledKernel, cell: Cell, label: str | None) -> Version:
        """Add the kernel to the history, with its label.

        Raises:
            UsageError: the label is taken or invalid.
        """

        def file_name(file: str) -> str | None:
            return " ".join(self.shell.compile.format_code_name(file) or ()) or None

        ptx = made.compiled.ptx.removesuffix("\n").split("\n")
        counted = by_ptx_line(made.counters, made.compiled.module, ptx)
        kept = history.keep(
            made.compiled,
            params=made.params,
            block=made.block,
            dynamic_shared_bytes=made.dynamic_shared_bytes,
            issues=counted.get("issues"),
            cell=cell.name(self.shell),
            cell_source=cell.raw,
            notebook=notebook_file_name(self.shell),
            file_name=file_name,
        )
        self.session_refs.add(kept.ref)
        self.last[made.compiled.name] = made
        try:
            return history.name(kept, label) if label else kept
        except VersionError as error:
            raise UsageError(f"--name {error}") from None

    def previous(self, kernel: str) -> BaselineLookup:
        """Look up the version before the cell's own that this notebook compiled, if any."""
        notebook = notebook_file_name(self.shell)
        try:
            kept = history.versions(kernel)
        except VersionError:  # the first version of this kernel
            return lambda own: None
        known = sorted(
            (
                version
                for version in kept
                if version.ref in self.session_refs or (notebook is not None and version.notebook == notebook)
            ),
            key=lambda version: version.last,
        )

        def before(own: Version) -> Version | None:
            found = next((version for version in reversed(known) if version != own), None)
            if found and max(found.instructions or 0, own.instructions or 0) > MAX_AUTO_DIFF:
                warnings.warn(
                    f"{kernel} has more than {MAX_AUTO_DIFF} instructions, so it is not compared with {found.ref} "
                    f"automatically, which would take seconds; use --diff {found.ref}",
                    stacklevel=2,
                )
                return None
            return found

        return before

    def output(
        self, made: CompiledKernel, own: Version, before: Baseline | None, *, quiet: bool, **options: Any
    ) -> LinkedView | Diff | None:
        """Return the view with its diff from `before`; when quiet, the diff alone, or None."""
        diff = compare(before, own, made) if before else None
        return diff if quiet else made.view(diff=diff, **options)


def notebook_file_name(shell: InteractiveShell) -> str | None:
    """Return the file name of the notebook, such as "norms.ipynb"; None if the front end does not report it."""
    path = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME") or ""
    name = PurePath(str(path)).name
    return name if name.endswith(".ipynb") else None
