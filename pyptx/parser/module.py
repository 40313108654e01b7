"""Reading a module: its header, its functions, and everything else outside of bodies."""

from __future__ import annotations

import re
from dataclasses import replace

from pyptx.ir.formatting import FormattingInfo, integer
from pyptx.ir.nodes import AddressSize, BlankLine, Directive, Module, RawLine, Section, Target, Version
from pyptx.parser.body import Reader
from pyptx.parser.cursor import Cursor
from pyptx.parser.debuginfo import section_data, section_name
from pyptx.parser.declarations import LINKING
from pyptx.parser.errors import ParseError
from pyptx.parser.operands import compressed
from pyptx.parser.quick import DATA, data_reader
from pyptx.parser.statements import function_head, statement

__all__ = ["read_module"]

_FUNCTIONS = (".entry", ".func")
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_BRACES = re.compile(r"[{}]")


def read_module(reader: Reader) -> Module:
    """The whole text of the reader as a module."""
    try:
        version, target, size, at = _header(reader)
    except ParseError as error:
        if not reader.recover:
            raise
        reader.diagnostics.append(error.diagnostic)
        version, target, size = Version(0, 0, formatting=_absent("0.0")), Target((), formatting=_absent("")), None
        at = 0
    if size is None:
        size = AddressSize(64, formatting=_absent("64"))
    skipped = [] if version.major else _header_lines(reader.source.text)
    directives = _directives(reader, at + sum(len(raw.text) + len(raw.formatting.newline) for raw in skipped))
    return Module(version, target, size, (*skipped, *directives), diagnostics=tuple(reader.diagnostics))


def _absent(text: str) -> FormattingInfo:
    """A header directive that is not written, as long as it says `text`."""
    return FormattingInfo(layout=(("=omit", text),))


_HEADER_LINES = re.compile(r"(?:[ \t\r\f\v]*+(?://[^\n]*+|\.(?:version|target|address_size)\b[^\n]*+)?+\n)*+")


def _header_lines(text: str) -> list[RawLine]:
    """The lines of a header that could not be read."""
    return [RawLine(line, formatting=FormattingInfo()) for line in _HEADER_LINES.match(text)[0].split("\n")[:-1]]


# header ---------------------------------------------------------------------------------------------------------------

def _header(reader: Reader) -> tuple[Version, Target, AddressSize | None, int]:
    c = Cursor(reader.source, 0)
    if c.word != ".version":
        c.fail("expected .version, the first directive of a module")
    gap, layout = c.gap, []
    c.advance()
    match = _VERSION.fullmatch(c.word)
    if match is None:
        c.fail("expected a version such as 8.5")
    layout.append(("number", c.gap))
    major, minor = int(match[1]), int(match[2])
    if f"{major}.{minor}" != c.word:
        layout.append(("=number", c.word))
    version = Version(major, minor, formatting=_line(reader, gap, layout, c, c.end))
    c.seek(c.end + len(version.formatting.trailing + version.formatting.newline))
    if c.word != ".target":
        c.fail("expected .target, the second directive of a module")
    gap, layout, words = c.gap, [], []
    c.advance()
    while True:
        if c.kind != "identifier":
            c.fail("expected a target such as sm_90a")
        layout.append((f"item{len(words)}" if words else "first", c.gap))
        words.append(c.word)
        end = c.end
        c.advance()
        if c.word != ",":
            break
        layout.append((f",{len(words)}", c.gap))
        c.advance()
    target = Target(tuple(words), formatting=_line(reader, gap, layout, c, end))
    at = end + len(target.formatting.trailing + target.formatting.newline)
    c.seek(at)
    if c.word != ".address_size":
        return version, target, None, at
    gap, layout = c.gap, []
    c.advance()
    size = integer(c.word)
    if size not in (32, 64) or c.kind != "integer":
        c.fail("expected an address size, 32 or 64")
    layout.append(("number", c.gap))
    if str(size) != c.word:
        layout.append(("=number", c.word))
    address_size = AddressSize(size, formatting=_line(reader, gap, layout, c, c.end))
    return version, target, address_size, c.end + len(address_size.formatting.trailing
                                                      + address_size.formatting.newline)


def _line(reader: Reader, gap: str, layout: list[tuple[str, str]], c: Cursor, end: int) -> FormattingInfo:
    """The formatting of a header directive; the lines in front of it go with it."""
    *before, indent = gap.split("\n")
    formatting, _ = reader.finish(indent, layout, end)
    return replace(formatting, preceding_comments=tuple(before)) if before else formatting


# directives -----------------------------------------------------------------------------------------------------------

def _directives(reader: Reader, at: int) -> list[Directive]:
    source = reader.source
    nodes: list[Directive] = []
    while at < len(source.text):
        found = reader.trivia(at)
        if found is not None:
            node, at = found
            nodes.append(node)
            continue
        start = at
        header = False
        try:
            c = Cursor(source, at)
            if c.word == ".section":
                node, at = _section(reader, c)
                nodes.append(node)
                continue
            linked = c.kind == "directive" and c.word in LINKING
            after = Cursor(source, c.end) if linked else c
            if after.word in _FUNCTIONS:
                header = True
                node, at = _function(reader, c, after, nodes)
                nodes.append(node)
            else:
                more, at = statement(c, module=True)
                nodes += more
        except ParseError as error:
            node, at = reader.skipped(start, error, _behind_function(source.text, error.offset) if header else None)
            nodes.append(node)
    return nodes


def _function(reader: Reader, c: Cursor, after: Cursor, before: list[Directive]):
    """A function; an empty line in front of it belongs to it."""
    indent, layout = c.gap, []
    linking = LINKING[c.word] if after is not c else None
    function = function_head(after, linking, layout)
    c = after
    if c.word == ";":
        layout.append((";", c.close(";", "")))
        formatting, at = reader.finish(indent, layout, c.last)
        function = replace(function, declaration=True)
    else:
        if c.word != "{":
            c.fail("expected '{', ';' or a directive after the head of a function")
        layout.append(("{", c.gap))
        at = reader.opened(c.end, layout)
        body, at = reader.body(at)
        text = reader.source.text
        if at >= len(text):
            reader.missing(f"expected '}}' at the end of {function.name}", at)
            layout.append(("=close", None))
            formatting = reader.source.formatting(indent, "", "", compressed(layout))
        else:
            close = text.index("}", at)
            layout.append(("=close", text[at:close]))
            formatting, at = reader.finish(indent, layout, close + 1)
        function = replace(function, body=body)
    blank = before[-1].formatting if before and isinstance(before[-1], BlankLine) else None
    if blank is not None and blank.indent == "" and blank.newline:
        before.pop()
        formatting = replace(formatting, blank_lines_before=1)
    return replace(function, formatting=formatting), at


def _behind_function(text: str, at: int) -> int:
    """Behind the closing brace of a function whose head could not be read."""
    depth = 0
    for brace in _BRACES.finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if depth <= 0:
            end = text.find("\n", brace.end())
            blank = end >= 0 and not text[brace.end():end].strip()
            return end + 1 if blank else brace.end()
    return len(text)


def _section(reader: Reader, c: Cursor) -> tuple[Section, int]:
    indent, layout = c.gap, []
    name = section_name(c, layout)
    if c.word != "{":
        c.fail("expected '{' after the name of a section")
    layout.append(("{", c.gap))
    at = reader.opened(c.end, layout)
    text, body = reader.source.text, []
    match_data, data = DATA.match, data_reader(reader.source)
    while True:
        match = match_data(text, at)
        if match is not None:
            body.append(data(match))
            at = match.end()
            continue
        found = reader.trivia(at)
        if found is not None:
            node, at = found
            body.append(node)
            continue
        try:
            if at >= len(text):
                reader.missing(f"expected '}}' at the end of section {name}", at)
                layout.append(("=close", None))
                formatting = reader.source.formatting(indent, "", "", compressed(layout))
                break
            c.seek(at)
            if c.word == "}":
                layout.append(("=close", c.gap))
                formatting, at = reader.finish(indent, layout, c.end)
                break
            more, at = section_data(c)
            body += more
        except ParseError as error:
            if at >= len(text):
                raise
            node, at = reader.skipped(at, error)
            body.append(node)
    return Section(name, tuple(body), formatting), at


