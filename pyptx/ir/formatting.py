"""How a node was spelled: blanks, comments and ways of writing that say nothing about the program.

A parsed node carries its spelling next to its meaning, so that printing the tree gives back the bytes it was read
from. Spelling is keyed by the role of a piece ("item", ";", "name"), never by position in a source text: after an edit
every piece that is still there keeps its own blanks, and a new one gets the canonical ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from pyptx._value import value

__all__ = ["GAP", "FormattingInfo", "Layout", "Piece", "collapsed", "integer", "tight", "weave"]

# Blanks and comments, as a regular expression; `# 1 "file"` line markers count as comments.
GAP = r"(?:[ \t\n\r\f\v]++|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|\#[ \t]*+[0-9][^\n]*+)"

Layout = tuple[tuple[str, str], ...]
"""Pairs (role, text): the gap in front of the piece with that role ("item3", or "item" for all of them), or, for
"=role", how its value was spelled (`0x10` for 16)."""


@value
class FormattingInfo:
    """Blanks and comments around a node, as they were written.

    A node prints as its blank lines, its comments (one a line), `indent`, the node itself, `trailing`, `newline`.
    """

    indent: str = ""
    trailing: str = ""                          # from the end of the node to the end of the line: blanks, a comment
    blank_lines_before: int = 0
    preceding_comments: tuple[str, ...] = ()    # header lines only; elsewhere comments and blank lines are nodes
    newline: str = "\n"                         # "" when the next node follows on the same line
    layout: Layout = ()                         # inside the node


class Piece(NamedTuple):
    """One token of a node: `gap` is the canonical blank in front of it, `kind` how it may be spelled otherwise."""

    role: str
    text: str
    gap: str = " "
    kind: str = ""                              # "int": any literal of that value; "optional": may be left out


def weave(pieces: Iterable[Piece], layout: Layout) -> str:
    """The pieces with the gaps and spellings of `layout`, and canonical ones where it says nothing."""
    given = dict(layout)
    out: list[str] = []
    for role, text, gap, kind in pieces:
        blank = given.get(role)
        if blank is None:
            blank = given.get(role.rstrip("0123456789"), gap)
        if kind:
            spelled = given.get("=" + role)
            if spelled is not None and (kind == "optional" or _numbers(spelled) == _numbers(text)):
                text = spelled
        if text:
            out.append(blank)
            out.append(text)
    return "".join(out[1:])


def _numbers(text: str) -> list[int | None]:
    """The value of an integer, or both of a version."""
    return [integer(text)] if "." not in text else [int(part) for part in text.split(".")]


_RADIX = {"x": 16, "b": 2}


def integer(text: str) -> int | None:
    """The value of an integer literal (decimal, 0x, 0b, leading-zero octal, suffix U) or WARP_SZ; else None."""
    digits = text.removesuffix("U")
    if digits == "WARP_SZ":
        return 32
    try:
        if digits[:1] == "0" and len(digits) > 1:
            radix = _RADIX.get(digits[1].lower())
            return int(digits[2:], radix) if radix else int(digits, 8)
        return int(digits) if digits.isascii() and digits.isdigit() else None
    except ValueError:
        return None


_RUN = re.compile(GAP + "++")
_MODULO = re.compile(rf"%{GAP}")


_SIGN = re.compile(r"[-+~!] (?=[0-9.])")


def collapsed(text: str) -> str:
    """The text with every run of blanks and comments as one space, and none behind a sign it starts with."""
    text = _RUN.sub(" ", text)
    return text[0] + text[2:] if _SIGN.match(text) else text


def tight(text: str) -> str:
    """The text without blanks and comments, except for one space after each comma."""
    if text.isalnum():
        return text
    if _MODULO.search(text):                    # `5 % 3` without blanks would name the register %3
        return collapsed(text)
    return _RUN.sub("", text).replace(",", ", ")
