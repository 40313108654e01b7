"""Code in the sixteen colours of a terminal, which the reader's own theme decides about."""

from __future__ import annotations

from collections.abc import Sequence

from pygments import highlight
from pygments.formatters import TerminalFormatter
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, Token

from pyptx.highlight import PtxLexer, SassLexer

__all__ = ["coloured"]

# (on a light terminal, on a dark one); colours that can be read on both
_COLOURS = {kind: (colour, colour) for kind, colour in {
    Token: "", Comment: "green", String: "green", Number: "magenta", Keyword: "*cyan*", Keyword.Pseudo: "cyan",
    Keyword.Type: "cyan", Keyword.Declaration: "cyan", Name.Builtin: "magenta", Name.Decorator: "cyan",
    Name.Label: "*magenta*", Name.Variable: ""}.items()}
_LEXERS = {"python": PythonLexer, "ptx": PtxLexer, "sass": SassLexer}


def coloured(language: str, lines: Sequence[str]) -> list[str]:
    """The lines of "python", "ptx" or "sass" with escape codes, each closed on its own line.

    They are read as one text, so that a string or a comment may run over several.
    """
    if not lines:
        return []
    lexer = _LEXERS[language](stripnl=False, ensurenl=True)
    found = highlight("\n".join(lines), lexer, TerminalFormatter(colorscheme=_COLOURS)).removesuffix("\n").split("\n")
    return [line if plain.strip() else plain for line, plain in zip(found, lines, strict=True)]
