"""Metadata of a cubin from any assembler: target, tool, and resource usage of its entries.

Read from the ELF file: the note of ptxas (`.note.nv.tkinfo`), header flags, attributes in `.nv.info` sections, sizes of
`.nv.shared` sections. Attribute numbers are those that cuobjdump -elf prints as EIATTR_REGCOUNT, EIATTR_FRAME_SIZE,
EIATTR_MIN_STACK_SIZE and EIATTR_NUM_BARRIERS; tests compare them with the log of ptxas.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import replace

from pyptx._frozen import frozen
from pyptx.errors import ToolError
from pyptx.toolchain.elf import Section, constant_bytes, sections, string_at
from pyptx.toolchain.ptxas_log import Resources
from pyptx.toolchain.sass import SassLine

__all__ = ["CubinInfo", "read_cubin_info", "spilled_bytes"]

REGCOUNT, FRAME_SIZE, MIN_STACK_SIZE, NUM_BARRIERS = 0x2F, 0x11, 0x12, 0x4C
ENTRY = 0x10  # in st_other of a symbol: STO_CUDA_ENTRY
RESERVED = 1024  # reserved bytes of shared memory per block on sm_90 and later
CUDA = 190  # e_machine
_VALUES = 4  # format of an attribute that holds several words
_WIDTHS = {"64": 8, "128": 16, "U8": 1, "S8": 1, "U16": 2, "S16": 2}


@frozen
class CubinInfo:
    """Metadata of a cubin.

    Attributes:
        target: "sm_90a"; "sm_90" without the note of ptxas.
        tool: "ptxas 13.5.37", or "an unknown assembler".
        resources: resource usage of each entry; spills are 0, as the file does not distinguish them from other stack
            usage.
    """

    target: str
    tool: str
    resources: dict[str, Resources]


def read_cubin_info(cubin: bytes) -> CubinInfo:
    """Read the metadata of a cubin.

    Raises:
        ToolError: the bytes are not a cubin.
    """
    parts = {section.name: section for section in sections(cubin)}
    (machine,) = struct.unpack_from("<H", cubin, 18)
    if machine != CUDA:
        raise ToolError(f"not a cubin: an ELF file for machine {machine}, not for NVIDIA's CUDA ({CUDA})")
    note = parts[".note.nv.tkinfo"].data.decode(errors="replace") if ".note.nv.tkinfo" in parts else ""
    (flags,) = struct.unpack_from("<I", cubin, 48)
    number = flags >> 8 & 0xFF if cubin[8] >= 8 else flags & 0xFF  # byte 8: version of the ABI
    arch = re.search(r"-arch[ =](sm_\d+[af]?)", note) or re.search(r"--gpu-name[ =](sm_\d+[af]?)", note)
    version = re.search(r"(ptxas|nvlink|nvJitLink)\0.*?V([\d.]+)", note, re.DOTALL)
    return CubinInfo(
        arch[1] if arch else f"sm_{number}",
        f"{version[1]} {version[2]}" if version else "an unknown assembler",
        _resources(cubin, parts, number),
    )


def spilled_bytes(line: SassLine) -> int:
    """Return the bytes of a register spill or refill, which nvdisasm marks; 0 for other instructions.

    The sums over a kernel equal the spill stores and spill loads that ptxas reports.
    """
    word, *modifiers = line.opcode.split(".")
    if word not in ("STL", "LDL") or '"SpillRefill"' not in line.text:
        return 0
    return next((_WIDTHS[modifier] for modifier in modifiers if modifier in _WIDTHS), 4)


def _resources(cubin: bytes, parts: dict[str, Section], number: int) -> dict[str, Resources]:
    names, entries = _symbols(parts)
    found = {name: Resources(0) for name in entries}
    for attribute, data in _attributes(parts[".nv.info"].data) if ".nv.info" in parts else ():
        if attribute not in (REGCOUNT, FRAME_SIZE, MIN_STACK_SIZE) or len(data) < 8:
            continue
        symbol, value = struct.unpack_from("<II", data)
        name = names.get(symbol)
        if name in found:
            own = found[name]
            found[name] = (
                replace(own, registers=value)
                if attribute == REGCOUNT
                else replace(own, stack_bytes=max(own.stack_bytes, value))
            )
    constants = constant_bytes(cubin)
    for name, own in found.items():
        shared = parts[f".nv.shared.{name}"].size if f".nv.shared.{name}" in parts else 0
        info = parts.get(f".nv.info.{name}")
        barriers = (
            [data[0] for attribute, data in _attributes(info.data) if attribute == NUM_BARRIERS and data]
            if info
            else []
        )
        found[name] = replace(
            own,
            shared_bytes=max(0, shared - RESERVED * (number >= 90)),
            constant_bytes=constants.get(name, 0),
            barriers=max(barriers, default=0),
        )
    return found


def _symbols(parts: dict[str, Section]) -> tuple[dict[int, str], list[str]]:
    """Return the name of each symbol, and the entries in order of their code."""
    if ".symtab" not in parts or ".strtab" not in parts:
        raise ToolError("not a complete cubin: it has no symbols")
    table, text = parts[".symtab"].data, parts[".strtab"].data
    names, entries = {}, set()
    for number, at in enumerate(range(0, len(table) - 23, 24)):
        name, kind, other = struct.unpack_from("<IBB", table, at)
        names[number] = string_at(text, name)
        if kind & 15 == 2 and other & ENTRY:  # a function that can be launched
            entries.add(names[number])
    code = [name.removeprefix(".text.") for name in parts if name.startswith(".text.")]
    return names, [name for name in code if name in entries]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number, value) of the attributes of a `.nv.info` section; short values are stored in the size field."""
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == _VALUES:
            yield attribute, data[at : at + size]
            at += size
        else:
            yield attribute, struct.pack("<H", size)
