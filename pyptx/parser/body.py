"""Reading a body: statements, blocks inside each other, comments and blank lines, and going on behind an error."""

from __future__ import annotations

import re
from dataclasses import replace

from pyptx.errors import Diagnostic
from pyptx.ir.nodes import BlankLine, Block, Comment, IntrinsicScope, RawLine, Statement
from pyptx.parser.cursor import MAX_DEPTH, Cursor, Source
from pyptx.parser.ending import TRAIL
from pyptx.parser.errors import LexError, ParseError
from pyptx.parser.operands import compressed
from pyptx.parser.quick import LINE, MARK, instruction_reader, mark_reader
from pyptx.parser.statements import statement

__all__ = ["Reader", "plain"]

_TRIVIA = re.compile(r"([ \t\r\f\v]*+)(?:(\n)|(//[^\n]*+|\#[ \t]*+[0-9][^\n]*+)|(/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)|\Z)")
_BRACE = re.compile(r"([ \t\r\f\v]*+)([{}])")
_BRACES = re.compile(r"[{}]")


class Reader:
    """One parse: its source, and what was wrong so far."""

    def __init__(self, source: Source, recover: bool):
        self.source, self.recover = source, recover
        self.diagnostics: list[Diagnostic] = []
        self._instruction = instruction_reader(source)
        self._mark = mark_reader(source)
        self._blank: dict[int, BlankLine] = {}

    # statements -----------------------------------------------------------------------------------------------------

    def body(self, at: int, depth: int = 0) -> tuple[list[Statement], int]:
        """The statements from `at` on, and the offset of the brace that closes them, or of the end of the text.

        Blocks are kept on a stack of our own: how deep they may nest is our limit, not Python's.
        """
        text, match_line, instruction = self.source.text, LINE.match, self._instruction
        match_mark, mark = MARK.match, self._mark
        nodes: list[Statement] = []
        outer: list[tuple[list[Statement], str, list[tuple[str, str]]]] = []
        while True:
            match = match_line(text, at)
            if match is not None:
                node = instruction(match)
                if node is not None:
                    nodes.append(node)
                    at = match.end()
                    continue
            match = match_mark(text, at)
            if match is not None:
                node = mark(match)
                if node is not None:
                    nodes.append(node)
                    at = match.end()
                    continue
            found = self.trivia(at)
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
                    at = self.opened(brace.end(), outer[-1][2])
                    nodes = []
                elif at >= len(text) or brace is not None:
                    if not outer:
                        return _scoped(nodes), at
                    at, nodes = self._close_block(at, brace, nodes, *outer.pop())
                else:
                    more, at = statement(Cursor(self.source, at))
                    nodes += more
            except ParseError as error:
                node, at = self.skipped(at, error)
                nodes.append(node)

    def _close_block(self, at, brace, nodes, outside, indent, layout) -> tuple[int, list[Statement]]:
        if brace is None:
            self.missing("expected '}' at the end of a block", at)
            layout.append(("=close", None))
            formatting = self.source.formatting(indent, "", "", tuple(layout))
        else:
            layout.append(("=close", brace[1]))
            formatting, at = self.finish(indent, layout, brace.end())
        outside.append(Block(_scoped(nodes), formatting))
        return at, outside

    def opened(self, at: int, layout: list[tuple[str, str]]) -> int:
        """The rest of the line behind an opening brace goes into the layout; returns the offset behind it."""
        match = TRAIL.match(self.source.text, at)
        rest = match[0] if match is not None and match[2] else ""
        layout.append(("=open", rest))
        return at + len(rest)

    def finish(self, indent: str, layout: list[tuple[str, str]], at: int):
        """The formatting of the node that ends at `at`, and the offset behind the rest of its line."""
        match = TRAIL.match(self.source.text, at)
        trailing, newline, end = (match[1], match[2], match.end()) if match else ("", "", at)
        return self.source.formatting(indent, trailing, newline, compressed(layout)), end

    def trivia(self, at: int) -> tuple[BlankLine | Comment, int] | None:
        """The blank line or the comment at `at`, if there is one, and the offset behind it."""
        text = self.source.text
        match = _TRIVIA.match(text, at)
        if match is None or match.end() == at:
            return None
        blank, newline, line_comment, block_comment = match.groups()
        end = match.end()
        if line_comment is not None:
            comment = line_comment.rstrip(" \t\r\f\v")
            newline = text[end:end + 1]
            formatting = self.source.formatting(blank, line_comment[len(comment):], newline)
            return Comment(comment, formatting=formatting), end + len(newline)
        if block_comment is not None:
            formatting, end = self.finish(blank, [], end)
            return Comment(block_comment, formatting=formatting), end
        formatting = self.source.formatting(blank, "", newline or "")
        node = self._blank.get(id(formatting))
        if node is None:
            node = self._blank[id(formatting)] = BlankLine(formatting=formatting)
        return node, end

    # errors ---------------------------------------------------------------------------------------------------------

    def missing(self, message: str, at: int) -> None:
        """Something that should stand at `at` does not.

        Raises:
            ParseError: unless recovering.
        """
        error = self.source.error(message + ", found the end of the text", at)
        if not self.recover:
            raise error
        self.diagnostics.append(error.diagnostic)

    def skipped(self, start: int, error: ParseError, end: int | None = None) -> tuple[RawLine, int]:
        """Note the error in the statement that starts at `start`; the text up to the next one, and the offset there.

        Raises:
            ParseError: the error, unless recovering.
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
        """Where to go on after an error at offset `at`: behind its semicolon or line, but inside the same block."""
        text = self.source.text
        line = text.rfind("\n", start, at) + 1
        if line > start and not text[line:at].strip() and text[start:line].strip():
            end = line                                      # the statement before has no semicolon
        elif text[at:at + 1] == "{" and text[start:at].lstrip().startswith("@"):
            end = at                                        # a guard in front of a block
        else:
            stop = text.find("\n", at)
            stop = len(text) if stop < 0 else stop + 1
            semicolon = text.find(";", at, stop)
            end = stop
            if semicolon >= 0:
                match = TRAIL.match(text, semicolon + 1)
                end = match.end() if match else semicolon + 1
        depth = 0
        for brace in _BRACES.finditer(text, start, end):
            depth += 1 if brace[0] == "{" else -1
            if depth < 0:
                return max(brace.start(), start + 1)
        return max(end, start + 1)


_BEGIN = re.compile(r"// BEGIN ([\w.<>]+)\((.*)\)")


def _scoped(nodes: list[Statement]) -> tuple[Statement, ...]:
    """The statements with what stands between `// BEGIN f(...)` and `// END f` as one IntrinsicScope."""
    if not any(type(node) is Comment and node.text.startswith("// END ") for node in nodes):
        return tuple(nodes)
    stack: list[tuple[Comment | None, list[Statement]]] = [(None, [])]
    for node in nodes:
        if type(node) is Comment:
            if _BEGIN.fullmatch(node.text) and len(stack) < MAX_DEPTH:
                stack.append((node, []))
                continue
            opening = stack[-1][0]
            if opening is not None and node.text == f"// END {_BEGIN.fullmatch(opening.text)[1]}":
                _, inside = stack.pop()
                stack[-1][1].append(_scope(opening, inside, node))
                continue
        stack[-1][1].append(node)
    while len(stack) > 1:                                   # a beginning without an end is a comment
        opening, inside = stack.pop()
        stack[-1][1].extend([opening, *inside])
    return tuple(stack[0][1])


def _scope(opening: Comment, inside: list[Statement], closing: Comment) -> IntrinsicScope:
    name, arguments = _BEGIN.fullmatch(opening.text).groups()
    last = closing.formatting
    formatting = replace(opening.formatting, layout=(
        ("=close", last.indent), ("=trailing", last.trailing), ("=newline", last.newline)))
    return IntrinsicScope(name, arguments, tuple(inside), formatting)


def plain(nodes: tuple[Statement, ...]) -> list[Statement]:
    """The statements without their formatting; comments inside and behind one become nodes in front of it."""
    out: list[Statement] = []
    for node in nodes:
        formatting = node.formatting
        comment = formatting.trailing.strip() if formatting else ""
        if comment and not isinstance(node, Comment):
            out.append(Comment(comment))
        body = {"body": tuple(plain(node.body))} if isinstance(node, (Block, IntrinsicScope)) else {}
        out.append(replace(node, formatting=None, **body))
    return out


