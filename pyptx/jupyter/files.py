"""Linked views of files: PTX text, and cubins, whoever made them."""

from __future__ import annotations

from pathlib import Path

from pyptx.errors import CompileError, PtxError
from pyptx.program import load
from pyptx.toolchain.process import workspace
from pyptx.views import LinkedView, linked
from pyptx.views.code.cubins import load_cubin
from pyptx.views.code.locs import with_sources

__all__ = ["FileError", "view_of"]


class FileError(PtxError):
    """A file that cannot be shown; the message says why."""


def view_of(name: str, data: bytes) -> LinkedView:
    """The linked view of a file: PTX and SASS of PTX text, SASS (and PTX, where -lineinfo left it) of a cubin.

    Args:
        name: of the file; .ptx or .cubin at its end says what it holds.
    Raises:
        FileError: another kind of file, PTX that does not assemble, or a cubin that cannot be read.
    """
    kind = Path(name).suffix
    if kind not in (".ptx", ".cubin"):
        raise FileError(f"{name}: expected a name that ends in .ptx or .cubin")
    try:
        compiled = with_sources(load(data, name=name).compile()) if kind == ".ptx" else _cubin(data)
        return linked(compiled, title=name)
    except CompileError as error:
        found = [f"line {d.line}: {d.message}" if d.line else d.message for d in error.diagnostics]
        raise FileError(f"{name} does not assemble\n" + "\n".join(found or [error.message])) from None
    except PtxError as error:
        raise FileError(f"{name}: {error}") from None


def _cubin(data: bytes):
    with workspace() as folder:
        path = Path(folder, "file.cubin")
        path.write_bytes(data)
        return load_cubin(path)
