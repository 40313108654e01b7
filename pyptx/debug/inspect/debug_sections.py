"""Debug sections of PTX as bytes: labels become numbers of instructions, other symbols invented addresses."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from pyptx.ir.nodes import Instruction, Label, Module, Section, SectionData
from pyptx.ir.visit import statements

__all__ = ["DebugSections", "debug_sections"]

_FORMATS = {"b8": "<B", "b16": "<H", "b32": "<I", "b64": "<Q"}
_TERM = re.compile(r"([+-]?)\s*([\w$.%]+)")
_CODE = 1 << 20  # address of the first instruction: two zeros end a location list
_SYMBOLS, _SYMBOL_BYTES = 1 << 40, 1 << 32


@dataclass(frozen=True, slots=True)
class DebugSections:
    """The debug sections of a module.

    Attributes:
        content: by the name of the section.
    """

    content: Mapping[str, bytes]
    _symbols: tuple[str, ...]

    def instruction(self, address: int) -> int:
        """Return the number of the instruction at an address."""
        return address - _CODE

    def symbol(self, address: int) -> tuple[str, int] | None:
        """Return the symbol at or before an address, and the offset from it; None for an address of code."""
        number, offset = divmod(address - _SYMBOLS, _SYMBOL_BYTES)
        return (self._symbols[number], offset) if 0 <= number < len(self._symbols) else None


def debug_sections(module: Module, numbers: Mapping[int, int]) -> DebugSections:
    """Return the debug sections of a module, empty if it has none.

    Args:
        numbers: the number of an instruction in its program by the id of its node.
    """
    sections = [d for d in module.directives if isinstance(d, Section) and d.name.startswith(".debug_")]
    values = {} if not sections else _labels(module, numbers)
    for section in sections:
        values[section.name] = offset = 0
        for item in section.body:
            if isinstance(item, Label):
                values[item.name] = offset
            elif isinstance(item, SectionData):
                offset += struct.calcsize(_FORMATS[item.type]) * len(item.values)
    symbols: list[str] = []
    content = {
        section.name: b"".join(
            struct.pack(_FORMATS[item.type], _value(text, values, symbols) % (1 << int(item.type[1:])))
            for item in section.body
            if isinstance(item, SectionData)
            for text in item.values
        )
        for section in sections
    }
    return DebugSections(content, tuple(symbols))


def _labels(module: Module, numbers: Mapping[int, int]) -> dict[str, int]:
    """Return the address of each label of the code: that of the instruction after it."""
    found: dict[str, int] = {}
    for function in module.functions:
        waiting: list[str] = []
        next_number = 0
        for statement in statements(function.body or ()):
            if isinstance(statement, Label):
                waiting.append(statement.name)
            elif isinstance(statement, Instruction) and id(statement) in numbers:
                found |= dict.fromkeys(waiting, _CODE + numbers[id(statement)])
                waiting, next_number = [], numbers[id(statement)] + 1
        found |= dict.fromkeys(waiting, _CODE + next_number)
    return found


def _value(text: str, values: dict[str, int], symbols: list[str]) -> int:
    """Return a number, symbol, or sum or difference of them."""
    total = 0
    for sign, term in _TERM.findall(text):
        if term[0].isdigit():
            value = int(term, 0)
        else:
            if term not in values:
                values[term] = _SYMBOLS + len(symbols) * _SYMBOL_BYTES
                symbols.append(term)
            value = values[term]
        total += -value if sign == "-" else value
    return total
