"""`%%ptxkernel` for cells of Python with kernels, `%%ptx` for cells of PTX, and `%ptxconfig` for both."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand, output_can_be_silenced
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from pyptx.check import CheckError
from pyptx.jupyter import arguments
from pyptx.jupyter.cells import Cell
from pyptx.jupyter.checking import check
from pyptx.jupyter.comparing import earlier
from pyptx.jupyter.debugging import debug
from pyptx.jupyter.errors import explain, warn
from pyptx.jupyter.keeping import Keeper, notebook_name
from pyptx.jupyter.ptxcells import ptx_cell
from pyptx.jupyter.running import Shown, run, shown
from pyptx.kernel import Kernel
from pyptx.kernel.variant import Variant

__all__ = ["PtxMagics", "notebook_name"]


@magics_class
class PtxMagics(Magics):
    """The magics that compile."""

    def __init__(self, shell):
        super().__init__(shell)
        self.defaults: dict[str, Any] = {}              # what %ptxconfig set, by destination
        self.keeper = Keeper(shell)

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @arguments.compile_options
    @argument("--run", metavar="STATEMENT",
              help='run a statement once the cell has run, as --run "y = rms_norm(x, w)": the kernels it calls are '
                   "shown as they ran, with what the simulator counted")
    @argument("--check", metavar="CALL",
              help='check a kernel once the cell has run, as --check "gemm(a, b)": it runs in several schedules on '
                   "copies of the arrays, and the report of races, missing waits, faults and deadlocks is shown")
    @argument("--debug", metavar="CALL",
              help='open the debugger for a call once the cell has run, as --debug "gemm(a, b)"; it is shown instead '
                   "of the view, and is the value of the cell")
    @arguments.kept_options
    @cell_magic
    def ptxkernel(self, line: str, cell: str) -> Any:
        """Run the cell, compile every kernel it defines and show each as Python | PTX | SASS, linked line by line.

        The cell is ordinary Python; what it defines is in the notebook's namespace afterwards. What the table or the
        assembler refuses is raised at the line of the cell that wrote it, and the cell fails; so it does when --check
        finds an error. Every version is kept: see %ptxhistory. A kernel that the notebook compiled before is shown
        with what has changed since.
        """
        __tracebackhide__ = True
        own = arguments.given(self.ptxkernel, line)
        asked = self._asked(own, "run", "check", "debug", "diff", "name")
        params = arguments.params(own.get("param", []), self.shell.user_ns)
        sticky = arguments.params(self.defaults.get("param", []), self.shell.user_ns)
        arch, version = arguments.arch(asked.arch), arguments.version(asked.version)
        panes, options = arguments.panes(asked.panes), tuple(arguments.unquoted(asked.options or "").split())
        arguments.name(asked.name, ())
        text = Cell.of(self.shell, cell)
        kernels = text.run(self.shell)
        if not kernels:
            raise UsageError("%%ptxkernel: the cell defines no kernel; put @kernel above a function in it, or drop the "
                             "magic")
        arguments.name(asked.name, kernels)
        arguments.check_names(tuple(params), kernels)
        ran = run(self.shell, arguments.unquoted(asked.run), kernels) if asked.run else {}
        report = check(self.shell, arguments.unquoted(asked.check), kernels) if asked.check else None
        made = {}
        for name, kernel in kernels.items():
            takes = arguments.takes(kernel)
            mine = {key: value for key, value in {**sticky, **params}.items() if key in takes}
            if report is not None and report.kernel == kernel.name and not mine:
                mine = {key: value for key, value in report.params.items() if key in takes}     # as it was checked
            made[name] = self._compile(kernel, mine, arch, version, options, ran.get(name))
        if asked.name:
            kept = {name: one.compiled for name, one in made.items()}
            self.shell.user_ns[asked.name] = next(iter(kept.values())) if len(kept) == 1 else kept
        session = debug(self.shell, arguments.unquoted(asked.debug), "--debug", kernels) if asked.debug else None
        if session is not None:
            asked.quiet = True
        view = self._show(list(made.values()), text, asked, panes=panes)
        if session is not None:
            return session
        if report is None or not report.errors:
            return view
        if view is not None:
            display(view)
        wrong = CheckError(report, f"--check {asked.check} found what the report above says")
        explain(self.shell, wrong)
        raise wrong

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @arguments.ptx_options
    @argument("--entry", metavar="NAME", help="the entry that is run, kept and compared, when there are several")
    @argument("--run", metavar="LAUNCH",
              help='launch the entry: --run "grid, block, x, 1024" does entry.launch(grid, block, x, 1024) with values '
                   "of the notebook; what the simulator counted stands beside the lines")
    @arguments.kept_options
    @cell_magic
    def ptx(self, line: str, cell: str) -> Any:
        """Check and assemble a cell of PTX and show it as PTX | SASS, linked line by line.

        Each entry is in the notebook afterwards under its own name, to be launched, viewed or compiled for another
        target; --name keeps the whole program. What the table or the assembler refuses is raised at the line of the
        cell, and the cell fails. Source lines that .loc names are shown beside the PTX. Every version is kept: see
        %ptxhistory. An entry that the notebook compiled before is shown with what has changed since.
        """
        __tracebackhide__ = True
        asked = self._asked(arguments.given(self.ptx, line), "entry", "run", "diff", "name")
        arch, options = arguments.arch(asked.arch), tuple(arguments.unquoted(asked.options or "").split())
        panes = arguments.panes(asked.panes) if asked.panes else None
        arguments.name(asked.name, ())
        text = Cell.of(self.shell, cell, "%%ptx")
        made = ptx_cell(self.shell, text, cell, entry=asked.entry, arch=arch, options=options,
                        launch=arguments.unquoted(asked.run) if asked.run else None, name=asked.name)
        located = any(made.compiled.places)
        return self._show([made], text, asked, panes=panes or (arguments.PANES if located else ("ptx", "sass")))

    def _asked(self, own: dict[str, Any], *others: str) -> Namespace:
        """What the line says, before what %ptxconfig set."""
        return Namespace(**dict.fromkeys((*arguments.STICKY, *others)) | self.defaults | own)

    def _compile(self, kernel: Kernel, params: dict[str, Any], arch, version, options,
                 ran: Variant | None) -> Shown:
        __tracebackhide__ = True
        try:
            return shown(kernel, params, arch=arch, version=version, options=options, ran=ran)
        except Exception as error:
            explain(self.shell, error, f"{kernel.name} for {arch or kernel.arch}", lambda: kernel.ptx(**params))
            raise

    def _show(self, made: list[Shown], cell: Cell, asked: Namespace, **options: Any) -> Any:
        """Keep what was compiled; display all views but the last, which is the cell's result."""
        names = [one.compiled.name for one in made]
        befores = [earlier(asked.diff, name) if asked.diff else
                   (lambda own: None) if asked.no_diff else self.keeper.earlier(name) for name in names]
        shown_last = None
        for one, before in zip(made, befores, strict=True):
            own = self.keeper.keep(one, cell, asked.name)
            warn(self.shell, one.warnings or one.compiled.warnings, one.compiled.ptx,
                 f"{one.compiled.name} for {one.compiled.target}")
            view = self.keeper.output(one, own, before(own) if asked.diff or not asked.quiet else None,
                                      quiet=bool(asked.quiet), title=asked.name if len(made) == 1 else None, **options)
            if shown_last is not None:
                display(shown_last)
            shown_last = view
        return shown_last

    # sticky defaults --------------------------------------------------------------------------------------------------

    @no_var_expand
    @magic_arguments()
    @arguments.compile_options
    @argument("--reset", action="store_true", help="forget what was set, before anything else on the line counts")
    @line_magic
    def ptxconfig(self, line: str) -> None:
        """Set options for all %%ptxkernel and %%ptx cells that follow; without options, show what is set.

        A cell's own options go before these. A -p that a kernel does not take is left out for it, and -p and --version
        say nothing about %%ptx cells.
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

