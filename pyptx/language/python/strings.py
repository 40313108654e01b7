"""PTX strings of a Python file.

A string literal is PTX if

* its value starts with `.version`, after blanks and comments, and has a `.target`: a module, wherever it is used, or
* it is the argument of `ptx.raw(...)`: statements of a kernel.

Adjacent literals are one string, as in Python; raw strings, bytes and f-strings count. Where the value is not known, the
names in the text are, but it is not checked: an f-string with values, and a template: a string with `{name}` or
`%(name)s`, one that `%`, `+` or a method such as `.format` is applied to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pyptx.language.python.literals import Value, read_literals
from pyptx.language.python.tokens import PythonToken
from pyptx.language.regions import Region
from pyptx.language.text import Document

__all__ = ["F_STRING", "find_strings"]

F_STRING = "an f-string with values"

_MODULE = re.compile(r"(?>(?:\s|//[^\n]*\n|/\*.*?\*/)*)\.version\s+\S+\s.*?\.target\b", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\w*\}|\{\{[ \t]*\n|%\(\w+\)[a-z]")
_HARMLESS = ("strip", "lstrip", "rstrip", "encode", "decode")  # methods that keep all statements


def find_strings(source: str, tokens: Sequence[PythonToken]) -> Iterator[Region]:
    """Yield the PTX strings in source order."""
    at = 0
    while at < len(tokens):
        first = at
        while at < len(tokens) and tokens[at].kind == "string":
            at += 1
        if at > first and (region := _region(source, tokens, first, at)):
            yield region
        at = max(at, first + 1)


def _region(source: str, tokens: Sequence[PythonToken], first: int, last: int) -> Region | None:
    """Return the region of the literals [first, last); None if they are not PTX."""
    raw = [token.text for token in tokens[max(first - 4, 0) : first]] == ["ptx", ".", "raw", "("]
    spans = [(token.start, token.end) for token in tokens[first:last]]
    if not raw and not any(".version" in tokens[i].text for i in range(first, last)):
        return None
    value = read_literals(source, spans)
    if not raw and not _MODULE.match(value.text):
        return None
    document = Document(value.text)
    kind = "statements" if raw else "module"
    return Region(document, value.starts, value.ends, kind, _unknown(value, tokens, first, last))


def _unknown(value: Value, tokens: Sequence[PythonToken], first: int, last: int) -> str:
    if value.has_holes:
        return F_STRING
    before, after = first - 1, last
    while _text(tokens, before) == "(" and _text(tokens, after) == ")" and not _is_call(tokens, before):
        before, after = before - 1, after + 1
    if _text(tokens, after) == "." and _text(tokens, after + 1) not in _HARMLESS:
        return f"a template of .{_text(tokens, after + 1)}"
    if _text(tokens, after) in ("%", "+", "*") or _text(tokens, before) == "+":
        return f"an operand of {_text(tokens, after) if _text(tokens, after) in ('%', '*') else '+'}"
    if found := _PLACEHOLDER.search(value.text):
        return f"a template with {found[0].strip()}"
    return ""


def _is_call(tokens: Sequence[PythonToken], at: int) -> bool:
    """Return True if the parenthesis at an index starts arguments."""
    before = tokens[at - 1] if at > 0 else None
    return before is not None and (before.kind == "name" or before.text in (")", "]")) and before.text not in _KEYWORDS


_KEYWORDS = ("return", "yield", "in", "and", "or", "not", "if", "else", "lambda", "assert", "await", "is")


def _text(tokens: Sequence[PythonToken], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""
