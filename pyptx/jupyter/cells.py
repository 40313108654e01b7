"""Running the text of a cell as the notebook would, with its line numbers, and finding the kernels it defines."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from pyptx.jupyter.errors import CellSyntaxError, explain, rendered
from pyptx.kernel import Kernel

__all__ = ["Cell", "as_method", "evaluate", "method_of_own", "run_statement"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell under a magic.

    Attributes:
        file: the name IPython gives the whole cell, so that tracebacks, inspect and breakpoints find it.
        raw: its text as written, with the magic.
        source: its Python, or PTX, with the notebook's line numbers.
        above: lines of the cell above its body.
    """

    file: str
    raw: str
    source: str
    above: int = 0

    @classmethod
    def of(cls, shell, body: str, magic: str = "%%ptxkernel") -> Cell:
        """`body`: what stands below the magic, Python for `%%ptxkernel` and any text for others."""
        history = shell.history_manager.input_hist_raw
        raw, number = history[-1], len(history) - 1
        body = body.rstrip("\n")
        if not raw.rstrip("\n").endswith(body):         # called from code or without history
            raw, number = f"{magic}\n{body}\n", shell.execution_count
        above = raw.rstrip("\n")[:len(raw.rstrip("\n")) - len(body)].count("\n")
        source = "\n" * above + (shell.transform_cell(body) if magic == "%%ptxkernel" else body + "\n")
        return cls(shell.compile.cache(source, number, raw_code=raw), raw, source, above)

    def name(self, shell) -> str:
        """ "Cell In[3]"."""
        return " ".join(shell.compile.format_code_name(self.file) or (self.file,))

    def run(self, shell) -> dict[str, Kernel]:
        """Execute it in the notebook's namespace; the kernels it defined, by name, in order."""
        __tracebackhide__ = True
        try:
            tree = shell.transform_ast(shell.compile.ast_parse(self.source, filename=self.file))
        except SyntaxError as error:
            raised = CellSyntaxError(f"{error.msg} ({self.name(shell)}, line {error.lineno})")
            raise rendered(raised, shell.SyntaxTB.structured_traceback(type(error), error, [])) from None
        before, bound = dict(shell.user_ns), list(_bound(tree.body))
        _execute(shell, tree, self.file, quiet=self.source.rstrip().endswith(";"))
        new = (name for name, value in shell.user_ns.items() if before.get(name) is not value)
        names = [name for name in dict.fromkeys((*bound, *new)) if not name.startswith("_")]
        return {name: value for name in names if isinstance(value := shell.user_ns.get(name), Kernel)}


def run_statement(shell, text: str, what: str) -> None:
    """Execute a line of Python in the notebook's namespace and show its value, if it is an expression.

    Args:
        what: the option it was given by, "--run"; names it in tracebacks.
    Raises:
        CellSyntaxError: it is not Python.
    """
    __tracebackhide__ = True
    file = f"<{what}>"
    linecache.cache[file] = (len(text), None, [text + "\n"], file)
    try:
        tree = shell.compile.ast_parse(text, filename=file)
    except SyntaxError as error:
        raise CellSyntaxError(f"{what} {text}: {error.msg}") from None
    _execute(shell, tree, file, quiet=text.endswith(";"))


def evaluate(shell, tree: ast.Expression, text: str, what: str) -> Any:
    """The value of an expression in the notebook's namespace; `text` and `what` as of run_statement."""
    __tracebackhide__ = True
    file = f"<{what}>"
    linecache.cache[file] = (len(text), None, [text + "\n"], file)
    try:
        return eval(shell.compile(tree, file, "eval"), shell.user_ns)
    except Exception as error:
        explain(shell, error)
        raise


def as_method(call: str, method: str) -> tuple[ast.Expression, ast.expr] | None:
    """The text `f(x)` as the expression `f.method(x)`, and `f`; None: it is no call."""
    try:
        tree = ast.parse(call.strip(), f"<{method}>", "eval")
    except SyntaxError:
        return None
    if not isinstance(tree.body, ast.Call):
        return None
    function = tree.body.func
    tree.body.func = ast.copy_location(ast.Attribute(function, method, ast.Load()), function)
    return ast.fix_missing_locations(tree), function


def method_of_own(call: str, method: str, kernels: Mapping[str, Kernel], what: str) -> ast.Expression:
    """As `as_method`, of a call of one of the cell's kernels; `what`: the option it was given by.

    Raises:
        UsageError: it is another call, or none.
    """
    match as_method(call, method):
        case tree, ast.Name(id=name) if name in kernels:
            return tree
    raise UsageError(f'{what} {call}: expected a call of a kernel of this cell, such as "{next(iter(kernels))}(x)"')


def _execute(shell, tree: ast.Module, file: str, *, quiet: bool) -> None:
    __tracebackhide__ = True
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    try:
        exec(shell.compile(tree, file, "exec"), shell.user_ns)
        value = eval(shell.compile(ast.Expression(last.value), file, "eval"), shell.user_ns) if last else None
    except Exception as error:
        explain(shell, error)
        raise
    if value is not None and not quiet:
        display(value)


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
