"""Execution of a cell under a magic, with the notebook's line numbers, and of expressions in its options."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from pyptx.errors import PtxError
from pyptx.jupyter.errors import CellSyntaxError, attach_traceback, set_rendering
from pyptx.kernel import Kernel

__all__ = ["Cell", "call_with", "rewrite_as_method", "evaluate", "rewrite_kernel_call", "run_statement"]

PYTHON_MAGICS = ("%%ptxkernel", "%%tritonkernel")  # their cells are Python


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell under a magic.

    Attributes:
        file: file name under which IPython caches the cell; tracebacks, inspect and breakpoints use it.
        raw: text as written, with the magic.
        source: Python or PTX, padded to the line numbers of the notebook.
        first_line: lines of the cell above its body.
    """

    file: str
    raw: str
    source: str
    first_line: int = 0

    @classmethod
    def current(cls, shell: InteractiveShell, body: str, magic: str = "%%ptxkernel") -> Cell:
        """Return the cell that is running; `body` is its text below the magic, Python for PYTHON_MAGICS."""
        history = shell.history_manager.input_hist_raw if shell.history_manager else [""]
        raw, number = history[-1], len(history) - 1
        body = body.rstrip("\n")
        if not raw.rstrip("\n").endswith(body):  # the magic is called from code, or without history
            raw, number = f"{magic}\n{body}\n", shell.execution_count
        above = raw.rstrip("\n")[: len(raw.rstrip("\n")) - len(body)].count("\n")
        source = "\n" * above + (shell.transform_cell(body) if magic in PYTHON_MAGICS else body + "\n")
        return cls(shell.compile.cache(source, number, raw_code=raw), raw, source, above)

    def name(self, shell: InteractiveShell) -> str:
        """Return the name shown to the user, such as "Cell In[3]"."""
        return " ".join(shell.compile.format_code_name(self.file) or (self.file,))

    def run(self, shell: InteractiveShell) -> dict[str, Kernel]:
        """Execute the cell in the notebook's namespace; return the kernels it defined, by name, in order."""
        __tracebackhide__ = True
        try:
            tree = shell.transform_ast(shell.compile.ast_parse(self.source, filename=self.file))
        except SyntaxError as error:
            raised = CellSyntaxError(f"{error.msg} ({self.name(shell)}, line {error.lineno})")
            raise set_rendering(raised, shell.SyntaxTB.structured_traceback(type(error), error, None)) from None
        before, bound = dict(shell.user_ns), list(_bound(tree.body))
        _execute(shell, tree, self.file, quiet=self.source.rstrip().endswith(";"))
        new = (name for name, value in shell.user_ns.items() if before.get(name) is not value)
        names = [name for name in dict.fromkeys((*bound, *new)) if not name.startswith("_")]
        return {name: value for name in names if isinstance(value := shell.user_ns.get(name), Kernel)}


def run_statement(shell: InteractiveShell, text: str, option: str) -> None:
    """Execute a line of Python in the notebook's namespace and display the value of an expression.

    Args:
        option: the option that holds the line, such as "--run"; shown in tracebacks.
    Raises:
        CellSyntaxError: the line is not valid Python.
    """
    __tracebackhide__ = True
    file = f"<{option}>"
    linecache.cache[file] = (len(text), None, [text + "\n"], file)
    try:
        tree = shell.compile.ast_parse(text, filename=file)
        assert isinstance(tree, ast.Module), "the default mode is exec"
    except SyntaxError as error:
        raise CellSyntaxError(f"{option} {text}: {error.msg}") from None
    _execute(shell, tree, file, quiet=text.endswith(";"))


def call_with(shell: InteractiveShell, function: Callable[..., Any], arguments: str, line: str, written: str) -> Any:
    """Call a function with arguments that are evaluated in the notebook's namespace, such as "4, 128, x"; return its result.

    Args:
        function: its name is that of the code that runs, its qualified name that shown in errors.
        line: the call as tracebacks show it.
        written: the option with its value, as the user wrote it: "--run 4, 128, x".
    Raises:
        CellSyntaxError: the arguments are not valid Python.
    """
    __tracebackhide__ = True
    file = f"<{written.partition(' ')[0]}>"
    linecache.cache[file] = (len(line), None, [line + "\n"], file)
    try:
        code = shell.compile(f"{function.__name__}({arguments})", file, "eval")
    except SyntaxError as error:
        raise CellSyntaxError(f"{written}: {error.msg}; expected GRID, BLOCK, ARGUMENTS") from None
    try:
        return eval(code, shell.user_ns, {function.__name__: function})
    except Exception as error:
        if isinstance(error, PtxError) and error.place is None:
            set_rendering(error, [f"{type(error).__name__}: {line}: {error}"])
        else:
            attach_traceback(shell, error)
        raise


def evaluate(shell: InteractiveShell, tree: ast.Expression, text: str, option: str) -> Any:
    """Evaluate an expression in the notebook's namespace; `text` and `option` as for run_statement."""
    __tracebackhide__ = True
    file = f"<{option}>"
    linecache.cache[file] = (len(text), None, [text + "\n"], file)
    try:
        return eval(_compile(shell, tree, file, "eval"), shell.user_ns)
    except Exception as error:
        attach_traceback(shell, error)
        raise


def rewrite_as_method(call: str, method: str) -> tuple[ast.Expression, ast.expr] | None:
    """Rewrite the call `f(x)` as `f.method(x)`; return that and `f`, or None if the text is not a call."""
    try:
        tree = ast.parse(call.strip(), f"<{method}>", "eval")
    except SyntaxError:
        return None
    if not isinstance(tree.body, ast.Call):
        return None
    function = tree.body.func
    tree.body.func = ast.copy_location(ast.Attribute(function, method, ast.Load()), function)
    return ast.fix_missing_locations(tree), function


def rewrite_kernel_call(call: str, method: str, kernels: Mapping[str, Kernel], option: str) -> ast.Expression:
    """Rewrite a call of one of the cell's kernels as `rewrite_as_method` does; `option` is the option that holds it.

    Raises:
        UsageError: it is not a call of one of the kernels.
    """
    match rewrite_as_method(call, method):
        case tree, ast.Name(id=name) if name in kernels:
            return tree
    raise UsageError(f'{option} {call}: expected a call of a kernel of this cell, such as "{next(iter(kernels))}(x)"')


def _execute(shell: InteractiveShell, tree: ast.Module, file: str, *, quiet: bool) -> None:
    __tracebackhide__ = True
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    else:
        last = None
    try:
        exec(_compile(shell, tree, file, "exec"), shell.user_ns)
        value = eval(_compile(shell, ast.Expression(last.value), file, "eval"), shell.user_ns) if last else None
    except Exception as error:
        attach_traceback(shell, error)
        raise
    if value is not None and not quiet:
        display(value)


def _compile(shell: InteractiveShell, tree: ast.Module | ast.Expression, file: str, mode: str) -> CodeType:
    """Compile a tree with the future flags of earlier cells."""
    return shell.compile(tree, file, mode)  # pyright: ignore[reportArgumentType]  (declared for text only)


def _bound(statements: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names that statements bind in their own namespace, in order of text; not those inside functions."""
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
