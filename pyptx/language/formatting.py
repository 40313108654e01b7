"""Formatting of PTX text: indentation, spaces around commas and semicolons, blanks at line ends.

Only blanks between tokens change: the tokens, comments and line breaks stay. A text with a character or comment that
is not valid PTX is not formatted, because its tokens are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.language.text import Document, TextEdit, Token
from pyptx.parser.cursor import MAX_DEPTH

__all__ = ["format_document"]

_HEADERS = (".version", ".target", ".address_size", ".file", ".loc", ".loc_intermediate")


def format_document(document: Document, indent: str = "\t") -> list[TextEdit]:
    """Return the edits that format a document.

    Bodies of functions are indented, blocks in them once more, continued statements once more than their first line,
    and labels once less. There is one space after a comma and none before a comma or semicolon.
    """
    tokens = document.all_tokens
    if any(token.kind == "bad" for token in tokens):
        return []
    return [edit for edit in _edits(document, indent) if document.text[edit.start : edit.end] != edit.text]


def _edits(document: Document, indent: str) -> Iterator[TextEdit]:
    text, tokens = document.text, document.all_tokens
    layout = _Layout()
    end = 0  # of the previous token
    starts_line = True
    for i, token in enumerate(tokens):
        blank = text[end : token.start]
        if token.kind == "newline":
            yield TextEdit(end, token.start, "\r" if blank.endswith("\r") else "")
        elif starts_line:
            if not token.text.startswith("#"):  # a line marker
                yield TextEdit(end, token.start, indent * layout.depth_of(tokens, i))
        elif token.text in (",", ";") and tokens[i - 1].kind != "comment":
            yield TextEdit(end, token.start, "")
        elif tokens[i - 1].text == ",":
            yield TextEdit(end, token.start, " " if token.kind != "comment" else blank or " ")
        starts_line = token.kind == "newline"
        end = token.end
        layout.read(token)
    yield TextEdit(end, len(text), "")


class _Layout:
    """Depth of blocks, and whether a statement continues."""

    def __init__(self) -> None:
        self.blocks: list[bool] = []  # for each open brace, whether it opened a block, not a vector
        self.depth = 0  # open blocks
        self.statement: list[Token] = []  # tokens of the statement that is open
        self.header = False  # in a directive that ends with its line
        self.head = False  # in the head of a function
        self.parentheses = 0  # open in the statement

    def depth_of(self, tokens: tuple[Token, ...], i: int) -> int:
        """Return the indentation of a line that starts with the token."""
        token, depth = tokens[i], min(self.depth, MAX_DEPTH)
        if token.text == "}" and self.blocks:
            return depth - (1 if self.blocks[-1] else 0)
        if token.kind == "comment" and not self.statement:
            return depth
        if not self.statement or (token.text == "{" and self.head):
            return max(depth - 1, 0) if _is_label(tokens, i) and depth else depth
        if self.head:
            return depth + (1 if self.parentheses and token.text != ")" else 0)
        return depth + 1

    def read(self, token: Token) -> None:
        if token.kind == "comment":
            return
        if token.kind == "newline":
            if self.header:
                self.end()
            return
        word = token.text if token.kind == "punctuator" else ""
        if word == "{" and (self.head or not self.statement or self.statement[0].text == ".section"):
            self.blocks.append(True)
            self.depth += 1
            self.end()
        elif word == "{":
            self.blocks.append(False)
            self.statement.append(token)
        elif word == "}":
            block = self.blocks.pop() if self.blocks else True
            if block:
                self.depth = max(self.depth - 1, 0)
                self.end()
        elif word == ";" or (word == ":" and len(self.statement) == 1):
            self.end()
        else:
            self.parentheses += (word == "(") - (word == ")")
            self.header = self.header or (not self.statement and token.text in _HEADERS)
            self.head = self.head or token.text in (".entry", ".func")
            self.statement.append(token)

    def end(self) -> None:
        """End the statement."""
        self.statement, self.header, self.head, self.parentheses = [], False, False, 0


def _is_label(tokens: tuple[Token, ...], i: int) -> bool:
    follows = next((t.text for t in tokens[i + 1 : i + 4] if t.kind not in ("newline", "comment")), "")
    return tokens[i].kind in ("identifier", "register") and follows == ":"
