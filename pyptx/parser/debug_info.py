"""Parsing of debug information: files, locations, sections, and the `@@DWARF` lines of PTX 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pyptx.ir.formatting import LayoutEntries
from pyptx.ir.nodes import DwarfLine, File, Label, Loc, SectionData
from pyptx.parser.cursor import Cursor
from pyptx.parser.declarations import parse_integer, source_text
from pyptx.parser.operands import skip_expression

__all__ = ["DEBUG_DIRECTIVES", "parse_dwarf_line", "parse_section_data", "parse_section_name"]

_DWARF_WORD = re.compile(r'"[^"\n]*+"|[^\s,"]++|,|"')


def _file(c: Cursor) -> tuple[list[File], int]:
    indent = c.trivia
    layout: LayoutEntries = []
    c.advance()
    index = parse_integer(c, "index", layout, "the file index")
    if c.kind != "string":
        c.fail("expected the quoted file name")
    layout.append(("name", c.trivia))
    name = c.take()[1:-1]
    timestamp_and_size: list[int] = []
    end = c.previous_end
    while c.word == "," and len(timestamp_and_size) < 2:
        role = ("timestamp", "size")[len(timestamp_and_size)]
        layout.append((f"{role},", c.trivia))
        c.advance()
        timestamp_and_size.append(parse_integer(c, role, layout, "a number"))
        end = c.previous_end
    c.previous_end = end
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    timestamp, size = (*timestamp_and_size, None, None)[:2]
    return [File(index, name, timestamp, size, formatting)], at


def _loc(c: Cursor) -> tuple[list[Loc], int]:
    indent = c.trivia
    layout: LayoutEntries = []
    intermediate = c.take() == ".loc_intermediate"
    file, line, column = (
        parse_integer(c, role, layout, f"the {role} of a location") for role in ("file", "line", "column")
    )
    function: str | None = None
    inlined: tuple[int, int, int] | None = None
    end = c.previous_end
    while c.word == "," and not intermediate:
        layout.append(("function," if function is None and inlined is None else "inlined,", c.trivia))
        c.advance()
        if c.word == "function_name" and function is None and inlined is None:
            layout.append(("function", c.trivia))
            c.advance()
            layout.append(("label", c.trivia))
            start = c.start
            skip_expression(c)
            function = source_text(c, "label", layout, start)
        elif c.word == "inlined_at" and inlined is None:
            if function is None:
                layout[-1] = ("inlined,", layout[-1][1])
            layout.append(("inlined", c.trivia))
            c.advance()
            inlined = (
                parse_integer(c, "ifile", layout, "the file of a location"),
                parse_integer(c, "iline", layout, "the line of a location"),
                parse_integer(c, "icolumn", layout, "the column of a location"),
            )
        else:
            c.fail("expected function_name or inlined_at")
        end = c.previous_end
    c.previous_end = end
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [Loc(file, line, column, function, inlined, formatting, intermediate=intermediate)], at


def parse_section_name(c: Cursor, layout: LayoutEntries) -> str:
    """Parse `.section name`; the cursor stops at the brace."""
    c.advance()
    if c.kind not in ("directive", "identifier"):
        c.fail("expected a section name")
    layout.append(("name", c.trivia))
    return c.take()


def parse_section_data(c: Cursor) -> tuple[Sequence[SectionData | Label], int]:
    """Parse one line of a section: data or a label."""
    indent = c.trivia
    layout: LayoutEntries = []
    if c.kind in ("identifier", "register"):
        name = c.take()
        layout.append((":", c.close(":", "after a label")))
        formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
        return [Label(name, formatting)], at
    if c.word not in (".b8", ".b16", ".b32", ".b64"):
        c.fail("expected data (.b8, .b16, .b32, .b64), a label or '}'")
    kind = c.take()[1:]
    values: list[str] = []
    while True:
        role = f"v{len(values)}"
        layout.append((role, c.trivia))
        start = c.start
        if c.kind == "directive":  # a section name, optionally with an offset
            c.advance()
            if c.word in ("+", "-"):
                skip_expression(c)
        else:
            skip_expression(c)
        values.append(source_text(c, role, layout, start))
        end = c.previous_end
        if c.word != ",":
            break
        layout.append((f"v,{len(values)}", c.trivia))
        c.advance()
    c.previous_end = end
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [SectionData(kind, tuple(values), formatting)], at


def parse_dwarf_line(c: Cursor) -> tuple[list[DwarfLine], int]:
    indent = c.trivia
    layout: LayoutEntries = []
    words: list[str] = []
    at = c.start + len("@@DWARF")
    stop = c.text.find("\n", at)
    stop = len(c.text) if stop < 0 else stop
    for match in _DWARF_WORD.finditer(c.text, at, stop):
        layout.append((f"w{len(words)}", c.text[at : match.start()]))
        words.append(match[0])
        at = match.end()
    c.previous_end = at
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [DwarfLine(tuple(words), formatting)], at


DEBUG_DIRECTIVES: dict[str, Callable[[Cursor], tuple[Sequence[File | Loc], int]]] = {
    ".file": _file,
    ".loc": _loc,
    ".loc_intermediate": _loc,
}
