"""Reading debug information: files, lines, sections, and the `@@DWARF` lines of PTX 1."""

from __future__ import annotations

import re

from pyptx.ir.nodes import DwarfLine, File, Label, Loc, SectionData, Statement
from pyptx.parser.cursor import Cursor
from pyptx.parser.declarations import number, symbol_value
from pyptx.parser.ending import finish
from pyptx.parser.operands import expression

__all__ = ["DEBUG_DIRECTIVES", "dwarf_line", "section_data", "section_name"]

_DWARF_WORD = re.compile(r'"[^"\n]*+"|[^\s,"]++|,|"')


def _file(c: Cursor) -> tuple[list[Statement], int]:
    indent, layout = c.gap, []
    c.advance()
    index = number(c, "index", layout, "the number of the file")
    if c.kind != "string":
        c.fail("expected the name of the file in quotes")
    layout.append(("name", c.gap))
    name = c.take()[1:-1]
    more = []
    end = c.last
    while c.word == "," and len(more) < 2:
        role = ("timestamp", "size")[len(more)]
        layout.append((f"{role},", c.gap))
        c.advance()
        more.append(number(c, role, layout, "a number"))
        end = c.last
    c.last = end
    formatting, at = finish(c, indent, layout)
    return [File(index, name, *more, *[None] * (2 - len(more)), formatting)], at


def _loc(c: Cursor) -> tuple[list[Statement], int]:
    indent, layout = c.gap, []
    intermediate = c.take() == ".loc_intermediate"
    where = [number(c, role, layout, f"the {role} of a location") for role in ("file", "line", "column")]
    function = inlined = None
    end = c.last
    while c.word == "," and not intermediate:
        layout.append(("function," if function is None and inlined is None else "inlined,", c.gap))
        c.advance()
        if c.word == "function_name" and function is None and inlined is None:
            layout.append(("function", c.gap))
            c.advance()
            layout.append(("label", c.gap))
            start = c.start
            expression(c)
            function = symbol_value(c, "label", layout, start)
        elif c.word == "inlined_at" and inlined is None:
            if function is None:
                layout[-1] = ("inlined,", layout[-1][1])
            layout.append(("inlined", c.gap))
            c.advance()
            inlined = tuple(number(c, "i" + role, layout, f"the {role} of a location")
                            for role in ("file", "line", "column"))
        else:
            c.fail("expected function_name or inlined_at")
        end = c.last
    c.last = end
    formatting, at = finish(c, indent, layout)
    return [Loc(*where, function, inlined, formatting, intermediate=intermediate)], at


def section_name(c: Cursor, layout) -> str:
    """`.section name {`: the name; the cursor ends at the brace."""
    c.advance()
    if c.kind not in ("directive", "identifier"):
        c.fail("expected the name of a section")
    layout.append(("name", c.gap))
    return c.take()


def section_data(c: Cursor) -> tuple[list[SectionData | Label], int]:
    """One line of a section: data or a label."""
    indent, layout = c.gap, []
    if c.kind in ("identifier", "register"):
        name = c.take()
        layout.append((":", c.close(":", "after a label")))
        formatting, at = finish(c, indent, layout)
        return [Label(name, formatting)], at
    if c.word not in (".b8", ".b16", ".b32", ".b64"):
        c.fail("expected data (.b8, .b16, .b32, .b64), a label or '}'")
    kind = c.take()[1:]
    values: list[str] = []
    while True:
        role = f"v{len(values)}"
        layout.append((role, c.gap))
        start = c.start
        if c.kind == "directive":                           # a section, perhaps with an offset
            c.advance()
            if c.word in ("+", "-"):
                expression(c)
        else:
            expression(c)
        values.append(symbol_value(c, role, layout, start))
        end = c.last
        if c.word != ",":
            break
        layout.append((f"v,{len(values)}", c.gap))
        c.advance()
    c.last = end
    formatting, at = finish(c, indent, layout)
    return [SectionData(kind, tuple(values), formatting)], at


def dwarf_line(c: Cursor) -> tuple[list[Statement], int]:
    indent, layout, words = c.gap, [], []
    at = c.start + len("@@DWARF")
    stop = c.text.find("\n", at)
    stop = len(c.text) if stop < 0 else stop
    for match in _DWARF_WORD.finditer(c.text, at, stop):
        layout.append((f"w{len(words)}", c.text[at:match.start()]))
        words.append(match[0])
        at = match.end()
    c.last = at
    formatting, at = finish(c, indent, layout)
    return [DwarfLine(tuple(words), formatting)], at


DEBUG_DIRECTIVES = {".file": _file, ".loc": _loc, ".loc_intermediate": _loc}
