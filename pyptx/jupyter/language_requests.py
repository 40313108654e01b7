"""Completion and help of editors in Jupyter, from `pyptx.language`.

Offsets are those of JavaScript: UTF-16 units of the text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pyptx.language.source import Source

__all__ = ["complete_text", "help_at"]


def complete_text(text: str, offset: int, *, python: bool = False) -> dict[str, Any] | None:
    """Return what may stand at an offset: {"start", "end", "offers": [{"text", "kind", "detail"}]}; None for nothing.

    Args:
        python: the text is Python, with PTX in strings; otherwise it is PTX.
    """
    source = _source(text, python)
    found = source.complete(source.document.offset_of_units(offset))
    if found is None:
        return None
    units = source.document.units_of_offset
    return {"start": units(found.start), "end": offset, "offers": [offer._asdict() for offer in found.offers]}


def help_at(text: str, offset: int, *, python: bool = False) -> dict[str, Any] | None:
    """Return the help for the word at an offset: {"start", "end", "text": Markdown}; None for nothing."""
    source = _source(text, python)
    found = source.hover(source.document.offset_of_units(offset))
    if found is None:
        return None
    units = source.document.units_of_offset
    return {"start": units(found.start), "end": units(found.end), "text": found.text}


@lru_cache(maxsize=16)
def _source(text: str, python: bool) -> Source:
    """Return a text with its names; hover help asks for the same text again and again."""
    return Source(text, python=python)
