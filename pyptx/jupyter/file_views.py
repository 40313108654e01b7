"""Linked views of .ptx and .cubin files, from any compiler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyptx.compiled import Compiled, load_cubin
from pyptx.errors import CompileError, PtxError
from pyptx.program import load
from pyptx.toolchain.process import workspace
from pyptx.views import LinkedView, linked
from pyptx.views.code.source_locations import with_sources

__all__ = ["FileError", "view_file"]


class FileError(PtxError):
    """A file that cannot be shown as a linked view."""


def view_file(name: str, data: bytes, roots: Sequence[Path] | None = None) -> LinkedView:
    """Return the linked view of a file: PTX and SASS for PTX text; SASS, and PTX embedded by -lineinfo, for a cubin.

    Args:
        name: file name; its suffix, .ptx or .cubin, is the type of `data`.
        roots: folders of the source files that the file may refer to; default: the working directory; empty: none.
    Raises:
        FileError: another suffix, PTX that does not assemble, or an invalid cubin.
    """
    kind = Path(name).suffix
    if kind not in (".ptx", ".cubin"):
        raise FileError(f"{name}: expected a name that ends in .ptx or .cubin")
    try:
        compiled = with_sources(load(data, name=name).compile(), roots) if kind == ".ptx" else _cubin(data, roots)
        return linked(compiled, title=name)
    except CompileError as error:
        found = [f"line {d.line}: {d.message}" if d.line else d.message for d in error.diagnostics]
        raise FileError(f"{name} does not assemble\n" + "\n".join(found or [error.message])) from None
    except PtxError as error:
        raise FileError(f"{name}: {error}") from None


def _cubin(data: bytes, roots: Sequence[Path] | None) -> Compiled:
    with workspace() as folder:
        path = Path(folder, "file.cubin")
        path.write_bytes(data)
        return load_cubin(path, roots)
