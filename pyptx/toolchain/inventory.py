"""Which tools are there, for `pyptx doctor`."""

from __future__ import annotations

import os
from pathlib import Path

from pyptx._value import value
from pyptx.errors import PtxError
from pyptx.toolchain.locate import TOOLS, Tool, find, version_of
from pyptx.toolchain.nvjitlink import library_version

__all__ = ["Found", "survey"]


@value
class Found:
    """What is known about one tool: `path` and `version` are None where `problem` tells why."""

    tool: Tool
    path: Path | None = None
    version: str | None = None
    origin: str | None = None                   # the variable or the package it came from
    problem: str | None = None


def survey() -> tuple[Found, ...]:
    """Every tool with path, version and origin, or what is wrong with it; raises nothing."""
    return tuple(map(_look_at, TOOLS.values()))


def _look_at(tool: Tool) -> Found:
    path = None
    try:
        path = find(tool.name)
        version = library_version() if tool.is_library else version_of(tool.name)
    except PtxError as error:
        return Found(tool, path, problem=str(error))
    return Found(tool, path, version, tool.variable if os.environ.get(tool.variable) else tool.package)
