"""Errors of the parser."""

from __future__ import annotations

from typing import Any

from pyptx.errors import Diagnostic, PtxError

__all__ = ["LexError", "ParseError"]


class ParseError(PtxError, ValueError):
    """The text is not valid PTX. `line` and `col` are 1-based.

    Attributes:
        excerpt: the source line.
        offset: offset into the text.
    """

    title = "Parse error"
    line: int
    col: int
    excerpt: str

    def __init__(self, message: str, line: int, col: int, *, excerpt: str = "", hint: str | None = None):
        super().__init__(message, hint=hint)
        self.line, self.col, self.excerpt = line, col, excerpt
        self.offset = 0  # into the text, set by the parser

    def __str__(self) -> str:
        lines = [f"{self.title} at {self.line}:{self.col}: {self.message}"]
        if self.excerpt.strip():
            start = max(0, self.col - 80)  # a line may be megabytes long
            shown = self.excerpt[start : start + 120].rstrip()
            lines += ["    " + shown.replace("\t", " "), "    " + " " * (self.col - 1 - start) + "^"]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.line, self.col, self.excerpt, self.hint)

    @property
    def diagnostic(self) -> Diagnostic:
        """The error as a diagnostic with line and columns."""
        return Diagnostic("error", self.message, self.line, self.col - 1, self.col, self.hint)


class LexError(ParseError):
    """The text contains an invalid character, or an unterminated string or comment."""

    title = "Lex error"


def _rebuild(kind: type[ParseError], message: str, line: int, col: int, excerpt: str, hint: str | None) -> ParseError:
    return kind(message, line, col, excerpt=excerpt, hint=hint)
