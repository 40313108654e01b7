"""Conversion between PTX words and Python identifiers: `ptx.inst.ld.shared__cta.f32` is `ld.shared::cta.f32`."""

from __future__ import annotations

from keyword import iskeyword

__all__ = ["from_identifier", "to_identifier"]


def from_identifier(name: str) -> str:
    """Return the PTX word of an identifier: `_2d` -> `2d`, `and_` -> `and`, `shared__cta` -> `shared::cta`."""
    if name.startswith("_") and name[1:2].isdigit():
        name = name[1:]
    return name.rstrip("_").replace("__", "::")


def to_identifier(word: str) -> str:
    """Return the Python identifier of a PTX word, the inverse of `from_identifier`."""
    name = word.replace("::", "__")
    return f"_{name}" if name[0].isdigit() else f"{name}_" if iskeyword(name) else name
