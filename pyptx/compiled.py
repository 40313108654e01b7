"""Compiled code with its linked view; cubin files in the same form."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyptx.assembly import Assembly
from pyptx.isa import targets

if TYPE_CHECKING:
    from pyptx.toolchain import Resources, SassLine
    from pyptx.views import LinkedView

__all__ = ["Compiled", "load_cubin"]

NO_PTX = "// the cubin holds no PTX text: it was assembled without -lineinfo"


class Compiled(Assembly):
    """A module assembled for one target, with its view; the attributes are those of `pyptx.assembly.Assembly`."""

    def view(self, **options: Any) -> LinkedView:
        """Return the linked Python | PTX | SASS view; options as for `pyptx.views.linked`."""
        from pyptx.views import linked  # late: launches compile, and need no views

        return linked(self, **options)


def load_cubin(path: str | os.PathLike[str], roots: Sequence[Path] | None = None) -> Compiled:
    """Read a cubin.

    The PTX is the text that `-lineinfo` embeds, without indentation. A cubin without it has a comment as its PTX, and
    its machine instructions have no PTX line. Source lines are those of the line table, of `nvcc -lineinfo` or of PTX
    with `.loc`.

    Args:
        roots: folders of source files, as for `with_sources`; default: the working directory.
    Raises:
        OSError: the file cannot be read.
        ToolError: it is not a cubin.
        MissingToolError: nvdisasm is missing.
    """
    from pyptx.parser import ParseError, parse  # late, as above
    from pyptx.toolchain.cubin_info import read_cubin_info
    from pyptx.toolchain.elf import embedded_ptx
    from pyptx.views.code.source_locations import with_line_table

    path = Path(path)
    data = path.read_bytes()
    about = read_cubin_info(data)
    text = "\n".join(embedded_ptx(data) or ()).rstrip("\n")
    major, minor = targets.parse(about.target).first_ptx
    header = f"{NO_PTX}\n.version {major}.{minor}\n.target {about.target}\n.address_size 64\n"
    try:
        module = parse(text + "\n") if text else parse(header)
    except ParseError:  # PTX of a dialect the parser does not know: it is still displayed
        module = parse(header)
    text = text + "\n" if text else NO_PTX + "\n"
    found = Compiled(
        module=module,
        ptx=text,
        places=(None,) * text.count("\n"),
        cubin=data,
        resources={},
        target=about.target,
        options=(),
        lineinfo=False,
        name=path.stem,
        key=hashlib.sha256(data).hexdigest()[:32],
        tool=about.tool,
    )
    found = with_line_table(found, roots)
    return replace(
        found,
        resources={
            entry: _with_spills(used, [line for line in found.sass if line.entry == entry])
            for entry, used in about.resources.items()
        },
    )


def _with_spills(used: Resources, lines: list[SassLine]) -> Resources:
    from pyptx.toolchain.cubin_info import spilled_bytes

    stores, loads = (
        sum(spilled_bytes(line) for line in lines if line.opcode.startswith(word)) for word in ("STL", "LDL")
    )
    return replace(used, spill_stores=stores, spill_loads=loads)
