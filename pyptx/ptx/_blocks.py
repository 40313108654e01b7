"""Block statements of a kernel, `with ptx.if_(p):`, that diagnose two common mistakes.

A block called without `with` is never entered, so its intended body runs in every thread. A Python `return`, `continue`
or `break` in a block takes effect while the kernel is traced, so the code after it is never emitted.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from types import CodeType, TracebackType
from typing import ParamSpec, TypeVar

from pyptx._lazy import pattern
from pyptx._loc import user_place
from pyptx.tracing.trace import get_ctx

__all__ = ["block", "loop_of"]

P = ParamSpec("P")
T = TypeVar("T")

_KEYWORDS = {ast.Return: "return", ast.Continue: "continue", ast.Break: "break"}
_LEAVES = pattern(r"(?:^|[:;])\s*(?:return|continue|break)\s*(?:$|[#;\\])")  # a statement without a value
_HINTS = {
    "return": "use ptx.ret(pred=condition) to return from the kernel",
    "continue": "put the code of the other threads under `with ptx.if_(~condition):`",
    "break": "branch out with ptx.bra(label, pred=condition), or use ptx.loop(label, pred=...)",
}


def block(
    function: Callable[..., Iterator[None]], name: str | None = None
) -> Callable[..., AbstractContextManager[None]]:
    """Make a context manager of a generator function, as `contextlib.contextmanager` does, that must be entered.

    Args:
        function: the generator function.
        name: for messages; default: `ptx.` and its own.
    """
    make, shown = contextmanager(function), name or f"ptx.{function.__name__}"

    @wraps(function)
    def called(*args: object, **named: object) -> AbstractContextManager[None]:
        return _Block(shown, make(*args, **named))

    return called


def loop_of(name: str) -> Callable[[Callable[P, Iterator[T]]], Callable[P, Iterator[T]]]:
    """Make a loop of a generator function, that must be iterated over.

    Args:
        name: for messages.
    """

    def made(function: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
        @wraps(function)
        def called(*args: P.args, **named: P.kwargs) -> Iterator[T]:
            return _Loop(name, function(*args, **named))

        return called

    return made


class _Loop(Iterator[T]):
    """A generator recorded in the trace until it is iterated over."""

    def __init__(self, name: str, inner: Iterator[T]):
        self._inner, self._trace = inner, get_ctx()
        self._trace.unentered[self] = name, "for", user_place()

    def __iter__(self) -> Iterator[T]:
        self._trace.unentered.pop(self, None)
        return self._inner

    def __next__(self) -> T:
        return next(iter(self))


class _Block:
    """A context manager recorded in the trace until it is entered."""

    def __init__(self, name: str, inner: AbstractContextManager[None]):
        self._inner, self._trace, place = inner, get_ctx(), user_place()
        self._trace.unentered[self] = name, "with", place
        ways = _ways_out(place.code)
        if ways and (word := ways.get(place.line)):  # without any, the line is not decoded
            self._trace.fail(
                f"Python's `{word}` in this block takes effect while tracing: the code after it is not emitted for any thread",
                place,
                _HINTS[word],
            )

    def __enter__(self) -> None:
        self._trace.unentered.pop(self, None)
        return self._inner.__enter__()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return self._inner.__exit__(exc_type, exc_value, traceback)


@cache
def _ways_out(code: CodeType) -> dict[int, str]:
    """Find each `return` without value, `continue` or `break` that leaves a `with` block early.

    Returns:
        Line of the entered expression -> keyword; empty if the source is not available.
    """
    found: dict[int, str] = {}

    def walk(body: Sequence[ast.stmt], ends: bool, loop_ends: bool, entered: int | None = None) -> None:
        for number, statement in enumerate(body, 1):
            last = number == len(body)
            word = _KEYWORDS.get(type(statement))
            if entered is not None and word is not None and getattr(statement, "value", None) is None:
                if not (ends if word == "return" else loop_ends and word == "continue"):
                    found.setdefault(entered + above, word)
            elif isinstance(statement, ast.With):
                walk(statement.body, ends and last, loop_ends and last, statement.items[-1].context_expr.lineno)
            elif isinstance(statement, ast.If):
                for part in (statement.body, statement.orelse):
                    walk(part, ends and last, loop_ends and last)
            elif isinstance(statement, ast.For | ast.While):
                walk(statement.body, False, True)

    first, text = code.co_firstlineno, linecache.getlines(code.co_filename)
    if not any(map(_LEAVES.search, text[first - 1 : _last_start(code)])):
        return found  # without a tree, which takes 300 times the memory of its text
    lines = text[first - 1 : _last_line(code)]
    indented = bool(lines) and lines[0][:1].isspace()
    above = first - 1 - indented  # lines of the file in front of the parsed text
    try:
        tree = ast.parse("if True:\n" * indented + "".join(lines))
    except SyntaxError:  # a lambda inside an expression
        return found
    if not tree.body:  # typed at a prompt
        return found
    outermost = tree.body[0]
    function = outermost.body[0] if indented and isinstance(outermost, ast.If) else outermost
    if isinstance(function, ast.FunctionDef):
        walk(function.body, True, False)
    return found


def _last_start(code: CodeType) -> int:
    """Return the last line on which code of the function starts, nested functions included."""
    own = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    return max([own, *(_last_start(inside) for inside in code.co_consts if isinstance(inside, CodeType))])


def _last_line(code: CodeType) -> int:
    """Return the last line of the function with code, nested functions included."""
    own = {end for _, end, _, _ in code.co_positions() if end is not None}
    return max(own | {_last_line(inside) for inside in code.co_consts if isinstance(inside, CodeType)})
