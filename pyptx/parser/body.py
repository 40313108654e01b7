"""Parsing of function bodies: statements, nested blocks, comments, and recovery after an error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pyptx.errors import Diagnostic
from pyptx.ir.formatting import FormattingInfo, LayoutEntries
from pyptx.ir.nodes import BlankLine, Block, Comment, IntrinsicScope, RawLine, Statement
from pyptx.parser.cursor import END_OF_LINE, MAX_DEPTH, Cursor, Source
from pyptx.parser.errors import LexError, ParseError
from pyptx.parser.fast_path import INSTRUCTION_LINE, LABEL_OR_LOC_LINE, instruction_reader, label_or_loc_reader
from pyptx.parser.statements import parse_statement

__all__ = ["BodyParser", "without_formatting"]

_TRIVIA = re.compile(r"([ \t\r\f\v]*+)(?:(\n)|(//[^\n]*+|\#[ \t]*+[0-9][^\n]*+)|(/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/)|\Z)")
_BRACE = re.compile(r"([ \t\r\f\v]*+)([{}])")
_BRACES = re.compile(r"[{}]")


class BodyParser:
    """State of one parse: the source, and the errors so far."""

    def __init__(self, source: Source, recover: bool):
        self.source, self.recover = source, recover
        self.diagnostics: list[Diagnostic] = []
        self._instruction = instruction_reader(source)
        self._label_or_loc = label_or_loc_reader(source)
        self._blank: dict[int, BlankLine] = {}

    # statements -----------------------------------------------------------------------------------------------------

    def body(self, at: int, depth: int = 0) -> tuple[tuple[Statement, ...], int]:
        """Parse statements from offset `at` up to the closing brace or the end of the text; return them and the offset.

        Nested blocks are kept on an explicit stack, so that their depth is limited by MAX_DEPTH, not by Python.
        """
        text, match_line, instruction = self.source.text, INSTRUCTION_LINE.match, self._instruction
        match_label_or_loc, label_or_loc = LABEL_OR_LOC_LINE.match, self._label_or_loc
        nodes: list[Statement] = []
        outer: list[tuple[list[Statement], str, LayoutEntries]] = []
        while True:
            match = match_line(text, at)
            if match is not None:
                node = instruction(match)
                if node is not None:
                    nodes.append(node)
                    at = match.end()
                    continue
            match = match_label_or_loc(text, at)
            if match is not None:
                node = label_or_loc(match)
                if node is not None:
                    nodes.append(node)
                    at = match.end()
                    continue
            found = self.parse_trivia(at)
            if found is not None:
                node, at = found
                nodes.append(node)
                continue
            brace = _BRACE.match(text, at)
            try:
                if brace is not None and brace[2] == "{":
                    if depth + len(outer) >= MAX_DEPTH:
                        raise self.source.error(f"nested more than {MAX_DEPTH} levels deep", brace.end() - 1)
                    outer.append((nodes, brace[1], []))
                    at = self.parse_block_opening(brace.end(), outer[-1][2])
                    nodes = []
                elif at >= len(text) or brace is not None:
                    if not outer:
                        return _scoped(nodes), at
                    at, nodes = self._close_block(at, brace, nodes, *outer.pop())
                else:
                    more, at = parse_statement(Cursor(self.source, at))
                    nodes += more
            except ParseError as error:
                node, at = self.skip_statement(at, error)
                nodes.append(node)

    def _close_block(
        self,
        at: int,
        brace: re.Match[str] | None,
        nodes: list[Statement],
        outside: list[Statement],
        indent: str,
        layout: LayoutEntries,
    ) -> tuple[int, list[Statement]]:
        """Append the block of `nodes` to the statements `outside` it; return the next offset and `outside`."""
        if brace is None:
            self.report_missing("expected '}' at the end of a block", at)
            layout.append(("=unclosed", ""))
            formatting = self.source.formatting(indent, "", "", tuple(layout))
        else:
            layout.append(("=close", brace[1]))
            formatting, at = self.source.statement_formatting(indent, layout, brace.end())
        outside.append(Block(_scoped(nodes), formatting))
        return at, outside

    def parse_block_opening(self, at: int, layout: LayoutEntries) -> int:
        """Record the rest of the line after an opening brace in `layout`; return the offset of the next line."""
        match = END_OF_LINE.match(self.source.text, at)
        rest = match[0] if match is not None and match[2] else ""
        layout.append(("=open", rest))
        return at + len(rest)

    def parse_trivia(self, at: int) -> tuple[BlankLine | Comment, int] | None:
        """Parse a blank line or a comment at `at`; return it and the offset after it, or None."""
        text = self.source.text
        match = _TRIVIA.match(text, at)
        if match is None or match.end() == at:
            return None
        blank, newline, line_comment, block_comment = match.groups()
        end = match.end()
        if line_comment is not None:
            comment = line_comment.rstrip(" \t\r\f\v")
            newline = text[end : end + 1]
            formatting = self.source.formatting(blank, line_comment[len(comment) :], newline)
            return Comment(comment, formatting=formatting), end + len(newline)
        if block_comment is not None:
            formatting, end = self.source.statement_formatting(blank, [], end)
            return Comment(block_comment, formatting=formatting), end
        formatting = self.source.formatting(blank, "", newline or "")
        node = self._blank.get(id(formatting))
        if node is None:
            node = self._blank[id(formatting)] = BlankLine(formatting=formatting)
        return node, end

    # errors ---------------------------------------------------------------------------------------------------------

    def report_missing(self, message: str, at: int) -> None:
        """Report that the text ends at `at`, where something else is expected.

        Raises:
            ParseError: The parser does not recover from errors.
        """
        error = self.source.error(message + ", found the end of the text", at)
        if not self.recover:
            raise error
        self.diagnostics.append(error.diagnostic)

    def skip_statement(self, start: int, error: ParseError, end: int | None = None) -> tuple[RawLine, int]:
        """Report an error in the statement at `start`; return its text and the offset of the next statement.

        Raises:
            ParseError: `error`, if the parser does not recover from errors.
        """
        if not self.recover:
            raise error
        self.diagnostics.append(error.diagnostic)
        if end is None:
            unclosed = isinstance(error, LexError) and self.source.text.startswith("/*", error.offset)
            end = len(self.source.text) if unclosed else self._next_statement(start, error.offset)
        text = self.source.text[start:end]
        newline = "\n" if text.endswith("\n") else ""
        raw = RawLine(text[:-1] if newline else text, formatting=self.source.formatting("", "", newline))
        return raw, end

    def _next_statement(self, start: int, at: int) -> int:
        """Return where to resume after an error at `at`: after its semicolon or line, within the same block."""
        text = self.source.text
        line = text.rfind("\n", start, at) + 1
        if line > start and not text[line:at].strip() and text[start:line].strip():
            end = line  # the previous statement has no semicolon
        elif text[at : at + 1] == "{" and text[start:at].lstrip().startswith("@"):
            end = at  # a guard in front of a block
        else:
            stop = text.find("\n", at)
            stop = len(text) if stop < 0 else stop + 1
            semicolon = text.find(";", at, stop)
            end = stop
            if semicolon >= 0:
                match = END_OF_LINE.match(text, semicolon + 1)
                end = match.end() if match else semicolon + 1
        depth = 0
        for brace in _BRACES.finditer(text, start, end):
            depth += 1 if brace[0] == "{" else -1
            if depth < 0:
                return max(brace.start(), start + 1)
        return max(end, start + 1)


_BEGIN = re.compile(r"// BEGIN ([\w.<>]+)\((.*)\)")


def _scoped(nodes: list[Statement]) -> tuple[Statement, ...]:
    """Group the statements between `// BEGIN f(...)` and `// END f` into an IntrinsicScope."""
    if not any(type(node) is Comment and node.text.startswith("// END ") for node in nodes):
        return tuple(nodes)
    inside: list[Statement] = []
    outer: list[tuple[list[Statement], Comment, re.Match[str]]] = []  # open scopes, with their BEGIN comments
    for node in nodes:
        if type(node) is Comment:
            begin = _BEGIN.fullmatch(node.text)
            if begin is not None and len(outer) < MAX_DEPTH - 1:
                outer.append((inside, node, begin))
                inside = []
                continue
            if outer and node.text == f"// END {outer[-1][2][1]}":
                outside, opening, begin = outer.pop()
                outside.append(_intrinsic_scope(opening, begin, inside, node))
                inside = outside
                continue
        inside.append(node)
    while outer:  # a BEGIN without its END is an ordinary comment
        outside, opening, _ = outer.pop()
        inside = [*outside, opening, *inside]
    return tuple(inside)


def _intrinsic_scope(
    opening: Comment, begin: re.Match[str], inside: list[Statement], closing: Comment
) -> IntrinsicScope:
    first, last = opening.formatting or FormattingInfo(), closing.formatting or FormattingInfo()
    layout = (("=close", last.indent), ("=trailing", last.trailing), ("=newline", last.newline))
    return IntrinsicScope(begin[1], begin[2], tuple(inside), replace(first, layout=layout))


def without_formatting(nodes: Iterable[Statement]) -> list[Statement]:
    """Return the statements without formatting; a comment after a statement becomes a node in front of it."""
    out: list[Statement] = []
    for node in nodes:
        formatting = node.formatting
        comment = formatting.trailing.strip() if formatting else ""
        if comment and not isinstance(node, Comment):
            out.append(Comment(comment))
        body = {"body": tuple(without_formatting(node.body))} if isinstance(node, (Block, IntrinsicScope)) else {}
        out.append(replace(node, formatting=None, **body))
    return out
