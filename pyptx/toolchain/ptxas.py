"""Assembling with ptxas, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pyptx.toolchain.process import TIME_LIMIT_S, run_tool, workspace

__all__ = ["Assembled", "run_ptxas"]


class Assembled(NamedTuple):
    """Result of an assembler: `cubin` is empty when it failed; `log` contains the reasons."""

    cubin: bytes
    log: str


def run_ptxas(text: str, target: str, options: Sequence[str], *, limit_s: float = TIME_LIMIT_S) -> Assembled:
    """Assemble PTX text, with -v and -lineinfo.

    Raises:
        MissingToolError, ToolError: ptxas is not installed, does not start, or exceeds `limit_s`.
    """
    with workspace() as name:
        folder = Path(name)
        (folder / "kernel.ptx").write_bytes(text.encode())
        ran = run_tool(
            "ptxas",
            "-v",
            "-lineinfo",
            f"-arch={target}",
            *options,
            "kernel.ptx",
            "-o",
            "kernel.cubin",
            folder=folder,
            limit_s=limit_s,
        )
        cubin = folder / "kernel.cubin"
        log = ran.log + ran.output
        if ran.status < 0:
            log += f"\nptxas fatal   : ptxas was ended by signal {-ran.status}"
        elif ran.status and "error" not in log and "fatal" not in log:
            log += f"\nptxas fatal   : ptxas ended with status {ran.status}"
        return Assembled(cubin.read_bytes() if ran.status == 0 and cubin.exists() else b"", log)
