"""Execution of generated Python, a part at a time: CPython takes 120 bytes of memory per character that it compiles.

A function whose body is one part is compiled as it is. A longer body is executed part by part at module level, in a
namespace of its own that starts with the imported names. Generated variables never take the name of an import, and
builtins are left out, so that a name means in a part what it means in the function.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NamedTuple

from pyptx._loc import boundary
from pyptx.errors import PtxError
from pyptx.ir.nodes import Module

__all__ = ["Part", "TranspileError", "text_of", "trace_parts", "trace_source"]

_NUMBERS = count(1)
_BODY = "__body_{}"  # no generated identifier starts with two underscores
_INDENTED = "if True:\n    pass\n"  # makes the body of a function a statement; a part may consist of comments


class Part(NamedTuple):
    """Part of a generated file, which consists of complete statements.

    Attributes:
        text: the source.
        inside: True for statements of the body of the function whose head ends the part before.
    """

    text: str
    inside: bool


class TranspileError(PtxError, RuntimeError):
    """The generated Python does not trace back to the PTX: a bug in the transpiler."""


def text_of(parts: Iterable[Part]) -> str:
    """Return the text of the file."""
    return "".join(text for text, _ in parts)


def trace_source(source: str) -> Module:
    """Execute generated Python and return the module it traces to: that of its unit, or of its only kernel.

    Raises:
        TranspileError: the source defines neither.
    """
    return trace_parts([Part(source, False)])


def trace_parts(parts: Iterable[Part]) -> Module:
    """Execute the parts of a generated file, the first of which are its imports; see `trace_source`."""
    recursion = sys.getrecursionlimit()
    execution = _Execution()
    try:
        sys.setrecursionlimit(max(recursion, 20_000))
        for head, body in _functions(parts):
            execution.statements(head, body)
        return _traced(execution.space)
    finally:
        sys.setrecursionlimit(recursion)
        execution.close()


def _traced(space: dict[str, Any]) -> Module:
    unit = space.get("unit")
    if unit is not None:
        return unit.module()
    kernels = [value for value in space.values() if hasattr(value, "module") and hasattr(value, "template_params")]
    if len(kernels) != 1:
        raise TranspileError(f"the generated file defines {len(kernels)} kernels and no unit")
    return kernels[0].module()


def _functions(parts: Iterable[Part]) -> Iterable[tuple[str, list[str]]]:
    """Yield each part at module level with the parts of the function body that follows it."""
    head: str | None = None
    body: list[str] = []
    for text, inside in parts:
        if inside:
            body.append(text)
            continue
        if head is not None:
            yield head, body
        head, body = text, []
    if head is not None:
        yield head, body


class _Execution:
    """Namespace and files of one execution of a generated file."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {"__name__": "<transpiled>"}
        self._imported: dict[str, Any] | None = None  # the namespace after the first part
        self._files: list[str] = []

    def statements(self, head: str, body: list[str]) -> None:
        """Execute a part at module level, with the function whose head ends it if there is a body."""
        if len(body) > 1:
            name = _BODY.format(len(self._files))
            self.space[name] = self._runner(body)
            text = f"{head}    {name}()\n"
        else:
            text = head + "".join(body)
        exec(self._compiled(text), self.space)
        if self._imported is None:
            self._imported = dict(self.space)

    def _compiled(self, text: str) -> Any:
        name = f"<transpiled {next(_NUMBERS)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # for messages
        self._files.append(name)
        return compile(text, name, "exec")

    def _runner(self, body: list[str]) -> Callable[[], None]:
        """Return a function that executes the parts of a body."""

        @boundary
        def run_body() -> None:
            scope = {**(self._imported or {}), "__builtins__": {"range": range}}  # of rolled loops
            for text in body:
                exec(self._compiled(_INDENTED + text), scope)

        return run_body

    def close(self) -> None:
        """Forget the lines of the source."""
        for name in self._files:
            linecache.cache.pop(name, None)
