"""NVIDIA's tools: PTX to machine code, machine code to lines that say where they came from."""

from pyptx.toolchain.assemble import Cubin, assemble, assembler
from pyptx.toolchain.find import TOOLS, find
from pyptx.toolchain.log import Resources
from pyptx.toolchain.nvdisasm import disassemble
from pyptx.toolchain.sass import Control, LiveRegisters, SassLine
from pyptx.toolchain.survey import Found, survey

__all__ = ["Control", "Cubin", "Found", "LiveRegisters", "Resources", "SassLine", "TOOLS", "assemble", "assembler",
           "disassemble", "find", "survey"]
