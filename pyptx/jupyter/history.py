"""`%ptxhistory`: the versions of kernels that were kept; labels, views, and cells brought back."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from pyptx import history
from pyptx.history import VersionError
from pyptx.views.diffs.diff import diff

__all__ = ["HistoryMagics"]


@magics_class
class HistoryMagics(Magics):
    """What was kept."""

    @no_var_expand
    @magic_arguments()
    @argument("kernel", nargs="?", metavar="NAME", help="list the versions of this kernel only")
    @argument("--restore", metavar="REF",
              help="put the cell of a version into the next input, and show the version as it was")
    @argument("--view", metavar="REF", help="show Python | PTX | SASS of a version")
    @argument("--diff", nargs=2, metavar=("REF", "REF"), help="compare two versions")
    @argument("--name", nargs=2, metavar=("REF", "LABEL"), help="give a version a label")
    @line_magic
    def ptxhistory(self, line: str) -> Any:
        """List the versions of kernels that %%ptxkernel cells compiled, in this session and before.

        REF is NAME@3 (as listed), NAME@-1 (the newest), a label, or the first digits of a key; with NAME in front of
        the options, @3 will do.
        """
        __tracebackhide__ = True
        asked = parse_argstring(self.ptxhistory, line)
        if sum(option is not None for option in (asked.restore, asked.view, asked.diff, asked.name)) > 1:
            raise UsageError("%ptxhistory: one of --restore, --view, --diff and --name at a time")
        try:
            if asked.name:
                ref, label = asked.name
                return history.versions(history.name(history.version(ref, kernel=asked.kernel), label).kernel)
            if asked.view:
                return history.version(asked.view, kernel=asked.kernel).view()
            if asked.diff:
                return diff(*(history.version(ref, kernel=asked.kernel) for ref in asked.diff))
            if asked.restore:
                return self._restore(history.version(asked.restore, kernel=asked.kernel))
            return history.versions(asked.kernel)
        except VersionError as error:
            raise UsageError(str(error)) from None

    def _restore(self, version: history.Version) -> Any:
        view = version.view()                           # first: a damaged version puts nothing into the next cell
        self.shell.set_next_input(version.cell_source if version.cell_source is not None else version.source)
        return view
