"""Values that a function computes twice, from what never changes while a thread runs: the same wherever it is done.

ptxas at -O1 reads `SR_CgaCtaId` and adds the same two constants before each loop that needs them, at -O3 once. Such
values go by one number, so that a line which reads the second copy is still the line that reads the only one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pyptx.analysis.diff.spelling import Spelled
from pyptx.analysis.diff.webs import Webs
from pyptx.analysis.sass.registers import READ, WRITE, Shape

__all__ = ["once", "pure", "steady"]

_PURE = re.compile(r"U?(MOV|IADD3|LEA|SHF|LOP3|IMAD|PRMT|ISETP)|LDC|S2R")
_LASTING = re.compile(r"SR_(N?CTAID|N?TID)\.[XYZ]|SR_LANEID|SR_CgaCtaId")


def pure(word: str) -> bool:
    """Whether an opcode only computes its results from its operands, or reads what never changes."""
    return _PURE.fullmatch(word) is not None


def steady(words: Sequence[str], predicates: Sequence[str], spelled: Sequence[Spelled], shapes: Sequence[Shape],
           webs: Webs) -> dict[int, int]:
    """Webs whose value is the same whenever a thread reads it, and wherever it is computed: web -> first web with it.

    Args:
        words, predicates, spelled, shapes: of each line; the webs are of the registers of `shapes`.
    """
    writes = Counter(web for one, of in zip(shapes, webs.of, strict=True)
                     for role, web in zip(one.roles, of, strict=True) if role != READ)
    found: dict[int, int] = {}
    known: dict[tuple, int] = {}
    for word, predicate, (_, operands), one, of in zip(words, predicates, spelled, shapes, webs.of, strict=True):
        if predicate or not pure(word) or (word == "S2R" and not _LASTING.fullmatch(operands[-1])):
            continue
        taken = [web for role, web in zip(one.roles, of, strict=True) if role != WRITE]
        made = [web for role, web in zip(one.roles, of, strict=True) if role == WRITE]
        if any(web not in found for web in taken) or any(writes[web] != 1 or web in webs.unset for web in made):
            continue
        way = one.key, *(found[web] for web in taken)
        for number, web in enumerate(made):
            found[web] = known.setdefault((way, number), web)
    return found


def once(webs: Webs, values: dict[int, int]) -> Webs:
    """The webs with copies of one lasting value, as `steady` has them, under the number of the first."""
    return replace(webs, of=[tuple(values.get(web, web) for web in of) for of in webs.of],
                   lasting=frozenset(values.values()), copies=sum(web != first for web, first in values.items()))
