"""`%%cuda --sweep`: a kernel of a cell compiled and modeled for combinations of macros and template arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from pyptx.errors import PtxError
from pyptx.jupyter.cells import CellSyntaxError, call_with
from pyptx.jupyter.cuda_cells import CALL
from pyptx.jupyter.magic_options import evaluated, unquote
from pyptx.workbench.cuda_program import CudaProgram
from pyptx.workbench.cuda_sweep import format_name, names_in
from pyptx.workbench.entry_sweep import EntrySweep

__all__ = ["SweptCall", "parse_sweep"]

_EXAMPLE = '--sweep "gemm<float, {TILE}>((n // TILE, n // TILE), 256, a, b, c, n)" --values TILE=16,32'
_SIZES = ("grid", "block", "cluster", "smem_bytes")


@dataclass(frozen=True)
class SweptCall:
    """A call of a kernel with the values that its macros and template arguments take.

    Attributes:
        kernel: its name, with template arguments in braces.
        arguments: as text; sizes of the launch are functions of the values that they use.
        values: the values to try, by name.
        written: the options as the user wrote them.
    """

    kernel: str
    arguments: str
    values: Mapping[str, Sequence[Any]]
    written: str

    @property
    def macros(self) -> dict[str, Any]:
        """The first value of each macro, with which the cell is compiled to be shown."""
        return {name: values[0] for name, values in self.values.items() if name not in names_in(self.kernel)}

    @property
    def first(self) -> str:
        """The kernel with the first template arguments."""
        return format_name(self.kernel, {name: values[0] for name, values in self.values.items()})

    def run(self, shell: InteractiveShell, program: CudaProgram, device: str | None) -> EntrySweep:
        """Compile and estimate all configurations, with arrays of the notebook.

        Args:
            device: a GPU of the table; None: the usual one of the target.
        Raises:
            UsageError: the launch does not fit the kernel.
        """
        __tracebackhide__ = True

        def sweep(grid: Any, block: Any, *args: Any, **sizes: Any) -> EntrySweep:
            return program.sweep(self.kernel, self.values, *args, grid=grid, block=block, device=device, **sizes)

        sweep.__qualname__ = "sweep"
        line = f"{self.kernel}({self.arguments})"
        try:
            return call_with(shell, sweep, self.arguments, line, self.written)
        except PtxError as error:
            raise UsageError(f"{self.written}: {error.message or error}") from None


def parse_sweep(call: str, given: Sequence[Sequence[str]], namespace: dict[str, Any]) -> SweptCall:
    """Return the call of `--sweep` with the values of `--values`.

    Args:
        given: groups of NAME=VALUE,VALUE...; NAME={expression} is evaluated in `namespace`.
    Raises:
        UsageError: no call, or a name without values.
    """
    written = f"--sweep {call}"
    found = CALL.fullmatch(call)
    if found is None:
        raise UsageError(f"{written}: expected a call such as {_EXAMPLE}")
    values = {}
    for item in (unquote(item) for group in given for item in group):
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--values {item}: expected NAME=VALUE,VALUE, as in --values TILE=16,32")
        values[name] = _values(name, text, namespace)
    if unknown := sorted(names_in(found["name"]) - values.keys()):
        raise UsageError(f"{written}: {{{unknown[0]}}} has no values; add --values {unknown[0]}=16,32")
    if not values:
        raise UsageError(f"{written}: no values to try; add --values, as in {_EXAMPLE}")
    return SweptCall(found["name"], _with_functions(found["arguments"], values, written), values, written)


def _values(name: str, text: str, namespace: dict[str, Any]) -> list[Any]:
    if text.startswith("{") and text.endswith("}"):
        value = evaluated(name, text, namespace, "--values")
        try:
            values = list(value)
        except TypeError:
            raise UsageError(f"--values {name}={text}: {value!r} is not a sequence of values") from None
    else:
        values = [evaluated(name, part, namespace, "--values") for part in filter(None, text.split(","))]
    if not values:
        raise UsageError(f"--values {name}=: no values; expected --values {name}=16,32")
    return values


def _with_functions(arguments: str, values: Mapping[str, Any], written: str) -> str:
    """Return arguments whose sizes are functions of the values that they use: `lambda TILE, **_: n // TILE`."""
    try:
        tree = ast.parse(f"f({arguments})", "<--sweep>", "eval").body
    except SyntaxError as error:
        raise CellSyntaxError(f"{written}: {error.msg}; expected GRID, BLOCK, ARGUMENTS") from None
    assert isinstance(tree, ast.Call)
    texts = []
    for at, node in enumerate(tree.args):
        texts.append(_function(node, values) if at < 2 else _constant(node, values, written))
    for keyword in tree.keywords:
        size = keyword.arg in _SIZES
        text = _function(keyword.value, values) if size else _constant(keyword.value, values, written)
        texts.append(f"{keyword.arg}={text}" if keyword.arg else f"**{text}")
    return ", ".join(texts)


def _function(node: ast.expr, values: Mapping[str, Any]) -> str:
    used = sorted(_used(node, values))
    return f"lambda {', '.join(used)}, **_: {ast.unparse(node)}" if used else ast.unparse(node)


def _constant(node: ast.expr, values: Mapping[str, Any], written: str) -> str:
    if used := _used(node, values):
        raise UsageError(
            f"{written}: the argument {ast.unparse(node)} depends on {', '.join(sorted(used))}; only GRID, BLOCK, cluster= "
            "and smem_bytes= can, for other arguments call program.sweep for each value"
        )
    return ast.unparse(node)


def _used(node: ast.expr, values: Mapping[str, Any]) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in values}
