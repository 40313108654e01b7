"""What padding or a swizzle would do for a request to shared memory that meets itself in banks: tried on its addresses.

Source: CUDA C++ Programming Guide, "Shared Memory" of each compute capability; PTX ISA, "Swizzling Modes".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import gcd

from pyptx.check.requests import Request
from pyptx.sim.reference.access import extra_wavefronts
from pyptx.smem import apply_swizzle

__all__ = ["advice", "passes"]

LINE = 128                      # bytes of all banks
SWIZZLES = ("32B", "64B", "128B")


def passes(request: Request) -> tuple[int, int]:
    """Passes over shared memory that a request takes, and how many it would without conflicts."""
    unit = min(max(request.bytes, 4), 16)
    least = len({lane // (LINE // unit) for lane in request.lanes})
    return least + extra_wavefronts(list(request.lanes), list(request.addresses), request.bytes), least


def advice(request: Request, start: int) -> str:
    """What would help, in words.

    Args:
        start: address of the variable that is accessed.
    """
    now, least = passes(request)
    tried = [(count, text) for count, text in _tried(request, start) if count < now]
    if not tried:
        return "lay the tile out so that what the lanes of a request access lies in different banks"
    best = min(count for count, _ in tried)
    texts = [text for count, text in tried if count == best]
    rest = "no conflict is left" if best == least else f"{best} passes are left"
    return f"{' or '.join(_first_of_each(texts))}: {rest} in this access; look at the others of the same tile too"


def _first_of_each(texts: list[str]) -> list[str]:
    """The smallest padding and the narrowest swizzle."""
    return list({text.partition(" ")[0]: text for text in reversed(texts)}.values())[::-1]


def _tried(request: Request, start: int) -> Iterator[tuple[int, str]]:
    def moved(to) -> int:
        addresses = tuple(start + to(address - start) for address in request.addresses)
        return passes(Request(request.lanes, addresses, request.bytes))[0]
    row = _row(request)
    for pad in (4, 8, 16):
        if row and pad >= min(request.bytes, 16):
            yield moved(lambda at, pad=pad: at + at // row * pad), f"pad rows of {row} bytes by {pad}"
    for name in SWIZZLES:
        yield moved(lambda at, name=name: apply_swizzle(at, name)), \
            f"swizzle the tile by {name} (ptx.smem.apply_swizzle)"


def _row(request: Request) -> int:
    """How far apart lie what meets in a bank: a multiple of all banks; 0: nothing meets."""
    unit = min(max(request.bytes, 4), 16)
    banks: dict[tuple[int, int], set[int]] = defaultdict(set)
    for lane, address in zip(request.lanes, request.addresses, strict=True):
        banks[lane // (LINE // unit), address // unit % (LINE // unit)].add(address // unit * unit)
    row = 0
    for words in banks.values():
        for word in words:
            row = gcd(row, word - min(words))
    return row
