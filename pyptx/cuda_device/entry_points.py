"""The table of entry points of the CUDA driver API: `entry_points.txt`, read.

Standard library only: the build loads this file by path to generate the C stubs.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["DRIVER_VERSION", "PLACES", "TABLE", "Argument", "EntryPoint", "entry_points", "identity", "remote"]

DRIVER_VERSION = 13050  # CUDA 13.5, of the headers that the table was checked with
TABLE = Path(__file__).with_suffix(".txt")
PLACES = ("server", "device", "wrapped", "internal", "client", "refused")

# type -> (C type, format of the 8-byte word that carries it)
SCALARS = {
    "u8": ("unsigned char", "Q"),
    "u16": ("unsigned short", "Q"),
    "u32": ("unsigned", "Q"),
    "u64": ("uint64_t", "Q"),
    "i32": ("int", "q"),
    "f32": ("float", "d"),
}
BLOBS = ("str", "cstring", "bytes", "text", "image", "any")
_ARGUMENT = re.compile(r"(>\??)?(\w+):(\w+)(?:\[(.+)\])?")


class Argument(NamedTuple):
    """A parameter of an entry point.

    Attributes:
        type: a key of SCALARS, or one of BLOBS.
        size: bytes of a blob, as a C expression.
        result: True for a pointer to a result.
        optional: True if that pointer may be null.
    """

    name: str
    type: str
    size: str
    result: bool
    optional: bool


class EntryPoint(NamedTuple):
    """A row of the table.

    Attributes:
        number: number of the function in messages.
        since: CUDA version that introduced it, 12030 for 12.3.
        variant: "ptsz" or "ptds" if it has a variant for per-thread default streams, else "".
        place: one of PLACES.
        reason: why it is refused.
    """

    number: int
    symbol: str
    since: int
    variant: str
    place: str
    arguments: tuple[Argument, ...]
    reason: str

    @property
    def base(self) -> str:
        """Name without the version: cuMemAlloc for cuMemAlloc_v2."""
        return re.sub(r"_v\d+$", "", self.symbol)


@cache
def entry_points() -> tuple[EntryPoint, ...]:
    """Return the rows of the table.

    Raises:
        ValueError: a row is malformed.
    """
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return tuple(_row(number, line) for number, line in enumerate(lines))


def remote() -> tuple[EntryPoint, ...]:
    """Return the rows that the server handles."""
    return tuple(entry for entry in entry_points() if entry.place in ("server", "device", "wrapped", "internal"))


def identity() -> str:
    """Return a hash of the table, by which client and server recognize each other."""
    return hashlib.sha256(TABLE.read_bytes()).hexdigest()[:16]


def _row(number: int, line: str) -> EntryPoint:
    symbol, version, place, *rest = line.split(" ", 3)
    since, _, variant = version.partition("_")
    text = rest[0] if rest else ""
    if place not in PLACES:
        raise ValueError(f"{TABLE.name}: {symbol}: place {place!r}; expected one of {', '.join(PLACES)}")
    if place == "refused":
        return EntryPoint(number, symbol, int(since), variant, place, (), text)
    return EntryPoint(number, symbol, int(since), variant, place, tuple(map(_argument, text.split())), "")


def _argument(text: str) -> Argument:
    found = _ARGUMENT.fullmatch(text)
    if found is None or found[3] not in (*SCALARS, *BLOBS):
        raise ValueError(f"{TABLE.name}: argument {text!r} is malformed")
    return Argument(found[2], found[3], found[4] or "", found[1] is not None, found[1] == ">?")
