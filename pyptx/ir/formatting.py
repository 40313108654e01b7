"""Formatting of nodes: trivia (whitespace and comments) and alternative spellings, which carry no meaning.

A parsed node keeps its formatting next to its meaning, so that printing the tree reproduces the source byte for byte.
Formatting is keyed by the role of a token ("item", ";", "name"), never by its position in the source: after an edit,
every remaining token keeps its own trivia, and a new token gets canonical trivia.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from pyptx._frozen import frozen
from pyptx._lazy import pattern

__all__ = [
    "TRIVIA",
    "FormattingInfo",
    "Layout",
    "LayoutEntries",
    "SyntaxToken",
    "collapse_trivia",
    "compress_layout",
    "integer",
    "join_tokens",
    "strip_trivia",
]

# Whitespace and comments, as a regular expression; `# 1 "file"` line markers count as comments.
TRIVIA = r"(?:[ \t\n\r\f\v]++|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/|\#[ \t]*+[0-9][^\n]*+)"

Layout = tuple[tuple[str, str], ...]
"""Pairs (role, text): the trivia in front of the token with that role ("item3", or "item" for every list item), or, for
"=role", the source spelling of its value (`0x10` for 16)."""

LayoutEntries = list[tuple[str, str]]
"""A layout under construction."""


@frozen
class FormattingInfo:
    """Whitespace and comments around a node, as written in the source.

    A node prints as its blank lines, its comments (one per line), `indent`, the node itself, `trailing`, `newline`.
    """

    indent: str = ""
    trailing: str = ""  # from the end of the node to the end of the line: whitespace, a comment
    blank_lines_before: int = 0
    preceding_comments: tuple[str, ...] = ()  # header directives only; elsewhere comments and blank lines are nodes
    newline: str = "\n"  # "" when the next node follows on the same line
    layout: Layout = ()  # inside the node


class SyntaxToken(NamedTuple):
    """One token of a node: its role, text and canonical leading trivia.

    `kind` allows other spellings: "int", any literal of the same value; "optional", the token may be omitted.
    """

    role: str
    text: str
    trivia: str = " "
    kind: str = ""


def join_tokens(tokens: Iterable[SyntaxToken], layout: Layout) -> str:
    """Return the text of the tokens with the trivia and spellings of `layout`, canonical where it has no entry."""
    given = dict(layout)
    out: list[str] = []
    for role, text, trivia, kind in tokens:
        leading = given.get(role)
        if leading is None:
            leading = given.get(role.rstrip("0123456789"), trivia)
        if kind:
            spelling = given.get("=" + role)
            if spelling is not None and (kind == "optional" or _numbers(spelling) == _numbers(text)):
                text = spelling
        if text:
            out.append(leading)
            out.append(text)
    return "".join(out[1:])


def _numbers(text: str) -> list[int | None]:
    """Return the value of an integer, or both numbers of a version."""
    return [integer(text)] if "." not in text else [int(part) for part in text.split(".")]


def compress_layout(layout: LayoutEntries) -> Layout:
    """Return the layout with a single entry for all tokens of a list that have the same trivia."""
    return _compress(tuple(layout)) if len(layout) < 64 else _compress.__wrapped__(tuple(layout))


@lru_cache(4096)
def _compress(layout: Layout) -> Layout:
    stems: dict[str, set[str]] = {}
    for role, trivia in layout:
        stem = role.rstrip("0123456789")
        if stem != role and role[0] != "=":
            stems.setdefault(stem, set()).add(trivia)
    uniform = {stem: found.pop() for stem, found in stems.items() if len(found) == 1}
    if not uniform:
        return layout
    kept = [(role, trivia) for role, trivia in layout if role[0] == "=" or role.rstrip("0123456789") not in uniform]
    return (*kept, *uniform.items())


MAX_DIGITS = 1000  # far beyond 64 bits; Python refuses to print integers of more than 4300 digits
_RADIX = {"x": 16, "b": 2}


def integer(text: str) -> int | None:
    """Return the value of an integer literal or WARP_SZ, None for other text.

    Literals are decimal, hexadecimal (0x), binary (0b) or octal (leading zero), with an optional suffix U, and at most
    MAX_DIGITS long.
    """
    digits = text.removesuffix("U")
    if digits == "WARP_SZ":
        return 32
    if len(digits) > MAX_DIGITS:
        return None
    try:
        if digits[:1] == "0" and len(digits) > 1:
            radix = _RADIX.get(digits[1].lower())
            return int(digits[2:], radix) if radix else int(digits, 8)
        return int(digits) if digits.isascii() and digits.isdigit() else None
    except ValueError:
        return None


_RUN = pattern(TRIVIA + "++")
_MODULO = pattern(rf"%{TRIVIA}")


_SIGN = pattern(r"[-+~!] (?=[0-9.])")


def collapse_trivia(text: str) -> str:
    """Return the text with each run of trivia as one space, and none after a leading sign."""
    text = _RUN.sub(" ", text)
    return text[0] + text[2:] if _SIGN.match(text) else text


def strip_trivia(text: str) -> str:
    """Return the text without trivia, except for one space after each comma."""
    if text.isprintable() and "/" not in text and "#" not in text and "% " not in text:  # spaces only
        return text.replace(" ", "").replace(",", ", ")
    if _MODULO.search(text):  # `5 % 3` without spaces would name the register %3
        return collapse_trivia(text)
    return _RUN.sub("", text).replace(",", ", ")
