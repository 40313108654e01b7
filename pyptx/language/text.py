"""Documents: PTX text with its tokens, and the positions that editors use."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from pyptx.parser.lexer import scan

__all__ = ["Document", "TextEdit", "Token", "apply"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_UNIT_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Token(NamedTuple):
    """A token with its offsets; `kind` as in `pyptx.parser.lexer.scan`."""

    kind: str
    text: str
    start: int
    end: int


class TextEdit(NamedTuple):
    """Replacement of the text from `start` to `end`."""

    start: int
    end: int
    text: str


class Document:
    """A text, split into tokens on first use. The text is not changed; an edited text is another Document."""

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def all_tokens(self) -> tuple[Token, ...]:
        """All tokens, including newlines and comments."""
        text = self.text
        return tuple(Token(kind, text[start:end], start, end) for kind, start, end in scan(text))

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens without newlines and comments."""
        return tuple(token for token in self.all_tokens if token.kind not in ("newline", "comment"))

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.all_tokens]

    @cached_property
    def _token_starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    def token_at(self, offset: int) -> Token | None:
        """Return the token that contains the offset or ends at it; None in blanks. A comment is a token, too.

        Between two adjacent tokens, a word is preferred to punctuation, and then the right one.
        """
        last = bisect_right(self._starts, offset) - 1
        near = [t for t in self.all_tokens[max(last - 1, 0) : last + 1] if t.start <= offset <= t.end]
        words = [t for t in near if t.kind in ("register", "identifier", "directive")]
        return words[-1] if words else near[-1] if near else None

    def between(self, start: int, end: int) -> tuple[Token, ...]:
        """Return the tokens, comments included, that start at or after `start` and before `end`."""
        return self.all_tokens[bisect_right(self._starts, start - 1) : bisect_right(self._starts, end - 1)]

    def index_at(self, offset: int) -> int:
        """Return the index in `tokens` of the first token that starts at or after the offset."""
        return bisect_right(self._token_starts, offset - 1)

    # positions of the language server protocol ----------------------------------------------------------------------

    @cached_property
    def _lines(self) -> list[int]:
        """Offset of each line; lines end with a line feed, a carriage return or both."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def _ptx_lines(self) -> list[int]:
        """Offset of each line as diagnostics count them: only a line feed ends a line."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def offset_of_line(self, line: int, column: int = 0) -> int:
        """Return the offset of a diagnostic's 1-based line and 0-based column, clamped to the text."""
        lines = self._ptx_lines
        start = lines[min(max(line, 1), len(lines)) - 1]
        end = lines[line] - 1 if 0 < line < len(lines) else len(self.text)
        return min(start + max(column, 0), end)

    def line_of(self, offset: int) -> int:
        """Return the 0-based line of an offset."""
        return bisect_right(self._lines, offset) - 1

    def position(self, offset: int, encoding: str = "utf-16") -> tuple[int, int]:
        """Return the 0-based line, and the column in code units of the encoding."""
        line = self.line_of(offset)
        codec, size = _UNIT_BYTES[encoding]
        before = self.text[self._lines[line] : offset]
        return line, len(before) if before.isascii() else len(before.encode(codec, "surrogatepass")) // size

    def offset(self, line: int, column: int, encoding: str = "utf-16") -> int:
        """Return the offset of a 0-based line and a column in code units, the nearest one inside the text."""
        lines = self._lines
        if line >= len(lines):
            return len(self.text)
        start = lines[line]
        end = lines[line + 1] if line + 1 < len(lines) else len(self.text)
        content = self.text[start:end].rstrip("\r\n")
        codec, size = _UNIT_BYTES[encoding]
        if not content.isascii():
            content = content.encode(codec, "surrogatepass")[: column * size].decode(codec, "ignore")
            column = len(content)
        return start + min(column, len(content))

    def offset_of_units(self, units: int) -> int:
        """Return the offset of a number of UTF-16 units from the start, as JavaScript counts, clamped to the text."""
        if self.text.isascii():
            return min(max(units, 0), len(self.text))
        return len(self.text.encode("utf-16-le", "surrogatepass")[: 2 * max(units, 0)].decode("utf-16-le", "ignore"))

    def units_of_offset(self, offset: int) -> int:
        """Return the number of UTF-16 units before an offset."""
        before = self.text[:offset]
        return offset if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2


def apply(text: str, edits: list[TextEdit]) -> str:
    """Return the text with the edits, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
