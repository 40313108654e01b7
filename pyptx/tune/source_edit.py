"""Edits of a kernel's source that make a configuration its declared defaults."""

from __future__ import annotations

import ast
import difflib
import json
import linecache
from collections.abc import Callable, Mapping
from typing import Any

from pyptx._frozen import frozen
from pyptx._loc import given_name
from pyptx.errors import InputError

__all__ = ["SourceEdit", "edited_defaults"]


@frozen
class SourceEdit:
    """An edit of a source file or a notebook cell, not applied yet.

    Attributes:
        file: the file, or the name of the cell, such as "Cell In[3]".
        line: 1-based line of the first change.
        before, after: the lines of the kernel, decorators included.
        diff: the changed lines, as a unified diff without headers.
        in_cell: True for a notebook cell.
    """

    file: str
    line: int
    before: str
    after: str
    diff: tuple[str, ...]
    in_cell: bool

    def __str__(self) -> str:
        return "\n".join([f"{self.file}, line {self.line}", *self.diff])

    def to_json(self) -> dict[str, Any]:
        """Return the edit as plain JSON. The texts of a file are left out: it is edited by hand."""
        texts = {"before": self.before, "after": self.after} if self.in_cell else {}
        return {"file": self.file, "line": self.line, "diff": list(self.diff), "in_cell": self.in_cell, **texts}


def edited_defaults(function: Callable[..., Any], config: Mapping[str, Any]) -> SourceEdit:
    """Return the edit of a kernel's source that makes `config` the defaults in its signature.

    Args:
        config: values of template parameters; the other defaults stay.
    Raises:
        InputError: the source is unavailable or has changed, or a parameter has no default in the signature.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename))
    signature = _signature(text, code.co_name, code.co_firstlineno)
    if signature is None:
        raise InputError(f"the source of {code.co_name} is unavailable, or has changed since it ran; run it again")
    defaults = _defaults(signature)
    if missing := [name for name in config if name not in defaults]:
        raise InputError(
            f"{code.co_name} has no default of {missing[0]} in its signature",
            hint=f"declare it as a keyword parameter: `{missing[0]}={config[missing[0]]!r}`",
        )
    lines = text.splitlines()
    first = min([signature.lineno, *(one.lineno for one in signature.decorator_list)]) - 1
    changes = [(defaults[name], _literal(value)) for name, value in config.items()]
    kept, removed = lines[first : signature.end_lineno], 0
    for node, value in sorted(changes, key=lambda change: (change[0].lineno, change[0].col_offset), reverse=True):
        removed += _replace(lines, node, value)
    edited = lines[first : (signature.end_lineno or len(lines)) - removed]
    cell = given_name(code.co_filename)
    return SourceEdit(
        cell or code.co_filename,
        min((node.lineno for node, _ in changes), default=signature.lineno),
        "\n".join(kept),
        "\n".join(edited),
        tuple(_changed_lines(kept, edited)),
        cell is not None,
    )


def _signature(text: str, name: str, first_line: int) -> ast.FunctionDef | None:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if first_line in (node.lineno, min((d.lineno for d in node.decorator_list), default=node.lineno)):
                return node
    return None


def _defaults(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the expressions of the defaults, by parameter."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    pairs = zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True)
    keywords = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return {arg.arg: default for arg, default in (*pairs, *keywords) if default is not None}


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _replace(lines: list[str], node: ast.expr, value: str) -> int:
    """Replace an expression, whose columns count bytes of UTF-8; return the number of lines that this removes."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    first, last = node.lineno - 1, node.end_lineno - 1
    before = lines[first].encode()[: node.col_offset].decode()
    behind = lines[last].encode()[node.end_col_offset :].decode()
    lines[first : last + 1] = [before + value + behind]
    return last - first


def _changed_lines(before: list[str], after: list[str]) -> list[str]:
    diff = difflib.unified_diff(before, after, lineterm="", n=0)
    return [line for line in diff if not line.startswith(("---", "+++", "@@"))]
