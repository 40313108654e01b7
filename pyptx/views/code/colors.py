"""Syntax highlighting with the sixteen ANSI colors, so that it follows the terminal's theme."""

from __future__ import annotations

from collections.abc import Sequence

from pygments import highlight
from pygments.formatters import TerminalFormatter
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, Token

from pyptx.highlight import PtxLexer, SassLexer

__all__ = ["highlight_lines"]

# (on a light terminal, on a dark one); colors that can be read on both
_COLORS = {
    kind: (color, color)
    for kind, color in {
        Token: "",
        Comment: "green",
        String: "green",
        Number: "magenta",
        Keyword: "*cyan*",
        Keyword.Pseudo: "cyan",
        Keyword.Type: "cyan",
        Keyword.Declaration: "cyan",
        Name.Builtin: "magenta",
        Name.Decorator: "cyan",
        Name.Label: "*magenta*",
        Name.Variable: "",
    }.items()
}
_LEXERS = {"python": PythonLexer, "ptx": PtxLexer, "sass": SassLexer}


def highlight_lines(language: str, lines: Sequence[str]) -> list[str]:
    """Return lines of "python", "ptx" or "sass" with escape codes, which end on each line.

    The lines are lexed as one text, because a string or a comment may span several.
    """
    if not lines:
        return []
    lexer = _LEXERS[language](stripnl=False, ensurenl=True)
    found = highlight("\n".join(lines), lexer, TerminalFormatter(colorscheme=_COLORS)).removesuffix("\n").split("\n")
    return [line if plain.strip() else plain for line, plain in zip(found, lines, strict=True)]
