"""Bank conflicts of a memory request, and whether padding or a swizzle removes them.

Source: CUDA C++ Programming Guide, "Shared Memory" of each compute capability; PTX ISA, "Swizzling Modes".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from math import gcd
from typing import cast

from pyptx.check.memory_requests import Request
from pyptx.sim.reference.access import extra_wavefronts
from pyptx.smem import apply_swizzle

__all__ = ["conflict_advice", "passes"]

LINE = 128  # bytes across all banks
SWIZZLES = ("32B", "64B", "128B")


def passes(request: Request) -> tuple[int, int]:
    """Return the passes over shared memory that a request takes, with and without conflicts."""
    unit = min(max(request.bytes, 4), 16)
    least = len({lane // (LINE // unit) for lane in request.lanes})
    return least + extra_wavefronts(list(request.lanes), list(request.addresses), request.bytes), least


def conflict_advice(request: Request, start: int) -> str:
    """Suggest the padding or swizzle that removes the most conflicts.

    Args:
        start: address of the variable that is accessed.
    """
    now, least = passes(request)
    tried = [(count, text) for count, text in _tried(request, start) if count < now]
    if not tried:
        return "lay the tile out so that the lanes of a request access different banks"
    best = min(count for count, _ in tried)
    texts = [text for count, text in tried if count == best]
    rest = "no conflict remains" if best == least else f"{best} passes remain"
    return f"{' or '.join(_first_of_each(texts))}: {rest} in this access; check other accesses to the same tile"


def _first_of_each(texts: list[str]) -> list[str]:
    """Return the smallest padding and the narrowest swizzle."""
    return list({text.partition(" ")[0]: text for text in reversed(texts)}.values())[::-1]


def _tried(request: Request, start: int) -> Iterator[tuple[int, str]]:
    def passes_at(layout: Callable[[int], int]) -> int:
        addresses = tuple(start + layout(address - start) for address in request.addresses)
        return passes(Request(request.lanes, addresses, request.bytes))[0]

    row = _row(request)
    for pad in (4, 8, 16):
        if row and pad >= min(request.bytes, 16):
            yield passes_at(lambda at, pad=pad: at + at // row * pad), f"pad rows of {row} bytes by {pad}"
    for name in SWIZZLES:
        yield (
            passes_at(lambda at, name=name: cast(int, apply_swizzle(at, name))),
            f"swizzle the tile by {name} (ptx.smem.apply_swizzle)",
        )


def _row(request: Request) -> int:
    """Return the distance of words that conflict, a multiple of all banks; 0 without conflicts."""
    unit = min(max(request.bytes, 4), 16)
    banks: dict[tuple[int, int], set[int]] = defaultdict(set)
    for lane, address in zip(request.lanes, request.addresses, strict=True):
        banks[lane // (LINE // unit), address // unit % (LINE // unit)].add(address // unit * unit)
    row = 0
    for words in banks.values():
        for word in words:
            row = gcd(row, word - min(words))
    return row
