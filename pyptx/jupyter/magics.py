"""`%%ptxkernel`: run a cell of Python, compile the kernels it defines, show Python | PTX | SASS."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand, output_can_be_silenced
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from pyptx.compiled import Compiled
from pyptx.errors import CompileError, PtxError
from pyptx.isa import targets
from pyptx.jupyter.errors import CellSyntaxError, render, user_traceback
from pyptx.kernel import Kernel
from pyptx.views import linked

__all__ = ["PtxMagics", "known_archs"]

PANES = ("python", "ptx", "sass")


@magics_class
class PtxMagics(Magics):
    """The magics of pyptx."""

    @no_var_expand
    @output_can_be_silenced
    @magic_arguments()
    @argument("--arch", metavar="SM", help="compile for this target instead of the kernel's own, such as sm_100a")
    @argument("-p", "--param", metavar="NAME=VALUE", nargs="+", action="append", default=[],
              help="template parameters and symbolic sizes: -p M=4096 N=4096. Values are Python literals; {expression} "
                   "is evaluated in the notebook; anything else is text")
    @argument("--version", metavar="M.m", help="PTX ISA version instead of the oldest that will do, such as 8.7")
    @argument("--options", metavar="TEXT", default="",
              help='options of ptxas, quoted: --options "-O1 --maxrregcount=64"')
    @argument("--panes", metavar="LIST", default="python,ptx,sass",
              help="panes to show, as ptx,sass; default: all three")
    @argument("--name", metavar="NAME",
              help="keep what was compiled in the notebook under this name: the Compiled, or with several kernels a "
                   "dict of them by kernel name; also the title of the view")
    @argument("-q", "--quiet", "--no-view", action="store_true", dest="quiet", help="compile and keep, show nothing")
    @cell_magic
    def ptxkernel(self, line: str, cell: str) -> Any:
        """Run the cell, compile every kernel it defines and show each as Python | PTX | SASS, linked line by line.

        The cell is ordinary Python; what it defines is in the notebook's namespace afterwards. What the table or the
        assembler refuses is raised at the line of the cell that wrote it, and the cell fails.
        """
        __tracebackhide__ = True
        arguments = parse_argstring(self.ptxkernel, line)
        params, panes, version = self._params(arguments.param), _panes(arguments.panes), _version(arguments.version)
        if arguments.arch is not None and arguments.arch not in known_archs():
            raise UsageError(f"--arch {arguments.arch}: expected one of {', '.join(known_archs())}")
        if arguments.name is not None and not arguments.name.isidentifier():
            raise UsageError(f"--name {arguments.name}: expected a Python name")
        kernels = self._run_cell(cell)
        if not kernels:
            raise UsageError("%%ptxkernel: the cell defines no kernel; put @kernel above a function in it, or drop the "
                             "magic")
        self._check_names(params, kernels)
        compiled, options = {}, tuple(arguments.options.strip("\"'").split())
        for name, kernel in kernels.items():
            own = {key: value for key, value in params.items() if key in _takes(kernel)}
            compiled[name] = self._compile(kernel, own, arch=arguments.arch, version=version, options=options)
        if arguments.name:
            self.shell.user_ns[arguments.name] = next(iter(compiled.values())) if len(compiled) == 1 else dict(compiled)
        if arguments.quiet:
            return None
        title = arguments.name if len(compiled) == 1 else None
        views = [linked(one, panes=panes, title=title, block=kernels[name].block,
                        dynamic_shared_bytes=kernels[name].smem) for name, one in compiled.items()]
        for view in views[:-1]:
            display(view)
        return views[-1]

    # the cell ---------------------------------------------------------------------------------------------------------

    def _run_cell(self, cell: str) -> dict[str, Kernel]:
        """Execute the cell in the notebook's namespace; the kernels it defined, by name, in order."""
        __tracebackhide__ = True
        shell = self.shell
        file, source = self._source(cell)
        try:
            tree = shell.transform_ast(shell.compile.ast_parse(source, filename=file))
        except SyntaxError as error:
            raised = CellSyntaxError(f"{error.msg} ({_shown(shell, file)}, line {error.lineno})")
            lines = shell.SyntaxTB.structured_traceback(type(error), error, [])
            raise _rendered(raised, lines) from None
        before, bound = dict(shell.user_ns), list(_bound(tree.body))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        try:
            exec(shell.compile(tree, file, "exec"), shell.user_ns)
            value = eval(shell.compile(ast.Expression(last.value), file, "eval"), shell.user_ns) if last else None
        except Exception as error:
            self._explain(error)
            raise
        if value is not None and not source.rstrip().endswith(";"):
            display(value)
        new = (name for name, value in shell.user_ns.items() if before.get(name) is not value)
        names = [name for name in dict.fromkeys((*bound, *new)) if not name.startswith("_")]
        return {name: value for name in names if isinstance(value := shell.user_ns.get(name), Kernel)}

    def _source(self, cell: str) -> tuple[str, str]:
        """The file name that stands for the cell and its code with the notebook's line numbers.

        The name is the one IPython gives the whole cell, so tracebacks, inspect and breakpoints find it.
        """
        history = self.shell.history_manager.input_hist_raw
        raw, number = history[-1], len(history) - 1
        body = cell.rstrip("\n")
        if not raw.rstrip("\n").endswith(body):         # called from code or without history
            raw, number = "%%ptxkernel\n" + cell, self.shell.execution_count
        above = raw.rstrip("\n")[:len(raw.rstrip("\n")) - len(body)].count("\n")
        source = "\n" * above + self.shell.transform_cell(cell)
        return self.shell.compile.cache(source, number, raw_code=raw), source

    # compiling --------------------------------------------------------------------------------------------------------

    def _compile(self, kernel: Kernel, params: dict[str, Any], *, arch, version, options) -> Compiled:
        __tracebackhide__ = True
        try:
            return kernel.compile(arch=arch, version=version, options=options, **params)
        except Exception as error:
            about = f"{kernel.name} for {arch or kernel.arch}"
            self._explain(error, about, lambda: kernel.ptx(**params))
            raise

    def _explain(self, error: Exception, about: str = "", ptx=lambda: "") -> None:
        """Let the error be shown at the lines of the cell, without our own frames."""
        if isinstance(error, PtxError) and (error.place is not None or isinstance(error, CompileError)):
            text = ptx() if isinstance(error, CompileError) else ""
            lines = render(error, ptx=text, about=about, colour=self._colours())
        else:
            traceback = user_traceback(error.__traceback__)
            lines = self.shell.InteractiveTB.structured_traceback(type(error), error, traceback)
        _rendered(error, lines)

    def _colours(self) -> bool:
        return self.shell.colors.lower() not in ("nocolor", "")

    # arguments --------------------------------------------------------------------------------------------------------

    def _params(self, groups: Sequence[Sequence[str]]) -> dict[str, Any]:
        params = {}
        for item in (item for group in groups for item in group):
            name, equals, text = item.partition("=")
            if not equals or not name.isidentifier():
                raise UsageError(f"-p {item}: expected NAME=VALUE, as in -p N=1024")
            if name in params:
                raise UsageError(f"-p {name} is given twice")
            params[name] = self._value(name, text)
        return params

    def _value(self, name: str, text: str) -> Any:
        if text.startswith("{") and text.endswith("}"):
            try:
                return eval(text[1:-1], self.shell.user_ns)
            except Exception as error:
                raise UsageError(f"-p {name}={text}: {type(error).__name__}: {error}") from None
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text

    def _check_names(self, params: dict[str, Any], kernels: dict[str, Kernel]) -> None:
        known = {name for kernel in kernels.values() for name in _takes(kernel)}
        unknown = params.keys() - known
        if unknown:
            takes = f"{', '.join(kernels)} {'takes' if len(kernels) == 1 else 'take'}"
            raise UsageError(f"-p {', '.join(sorted(unknown))}: {takes} {', '.join(sorted(known)) or 'no parameters'}")


def known_archs() -> list[str]:
    """Targets the assembler takes."""
    return [target.name for target in targets.ALL if target.number >= 75]


def _bound(statements: Sequence[ast.AST]) -> Iterator[str]:
    """Names that statements bind in the namespace they run in, in order of text; not those inside functions."""
    for node in statements:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Lambda():
                pass
            case _:
                yield from _bound(list(ast.iter_child_nodes(node)))


def _takes(kernel: Kernel) -> set[str]:
    """Names a kernel can be specialized by: template parameters and symbolic sizes."""
    specs = (*kernel.in_specs, *kernel.out_specs)
    return {*kernel.template_params, *(size for spec in specs for size in spec.symbolic_dims)}


def _panes(text: str) -> tuple[str, ...]:
    panes = tuple(filter(None, re.split(r"[,+|\s]+", text.lower())))
    if not panes or set(panes) - set(PANES):
        raise UsageError(f"--panes {text}: expected one or more of {','.join(PANES)}")
    return tuple(pane for pane in PANES if pane in panes)


def _version(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    if not (match := re.fullmatch(r"(\d+)\.(\d+)", text)):
        raise UsageError(f"--version {text}: expected MAJOR.MINOR, as in --version 8.7")
    return int(match[1]), int(match[2])


def _rendered(error: BaseException, lines: list[str]) -> BaseException:
    """The error, shown as these lines by IPython."""
    error._render_traceback_ = lambda: lines
    return error


def _shown(shell, file: str) -> str:
    return " ".join(shell.compile.format_code_name(file) or (file,))
