"""Detection of the installed tools, for `pyptx doctor`."""

from __future__ import annotations

import os
from pathlib import Path

from pyptx._frozen import frozen
from pyptx.errors import PtxError
from pyptx.toolchain.locate import TOOLS, Tool, find, version_of
from pyptx.toolchain.nvjitlink import library_version

__all__ = ["DetectedTool", "detect_tools"]


@frozen
class DetectedTool:
    """A tool with path, version and origin; `path` or `version` is None when `problem` is set."""

    tool: Tool
    path: Path | None = None
    version: str | None = None
    origin: str | None = None  # the variable or the package that provides it
    problem: str | None = None


def detect_tools() -> tuple[DetectedTool, ...]:
    """Return all tools with path, version and origin, or the problem with each; never raises."""
    return tuple(map(_detect, TOOLS.values()))


def _detect(tool: Tool) -> DetectedTool:
    path = None
    try:
        path = find(tool.name)
        version = library_version() if tool.is_library else version_of(tool.name)
    except PtxError as error:
        return DetectedTool(tool, path, problem=str(error))
    return DetectedTool(tool, path, version, tool.variable if os.environ.get(tool.variable) else tool.package)
