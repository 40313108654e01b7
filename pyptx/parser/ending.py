"""Where a statement ends: blanks and a comment in the rest of its line go with it."""

from __future__ import annotations

import re

from pyptx.parser.cursor import Cursor
from pyptx.parser.operands import compressed

__all__ = ["TRAIL", "finish"]

TRAIL = re.compile(r"((?:[ \t\r\f\v]++|/\*[^*\n]*+(?:\*(?!/)[^*\n]*+)*+\*/)*+(?://[^\n]*+)?+)(\n|\Z)")


def finish(c: Cursor, indent: str, layout: list[tuple[str, str]]):
    """The formatting of the statement that ends here, and the offset behind it and the rest of its line."""
    match = TRAIL.match(c.text, c.last)
    if match:
        return c.source.formatting(indent, match[1], match[2], compressed(layout)), match.end()
    return c.source.formatting(indent, "", "", compressed(layout)), c.last
