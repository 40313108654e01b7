"""NVIDIA's tools: assemble PTX to machine code, and disassemble machine code with its PTX lines."""

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
