"""Parsing of modules: header, functions, sections and other module-level directives."""

from __future__ import annotations

import re
from dataclasses import replace

from pyptx.ir.formatting import FormattingInfo, LayoutEntries, compress_layout, integer
from pyptx.ir.nodes import (
    AddressSize,
    BlankLine,
    Comment,
    Directive,
    Function,
    Label,
    Module,
    RawLine,
    Section,
    SectionData,
    Target,
    Version,
)
from pyptx.parser.body import BodyParser
from pyptx.parser.cursor import Cursor
from pyptx.parser.debug_info import parse_section_data, parse_section_name
from pyptx.parser.declarations import LINKING
from pyptx.parser.errors import ParseError
from pyptx.parser.fast_path import DATA_LINE, data_reader
from pyptx.parser.statements import parse_directive, parse_function_head

__all__ = ["parse_module"]

_FUNCTIONS = (".entry", ".func")
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_BRACES = re.compile(r"[{}]")
_FINAL_NUL = re.compile(r"[ \t\r\f\v]*\0")


def parse_module(parser: BodyParser) -> Module:
    """Parse the whole source as a module."""
    try:
        version, target, size, at = _header(parser)
    except ParseError as error:
        if not parser.recover:
            raise
        parser.diagnostics.append(error.diagnostic)
        version, target, size = Version(0, 0, formatting=_absent("0.0")), Target((), formatting=_absent("")), None
        at = 0
    if size is None:
        size = AddressSize(64, formatting=_absent("64"))
    skipped = [] if version.major else _header_lines(parser.source.text)
    directives = _directives(parser, at + sum(len(raw.text) + 1 for raw in skipped))
    return Module(version, target, size, (*skipped, *directives), diagnostics=tuple(parser.diagnostics))


def _absent(text: str) -> FormattingInfo:
    """Return the formatting of a header directive that is omitted while its value is `text`."""
    return FormattingInfo(layout=(("=omit", text),))


_HEADER_LINES = re.compile(r"(?>(?:[ \t\r\f\v]*+(?>(?://[^\n]*+|\.(?:version|target|address_size)\b[^\n]*+)?)\n)*)")


def _header_lines(text: str) -> list[RawLine]:
    """Return the lines of a header that could not be parsed."""
    match = _HEADER_LINES.match(text)
    assert match is not None, "_HEADER_LINES matches the empty string"
    return [RawLine(line, formatting=FormattingInfo()) for line in match[0].split("\n")[:-1]]


# header ---------------------------------------------------------------------------------------------------------------


def _header(parser: BodyParser) -> tuple[Version, Target, AddressSize | None, int]:
    """Parse the header directives; return them and the offset after them."""
    c = Cursor(parser.source, 0)
    if c.word != ".version":
        c.fail("expected .version, the first directive of a module")
    trivia = c.trivia
    layout: LayoutEntries = []
    c.advance()
    match = _VERSION.fullmatch(c.word)
    if match is None:
        c.fail("expected a version such as 8.5")
    layout.append(("number", c.trivia))
    major, minor = int(match[1]), int(match[2])
    if f"{major}.{minor}" != c.word:
        layout.append(("=number", c.word))
    formatting, at = _header_line(parser, trivia, layout, c.end)
    version = Version(major, minor, formatting=formatting)
    c.seek(at)
    if c.word != ".target":
        c.fail("expected .target, the second directive of a module")
    trivia, layout = c.trivia, []
    words: list[str] = []
    c.advance()
    while True:
        if c.kind != "identifier":
            c.fail("expected a target such as sm_90a")
        layout.append((f"item{len(words)}" if words else "first", c.trivia))
        words.append(c.word)
        end = c.end
        c.advance()
        if c.word != ",":
            break
        layout.append((f",{len(words)}", c.trivia))
        c.advance()
    formatting, at = _header_line(parser, trivia, layout, end)
    target = Target(tuple(words), formatting=formatting)
    c.seek(at)
    if c.word != ".address_size":
        return version, target, None, at
    trivia, layout = c.trivia, []
    c.advance()
    size = integer(c.word)
    if size not in (32, 64) or c.kind != "integer":
        c.fail("expected an address size, 32 or 64")
    layout.append(("number", c.trivia))
    if str(size) != c.word:
        layout.append(("=number", c.word))
    formatting, at = _header_line(parser, trivia, layout, c.end)
    return version, target, AddressSize(size, formatting=formatting), at


def _header_line(parser: BodyParser, trivia: str, layout: LayoutEntries, at: int) -> tuple[FormattingInfo, int]:
    """Return the formatting of a header directive that ends at `at`, with the comment lines in front of it.

    The second value is the offset of the next directive.
    """
    *before, indent = trivia.split("\n")
    formatting, at = parser.source.statement_formatting(indent, layout, at)
    return replace(formatting, preceding_comments=tuple(before)) if before else formatting, at


# directives -----------------------------------------------------------------------------------------------------------


def _directives(parser: BodyParser, at: int) -> list[Directive]:
    source = parser.source
    nodes: list[Directive] = []
    while at < len(source.text):
        found = parser.parse_trivia(at)
        if found is not None:
            node, at = found
            nodes.append(node)
            continue
        if _FINAL_NUL.fullmatch(source.text, at):  # the terminator of a C string; see `check_ptx`
            nodes.append(RawLine(source.text[at:], formatting=source.formatting("", "", "")))
            break
        start = at
        header = False
        try:
            c = Cursor(source, at)
            if c.word == ".section":
                node, at = _section(parser, c)
                nodes.append(node)
                continue
            linked = c.kind == "directive" and c.word in LINKING
            after = Cursor(source, c.end) if linked else c
            if after.word in _FUNCTIONS:
                header = True
                node, at = _function(parser, c, after, nodes)
                nodes.append(node)
            else:
                more, at = parse_directive(c)
                nodes += more
        except ParseError as error:
            node, at = parser.skip_statement(
                start, error, _behind_function(source.text, error.offset) if header else None
            )
            nodes.append(node)
    return nodes


def _function(parser: BodyParser, c: Cursor, after: Cursor, before: list[Directive]) -> tuple[Function, int]:
    """Parse a function; a blank line in front of it becomes part of its formatting."""
    indent = c.trivia
    layout: LayoutEntries = []
    linking = LINKING[c.word] if after is not c else None
    function = parse_function_head(after, linking, layout)
    c = after
    if c.word == ";" or (not function.is_entry and c.kind == "directive"):
        if c.word == ";":
            layout.append((";", c.close(";", "")))
        else:  # ptxas accepts a .func declaration without a semicolon
            layout.append(("=;", ""))
        formatting, at = parser.source.statement_formatting(indent, layout, c.previous_end)
        function = replace(function, declaration=True)
    else:
        if c.word != "{":
            c.fail("expected '{', ';' or a directive after the function signature")
        layout.append(("{", c.trivia))
        at = parser.parse_block_opening(c.end, layout)
        body, at = parser.body(at)
        text = parser.source.text
        if at >= len(text):
            parser.report_missing(f"expected '}}' at the end of {function.name}", at)
            layout.append(("=unclosed", ""))
            formatting = parser.source.formatting(indent, "", "", compress_layout(layout))
        else:
            close = text.index("}", at)
            layout.append(("=close", text[at:close]))
            formatting, at = parser.source.statement_formatting(indent, layout, close + 1)
        function = replace(function, body=body)
    blank = before[-1].formatting if before and isinstance(before[-1], BlankLine) else None
    if blank is not None and blank.indent == "" and blank.newline:
        before.pop()
        formatting = replace(formatting, blank_lines_before=1)
    return replace(function, formatting=formatting), at


def _behind_function(text: str, at: int) -> int:
    """Return the offset after the closing brace of a function whose signature could not be parsed."""
    depth = 0
    for brace in _BRACES.finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if depth <= 0:
            end = text.find("\n", brace.end())
            blank = end >= 0 and not text[brace.end() : end].strip()
            return end + 1 if blank else brace.end()
    return len(text)


def _section(parser: BodyParser, c: Cursor) -> tuple[Section, int]:
    indent = c.trivia
    layout: LayoutEntries = []
    name = parse_section_name(c, layout)
    if c.word != "{":
        c.fail("expected '{' after the section name")
    layout.append(("{", c.trivia))
    at = parser.parse_block_opening(c.end, layout)
    text = parser.source.text
    body: list[SectionData | Label | Comment | BlankLine | RawLine] = []
    match_data, data = DATA_LINE.match, data_reader(parser.source)
    while True:
        match = match_data(text, at)
        if match is not None:
            body.append(data(match))
            at = match.end()
            continue
        found = parser.parse_trivia(at)
        if found is not None:
            node, at = found
            body.append(node)
            continue
        try:
            if at >= len(text):
                parser.report_missing(f"expected '}}' at the end of section {name}", at)
                layout.append(("=unclosed", ""))
                formatting = parser.source.formatting(indent, "", "", compress_layout(layout))
                break
            c.seek(at)
            if c.word == "}":
                layout.append(("=close", c.trivia))
                formatting, at = parser.source.statement_formatting(indent, layout, c.end)
                break
            more, at = parse_section_data(c)
            body += more
        except ParseError as error:
            if at >= len(text):
                raise
            node, at = parser.skip_statement(at, error)
            body.append(node)
    return Section(name, tuple(body), formatting), at
