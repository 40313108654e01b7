"""The common lines read with one regular expression each: an instruction, a label, `.loc`, data of a section.

Whatever these do not recognise goes to `statements.statement`, which reads everything and explains what is wrong.
Both give the same nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyptx.ir.nodes import Instruction, Label, Loc, Operand, Predicate, SectionData
from pyptx.parser.cursor import Source
from pyptx.parser.lexer import NAME, QUALIFIERS
from pyptx.parser.operands import short_operand

__all__ = ["DATA", "LINE", "MARK", "data_reader", "instruction_reader", "mark_reader"]

LINE = re.compile(
    rf"([ \t]*+)(?:@(!?)(%[\w$]++|{NAME})([ \t]++))?+([a-z]\w*+(?:\.\w++{QUALIFIERS})*+)"
    r"(?:([ \t]++)([^;\n/\"#(]++))?+;([ \t\r]*+(?://[^\n]*+)?+)(\n|\Z)", re.ASCII)
MARK = re.compile(
    rf"([ \t]*+)(?:({NAME}):|\.loc([ \t]++)([0-9]++)([ \t]++)([0-9]++)([ \t]++)([0-9]++))([ \t\r]*+(?://[^\n]*+)?+)"
    r"\n(?!\s*+(?:[,/#]|\.(?:call|branch)))", re.ASCII)
DATA = re.compile(
    r"([ \t]*+)\.(b8|b16|b32|b64)([ \t]++)([\w$]++|\.\w++)([ \t\r]*+(?://[^\n]*+)?+)\n(?=[ \t]*+[.}\w$])", re.ASCII)
_PIECE = re.compile(r"(?:[^,{}\[\]]++|\{[^{}]*+\}|\[[^\[\]]*+\])++")


class _Operands(dict):
    """Operands by their text, read when they are first met."""

    def __missing__(self, text: str) -> Operand:
        node = short_operand(text, self)
        if node is None:
            raise KeyError(text)
        self[text] = node
        return node


def instruction_reader(source: Source) -> Callable[[re.Match], Instruction | None]:
    """A function from a match of `LINE` to its instruction, or None when the line needs a closer look."""
    known = source.operands = _Operands(source.operands)
    mnemonics: dict[str, tuple[str, tuple[str, ...]]] = {}
    guards: dict[tuple[str, str], Predicate] = {}
    layouts: dict[tuple[str | None, ...], tuple] = {}
    formatting = source.formatting

    def read(match: re.Match) -> Instruction | None:
        indent, negated, register, guard_gap, mnemonic, gap, text, trailing, newline = match.groups()
        word = mnemonics.get(mnemonic)
        if word is None:
            opcode, *modifiers = mnemonic.split(".")
            word = mnemonics[mnemonic] = opcode, tuple("." + m for m in modifiers)
        separator = " "
        operands = ()
        if text is not None:
            try:
                if "{" in text:
                    pieces = _PIECE.findall(text)
                    separator = " " if len(pieces) > 1 and pieces[1][0] == " " else ""
                    if ("," + separator).join([p.removeprefix(separator) for p in pieces]) != text:
                        return None
                    operands = tuple([known[p.removeprefix(separator)] for p in pieces])
                else:
                    if ", " not in text and "," in text:
                        separator = ""
                    operands = tuple([known[piece] for piece in text.split("," + separator)])
            except KeyError:
                return None
        guard = None
        if register is not None:
            guard = guards.get((negated, register))
            if guard is None:
                guard = guards[negated, register] = Predicate(register, negated == "!")
        style = guard_gap, gap, separator
        layout = layouts.get(style)
        if layout is None:
            layout = layouts[style] = tuple((role, given) for role, given in (
                ("op", guard_gap), ("first", gap), ("item", separator if gap else None)) if given is not None)
        return Instruction(word[0], word[1], operands, guard, formatting(indent, trailing, newline, layout))

    return read


def mark_reader(source: Source) -> Callable[[re.Match], Label | Loc | None]:
    """A function from a match of `MARK` to its label or location."""
    formatting = source.formatting
    colon = ((":", ""),)

    def read(match: re.Match) -> Label | Loc | None:
        indent, name, *numbers, trailing = match.groups()
        if name is not None:
            return Label(name, formatting(indent, trailing, "\n", colon))
        blanks, words = numbers[::2], numbers[1::2]
        where = [int(word) for word in words]
        if list(map(str, where)) != words:
            return None
        return Loc(*where, None, None,
                   formatting(indent, trailing, "\n", tuple(zip(("file", "line", "column"), blanks, strict=True))))

    return read


def data_reader(source: Source) -> Callable[[re.Match], SectionData]:
    """A function from a match of `DATA` to its data; lines that are the same are one node."""
    known: dict[str, SectionData] = {}

    def read(match: re.Match) -> SectionData:
        node = known.get(match[0])
        if node is None:
            indent, kind, gap, value, trailing = match.groups()
            node = known[match[0]] = SectionData(
                kind, (value,), source.formatting(indent, trailing, "\n", (("v", gap),)))
        return node

    return read
