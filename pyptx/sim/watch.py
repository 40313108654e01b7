"""The sanitizer's tables: what the core has to know of an instruction, and what it found, as values.

Only the C core watches accesses (core/watch.h says how); the Python reference runs without.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyptx._value import value
from pyptx.ir.nodes import Instruction
from pyptx.sim.memory.spaces import SHARED_START, Segment
from pyptx.sim.program.program import Program

__all__ = ["KINDS", "Sighting", "Side", "sightings", "words"]

RULES = ("race", "proxy", "init-fence", "fence-after", "uninitialised", "unawaited",
         "unawaited-barrier", "peer", "limit", "more", "dead", "missed", "map", "unwritten", "image",
         "swizzle")
KINDS = ("thread", "cp.async", "bulk-read", "bulk", "wgmma", "tcgen05", "tcgen05.ld", "tcgen05.st", "mbarrier")
HOW = ("reads", "writes", "updates")
_SPACES = ("shared", "global", "tensor")
_ORDERS = {"volatile": 1, "relaxed": 1, "mmio": 1, "acquire": 2, "release": 3, "acq_rel": 4}
_SCOPES = {"cta": 0, "cluster": 1, "gpu": 2, "sys": 3}
_SWIZZLES = {1: "no swizzle", 2: "32B", 4: "64B", 8: "128B", 16: "128B_ATOM_32B"}
_NONE = 0xFFFFFFFF
_FENCE_MEMORY, _FENCE_PROXY, _FENCE_INIT, _FENCE_AFTER, _FENCE_MAP, _FENCE_RELAXED, _FENCE_BEFORE = range(1, 8)
WORDS = 15                                          # of one finding, see core_found in core/watch.c


def words(program: Program) -> np.ndarray:
    """For each instruction its ordering, scope << 4 and fence << 8."""
    return np.array([_word(instruction) for instruction in program.instructions] or [0], np.uint32)


def _word(instruction: Instruction) -> int:
    parts = instruction.mnemonic.split(".")
    name, rest = parts[0], parts[1:]
    if name in ("ld", "st", "atom", "red"):
        order = next((_ORDERS[p] for p in rest if p in _ORDERS), 1 if name in ("atom", "red") else 0)
        default = 3 if "volatile" in rest or "mmio" in rest else 2
        return order | next((_SCOPES[p] for p in rest if p in _SCOPES), default) << 4
    return _fence(name, rest) << 8


def _fence(name: str, rest: list[str]) -> int:
    if name == "membar":
        return _FENCE_PROXY if rest[:1] == ["proxy"] else _FENCE_MEMORY
    if name == "fence":
        if rest[:1] == ["proxy"]:
            kind = rest[1].split("::")[0]
            return _FENCE_MAP if kind == "tensormap" else _FENCE_PROXY
        return _FENCE_INIT if rest[:1] == ["mbarrier_init"] else _FENCE_MEMORY
    if name == "tcgen05":
        return {"fence::after_thread_sync": _FENCE_AFTER, "fence::before_thread_sync": _FENCE_BEFORE}.get(rest[0], 0)
    if name == "barrier" and "cluster" in rest and "arrive" in rest and "relaxed" in rest:
        return _FENCE_RELAXED
    return 0


@value
class Side:
    """An access: the instruction, who ran it (CTA of the cluster, warp, lane), how, and as what (one of KINDS)."""

    instruction: int
    rank: int
    warp: int
    lane: int
    how: str
    kind: str


@value
class Sighting:
    """What the sanitizer found.

    Attributes:
        rule: of RULES.                     before, after: the accesses in the order they ran; `before` may be None,
            both are for "unwritten": bytes from `offset` on that nobody wrote, `count` of them.
        space: shared, global or tensor.    offset: bytes from the start of shared memory, or of the buffer; in tensor
            memory 4 * (512 * half + column), a half being 16 lanes.
        rank: CTA of the cluster whose memory it is.       buffer: of global memory.
        cta: of the later access.           count: how often it was seen.
        swizzles: of "swizzle": how the copy wrote and how the product reads, by the names of tensor maps.
    """

    rule: str
    before: Side | None
    after: Side | None
    space: str
    offset: int
    rank: int
    cta: int
    count: int
    buffer: Segment | None = None
    swizzles: tuple[str, ...] = ()

    @classmethod
    def unwritten(cls, buffer: Segment, offset: int, count: int) -> Sighting:
        return cls("unwritten", None, None, "global", offset, 0, 0, count, buffer)

    @property
    def address(self) -> int:
        """In shared memory: as the program has it."""
        return self.offset + SHARED_START

    @property
    def lane_and_column(self) -> tuple[int, int]:
        """In tensor memory: the first of 16 lanes, and the column."""
        return self.offset // 4 // 512 * 16, self.offset // 4 % 512


def sightings(rows: Sequence[Sequence[int]], warps: int, segments: Sequence[Segment]) -> tuple[Sighting, ...]:
    """Findings from the words of the core; `segments` in the core's order, `warps` of a CTA."""
    return tuple(_one(row, warps, segments) for row in rows)


def _one(row: Sequence[int], warps: int, segments: Sequence[Segment]) -> Sighting:
    rule, first, second, how1, how2, kind1, kind2, thread1, thread2, space, place, count, cta, offset, swizzles = row

    def side(instruction: int, thread: int, how: int, kind: int) -> Side:
        warp = thread // 32
        return Side(instruction, warp // warps, warp % warps, thread % 32, HOW[how], KINDS[kind])
    before = None if first == _NONE else side(first, thread1, how1, kind1)
    where = _SPACES[space]
    return Sighting(RULES[rule], before, side(second, thread2, how2, kind2), where, offset,
                    place if space != 1 else 0, cta, count, segments[place] if space == 1 else None,
                    tuple(_SWIZZLES[code] for code in (swizzles & 255, swizzles >> 8)) if swizzles else ())
