"""Sources that are given as a path or as text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyptx.errors import OperandError
from pyptx.launch_config import describe

__all__ = ["path_of", "source_list"]


def path_of(source: str | bytes | os.PathLike[str]) -> Path | None:
    """Return the path that a source is: os.PathLike, or text without newlines, braces and semicolons; None for others."""
    if isinstance(source, os.PathLike) or (isinstance(source, str) and not any(c in source for c in "\n{};")):
        return Path(source)
    return None


def source_list(source: Any, accepted: tuple[type, ...], caller: str, language: str) -> Sequence[Any]:
    """Return one source or several as a list.

    Raises:
        OperandError: an element has none of the types `accepted`.
    """
    if isinstance(source, accepted):
        return [source]
    given = list(source) if isinstance(source, Sequence) and not isinstance(source, str | bytes) else [source]
    for one in given:
        if not isinstance(one, accepted):
            raise OperandError(f"{caller}: {describe(one)} is neither a path nor {language}")
    return given
