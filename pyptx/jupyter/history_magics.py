"""The magic `%ptxhistory`: recorded versions of kernels, their labels, views and cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from pyptx import history
from pyptx.errors import OptionError
from pyptx.history import VersionError
from pyptx.views import LinkedView
from pyptx.workbench.comparing import diff
from pyptx.workbench.side_by_side import compare

__all__ = ["HistoryMagics"]


@magics_class
class HistoryMagics(Magics):
    """The magic of the history."""

    shell: InteractiveShell  # pyright: ignore[reportIncompatibleVariableOverride]  (Magics allows None)

    @no_var_expand
    @magic_arguments()
    @argument("kernel", nargs="?", metavar="NAME", help="list the versions of this kernel only")
    @argument("--restore", metavar="REF", help="insert the cell of a version as the next cell, and show the version")
    @argument("--view", metavar="REF", help="show Python | PTX | SASS of a version")
    @argument("--diff", nargs=2, metavar=("REF", "REF"), help="compare two versions")
    @argument(
        "--compare", nargs="+", metavar="REF", help="compare versions side by side, or with a number the last ones"
    )
    @argument("--name", nargs=2, metavar=("REF", "LABEL"), help="give a version a label")
    @line_magic
    def ptxhistory(self, line: str) -> Any:
        """List the versions of kernels that %%ptxkernel and %%ptx cells compiled, in this and earlier sessions.

        REF is NAME@3 (as listed), NAME@-1 (the latest), a label, or a prefix of a key; after the argument NAME, @3 is
        enough.
        """
        __tracebackhide__ = True
        given = parse_argstring(self.ptxhistory, line)
        if sum(option is not None for option in (given.restore, given.view, given.diff, given.compare, given.name)) > 1:
            raise UsageError("%ptxhistory: expected at most one of --restore, --view, --diff, --compare and --name")
        try:
            if given.name:
                ref, label = given.name
                return history.versions(history.name(history.version(ref, kernel=given.kernel), label).kernel)
            if given.view:
                return history.version(given.view, kernel=given.kernel).view()
            if given.diff:
                return diff(*(history.version(ref, kernel=given.kernel) for ref in given.diff))
            if given.compare:
                return compare(*self._compared(given.compare, given.kernel))
            if given.restore:
                return self._restore(history.version(given.restore, kernel=given.kernel))
            return history.versions(given.kernel)
        except (OptionError, VersionError) as error:
            raise UsageError(str(error)) from None

    def _compared(self, refs: list[str], kernel: str | None) -> Sequence[history.Version]:
        if len(refs) == 1 and refs[0].isdecimal():
            return history.versions(kernel)[-int(refs[0]) :]
        return [history.version(ref, kernel=kernel) for ref in refs]

    def _restore(self, version: history.Version) -> LinkedView:
        view = version.view()  # first, so that a damaged version inserts nothing
        self.shell.set_next_input(version.cell_source if version.cell_source is not None else version.source)
        return view
