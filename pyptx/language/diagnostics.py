"""Diagnostics of PTX text while it is edited."""

from __future__ import annotations

from pyptx.errors import Diagnostic
from pyptx.language.text import Document
from pyptx.validate import check_ptx

__all__ = ["MAX_CHARACTERS", "find_diagnostics", "span"]

MAX_CHARACTERS = 2_000_000  # of a text that is checked while the user types


def find_diagnostics(text: str, target: str | None = None) -> list[Diagnostic]:
    """Return the findings of `check_ptx`; of a text longer than MAX_CHARACTERS, one warning that it is not checked.

    Args:
        target: check for this target, such as "sm_90a", instead of the one in the text.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"{len(text):,} characters; at most {MAX_CHARACTERS:,} are checked while typing"
        return [Diagnostic("warning", message, 1, 0, 1, "check it with pyptx.check_ptx")]
    return check_ptx(text, target or None)


def span(document: Document, found: Diagnostic) -> tuple[int, int]:
    """Return the offsets that a diagnostic underlines: its columns, else the content of its line."""
    line = found.line or 1
    start, end = document.offset_of_line(line), document.offset_of_line(line, len(document.text))
    if found.column is not None:
        start = document.offset_of_line(line, found.column)
        token = document.token_at(start)
        last = start + 1 if found.end_column is None else document.offset_of_line(line, found.end_column)
        whole = token is not None and token.start == start and last <= start + 1  # the parser gives the first character
        return start, min(token.end, end) if whole and token is not None else max(last, start)
    content = document.text[start:end]
    return start + len(content) - len(content.lstrip()), start + len(content.rstrip())
