"""Value numbering of thread-invariant values: copies of a value that never changes during a thread get one number.

At -O1 ptxas reads `SR_CgaCtaId` and adds the same two constants before each loop that needs them, at -O3 once. With one
number for all copies, an instruction that reads the second copy corresponds to the one that reads the only copy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pyptx.analysis.diff.canonical import Canonical
from pyptx.analysis.diff.live_ranges import LiveRanges
from pyptx.toolchain.sass_registers import READ, WRITE, InstructionShape

__all__ = ["merge_equal_values", "is_pure", "number_invariant_values"]

_PURE = re.compile(r"U?(MOV|IADD3|LEA|SHF|LOP3|IMAD|PRMT|ISETP)|LDC|S2R")
_INVARIANT = re.compile(r"SR_(N?CTAID|N?TID)\.[XYZ]|SR_LANEID|SR_CgaCtaId")


def is_pure(word: str) -> bool:
    """Return True for opcodes that only compute results from their operands or read invariant registers."""
    return _PURE.fullmatch(word) is not None


def number_invariant_values(
    words: Sequence[str],
    predicates: Sequence[str],
    canonical: Sequence[Canonical],
    shapes: Sequence[InstructionShape],
    webs: LiveRanges,
) -> dict[int, int]:
    """Return webs with invariant values: web -> first web with the same value.

    Args:
        words, predicates, canonical, shapes: opcode, guard, canonical form and shape of each line.
        webs: webs of the registers of `shapes`.
    """
    writes = Counter(
        web
        for one, of in zip(shapes, webs.of, strict=True)
        for role, web in zip(one.roles, of, strict=True)
        if role != READ
    )
    found: dict[int, int] = {}
    known: dict[tuple, int] = {}
    for word, predicate, (_, operands), one, of in zip(words, predicates, canonical, shapes, webs.of, strict=True):
        if predicate or not is_pure(word) or (word == "S2R" and not _INVARIANT.fullmatch(operands[-1])):
            continue
        taken = [web for role, web in zip(one.roles, of, strict=True) if role != WRITE]
        made = [web for role, web in zip(one.roles, of, strict=True) if role == WRITE]
        if any(web not in found for web in taken) or any(writes[web] != 1 or web in webs.undefined for web in made):
            continue
        way = one.key, *(found[web] for web in taken)
        for number, web in enumerate(made):
            found[web] = known.setdefault((way, number), web)
    return found


def merge_equal_values(webs: LiveRanges, values: dict[int, int]) -> LiveRanges:
    """Return the webs with copies of an invariant value replaced by the first, as `number_invariant_values` found them."""
    return replace(
        webs,
        of=[tuple(values.get(web, web) for web in of) for of in webs.of],
        invariant=frozenset(values.values()),
        copies=sum(web != first for web, first in values.items()),
    )
