"""Assembling with nvJitLink: the same assembler as a library, without the cost of a process.

It compiles every module for linking, as `ptxas -c` does. Errors, their lines and the legality of PTX are those of
ptxas; the machine code is not: shared memory is addressed through relocations; divisions, square roots and on sm_75
and sm_80 even shuffles become calls of linked functions. So it judges PTX, and ptxas makes the code that runs.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from pyptx.errors import ToolError
from pyptx.toolchain.locate import find
from pyptx.toolchain.process import TIME_LIMIT_S
from pyptx.toolchain.ptxas import Assembled

__all__ = ["library_version", "run_nvjitlink"]

_PTX = 2                                        # nvJitLinkInputType
_CALLS = ("Create", "Destroy", "AddData", "Complete", "GetErrorLogSize", "GetErrorLog", "GetInfoLogSize", "GetInfoLog",
          "GetLinkedCubinSize", "GetLinkedCubin")


class _Library:
    """The library's functions, under the names its header gives them (`__nvJitLinkCreate_13_5` since 12.4)."""

    def __init__(self, path: Path):
        try:
            library = ctypes.CDLL(str(path))
            major, minor = ctypes.c_uint(), ctypes.c_uint()
            library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
            self.version = f"{major.value}.{minor.value}"
            for call in _CALLS:
                setattr(self, call, getattr(library, f"__nvJitLink{call}_{major.value}_{minor.value}"))
        except (OSError, AttributeError) as error:
            raise ToolError(f"{path} is not a usable nvJitLink: {error}") from error

    def assemble(self, text: str, options: Sequence[str]) -> Assembled:
        handle = ctypes.c_void_p()
        given = (ctypes.c_char_p * len(options))(*map(str.encode, options))
        failed = self.Create(ctypes.byref(handle), len(options), given)
        if not handle:
            return Assembled(b"", f"nvJitLink fatal   : it refused the options (status {failed})")
        try:
            data = text.encode()
            failed = (failed or self.AddData(handle, _PTX, data, ctypes.c_size_t(len(data)), b"kernel.ptx")
                      or self.Complete(handle))
            log = self._read(handle, "ErrorLog") + self._read(handle, "InfoLog")
            return Assembled(b"" if failed else self._read(handle, "LinkedCubin"),
                             log.replace(b"\0", b"").decode(errors="replace"))
        finally:
            self.Destroy(ctypes.byref(handle))

    def _read(self, handle: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        if getattr(self, f"Get{what}Size")(handle, ctypes.byref(size)) or not size.value:
            return b""
        room = ctypes.create_string_buffer(size.value)
        if getattr(self, f"Get{what}")(handle, room):
            return b""
        return room.raw


@lru_cache
def _library(path: Path) -> _Library:
    return _Library(path)


def library_version() -> str:
    """Major and minor version, "13.5".

    Raises:
        MissingToolError, ToolError: there is none, or it cannot be loaded.
    """
    return _library(find("nvJitLink")).version


def run_nvjitlink(text: str, target: str, options: Sequence[str], *, limit_s: float = TIME_LIMIT_S) -> Assembled:
    """Assemble PTX text for linking, with -v and -lineinfo; several threads may.

    The work is done on a thread of its own, so that an interrupt or the time limit ends the wait (not the work).

    Raises:
        MissingToolError, ToolError: nvJitLink is not there or cannot be loaded, or takes longer than `limit_s`.
    """
    library = _library(find("nvJitLink"))
    wanted = [f"-arch={target}", "-lineinfo", "-Xptxas=-v", *(f"-Xptxas={option}" for option in options)]
    results: list[Assembled] = []
    worker = threading.Thread(target=lambda: results.append(library.assemble(text, wanted)), daemon=True,
                              name="pyptx-nvjitlink")
    worker.start()
    worker.join(limit_s)
    if worker.is_alive():
        raise ToolError(f"nvJitLink has not assembled the text within {limit_s:g} s")
    if not results:
        raise ToolError("nvJitLink failed; the message stands above")
    cubin, log = results[0]
    if not cubin and (internal := re.search(r"^ERROR \S+: .*", log, re.M)) and "ptxas" not in log:
        log += f"\nnvJitLink fatal   : {internal[0]}"
    return Assembled(cubin, log)
