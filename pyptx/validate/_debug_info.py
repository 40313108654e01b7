"""Checks of debug information: data of sections, and locations of inlined code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pyptx.ir.constants import constant_value
from pyptx.ir.nodes import Label, Loc, Section, SectionData
from pyptx.validate._symbols import Scope

__all__ = ["debug_problems"]

_BITS = {"b8": 8, "b16": 16, "b32": 32, "b64": 64}
_NAME = re.compile(r"\.?[A-Za-z_$%][\w$]*(\s*[-+]\s*[\w$]+)?")


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
