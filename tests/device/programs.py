"""Compiled PTX for the assembler of this machine, which may be older than the PTX."""

from __future__ import annotations

import re
from pathlib import Path

import pyptx
from pyptx.errors import CompileError

__all__ = ["load"]

OLDER = re.compile(r"Unsupported \.version .*current version is '([\d.]+)'")


def load(path: Path) -> pyptx.Program:
    """The program of a file; where the assembler knows no PTX so new, as a program of the newest that it knows.

    Raises:
        CompileError: the assembler refuses it for another reason.
    """
    program = pyptx.load(path)
    try:
        program.compile()
    except CompileError as refused:
        known = OLDER.search(f"{refused}")
        if known is None:
            raise
        text = path.read_text(encoding="utf-8")
        program = pyptx.load(re.sub(r"^\.version\s+\S+", f".version {known[1]}", text, count=1, flags=re.MULTILINE))
        program.compile()
    return program
