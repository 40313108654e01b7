"""A cubin from elsewhere as a Compiled: to be viewed and compared like a kernel of one's own."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from pyptx.compiled import Compiled
from pyptx.isa import targets
from pyptx.parser import ParseError, parse
from pyptx.toolchain import Resources, SassLine
from pyptx.toolchain.cubinfile import describe, spilled_bytes
from pyptx.toolchain.elf import embedded_ptx

__all__ = ["load_cubin"]

NO_PTX = "// the cubin holds no PTX text: it was assembled without -lineinfo"


def load_cubin(path: str | os.PathLike[str]) -> Compiled:
    """Read a cubin.

    Its PTX is the text that `-lineinfo` left in it, without the blanks in front of its lines. Where there is none, the
    PTX is a remark, and machine instructions belong to no line. There are no source lines: ptxas
    keeps no `.loc` in that text.

    Raises:
        OSError: the file cannot be read.
        ToolError: it is no cubin.
        MissingToolError: there is no nvdisasm.
    """
    path = Path(path)
    data = path.read_bytes()
    about = describe(data)
    text = "\n".join(embedded_ptx(data) or ()).rstrip("\n")
    major, minor = targets.parse(about.target).first_ptx
    header = f"{NO_PTX}\n.version {major}.{minor}\n.target {about.target}\n.address_size 64\n"
    try:
        module = parse(text + "\n") if text else parse(header)
    except ParseError:                                  # PTX of a dialect the parser does not know: shown all the same
        module = parse(header)
    text = text + "\n" if text else NO_PTX + "\n"
    found = Compiled(module=module, ptx=text, places=(None,) * text.count("\n"), cubin=data, resources={},
                     target=about.target, options=(), lineinfo=False, name=path.stem,
                     key=hashlib.sha256(data).hexdigest()[:32], tool=about.tool)
    return replace(found, resources={entry: _with_spills(used, [line for line in found.sass if line.entry == entry])
                                     for entry, used in about.resources.items()})


def _with_spills(used: Resources, lines: list[SassLine]) -> Resources:
    stores, loads = (sum(spilled_bytes(line) for line in lines if line.opcode.startswith(word))
                     for word in ("STL", "LDL"))
    return replace(used, spill_stores=stores, spill_loads=loads)
