"""PTX words as Python attributes and back: `ptx.inst.ld.shared__cta.f32` is `ld.shared::cta.f32`."""

from __future__ import annotations

from keyword import iskeyword

__all__ = ["ptx_word", "python_word"]


def ptx_word(name: str) -> str:
    """The PTX word a Python attribute stands for: `_2d` -> `2d`, `and_` -> `and`, `shared__cta` -> `shared::cta`."""
    if name.startswith("_") and name[1:2].isdigit():
        name = name[1:]
    return name.rstrip("_").replace("__", "::")


def python_word(word: str) -> str:
    """The attribute that stands for a PTX word: the inverse of `ptx_word`."""
    name = word.replace("::", "__")
    return f"_{name}" if name[0].isdigit() else f"{name}_" if iskeyword(name) else name
