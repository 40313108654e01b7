"""NVIDIA's tools: assemble PTX to machine code, and disassemble machine code with its PTX lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyptx._lazy import from_modules

if TYPE_CHECKING:
    from pyptx.toolchain.cubin import Cubin, assemble, assembler
    from pyptx.toolchain.inventory import DetectedTool, detect_tools
    from pyptx.toolchain.locate import TOOLS, find
    from pyptx.toolchain.nvdisasm import disassemble
    from pyptx.toolchain.ptxas_log import Resources
    from pyptx.toolchain.sass import Control, LiveRegisters, SassLine

__all__ = [
    "Control",
    "Cubin",
    "DetectedTool",
    "LiveRegisters",
    "Resources",
    "SassLine",
    "TOOLS",
    "assemble",
    "assembler",
    "disassemble",
    "find",
    "detect_tools",
]

if not TYPE_CHECKING:
    __getattr__ = from_modules(
        __name__,
        {  # loaded on first use: launches assemble, and do not disassemble
            "Control": "sass",
            "Cubin": "cubin",
            "DetectedTool": "inventory",
            "LiveRegisters": "sass",
            "Resources": "ptxas_log",
            "SassLine": "sass",
            "TOOLS": "locate",
            "assemble": "cubin",
            "assembler": "cubin",
            "detect_tools": "inventory",
            "disassemble": "nvdisasm",
            "find": "locate",
        },
    )
