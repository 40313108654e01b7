"""The magics `%%ptxkernel` for Python kernels, `%%cuda` for CUDA C++, `%%ptx` for PTX, and `%ptxconfig` for their options."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand, output_can_be_silenced
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from pyptx.check import CheckError, Report
from pyptx.jit.specialization import Specialization
from pyptx.jupyter import magic_options
from pyptx.jupyter.baselines import BaselineLookup, lookup_baseline
from pyptx.jupyter.cells import Cell
from pyptx.jupyter.cuda_cells import Call, Ran, bind_entries, compile_cuda_cell, compiled_entries, parse_call, run_call
from pyptx.jupyter.cuda_sweeps import parse_sweep
from pyptx.jupyter.debug_magics import debug_call
from pyptx.jupyter.errors import attach_traceback, print_warnings
from pyptx.jupyter.kernel_runs import CompiledKernel, check_call, compile_kernel, run_kernels
from pyptx.jupyter.ptx_cells import compile_ptx_cell
from pyptx.jupyter.versioning import VersionRecorder, notebook_file_name
from pyptx.kernel import Kernel

__all__ = ["PtxMagics", "notebook_file_name"]


@magics_class
class PtxMagics(Magics):
    """Magics that compile kernels."""

    shell: InteractiveShell  # pyright: ignore[reportIncompatibleVariableOverride]  (Magics allows None)

    def __init__(self, shell: InteractiveShell):
        super().__init__(shell)
        self.defaults: dict[str, Any] = {}  # set by %ptxconfig, by destination
        self.recorder = VersionRecorder(shell)

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @magic_options.compile_arguments
    @argument(
        "--run",
        metavar="STATEMENT",
        help='run a statement after the cell, such as --run "y = rms_norm(x, w)"; the kernels it calls are '
        "shown as they ran, with the simulator's counters",
    )
    @argument(
        "--check",
        metavar="CALL",
        help='check a kernel after the cell, such as --check "gemm(a, b)"; it runs in several schedules on '
        "copies of the arrays, and a report lists races, missing waits, faults and deadlocks",
    )
    @argument(
        "--debug",
        metavar="CALL",
        help='open the debugger for a call after the cell, such as --debug "gemm(a, b)"; it replaces '
        "the view, and is the value of the cell",
    )
    @magic_options.version_arguments
    @cell_magic
    def ptxkernel(self, line: str, cell: str) -> Any:
        """Run the cell, compile every kernel it defines and show each as Python | PTX | SASS, linked line by line.

        The cell is ordinary Python that runs in the notebook's namespace. An error of the instruction table or of ptxas
        is raised at the line of the cell that caused it; an error found by --check fails the cell, too. Every version is
        recorded (see %ptxhistory), and a kernel that the notebook compiled before is shown with its changes.
        """
        __tracebackhide__ = True
        own = magic_options.parse_given(self.ptxkernel, line)
        given = self._with_defaults(own, "run", "check", "debug", "diff", "name")
        params = magic_options.parse_params(own.get("param", []), self.shell.user_ns)
        configured = magic_options.parse_params(self.defaults.get("param", []), self.shell.user_ns)
        arch, version = magic_options.parse_arch(given.arch), magic_options.parse_version(given.version)
        panes, options = (
            magic_options.parse_panes(given.panes),
            tuple(magic_options.unquote(given.options or "").split()),
        )
        magic_options.parse_name(given.name, ())
        text = Cell.current(self.shell, cell)
        kernels = text.run(self.shell)
        if not kernels:
            raise UsageError(
                "%%ptxkernel: the cell defines no kernel; decorate a function with @kernel, or remove the magic"
            )
        magic_options.parse_name(given.name, kernels)
        magic_options.check_parameter_names(tuple(params), kernels)
        ran = run_kernels(self.shell, magic_options.unquote(given.run), kernels) if given.run else {}
        report = check_call(self.shell, magic_options.unquote(given.check), kernels) if given.check else None
        made = {}
        for name, kernel in kernels.items():
            names = magic_options.parameter_names(kernel)
            mine = {key: value for key, value in {**configured, **params}.items() if key in names}
            if report is not None and report.kernel == kernel.name and not mine:
                mine = {key: value for key, value in report.params.items() if key in names}  # as checked
            made[name] = self._compile(kernel, mine, arch, version, options, ran.get(name))
        if given.name:
            kept = {name: one.compiled for name, one in made.items()}
            self.shell.user_ns[given.name] = next(iter(kept.values())) if len(kept) == 1 else kept
        session = (
            debug_call(self.shell, magic_options.unquote(given.debug), "--debug", kernels) if given.debug else None
        )
        if session is not None:
            given.quiet = True
        view = self._show(list(made.values()), text, given, panes=panes)
        if session is not None:
            return session
        return self._failed(report, view, f"--check {given.check}")

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @magic_options.assembly_arguments
    @argument("--entry", metavar="NAME", help="the entry to run, record and compare, if there are several")
    @argument(
        "--run",
        metavar="LAUNCH",
        help='launch the entry: --run "grid, block, x, 1024" calls entry.launch(grid, block, x, 1024) with values '
        "of the notebook; the simulator's counters appear beside the lines",
    )
    @magic_options.version_arguments
    @cell_magic
    def ptx(self, line: str, cell: str) -> Any:
        """Check and assemble a cell of PTX and show it as PTX | SASS, linked line by line.

        Each entry is bound to its own name in the notebook, to be launched, viewed or compiled for another target;
        --name binds the whole program. An error of the instruction table or of ptxas is raised at the line of the cell.
        Source lines that .loc refers to are shown beside the PTX. Every version is recorded (see %ptxhistory), and an
        entry that the notebook compiled before is shown with its changes.
        """
        __tracebackhide__ = True
        given = self._with_defaults(magic_options.parse_given(self.ptx, line), "entry", "run", "diff", "name")
        arch, options = magic_options.parse_arch(given.arch), tuple(magic_options.unquote(given.options or "").split())
        panes = magic_options.parse_panes(given.panes) if given.panes else None
        magic_options.parse_name(given.name, ())
        text = Cell.current(self.shell, cell, "%%ptx")
        made = compile_ptx_cell(
            self.shell,
            text,
            cell,
            entry=given.entry,
            arch=arch,
            options=options,
            launch=magic_options.unquote(given.run) if given.run else None,
            name=given.name,
        )
        located = any(made.compiled.places)
        return self._show([made], text, given, panes=panes or (magic_options.PANES if located else ("ptx", "sass")))

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @magic_options.assembly_arguments
    @magic_options.cuda_arguments
    @argument(
        "--entry", metavar="NAME", help='show this kernel only, or an instance of a template: --entry "scale<float, 4>"'
    )
    @argument(
        "--run",
        metavar="CALL",
        help='launch a kernel: --run "scale<float, 4>(grid, block, x, 1024)", with values of the notebook; the '
        "simulator's counters appear beside the lines",
    )
    @argument(
        "--check",
        metavar="CALL",
        help='check a launch in several schedules, such as --check "add(grid, block, x, 1024)"; a report lists races, '
        "missing waits, faults and deadlocks",
    )
    @argument(
        "--debug",
        metavar="CALL",
        help="open the debugger for a launch; it replaces the view, and is the value of the cell",
    )
    @magic_options.version_arguments
    @cell_magic
    def cuda(self, line: str, cell: str) -> Any:
        """Compile a cell of CUDA C++ and show each kernel as CUDA C++ | PTX | SASS, linked line by line.

        Kernels are bound to their names in the notebook; --name binds the program, whose templates and variables are
        program["scale<float, 4>"] and program["table"]. Errors of the compiler are raised at the line of the cell. Every
        version is recorded (see %ptxhistory), and a kernel that the notebook compiled before is shown with its changes.
        """
        __tracebackhide__ = True
        own = magic_options.parse_given(self.cuda, line)
        given = self._with_defaults(
            own,
            "entry",
            "run",
            "check",
            "debug",
            "diff",
            "name",
            "defines",
            "include",
            "nvrtc",
            "sweep",
            "values",
            "device",
        )
        arch, options = magic_options.parse_arch(given.arch), tuple(magic_options.unquote(given.options or "").split())
        panes = magic_options.parse_panes(given.panes)
        magic_options.parse_name(given.name, ())
        text = Cell.current(self.shell, cell, "%%cuda")
        swept = None
        if given.sweep:
            swept = parse_sweep(magic_options.unquote(given.sweep), given.values or [], self.shell.user_ns)
        elif given.values or given.device:
            raise UsageError("%%cuda: --values and --device apply to --sweep CALL, which is missing")
        program = compile_cuda_cell(
            self.shell,
            text,
            arch=arch,
            options=tuple(magic_options.unquote(given.nvrtc or "").split()),
            defines={
                **magic_options.parse_defines(given.defines or [], self.shell.user_ns),
                **(swept.macros if swept else {}),
            },
            include=tuple(map(magic_options.unquote, given.include or [])),
            name=given.name,
        )
        calls: dict[str, Call] = {
            option: parse_call(program, magic_options.unquote(call), f"--{option}")
            for option in ("run", "check", "debug")
            if (call := getattr(given, option))
        }
        bind_entries(self.shell, program, given.name)
        ran = {}
        if "run" in calls:
            ran[calls["run"].entry.name] = run_call(self.shell, calls["run"], "launch", "--run")[1]
        report = run_call(self.shell, calls["check"], "check", "--check")[0] if "check" in calls else None
        if report is not None:
            display(report)
        called = {call.entry.name: ran.get(call.entry.name, Ran()) for call in calls.values()}
        wanted = magic_options.unquote(given.entry) if given.entry else swept.first if swept else None
        made = compiled_entries(program, wanted, called, options)
        made[0] = replace(made[0], warnings=program.warnings)
        if swept is not None:
            self._show(made, text, Namespace(**{**vars(given), "quiet": True}), panes=panes)
            return swept.run(self.shell, program, given.device)
        if "debug" in calls:
            self._show(made, text, Namespace(**{**vars(given), "quiet": True}), panes=panes)
            return run_call(self.shell, calls["debug"], "debug", "--debug")[0]
        return self._failed(report, self._show(made, text, given, panes=panes), f"--check {given.check}")

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @magic_options.assembly_arguments
    @argument("--ir", choices=("ttgir", "ttir"), help="also show Triton's IR, in a pane of its own")
    @argument(
        "--run",
        metavar="STATEMENT",
        help='run a statement after the cell, such as --run "add[(8,)](x, y, out, 1000, BLOCK=128)"; the kernels it '
        "launches are shown as they ran, with the simulator's counters",
    )
    @argument(
        "--check",
        metavar="LAUNCH",
        help='check a launch in several schedules, such as --check "add[(8,)](x, y, out, 1000, BLOCK=128)"; a report '
        "lists races, missing waits, faults and deadlocks",
    )
    @argument(
        "--debug",
        metavar="LAUNCH",
        help="open the debugger for a launch; it replaces the view, and is the value of the cell",
    )
    @magic_options.version_arguments
    @cell_magic
    def tritonkernel(self, line: str, cell: str) -> Any:
        """Run the cell with its Triton kernels on the simulator, and show each kernel it launches as Triton | PTX | SASS.

        The cell is ordinary Python that runs in the notebook's namespace. Launches in it, and in --run, take torch tensors
        on the CPU and NumPy arrays; --arch is the target that Triton compiles for, by default sm_90a. Findings of --check
        fail the cell. Every version is recorded (see %ptxhistory), and a kernel that the notebook compiled before is shown
        with its changes.
        """
        __tracebackhide__ = True
        from pyptx.jupyter import triton_cells  # late: Triton is an optional package

        given = self._with_defaults(
            magic_options.parse_given(self.tritonkernel, line), "ir", "run", "check", "debug", "diff", "name"
        )
        target = magic_options.parse_arch(given.arch) or "sm_90a"
        options = tuple(magic_options.unquote(given.options or "").split())
        panes = magic_options.parse_panes(given.panes)
        magic_options.parse_name(given.name, ())
        text = Cell.current(self.shell, cell, "%%tritonkernel")
        run = magic_options.unquote(given.run) if given.run else None
        launched = triton_cells.run_triton_cell(self.shell, text, target, run)
        report = session = None
        if given.check:
            entry, report = triton_cells.check_launch(self.shell, magic_options.unquote(given.check), target)
            launched.setdefault(entry.name, entry)
        if given.debug:
            entry, session = triton_cells.debug_launch(self.shell, magic_options.unquote(given.debug), target)
            launched.setdefault(entry.name, entry)
            given.quiet = True
        if not launched:
            raise UsageError(
                "%%tritonkernel: the cell launches no Triton kernel; launch one in it, or with --run, --check or --debug"
            )
        made = triton_cells.compiled_launches(launched, options, given.ir)
        if given.name:
            self.shell.user_ns[given.name] = next(iter(launched.values())) if len(launched) == 1 else launched
        view = self._show(made, text, given, panes=panes)
        if session is not None:
            return session
        return self._failed(report, view, f"--check {given.check}")

    def _failed(self, report: Report | None, view: Any, what: str) -> Any:
        """Return the view; display it and raise an error if the report has errors."""
        __tracebackhide__ = True
        if report is None or not report.errors:
            return view
        if view is not None:
            display(view)
        failed = CheckError(report, f"{what} found the errors listed in the report above")
        attach_traceback(self.shell, failed)
        raise failed

    def _with_defaults(self, own: dict[str, Any], *others: str) -> Namespace:
        """Return the options of a line, completed by those of %ptxconfig; absent options are None."""
        return Namespace(**dict.fromkeys((*magic_options.CONFIGURABLE, *others)) | self.defaults | own)

    def _compile(
        self,
        kernel: Kernel,
        params: dict[str, Any],
        arch: str | None,
        version: tuple[int, int] | None,
        options: tuple[str, ...],
        ran: Specialization | None,
    ) -> CompiledKernel:
        __tracebackhide__ = True
        try:
            return compile_kernel(kernel, params, arch=arch, version=version, options=options, ran=ran)
        except Exception as error:
            attach_traceback(
                self.shell, error, f"{kernel.name} for {arch or kernel.arch}", lambda: kernel.ptx(**params)
            )
            raise

    def _show(self, made: list[CompiledKernel], cell: Cell, given: Namespace, **options: Any) -> Any:
        """Record what was compiled; display all views but the last, which is the cell's result."""
        names = [one.compiled.name for one in made]
        lookups: list[BaselineLookup] = [
            lookup_baseline(given.diff, name)
            if given.diff
            else (lambda own: None)
            if given.no_diff
            else self.recorder.previous(name)
            for name in names
        ]
        last = None
        for one, lookup in zip(made, lookups, strict=True):
            own = self.recorder.record(one, cell, given.name)
            print_warnings(
                self.shell,
                one.warnings or one.compiled.warnings,
                one.compiled.ptx,
                f"{one.compiled.name} for {one.compiled.target}",
            )
            view = self.recorder.output(
                one,
                own,
                lookup(own) if given.diff or not given.quiet else None,
                quiet=bool(given.quiet),
                title=given.name if len(made) == 1 else None,
                **options,
            )
            if last is not None:
                display(last)
            last = view
        return last

    # defaults ---------------------------------------------------------------------------------------------------------

    @no_var_expand
    @magic_arguments()
    @magic_options.compile_arguments
    @argument("--reset", action="store_true", help="clear all settings first")
    @line_magic
    def ptxconfig(self, line: str) -> None:
        """Set options for all following %%ptxkernel, %%cuda and %%ptx cells; without options, show the settings.

        Options of a cell take precedence. A -p that a kernel does not have is ignored for it; -p and --version do not
        apply to %%cuda and %%ptx cells.
        """
        own = magic_options.parse_given(self.ptxconfig, line)
        magic_options.parse_arch(own.get("arch"))
        magic_options.parse_version(own.get("version"))
        magic_options.parse_panes(own.get("panes"))
        magic_options.parse_params(own.get("param", []), self.shell.user_ns)
        if own.pop("reset", False):
            self.defaults.clear()
        if "param" in own:  # replace parameters of the same name, keep the others
            new = [item for group in own["param"] for item in group]
            names = {item.partition("=")[0] for item in new}
            old = [item for group in self.defaults.get("param", []) for item in group]
            own["param"] = [[item for item in old if item.partition("=")[0] not in names] + new]
        if own or not line.strip():
            self.defaults.update(own)
            print(self._configuration())

    def _configuration(self) -> str:
        words = []
        for name, value in self.defaults.items():
            match value:
                case True:
                    words.append(magic_options.CONFIGURABLE[name])
                case list():
                    words.append(
                        " ".join([magic_options.CONFIGURABLE[name], *(item for group in value for item in group)])
                    )
                case _:
                    words.append(f"{magic_options.CONFIGURABLE[name]} {value}")
        return f"%%ptxkernel {' '.join(words)}" if words else "%%ptxkernel: no options are set"
