"""The common line, one instruction, read with one regular expression.

Whatever this does not recognise goes to `statements.statement`, which reads everything and explains what is wrong.
Both give the same nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyptx.ir.nodes import Instruction, Operand, Predicate
from pyptx.parser.cursor import Source
from pyptx.parser.lexer import NAME
from pyptx.parser.operands import short_operand

__all__ = ["LINE", "instruction_reader"]

LINE = re.compile(
    rf"([ \t]*+)(?:@(!?)(%[\w$]++|{NAME})([ \t]++))?+([a-z]\w*+(?:\.\w++(?:::\w++)*+)*+)"
    r"(?:([ \t]++)([^;\n/\"#(]++))?+;([ \t\r]*+(?://[^\n]*+)?+)(\n|\Z)", re.ASCII)
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
