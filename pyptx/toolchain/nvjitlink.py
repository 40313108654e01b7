"""Assembling with nvJitLink: the assembler as a library, without the cost of a process.

It compiles modules for linking, as `ptxas -c` does. Errors, their lines and the validity of PTX agree with ptxas; the
machine code does not: shared memory is addressed through relocations; divisions, square roots and, on sm_75 and sm_80,
even shuffles become calls of linked functions. Therefore it only checks PTX, and ptxas generates the code that runs.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from pyptx.errors import ToolError
from pyptx.toolchain.locate import find
from pyptx.toolchain.process import TIME_LIMIT_S
from pyptx.toolchain.ptxas import Assembled

__all__ = ["jit_link", "library_version", "run_nvjitlink"]

_CUBIN, _PTX = 1, 2  # nvJitLinkInputType


class _Library:
    """The loaded library; its functions have versioned names (`__nvJitLinkCreate_13_5` since 12.4)."""

    def __init__(self, path: Path):
        try:
            library = ctypes.CDLL(str(path))
            major, minor = ctypes.c_uint(), ctypes.c_uint()
            library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
            self.version = f"{major.value}.{minor.value}"
            self._library, self._suffix = library, f"_{major.value}_{minor.value}"
            for name in ("Create", "Destroy", "AddData", "Complete", "GetLinkedCubin"):
                self._call(name)
        except (OSError, AttributeError) as error:
            raise ToolError(f"{path} is not a usable nvJitLink: {error}") from error

    def _call(self, name: str) -> Callable[..., int]:
        return getattr(self._library, f"__nvJitLink{name}{self._suffix}")

    def link(self, inputs: Sequence[tuple[int, str, bytes]], options: Sequence[str]) -> Assembled:
        """Link inputs: type, name and contents of each."""
        handle = ctypes.c_void_p()
        given = (ctypes.c_char_p * len(options))(*map(str.encode, options))
        failed = self._call("Create")(ctypes.byref(handle), len(options), given)
        if not handle:
            return Assembled(b"", f"nvJitLink fatal   : it refused the options (status {failed})")
        try:
            for kind, name, data in inputs:
                size = ctypes.c_size_t(len(data))
                failed = failed or self._call("AddData")(handle, kind, data, size, name.encode())
            failed = failed or self._call("Complete")(handle)
            log = self._read(handle, "ErrorLog") + self._read(handle, "InfoLog")
            return Assembled(
                b"" if failed else self._read(handle, "LinkedCubin"), log.replace(b"\0", b"").decode(errors="replace")
            )
        finally:
            self._call("Destroy")(ctypes.byref(handle))

    def _read(self, handle: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        if self._call(f"Get{what}Size")(handle, ctypes.byref(size)) or not size.value:
            return b""
        room = ctypes.create_string_buffer(size.value)
        if self._call(f"Get{what}")(handle, room):
            return b""
        return room.raw


@lru_cache
def _library(path: Path) -> _Library:
    return _Library(path)


def library_version() -> str:
    """Return major and minor version, "13.5".

    Raises:
        MissingToolError, ToolError: the library is not installed, or cannot be loaded.
    """
    return _library(find("nvJitLink")).version


def run_nvjitlink(text: str, target: str, options: Sequence[str], *, limit_s: float = TIME_LIMIT_S) -> Assembled:
    """Assemble PTX text for linking, with -v and -lineinfo; thread-safe.

    The work runs in a separate thread, so an interrupt or the time limit ends the wait (not the work).

    Raises:
        MissingToolError, ToolError: nvJitLink is not installed, cannot be loaded, or exceeds `limit_s`.
    """
    library = _library(find("nvJitLink"))
    wanted = [f"-arch={target}", "-lineinfo", "-Xptxas=-v", *(f"-Xptxas={option}" for option in options)]
    results: list[Assembled] = []
    inputs = [(_PTX, "kernel.ptx", text.encode())]
    worker = threading.Thread(
        target=lambda: results.append(library.link(inputs, wanted)), daemon=True, name="pyptx-nvjitlink"
    )
    worker.start()
    worker.join(limit_s)
    if worker.is_alive():
        raise ToolError(f"nvJitLink has not assembled the text within {limit_s:g} s")
    if not results:
        raise ToolError("nvJitLink failed; the traceback is on stderr")
    cubin, log = results[0]
    if not cubin and (internal := re.search(r"^ERROR \S+: .*", log, re.M)) and "ptxas" not in log:
        log += f"\nnvJitLink fatal   : {internal[0]}"
    return Assembled(cubin, log)


def jit_link(objects: Sequence[bytes], target: str) -> Assembled:
    """Link relocatable cubins; it needs no GPU.

    Raises:
        MissingToolError, ToolError: nvJitLink is not installed, or cannot be loaded.
    """
    inputs = [(_CUBIN, f"module {number}", data) for number, data in enumerate(objects, 1)]
    return _library(find("nvJitLink")).link(inputs, [f"-arch={target}", "-lineinfo", "-verbose"])
