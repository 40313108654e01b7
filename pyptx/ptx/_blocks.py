"""Blocks of a kernel, `with ptx.if_(p):`, that notice the two ways in which Python makes them mean something else.

A block that is called without `with` is never entered, and what was to stand in it runs in every thread. A `return`,
`continue` or `break` in one takes effect while the kernel is traced: what follows is never written.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from types import CodeType

from pyptx._loc import user_place
from pyptx.tracing.trace import get_ctx

__all__ = ["block"]

_WORDS = {ast.Return: "return", ast.Continue: "continue", ast.Break: "break"}
_HINTS = {"return": "threads return from the kernel by ptx.ret(pred=condition)",
          "continue": "put what the other threads do under `with ptx.if_(~condition):`",
          "break": "jump out with ptx.bra(label, pred=condition), or use ptx.loop(label, pred=...)"}


def block(function: Callable[..., Iterator[None]]) -> Callable[..., AbstractContextManager[None]]:
    """A context manager of a generator, like `contextlib.contextmanager`, that must be entered."""
    make = contextmanager(function)

    @wraps(function)
    def called(*args: object, **named: object) -> AbstractContextManager[None]:
        return _Block(function.__name__, make(*args, **named))
    return called


class _Block:
    """Entered once. The trace knows of it until then."""

    def __init__(self, name: str, inner: AbstractContextManager[None]):
        self._inner, self._trace, place = inner, get_ctx(), user_place()
        self._trace.unentered[self] = name, place
        if word := _ways_out(place.code).get(place.line):
            self._trace.fail(f"Python's `{word}` in this block takes effect while tracing: what follows is written for "
                             "no thread", place, _HINTS[word])

    def __enter__(self) -> None:
        self._trace.unentered.pop(self, None)
        return self._inner.__enter__()

    def __exit__(self, *error: object) -> bool | None:
        return self._inner.__exit__(*error)


@cache
def _ways_out(code: CodeType) -> dict[int, str]:
    """The `return` without a value, `continue` or `break` that ends a `with` of this function though more of the
    function or its loop follows, by the line of what the `with` enters. Empty where the source is not to be found."""
    found: dict[int, str] = {}

    def walk(body: Sequence[ast.stmt], ends: bool, loop_ends: bool, entered: int | None = None) -> None:
        for number, statement in enumerate(body, 1):
            last = number == len(body)
            word = _WORDS.get(type(statement))
            if entered is not None and word is not None and getattr(statement, "value", None) is None:
                if not (ends if word == "return" else loop_ends and word == "continue"):
                    found.setdefault(entered, word)
            elif isinstance(statement, ast.With):
                walk(statement.body, ends and last, loop_ends and last, statement.items[-1].context_expr.lineno)
            elif isinstance(statement, ast.If):
                for part in (statement.body, statement.orelse):
                    walk(part, ends and last, loop_ends and last)
            elif isinstance(statement, ast.For | ast.While):
                walk(statement.body, False, True)

    first = code.co_firstlineno
    lines = linecache.getlines(code.co_filename)[first - 1:_last_line(code)]
    indented = bool(lines) and lines[0][:1].isspace()
    try:
        tree = ast.parse("if True:\n" * indented + "".join(lines))
    except SyntaxError:                                 # a lambda in the middle of something
        return found
    if not tree.body:                                   # typed at a prompt
        return found
    function = tree.body[0].body[0] if indented else tree.body[0]
    if isinstance(function, ast.FunctionDef):
        ast.increment_lineno(function, first - 1 - indented)
        walk(function.body, True, False)
    return found


def _last_line(code: CodeType) -> int:
    """The last line of the function that has code, also in functions inside it."""
    own = {end for _, end, _, _ in code.co_positions() if end is not None}
    return max(own | {_last_line(inside) for inside in code.co_consts if isinstance(inside, CodeType)})
