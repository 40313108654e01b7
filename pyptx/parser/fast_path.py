"""Fast path for common lines, one regular expression each: an instruction, a label, `.loc`, data of a section.

All other lines go to `statements.parse_statement`, which accepts every statement and reports errors. Both produce the
same nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyptx.ir.nodes import Instruction, Label, Loc, Operand, Predicate, SectionData
from pyptx.parser.cursor import Source
from pyptx.parser.lexer import NAME, QUALIFIERS
from pyptx.parser.operands import parse_simple_operand

__all__ = [
    "DATA_LINE",
    "INSTRUCTION_LINE",
    "LABEL_OR_LOC_LINE",
    "data_reader",
    "instruction_reader",
    "label_or_loc_reader",
]

INSTRUCTION_LINE = re.compile(
    rf"([ \t]*+)(?>(?:@(!?)(%[\w$]++|{NAME})([ \t]++))?)([a-z]\w*+(?>(?:\.\w++{QUALIFIERS})*))"
    r"(?>(?:([ \t]++)([^;\n/\"#(]++))?);([ \t\r]*+(?>(?://[^\n]*+)?))(\n|\Z)",
    re.ASCII,
)
LABEL_OR_LOC_LINE = re.compile(
    rf"([ \t]*+)(?:({NAME}):|\.loc([ \t]++)([0-9]++)([ \t]++)([0-9]++)([ \t]++)([0-9]++))([ \t\r]*+(?>(?://[^\n]*+)?))"
    r"\n(?!\s*+(?:[,/#]|\.(?:call|branch)))",
    re.ASCII,
)
DATA_LINE = re.compile(
    r"([ \t]*+)\.(b8|b16|b32|b64)([ \t]++)([\w$]++|\.\w++)([ \t\r]*+(?>(?://[^\n]*+)?))\n(?=[ \t]*+[.}\w$])", re.ASCII
)
_PIECE = re.compile(r"(?>(?:[^,{}\[\]]++|\{[^{}]*+\}|\[[^\[\]]*+\])+)")


class _Operands(dict):
    """Operands by their text, parsed on first use."""

    def __missing__(self, text: str) -> Operand:
        node = parse_simple_operand(text, self)
        if node is None:
            raise KeyError(text)
        self[text] = node
        return node


def instruction_reader(source: Source) -> Callable[[re.Match], Instruction | None]:
    """Return a function from a match of `INSTRUCTION_LINE` to its instruction, or to None for the general parser."""
    known = source.operands = _Operands(source.operands)
    mnemonics: dict[str, tuple[str, tuple[str, ...]]] = {}
    guards: dict[tuple[str, str], Predicate] = {}
    layouts: dict[tuple[str | None, ...], tuple] = {}
    formatting = source.formatting

    def read(match: re.Match) -> Instruction | None:
        indent, negated, register, guard_trivia, mnemonic, trivia, text, trailing, newline = match.groups()
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
        style = guard_trivia, trivia, separator
        layout = layouts.get(style)
        if layout is None:
            layout = layouts[style] = tuple(
                (role, given)
                for role, given in (("op", guard_trivia), ("first", trivia), ("item", separator if trivia else None))
                if given is not None
            )
        return Instruction(word[0], word[1], operands, guard, formatting(indent, trailing, newline, layout))

    return read


def label_or_loc_reader(source: Source) -> Callable[[re.Match], Label | Loc | None]:
    """Return a function from a match of `LABEL_OR_LOC_LINE` to its node, or to None for the general parser."""
    formatting = source.formatting
    colon = ((":", ""),)

    def read(match: re.Match) -> Label | Loc | None:
        indent, name, *numbers, trailing = match.groups()
        if name is not None:
            return Label(name, formatting(indent, trailing, "\n", colon))
        blanks, words = numbers[::2], numbers[1::2]
        if any(word[0] == "0" != word or len(word) > 10 for word in words):  # octal, or no line number
            return None
        file, line, column = map(int, words)
        layout = tuple(zip(("file", "line", "column"), blanks, strict=True))
        return Loc(file, line, column, None, None, formatting(indent, trailing, "\n", layout))

    return read


def data_reader(source: Source) -> Callable[[re.Match], SectionData]:
    """Return a function from a match of `DATA_LINE` to its data; identical lines share one node."""
    known: dict[str, SectionData] = {}

    def read(match: re.Match) -> SectionData:
        node = known.get(match[0])
        if node is None:
            indent, kind, trivia, value, trailing = match.groups()
            node = known[match[0]] = SectionData(
                kind, (value,), source.formatting(indent, trailing, "\n", (("v", trivia),))
            )
        return node

    return read
