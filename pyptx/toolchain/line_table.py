"""Source lines of machine instructions, from the line table that `nvcc -lineinfo` puts into a cubin."""

from __future__ import annotations

import re
from pathlib import Path

from pyptx.errors import ToolError
from pyptx.toolchain.elf import sections
from pyptx.toolchain.process import TIME_LIMIT_S, run_tool, workspace

__all__ = ["SourceLine", "source_lines"]

SourceLine = tuple[str, int]
"""Path and 1-based line."""

_SECTION = re.compile(r"//-+ \.text\.(\S+) ")
_MARKER = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+\S")


def source_lines(cubin: bytes, *, limit_s: float = TIME_LIMIT_S) -> dict[tuple[str, int], tuple[SourceLine, ...]]:
    """Return the source line of each instruction and those of the calls it is inlined at, innermost first.

    Args:
        limit_s: time limit in seconds.
    Returns:
        The lines by function and address; empty for a cubin without a line table, or with that of PTX only.
    Raises:
        ToolError: the bytes are not a cubin, or nvdisasm refuses them; its message is included.
        MissingToolError: nvdisasm is not installed.
    """
    if not any(section.name == ".debug_line" and section.size for section in sections(cubin)):
        return {}
    with workspace() as name:
        (Path(name) / "kernel.cubin").write_bytes(cubin)
        listing = run_tool("nvdisasm", "-c", "-ndf", "-gi", "kernel.cubin", folder=Path(name), limit_s=limit_s)
    if listing.status:
        raise ToolError(f"nvdisasm refused the cubin (status {listing.status}): {listing.log.strip()}")
    return _read(listing.output)


def _read(listing: str) -> dict[tuple[str, int], tuple[SourceLine, ...]]:
    """Read a listing. A line and its callers are consecutive markers, which hold until the next ones."""
    found: dict[tuple[str, int], tuple[SourceLine, ...]] = {}
    function, chain, follows = "", (), False
    for row in listing.splitlines():
        if section := _SECTION.match(row):
            function, chain, follows = section[1], (), False
        elif marker := _MARKER.match(row):
            chain = (*(chain if follows else ()), (marker[1], int(marker[2])))
            follows = True
        elif code := _CODE.match(row):
            if chain:
                found[function, int(code[1], 16)] = chain
            follows = False
    return found
