"""Checks of debug information: data of sections, locations of inlined code, and the `@@DWARF` lines of PTX 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pyptx._lazy import pattern
from pyptx.ir.constants import constant_value
from pyptx.ir.nodes import DwarfLine, Label, Loc, Section, SectionData
from pyptx.validate._symbols import Scope

__all__ = ["debug_problems", "dwarf_problem"]

_BITS = {"b8": 8, "b16": 16, "b32": 32, "b64": 64}
_NAME = pattern(r"\.?[A-Za-z_$%][\w$]*(\s*[-+]\s*[\w$]+)?")
_DWARF_BITS = {f".{name}": bits for name, bits in (*_BITS.items(), ("byte", 8), ("4byte", 32), ("quad", 64))}
_DWARF_NAME = pattern(r"[.$%_A-Za-z][\w.$]*")


def debug_problems(node: object, scope: Scope) -> Iterator[str]:
    """Yield the errors of a section or a `.loc` that `scope` does not contain yet."""
    match node:
        case Section(name, body):
            labels = Counter(part.name for part in body if isinstance(part, Label))
            for label, count in labels.items():
                if count > 1 or label in scope.sections:
                    yield f"label {label} is declared twice in sections"
            for part in body:
                if isinstance(part, SectionData):
                    yield from _data(name, part)
        case Loc(inlined_at=tuple(place)) if place not in scope.located:
            line = " ".join(map(str, place))
            yield f"inlined_at {line} refers to no earlier location; a .loc {line} must precede it"


def _data(section: str, data: SectionData) -> Iterator[str]:
    bits = _BITS.get(data.type)
    if bits is None:
        yield f"section {section}: expected .b8, .b16, .b32 or .b64, not .{data.type}"
        return
    for text in data.values:
        value = constant_value(text) if text[:1] in "-0123456789" else None
        if value is not None:
            if not -(1 << bits - 1) <= value < 1 << bits:
                yield f"section {section}: {text} does not fit .{data.type}"
        elif bits < 32 or not _NAME.fullmatch(text):
            yield f"section {section}: {text} is not an integer" + (" or a name" if bits >= 32 else "")


def dwarf_problem(line: DwarfLine, version: tuple[int, int]) -> str | None:
    """Return the error of a `@@DWARF` line: it is neither a section, nor numbers, nor one name; None if it is valid."""
    if version >= (2, 0):
        return "@@DWARF was removed in PTX ISA 2.0; write .section"
    kind, *values = line.words or ("",)
    if kind == ".section":
        name, *attributes = values or ("",)
        if (
            name.startswith(".")
            and len(attributes) == 4
            and attributes[::2] == [",", ","]
            and attributes[3] == "@progbits"
        ):
            return None
        return '@@DWARF .section: expected .section .name, "flags", @progbits'
    bits = _DWARF_BITS.get(kind)
    if bits is None:
        return f"@@DWARF: expected .section, {', '.join(_DWARF_BITS)}; found {kind or 'nothing'}"
    if len(values) == 1 and bits >= 32 and _DWARF_NAME.fullmatch(values[0]):
        return None
    if len(values) % 2 == 0 or set(values[1::2]) - {","}:
        return f"@@DWARF {kind}: expected numbers separated by commas" + (", or one name" if bits >= 32 else "")
    for text in values[::2]:
        value = constant_value(text) if text[:1].isdigit() else None
        if value is None:
            return f"@@DWARF {kind}: {text} is not a number"
        if bits < 32 and value >= 1 << bits:
            return f"@@DWARF {kind}: {text} does not fit {bits} bits"
    return None
