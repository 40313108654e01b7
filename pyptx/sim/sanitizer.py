"""Sanitizer: the properties of instructions that it needs, and its findings.

Only the C core checks accesses (core/src/sanitizer); the reference engine has no sanitizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pyptx._frozen import frozen
from pyptx.ir.nodes import Instruction
from pyptx.sim.abi import ACCESSORS, FENCES, FINDINGS, ORDERINGS, SCOPES, WATCHED_SPACES, Limit
from pyptx.sim.abi_structures import FindingInfo
from pyptx.sim.memory.address_space import SHARED_START, Segment
from pyptx.sim.program.per_program import per_program
from pyptx.sim.program.program import Program

__all__ = ["AccessFinding", "Access", "access_findings", "access_flags"]

_VERBS = ("reads", "writes", "updates")  # by abi.ACCESSES
_ORDERINGS = {
    "volatile": "relaxed",
    "relaxed": "relaxed",
    "mmio": "relaxed",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
}
_MEMBAR_SCOPES = {"cta": "cta", "gl": "gpu", "sys": "sys"}
_SWIZZLES = {1: "no swizzle", 2: "32B", 4: "64B", 8: "128B", 16: "128B_ATOM_32B"}


@per_program
def access_flags(program: Program) -> np.ndarray:
    """Return, for each instruction, ordering | scope << 4 | fence << 8 | sc << 12 | explicit scope << 13 | spaces << 14.

    The spaces are those that a fence.proxy.async covers, one bit for each of abi.WATCHED_SPACES.
    """
    return np.array([_word(one) for one in program.instructions] or [0], np.uint32)


def _word(instruction: Instruction) -> int:
    parts = instruction.mnemonic.split(".")
    name, rest = parts[0], parts[1:]
    if name in ("ld", "st", "atom", "red"):
        default = "relaxed" if name in ("atom", "red") else "weak"
        ordering = next((_ORDERINGS[p] for p in rest if p in _ORDERINGS), default)
        default = "sys" if "volatile" in rest or "mmio" in rest else "gpu"
        scope = next((p for p in rest if p in SCOPES), default)
        return ORDERINGS.index(ordering) | SCOPES.index(scope) << 4
    if name == "mbarrier":
        return _mbarrier(rest)
    fence = _fence(name, rest)
    word = FENCES.index(fence) << 8
    if fence == "proxy":
        named = [part.split("::")[0] for part in rest[2:] if part.split("::")[0] in WATCHED_SPACES]
        return word | sum(1 << k for k, space in enumerate(WATCHED_SPACES) if not named or space in named) << 14
    if fence != "memory":
        return word
    scope = next((_MEMBAR_SCOPES.get(p, p) for p in rest if p in SCOPES or p in _MEMBAR_SCOPES), "sys")
    ordering = next((p for p in rest if p in ("acquire", "release")), "acq_rel")
    sc = name == "membar" or "sc" in rest
    return word | ORDERINGS.index(ordering) | SCOPES.index(scope) << 4 | sc << 12


def _mbarrier(rest: list[str]) -> int:
    """Return the word of an mbarrier instruction: arrivals release, waits acquire, both at CTA scope by default."""
    ordering = {"arrive": "release", "arrive_drop": "release", "test_wait": "acquire", "try_wait": "acquire"}.get(
        rest[0]
    )
    if ordering is None or "relaxed" in rest:
        ordering = "relaxed"
    scope = next((p for p in rest if p in SCOPES), None)
    return ORDERINGS.index(ordering) | SCOPES.index(scope or "cta") << 4 | (scope is not None) << 13


def _fence(name: str, rest: list[str]) -> str:
    if name in ("fence", "membar"):
        if rest[:1] == ["proxy"]:
            return {"tensormap": "map", "async": "proxy"}.get(rest[1].split("::")[0], "none")
        return "init" if rest[:1] == ["mbarrier_init"] else "memory"
    if name == "tcgen05":
        return {"fence::after_thread_sync": "after", "fence::before_thread_sync": "before"}.get(rest[0], "none")
    if name == "barrier" and "cluster" in rest and "arrive" in rest and "relaxed" in rest:
        return "relaxed"
    return "none"


@frozen
class Access:
    """An access: the instruction, who ran it, how, and as what (one of abi.ACCESSORS).

    Attributes:
        rank: CTA of the cluster.
        cta: (x, y, z) of the CTA in the grid.
    """

    instruction: int
    rank: int
    warp: int
    lane: int
    how: str
    kind: str
    cta: tuple[int, int, int]


@frozen
class AccessFinding:
    """A finding of the sanitizer.

    Attributes:
        rule: one of `abi.FINDINGS`.
        before, after: the accesses in execution order. `before` may be None; for the rule "unwritten" both are None and
            `count` bytes from `offset` on were never written.
        space: shared, global or tensor.
        offset: bytes from the start of shared memory or of the buffer; in tensor memory 4 * (512 * half + column),
            where a half is 16 lanes.
        rank: CTA of the cluster that owns the memory.
        cta: CTA of the later access.
        count: number of occurrences.
        buffer: buffer in global memory.
        swizzles: for the rule "swizzle", the swizzle of the copy and the one the product expects.
    """

    rule: str
    before: Access | None
    after: Access | None
    space: str
    offset: int
    rank: int
    cta: int
    count: int
    buffer: Segment | None = None
    swizzles: tuple[str, ...] = ()

    @classmethod
    def unwritten(cls, buffer: Segment, offset: int, count: int) -> AccessFinding:
        """Make the finding for bytes of a result that were never written."""
        return cls("unwritten", None, None, "global", offset, 0, 0, count, buffer)

    @property
    def address(self) -> int:
        """Address in shared memory, as the program uses it."""
        return self.offset + SHARED_START

    @property
    def lane_and_column(self) -> tuple[int, int]:
        """First of the 16 lanes, and the column, in tensor memory."""
        return self.offset // 4 // 512 * 16, self.offset // 4 % 512


def access_findings(
    rows: Sequence[FindingInfo],
    warps: int,
    index_of: Callable[[int, int], tuple[int, int, int]],
    segments: Sequence[Segment],
) -> tuple[AccessFinding, ...]:
    """Convert the findings of the core.

    Args:
        warps: of a CTA.
        index_of: returns the (x, y, z) of a CTA, by the number of its cluster and its rank.
        segments: in the core's order.
    """
    return tuple(_convert(row, warps, index_of, segments) for row in rows)


def _convert(
    row: FindingInfo, warps: int, index_of: Callable[[int, int], tuple[int, int, int]], segments: Sequence[Segment]
) -> AccessFinding:
    def access(k: int) -> Access:
        rank, warp = divmod(row.thread[k] // 32, warps)
        accessor, verb, cta = ACCESSORS[row.accessor[k]], _VERBS[row.access[k]], index_of(row.cluster[k], rank)
        return Access(row.instr[k], rank, warp, row.thread[k] % 32, verb, accessor, cta)

    space = WATCHED_SPACES[row.space]
    return AccessFinding(
        FINDINGS[row.rule],
        None if row.instr[0] == Limit.NONE else access(0),
        access(1),
        space,
        row.offset,
        row.place if space != "global" else 0,
        row.cta,
        row.count,
        segments[row.place] if space == "global" else None,
        tuple(_SWIZZLES[code] for code in row.swizzle) if any(row.swizzle) else (),
    )
