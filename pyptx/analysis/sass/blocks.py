"""Basic blocks of one function of machine code, and which may follow which.

Finer than `flow.py`, which is for looking at: branches through convergence barriers and returns are followed, so that
what is found holds for every path a warp may take.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyptx.analysis.sass.registers import Shape

__all__ = ["blocks", "successors"]

_ENDS = re.compile(r"(BRA|BRXU?|EXIT|RET|CALL|JMPU?|JMXU?|KILL|BSYNC|BREAK|BPT)\b")
_NEVER_GOES_ON = ("EXIT", "RET", "BRA", "JMP", "BRX", "BRXU", "JMX", "JMXU", "KILL", "CALL")


def blocks(words: Sequence[str], targets: Sequence[int]) -> tuple[list[int], list[int]]:
    """First instruction of each basic block, and the block of each instruction."""
    begins = {0} if words else set()
    for row, word in enumerate(words):
        if targets[row] >= 0:
            begins.add(targets[row])
        if _ENDS.match(word) and row + 1 < len(words):
            begins.add(row + 1)
    block, number = [], -1
    for row in range(len(words)):
        number += row in begins
        block.append(number)
    return sorted(begins), block


def successors(words: Sequence[str], predicates: Sequence[str], shapes: Sequence[Shape], targets: Sequence[int],
               starts: list[int], block: list[int]) -> list[set[int]]:
    """For each block the blocks that may follow it."""
    after_calls = {block[row + 1] for row, word in enumerate(words) if word == "CALL" and row + 1 < len(words)}
    joins: dict[str, set[int]] = {}                     # convergence barrier -> blocks that its BSSY names
    for row, word in enumerate(words):
        if word == "BSSY" and targets[row] >= 0:
            joins.setdefault(shapes[row].registers[0], set()).add(block[targets[row]])
    follows: list[set[int]] = []
    for number in range(len(starts)):
        last = (starts[number + 1] if number + 1 < len(starts) else len(words)) - 1
        word, found = words[last], set()
        if word in ("BRX", "BRXU", "JMX", "JMXU"):
            found.update(range(len(starts)))            # it may go anywhere
        elif word == "RET":                             # the address it names is what its register counts from
            found |= after_calls
        elif targets[last] >= 0 and word != "BSSY":
            found.add(block[targets[last]])
        elif word == "BSYNC" and shapes[last].registers:
            others = joins.get(shapes[last].registers[0], set())
            if number + 1 not in others:                # as a rule it stands right before the line that BSSY names
                found |= others
        goes_on = word not in _NEVER_GOES_ON or predicates[last] or (word == "CALL" and targets[last] < 0)
        # a conditional branch may hold its condition as an operand, "BRA P0, ...": a predicate among its registers
        asks = word in ("BRA", "BRXU", "BRX") and any(n.lstrip("U")[0] == "P" for n in shapes[last].registers)
        if (goes_on or asks) and number + 1 < len(starts):
            found.add(number + 1)
        follows.append(found)
    return follows
