"""`%%ptxkernel`: run a cell of Python, compile the kernels it defines, show Python | PTX | SASS. `%ptxconfig`."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import PurePath
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand, output_can_be_silenced
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from pyptx import history
from pyptx._variant import Variant
from pyptx.history import Version, VersionError
from pyptx.jupyter import arguments
from pyptx.jupyter.cells import Cell
from pyptx.jupyter.comparing import compare, earlier
from pyptx.jupyter.errors import explain
from pyptx.jupyter.running import Shown, run, shown
from pyptx.kernel import Kernel

__all__ = ["PtxMagics", "notebook_name"]


@magics_class
class PtxMagics(Magics):
    """The magics that compile."""

    def __init__(self, shell):
        super().__init__(shell)
        self.defaults: dict[str, Any] = {}              # what %ptxconfig set, by destination

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @arguments.compile_options
    @argument("--run", metavar="STATEMENT",
              help='run a statement once the cell has run, as --run "y = rms_norm(x, w)": the kernels it calls are '
                   "shown as they ran, with what the simulator counted")
    @argument("--diff", metavar="REF",
              help="compare with another version as well: @-1 is the one before this, @3 the third, or a label, or "
                   "KERNEL@3 of another kernel")
    @argument("--name", metavar="NAME",
              help="keep what was compiled in the notebook under this name: the Compiled, or with several kernels a "
                   "dict of them by kernel name; also the title of the view, and the label in %%ptxhistory")
    @cell_magic
    def ptxkernel(self, line: str, cell: str) -> Any:
        """Run the cell, compile every kernel it defines and show each as Python | PTX | SASS, linked line by line.

        The cell is ordinary Python; what it defines is in the notebook's namespace afterwards. What the table or the
        assembler refuses is raised at the line of the cell that wrote it, and the cell fails. Every version is kept:
        see %ptxhistory.
        """
        __tracebackhide__ = True
        own = arguments.given(self.ptxkernel, line)
        asked = Namespace(**dict.fromkeys((*arguments.STICKY, "run", "diff", "name")) | self.defaults | own)
        params = arguments.params(own.get("param", []), self.shell.user_ns)
        sticky = arguments.params(self.defaults.get("param", []), self.shell.user_ns)
        arch, version = arguments.arch(asked.arch), arguments.version(asked.version)
        panes, options = arguments.panes(asked.panes), tuple(arguments.unquoted(asked.options or "").split())
        if asked.name is not None and not asked.name.isidentifier():
            raise UsageError(f"--name {asked.name}: expected a Python name")
        text = Cell.of(self.shell, cell)
        kernels = text.run(self.shell)
        if not kernels:
            raise UsageError("%%ptxkernel: the cell defines no kernel; put @kernel above a function in it, or drop the "
                             "magic")
        if asked.name in kernels:
            raise UsageError(f"--name {asked.name}: the cell's kernel is called so; expected another name")
        arguments.check_names(tuple(params), kernels)
        ran = run(self.shell, arguments.unquoted(asked.run), kernels) if asked.run else {}
        made = {}
        for name, kernel in kernels.items():
            takes = arguments.takes(kernel)
            mine = {key: value for key, value in {**sticky, **params}.items() if key in takes}
            made[name] = self._compile(kernel, mine, arch, version, options, ran.get(name))
        if asked.name:
            kept = {name: one.compiled for name, one in made.items()}
            self.shell.user_ns[asked.name] = next(iter(kept.values())) if len(kept) == 1 else kept
        before = {name: earlier(asked.diff, made[name].compiled.name) for name in made} if asked.diff else {}
        title = asked.name if len(made) == 1 else None
        shown: list[Any] = []
        for name, one in made.items():
            own = self._keep(one, text, asked.name)
            if not asked.quiet:
                shown.append(one.view(panes=panes, title=title))
            if name in before and (other := before[name](own)):
                shown.append(compare(other, own, one))
        for view in shown[:-1]:
            display(view)
        return shown[-1] if shown else None

    def _compile(self, kernel: Kernel, params: dict[str, Any], arch, version, options,
                 ran: Variant | None) -> Shown:
        __tracebackhide__ = True
        try:
            return shown(kernel, params, arch=arch, version=version, options=options, ran=ran)
        except Exception as error:
            explain(self.shell, error, f"{kernel.name} for {arch or kernel.arch}", lambda: kernel.ptx(**params))
            raise

    def _keep(self, made: Shown, cell: Cell, label: str | None) -> Version:
        def file_name(file: str) -> str | None:
            return " ".join(self.shell.compile.format_code_name(file) or ()) or None
        kept = history.keep(made.compiled, params=made.params, block=made.kernel.block,
                            dynamic_shared_bytes=made.dynamic_shared_bytes, cell=cell.name(self.shell),
                            cell_source=cell.raw, notebook=notebook_name(self.shell), file_name=file_name)
        try:
            return history.name(kept, label) if label else kept
        except VersionError as error:
            raise UsageError(f"--name {error}") from None

    # sticky defaults --------------------------------------------------------------------------------------------------

    @no_var_expand
    @magic_arguments()
    @arguments.compile_options
    @argument("--reset", action="store_true", help="forget what was set, before anything else on the line counts")
    @line_magic
    def ptxconfig(self, line: str) -> None:
        """Set options for all %%ptxkernel cells that follow; without options, show what is set.

        A cell's own options go before these. A -p that a kernel does not take is left out for it.
        """
        own = arguments.given(self.ptxconfig, line)
        arguments.arch(own.get("arch")), arguments.version(own.get("version")), arguments.panes(own.get("panes"))
        arguments.params(own.get("param", []), self.shell.user_ns)
        if own.pop("reset", False):
            self.defaults.clear()
        if "param" in own:                              # others of the same name are replaced, the rest stays
            new = [item for group in own["param"] for item in group]
            names = {item.partition("=")[0] for item in new}
            old = [item for group in self.defaults.get("param", []) for item in group]
            own["param"] = [[item for item in old if item.partition("=")[0] not in names] + new]
        if own or not line.strip():
            self.defaults.update(own)
            print(self._configured())

    def _configured(self) -> str:
        words = []
        for name, value in self.defaults.items():
            match value:
                case True:
                    words.append(arguments.STICKY[name])
                case list():
                    words.append(" ".join([arguments.STICKY[name], *(item for group in value for item in group)]))
                case _:
                    words.append(f"{arguments.STICKY[name]} {value}")
        return f"%%ptxkernel {' '.join(words)}" if words else "%%ptxkernel has no defaults of yours"


def notebook_name(shell) -> str | None:
    """The file name of the notebook, where the front end tells: "norms.ipynb"."""
    told = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME") or ""
    name = PurePath(str(told)).name
    return name if name.endswith(".ipynb") else None
