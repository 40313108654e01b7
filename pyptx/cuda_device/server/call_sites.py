"""Places in a client's program from which it called the driver, by the return addresses of its stack.

A program that was compiled with -g has lines (addr2line of GNU binutils reads them); otherwise the function and the offset
in its file are known.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pyptx._loc import SourceLocation, StoredCode

__all__ = ["CallSite", "call_site", "remember"]

_ADDRESSES = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+\s+(/.*)")
_SECONDS = 10
_WRAPPERS = re.compile(r"__device_stub__|^cuda[A-Z]|^_?_?cudaLaunch|^std::|^void __gnu|\bcudaError\b")
_TOOLKIT = re.compile(r"/(cuda_runtime\.h|crt/|bits/|cudafe1\.stub\.c)|\.cudafe1\.")


class CallSite(NamedTuple):
    """A place of a call.

    Attributes:
        text: for messages, such as "main (app.cu:12)" or "app+0x4a3f".
        place: file and line; None if they are not known.
    """

    text: str
    place: SourceLocation | None


def call_site(process: int, addresses: Sequence[int], kernel: str = "") -> CallSite | None:
    """Return the innermost place outside of the runtime's headers; None if no address is known.

    Args:
        kernel: the kernel that is launched: the host function of that name, which nvcc makes, is left out.
        process: number of the client's process, which still runs.
        addresses: return addresses, innermost first.
    """
    found = None
    for address in addresses:
        known = _located(process, address)
        if known is None:
            continue
        site, function, is_wrapper = known
        if not is_wrapper and not (kernel and f" {function}".endswith(f" {kernel}")):
            return site
        found = found or site
    return found


def remember(process: int, addresses: Sequence[int]) -> None:
    """Remember in which files addresses are, so that `call_site` finds them when the process has ended."""
    for address in addresses:
        if address:
            _mapping(process, address)


@lru_cache(maxsize=4096)
def _located(process: int, address: int) -> tuple[CallSite, str, bool] | None:
    mapped = _mapping(process, address)
    if mapped is None:
        return None
    file, offset = mapped
    function, where = _line(file, offset - 1)  # the call precedes its return address
    short = f"{Path(file).name}+0x{offset:x}"
    source, _, number = where.rpartition(":")
    is_wrapper = bool(_WRAPPERS.search(function) or _TOOLKIT.search(source))
    if source and source != "??" and number.isdigit() and int(number):
        code = StoredCode(source, function, function, int(number), ((int(number), int(number), None, None),))
        return CallSite(f"{function} ({Path(source).name}:{number})", SourceLocation(code, 0)), function, is_wrapper
    # of a library without lines, only the nearest exported function is known, which may be another one
    is_named = function != "??" and ".so" not in Path(file).name
    return CallSite(f"{function} ({short})" if is_named else short, None), function, is_wrapper


@lru_cache(maxsize=65536)
def _mapping(process: int, address: int) -> tuple[str, int] | None:
    """Return the file that is mapped at an address, and the address in it; None if there is none."""
    try:
        rows = [_ADDRESSES.match(row) for row in Path(f"/proc/{process}/maps").read_text().splitlines()]
    except OSError:
        return None
    found = [(int(r[1], 16), int(r[2], 16), int(r[3], 16), r[4]) for r in rows if r is not None]
    file = next((name for start, end, _, name in found if start <= address < end), None)
    if file is None:
        return None
    base = min(start - offset for start, _, offset, name in found if name == file)
    return file, address - base if _is_relocated(file) else address


@lru_cache
def _is_relocated(file: str) -> bool:
    """Return True for shared objects and position-independent executables (ELF type 3)."""
    try:
        with Path(file).open("rb") as stream:
            return stream.read(18)[16:18] == b"\x03\x00"
    except OSError:
        return True


def _line(file: str, address: int) -> tuple[str, str]:
    """Return the function and "file:line" of an address, "??" where they are not known."""
    tool = shutil.which("addr2line")
    if tool is None:
        return "??", "??:0"
    command = [tool, "-f", "-C", "-e", file, f"0x{address:x}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return "??", "??:0"
    lines = [*done.stdout.splitlines(), "??", "??:0"]
    return lines[0].partition("(")[0] or "??", lines[1].partition(" (")[0]
