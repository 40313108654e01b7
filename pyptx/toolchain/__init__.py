"""NVIDIA's tools: PTX to machine code, machine code to lines that say where they came from."""

from pyptx.toolchain.cubin import Cubin, assemble, assembler
from pyptx.toolchain.inventory import Found, survey
from pyptx.toolchain.locate import TOOLS, find
from pyptx.toolchain.log import Resources
from pyptx.toolchain.nvdisasm import disassemble
from pyptx.toolchain.sass import Control, LiveRegisters, SassLine

__all__ = ["Control", "Cubin", "Found", "LiveRegisters", "Resources", "SassLine", "TOOLS", "assemble", "assembler",
           "disassemble", "find", "survey"]
