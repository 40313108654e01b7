"""Types of values: widths, lanes of packed ones."""

from __future__ import annotations

import re
from functools import cache

from pyptx.isa import _types

__all__ = ["Unknown", "element", "is_float", "lanes_of", "width"]

FLOATS = frozenset(("f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0",
                    "s2f6"))
_PACKED = re.compile(r"(\w+?)x([24])")


class Unknown(Exception):
    """Something in an expression is not simulated."""


@cache
def lanes_of(type_name: str) -> int:
    """2 for f16x2, 4 for u8x4, 1 for what is not packed."""
    found = _PACKED.fullmatch(type_name)
    return int(found[2]) if found else 1


@cache
def element(type_name: str) -> str:
    """f16 of f16x2."""
    found = _PACKED.fullmatch(type_name)
    return found[1] if found else type_name


@cache
def width(type_name: str) -> int:
    return _types.width(type_name)


def is_float(type_name: str | None) -> bool:
    return type_name in FLOATS
