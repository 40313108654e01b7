"""Pygments lexers for PTX and SASS. The keywords of PTX come from the instruction table.

Registered as `pyptx-ptx` and `nvsass` (also `cuda-sass`), because Pygments has its own lexers named `ptx` and `sass`.
"""

from __future__ import annotations

import re

from pygments.lexer import RegexLexer, bygroups, default, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from pyptx import isa
from pyptx.isa.registers import SPECIAL

__all__ = ["PtxLexer", "SassLexer"]

_NAME = r"(?:[a-zA-Z][\w$]*|[_$%][\w$]+)"
_TYPE = r"\.(?:[busf](?:8|16|32|64|128)(?:x[24])?|bf16(?:x2)?|tf32|e\dm\d(?:x[24])?|ue\dm\d(?:x\d)?|s2f6(?:x2)?|pred)\b"


def _opcodes() -> tuple[str, ...]:
    """Return the opcodes: `cp` for `cp.async.bulk`."""
    return tuple(sorted({name.partition(".")[0] for name in isa.OPS}))


class PtxLexer(RegexLexer):
    """Lexer of PTX: instructions with modifiers, types, registers, directives."""

    name = "PTX (pyptx)"
    aliases = ["pyptx-ptx"]  # noqa: RUF012  (the form Pygments expects)
    filenames = ["*.ptx"]  # noqa: RUF012
    mimetypes = ["text/x-nvidia-ptx"]  # noqa: RUF012
    priority = 0.5
    flags = re.MULTILINE

    tokens = {  # noqa: RUF012
        "root": [
            (r"\s+", Text.Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r"/\*(?:[^*]|\*(?!/))*\*/", Comment.Multiline),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (rf"({_NAME})(\s*)(:)(?!:)", bygroups(Name.Label, Text.Whitespace, Punctuation)),
            (rf"(@)(!?)({_NAME})", bygroups(Operator, Operator, Name.Variable)),
            (words(_opcodes(), prefix=r"(?<![\w$%.])", suffix=r"(?![\w$])"), Keyword, "mnemonic"),
            (_TYPE, Keyword.Type),
            (r"@@?\w+|\.[a-zA-Z_][\w$]*(?:::[\w$]+)*", Keyword.Declaration),
            (words(tuple(SPECIAL), suffix=r"(?:\.[xyzwrgba])?(?![\w$])"), Name.Builtin),
            (r"%[\w$]+", Name.Variable),
            (r"0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b", Number.Float),
            (r"0[xX][0-9a-fA-F]+U?\b", Number.Hex),
            (r"0[bB][01]+U?\b", Number.Bin),
            (r"\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+", Number.Float),
            (r"\d+U?\b", Number.Integer),
            (r"\bWARP_SZ\b|(?<![\w$])_(?![\w$])", Name.Constant),
            (_NAME, Name),
            (r"[{}()\[\],;:]", Punctuation),
            (r"[-+*/%!~&|^<>=?]", Operator),
        ],
        "mnemonic": [
            (_TYPE, Keyword.Type),
            (r"\.[\w$]+(?:::[\w$]+)*", Keyword.Pseudo),
            default("#pop"),
        ],
    }


class SassLexer(RegexLexer):
    """Lexer of SASS as printed by nvdisasm and cuobjdump."""

    name = "NVIDIA SASS"
    aliases = ["nvsass", "cuda-sass"]  # noqa: RUF012
    filenames = ["*.sass", "*.nvsass"]  # noqa: RUF012
    mimetypes = ["text/x-nvidia-sass"]  # noqa: RUF012
    priority = 0.5
    flags = re.MULTILINE

    tokens = {  # noqa: RUF012
        "root": [
            (r"\s+", Text.Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r"/\*(?:0x)?[0-9a-fA-F]+\*/", Number.Hex),
            (r"/\*(?:[^*]|\*(?!/))*\*/", Comment.Multiline),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (r"\.[A-Za-z_][\w.$]*:", Name.Label),
            (r"`\([^)]*\)", Name.Label),
            (r"(@)(!?)(U?PT?\d*)", bygroups(Operator, Operator, Name.Variable)),
            (r"\.[a-z_][\w.$]*", Keyword.Declaration),
            (r"\bSR_[\w.]+", Name.Builtin),
            (r"\b(?:U?R(?:\d+|Z)|U?P(?:\d+|T)|B\d+|SB\d+)(?:\.(?:reuse|H[01]_H[01]|X\d+|64|B[0-3]))*", Name.Variable),
            (r"\b(?:c|desc|gdesc|cx)(?=\[)", Name.Builtin),
            (r"\b([A-Z][A-Z0-9_]*)((?:\.[A-Za-z0-9_]+)*)\b", bygroups(Keyword, Keyword.Pseudo)),
            (r"-?0x[0-9a-fA-F]+", Number.Hex),
            (r"[-+]?(?:INF|QNAN|NAN)\b", Number.Float),
            (r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+", Number.Float),
            (r"-?\d+", Number.Integer),
            (r"[\w$]+", Name),
            (r"[{}()\[\],;:]", Punctuation),
            (r"[-+*/%!~&|^<>=?.@]", Operator),
        ],
    }
