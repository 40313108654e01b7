"""Value types: widths, and the lanes of packed types."""

from __future__ import annotations

import re
from functools import cache

from pyptx.isa import _types

__all__ = ["element", "is_float", "lanes_of", "width"]

FLOATS = frozenset(("f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0", "s2f6"))
_PACKED = re.compile(r"(\w+?)x([24])")


@cache
def lanes_of(type_name: str) -> int:
    """Return the lanes of a type: 2 for f16x2, 4 for u8x4, 1 for a type that is not packed."""
    found = _PACKED.fullmatch(type_name)
    return int(found[2]) if found else 1


@cache
def element(type_name: str) -> str:
    """Return the element type of a packed type: f16 for f16x2."""
    found = _PACKED.fullmatch(type_name)
    return found[1] if found else type_name


@cache
def width(type_name: str) -> int:
    """Return the width of a type in bits; intermediate results have integer types of other widths, too."""
    known = _types.WIDTHS.get(type_name) or _types.WIDTHS.get(f"{type_name}x2", 0) // 2  # s2f6 exists only packed
    return known or int(type_name[1:])


def is_float(type_name: str | None) -> bool:
    """Return whether a type is a floating-point format."""
    return type_name in FLOATS
