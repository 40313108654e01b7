"""Linked views of files: PTX text, and cubins, whoever made them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from pyptx.compiled import Compiled
from pyptx.errors import CompileError, PtxError, ToolError
from pyptx.isa import targets
from pyptx.parser import parse
from pyptx.program import load
from pyptx.toolchain import Resources
from pyptx.toolchain.elf import constant_bytes, embedded_ptx
from pyptx.toolchain.process import run_tools, workspace
from pyptx.views import LinkedView, linked
from pyptx.views.panes import Note

__all__ = ["FileError", "view_of"]

_RESERVED_BYTES = 1024                                  # of shared memory, by the system, from sm_90 on
_FUNCTION = re.compile(r"Function (\S+):\s*REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")


class FileError(PtxError):
    """A file that cannot be shown; the message says why."""


def view_of(name: str, data: bytes) -> LinkedView:
    """The linked view of a file: PTX and SASS of PTX text, SASS (and PTX, where -lineinfo left it) of a cubin.

    Args:
        name: of the file; .ptx or .cubin at its end says what it holds.
    Raises:
        FileError: another kind of file, PTX that does not assemble, or a cubin that cannot be read.
        ToolError, MissingToolError: a tool is not there or breaks.
    """
    if name.endswith(".ptx"):
        return _of_ptx(name, data)
    if name.endswith(".cubin"):
        return _of_cubin(name, data)
    raise FileError(f"{name}: expected a name that ends in .ptx or .cubin")


def _of_ptx(name: str, data: bytes) -> LinkedView:
    try:
        compiled = load(data, name=name).compile()
    except CompileError as error:
        found = [f"line {d.line}: {d.message}" if d.line else d.message for d in error.diagnostics]
        raise FileError(f"{name} does not assemble\n" + "\n".join(found or [error.message])) from None
    except (PtxError, ValueError) as error:
        raise FileError(f"{name}: {error}") from None
    return linked(compiled, panes=("ptx", "sass"), title=name)


def _of_cubin(name: str, data: bytes) -> LinkedView:
    try:
        ptx = embedded_ptx(data)
    except ToolError as error:
        raise FileError(f"{name}: {error.message}") from None
    target, resources = _inspect(data)
    text = "\n".join(ptx).rstrip("\n") + "\n" if ptx else ""
    major, minor = targets.default_version(target)
    header = f".version {major}.{minor}\n.target {target}\n.address_size 64\n"
    compiled = Compiled(module=parse(text or header), ptx=text, places=(), cubin=data, resources=resources,
                        target=target, options=(), lineinfo=False, name=name, tool="",
                        key=hashlib.sha256(data).hexdigest()[:32])
    view = linked(compiled, panes=("ptx", "sass") if text else ("sass",), title=name)
    stacks = [f"{entry} {used.stack_bytes} bytes" for entry, used in resources.items() if used.stack_bytes]
    notes = [Note("note", "the file says how much local memory a thread uses, not how much of it is for spilled "
                  f"registers: {', '.join(stacks)}", -1, -1)] if stacks else []
    if not text:
        notes.append(Note("note", "the file holds no PTX: it was assembled without -lineinfo", -1, -1))
        view = replace(view, ptx_version="not in the file")
    return replace(view, notes=(*view.notes, *notes))


def _inspect(cubin: bytes) -> tuple[str, dict[str, Resources]]:
    """Target, and what each function uses, as cuobjdump says."""
    with workspace() as folder:
        path = Path(folder, "file.cubin")
        path.write_bytes(cubin)
        listed, used = run_tools("cuobjdump", ("--list-elf", path.name), ("--dump-resource-usage", path.name),
                                 folder=path.parent)
    named = re.search(r"\.(sm_\w+)\.cubin", listed.output)
    if listed.status or used.status or named is None:
        raise FileError(f"cuobjdump cannot read it: {(listed.log + used.log).strip() or listed.output.strip()}")
    number = targets.parse(named[1]).number
    constants = constant_bytes(cubin)
    found = {}
    for function, registers, stack, shared, local in _FUNCTION.findall(used.output):
        shared_bytes = int(shared) - (_RESERVED_BYTES if number >= 90 and int(shared) >= _RESERVED_BYTES else 0)
        found[function] = Resources(int(registers), shared_bytes=shared_bytes, stack_bytes=max(int(stack), int(local)),
                                    constant_bytes=constants.get(function, 0))
    return named[1], found
