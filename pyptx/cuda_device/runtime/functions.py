"""The table of functions of the CUDA runtime API: `functions.txt`, read.

Standard library only: the build loads this file by path to generate the C stubs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["PLACES", "TABLE", "RuntimeFunction", "runtime_functions"]

TABLE = Path(__file__).with_suffix(".txt")
PLACES = ("forward", "written", "refused")


class RuntimeFunction(NamedTuple):
    """A row of the table.

    Attributes:
        place: one of PLACES.
        driver: function of the driver that a forward calls, else "".
        count: number of arguments, each passed as 8 bytes; 0 where the C code has them.
        stream: index of the stream argument of the variant for per-thread default streams to be generated, or None.
        variants: suffixes of variants that are the function itself: "ptsz", "ptds".
        reason: why it is refused.
    """

    name: str
    place: str
    driver: str = ""
    count: int = 0
    stream: int | None = None
    variants: tuple[str, ...] = ()
    reason: str = ""


@cache
def runtime_functions() -> tuple[RuntimeFunction, ...]:
    """Return the rows of the table.

    Raises:
        ValueError: a row is malformed.
    """
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(_row(line) for line in lines if line and not line.startswith("#"))


def _row(line: str) -> RuntimeFunction:
    name, place, *rest = line.split()
    match place, rest:
        case "forward", [driver, count, *stream]:
            index = int(stream[0]) if stream and stream[0] != "-" else None
            return RuntimeFunction(name, place, driver, int(count), index, ("ptsz",) * (stream == ["-"]))
        case "written", [count, stream]:
            return RuntimeFunction(name, place, "", int(count), int(stream))
        case "written", [] | ["ptds"]:
            return RuntimeFunction(name, place, variants=tuple(rest))
        case "refused", [_, *_]:
            variants, colon, reason = " ".join(rest).rpartition(": ")
            return RuntimeFunction(name, place, variants=tuple(variants.split()) if colon else (), reason=reason)
    raise ValueError(f"{TABLE.name}: {line!r} is malformed")
