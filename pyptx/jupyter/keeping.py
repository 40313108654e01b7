"""What a cell compiled: kept as a version, compared with an earlier one, shown."""

from __future__ import annotations

import os
import warnings
from pathlib import PurePath
from typing import Any

from IPython.core.error import UsageError

from pyptx import history
from pyptx.history import Version, VersionError
from pyptx.jupyter.cells import Cell
from pyptx.jupyter.comparing import Earlier, Other, compare
from pyptx.jupyter.running import Shown
from pyptx.views.code.counters import by_ptx_line

__all__ = ["Keeper", "notebook_name"]

LARGE = 10_000                                          # instructions; more are compared only when asked for


class Keeper:
    """Keeps versions for one shell, and remembers which ones: those are what the next is compared with by itself."""

    def __init__(self, shell):
        self.shell = shell
        self.mine: set[str] = set()                     # "rms_norm@3"

    def keep(self, made: Shown, cell: Cell, label: str | None) -> Version:
        def file_name(file: str) -> str | None:
            return " ".join(self.shell.compile.format_code_name(file) or ()) or None
        ptx = made.compiled.ptx.removesuffix("\n").split("\n")
        counted = by_ptx_line(made.counters, made.compiled.module, ptx)
        kept = history.keep(made.compiled, params=made.params, block=made.block,
                            dynamic_shared_bytes=made.dynamic_shared_bytes, issues=counted.get("issues"),
                            cell=cell.name(self.shell), cell_source=cell.raw, notebook=notebook_name(self.shell),
                            file_name=file_name)
        self.mine.add(kept.ref)
        try:
            return history.name(kept, label) if label else kept
        except VersionError as error:
            raise UsageError(f"--name {error}") from None

    def earlier(self, kernel: str) -> Earlier:
        """The version before the cell's own that this notebook compiled, when there is one."""
        notebook = notebook_name(self.shell)
        try:
            kept = history.versions(kernel)
        except VersionError:                            # the first of its name
            return lambda own: None
        known = sorted((version for version in kept if version.ref in self.mine
                        or (notebook is not None and version.notebook == notebook)), key=lambda version: version.last)

        def before(own: Version) -> Version | None:
            found = next((version for version in reversed(known) if version != own), None)
            if found and max(found.instructions or 0, own.instructions or 0) > LARGE:
                warnings.warn(f"{kernel} has more than {LARGE} instructions and is not compared with {found.ref} by "
                              f"itself, which would take seconds; --diff {found.ref} does it", stacklevel=2)
                return None
            return found
        return before

    def output(self, made: Shown, own: Version, before: Other | None, *, quiet: bool, **options: Any) -> Any:
        """The view, with what has changed since `before`; when quiet, that alone, or None."""
        diff = compare(before, own, made) if before else None
        return diff if quiet else made.view(diff=diff, **options)


def notebook_name(shell) -> str | None:
    """The file name of the notebook, where the front end tells: "norms.ipynb"."""
    told = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME") or ""
    name = PurePath(str(told)).name
    return name if name.endswith(".ipynb") else None
