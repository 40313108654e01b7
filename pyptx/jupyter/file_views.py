"""Linked views of .ptx, .cubin and .cu files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pyptx.compiled import Compiled, load_cubin
from pyptx.errors import CompileError, PtxError
from pyptx.nvrtc import Source
from pyptx.program import load
from pyptx.toolchain.process import workspace
from pyptx.views import LinkedView, linked
from pyptx.views.code.source_locations import with_sources
from pyptx.workbench.cuda_program import CudaSource, cuda

__all__ = ["FileError", "view_file"]


class FileError(PtxError):
    """A file that cannot be shown as a linked view."""


def view_file(name: str, data: bytes, roots: Sequence[Path] | None = None, folder: Path | None = None) -> LinkedView:
    """Return the linked view of a file: PTX and SASS for PTX text; SASS, and PTX embedded by -lineinfo, for a cubin;
    CUDA C++, PTX and SASS of all kernels for CUDA C++.

    Args:
        name: file name; its suffix, .ptx, .cubin or .cu, is the type of `data`.
        roots: folders of the source files that the file may refer to; default: the working directory; empty: none.
        folder: of a .cu file, where its headers are.
    Raises:
        FileError: another suffix, PTX that does not assemble, or an invalid cubin.
    """
    kind = Path(name).suffix
    if kind not in (".ptx", ".cubin", ".cu"):
        raise FileError(f"{name}: expected a name that ends in .ptx, .cubin or .cu")
    try:
        if kind == ".cu":
            return _cuda(name, data.decode(errors="replace"), folder)
        compiled = with_sources(load(data, name=name).compile(), roots) if kind == ".ptx" else _cubin(data, roots)
        return linked(compiled, title=name)
    except CompileError as error:
        lines = [d.place.line if kind == ".cu" and d.place else d.line for d in error.diagnostics]
        found = [f"line {n}: {d.message}" if n else d.message for n, d in zip(lines, error.diagnostics, strict=True)]
        does = "does not compile" if kind == ".cu" else "does not assemble"
        raise FileError(f"{name} {does}\n" + "\n".join(found or [error.message])) from None
    except PtxError as error:
        raise FileError(f"{name}: {error}") from None


def _cuda(name: str, text: str, folder: Path | None) -> LinkedView:
    source = Source(text, str((folder or Path("/text")) / name), folder)
    program = cuda(CudaSource.of_source(source, name), name=name)
    if not program.entries:
        raise FileError(
            f"{name} has no kernel to show; a template is compiled where it is instantiated, as in "
            "template __global__ void scale<float>(float *, int);"
        )
    view = linked(program.compile(), title=name)
    names = {entry.mangled: entry.name for entry in map(program.__getitem__, program.entries)}
    return replace(view, entries=tuple(replace(one, name=names.get(one.name, one.name)) for one in view.entries))


def _cubin(data: bytes, roots: Sequence[Path] | None) -> Compiled:
    with workspace() as folder:
        path = Path(folder, "file.cubin")
        path.write_bytes(data)
        return load_cubin(path, roots)
