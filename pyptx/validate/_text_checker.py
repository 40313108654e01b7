"""Checks of PTX text. Checks of traced modules do not load the parser."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyptx.errors import Diagnostic
from pyptx.parser import ParseError, parse
from pyptx.validate._checker import check

__all__ = ["check_ptx"]


def check_ptx(text: str | bytes, target: str | None = None) -> list[Diagnostic]:
    """Check PTX text.

    Args:
        target: check for this target, such as "sm_90a", instead of the one in the text.
    Returns:
        Diagnostics with line, columns, message and hint, in source order. None of them has the severity "error" if and
        only if ptxas would assemble the text.
    Examples:
        >>> text = ".version 8.5 .target sm_90 .address_size 64 .entry f() { mov.u32 %r0, %tid.x; }"
        >>> for found in pyptx.check_ptx(text):
        ...     print(found.severity, found.line, found.message)
        error 1 mov.u32: register %r0 is not declared
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    try:
        module = parse(text, recover=True)
    except ParseError as error:  # the text is too long
        return [error.diagnostic]
    found = [*module.diagnostics, *_encoding_problems(text)]
    if module.target.targets:  # otherwise the parser has reported the invalid header
        found += check(module, target)
    return sorted(found, key=lambda d: (d.line or 0, d.column or 0))


_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|(\"[^\"\n]*\"|^[ \t]*#[^\n]*)", re.DOTALL | re.MULTILINE)
_NON_ASCII = re.compile(r"[^\x00-\x7f]")


def _encoding_problems(text: str) -> Iterator[Diagnostic]:
    """Yield an error for each string or line marker with a non-ASCII character, and a warning for a final NUL."""
    for match in _STRING.finditer(text) if not text.isascii() else ():
        found = _NON_ASCII.search(match[1]) if match[1] else None
        if found is not None:
            at = match.start() + found.start()
            column = at - text.rfind("\n", 0, at) - 1
            message = f"character {found[0]!r} is only allowed in comments; PTX strings are ASCII"
            yield Diagnostic("error", message, text.count("\n", 0, at) + 1, column, column + 1)
    if text.endswith("\0"):
        column = len(text) - text.rfind("\n") - 2
        message = "the text ends with a NUL character, as a C string does; pyptx removes it before assembling, ptxas refuses it"
        yield Diagnostic("warning", message, text.count("\n") + 1, column, column + 1)
