"""Control flow graph of one function of machine code, for data flow analysis.

In contrast to `analysis.sass.control_flow`, which is for display, branches through convergence barriers and returns are
followed, so results hold for every path of a warp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyptx._lazy import pattern

__all__ = ["find_blocks", "successors"]

_ENDS = pattern(r"(BRA|BRXU?|EXIT|RET|CALL|JMPU?|JMXU?|KILL|BSYNC|BREAK|BPT)\b")
_NO_FALLTHROUGH = ("EXIT", "RET", "BRA", "JMP", "BRX", "BRXU", "JMX", "JMXU", "KILL", "CALL")
_INDIRECT = ("BRX", "BRXU", "JMX", "JMXU")
_NO_BRANCH = ("BSSY", "WARPSYNC")  # their target is where the lanes of the warp meet
_NO_ROWS: Mapping[int, Sequence[int]] = {}


def find_blocks(
    words: Sequence[str],
    targets: Sequence[int],
    tables: Mapping[int, Sequence[int]] = _NO_ROWS,
    labels: Iterable[int] = (),
) -> tuple[list[int], list[int]]:
    """Return the first instruction of each basic block, and the block of each instruction.

    Args:
        words: opcodes without modifiers.
        targets: row that a branch, call or BSSY names; -1: none.
        tables: rows that an indirect branch goes to, where known.
        labels: more rows that begin a block.
    """
    begins = {0, *labels} if words else set()
    for rows in tables.values():
        begins.update(rows)
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


def successors(
    words: Sequence[str],
    predicates: Sequence[str],
    registers: Sequence[Sequence[str]],
    targets: Sequence[int],
    starts: list[int],
    block: list[int],
    *,
    tables: Mapping[int, Sequence[int]] = _NO_ROWS,
    calls: bool = True,
) -> list[set[int]]:
    """Return the successors of each block.

    Args:
        words, targets, tables: as for `find_blocks`.
        predicates: guard of each instruction.
        registers: registers of each instruction; only those of BSSY, BSYNC and branches are used.
        starts, block: from `find_blocks`.
        calls: follow calls into functions of the section, and returns to every call; otherwise a call continues with
            the next instruction, and a return has no successors.
    """
    ends = [*starts, len(words)][1:]
    after_calls = {block[row + 1] for row, word in enumerate(words) if word == "CALL" and row + 1 < len(words)}
    follows: list[set[int]] = []
    joins: list[tuple[int, str]] = []  # block that ends in BSYNC, and its barrier
    for number, end in enumerate(ends):
        last = end - 1
        word, found = words[last], set()
        conditional = False
        if word in _INDIRECT:
            found.update({block[row] for row in tables[last]} if tables.get(last) else range(len(starts)))
        elif word == "RET":  # its operand is a base address
            if calls:
                found |= after_calls
        elif word == "CALL" and not calls:
            conditional = True
        elif targets[last] >= 0 and word not in _NO_BRANCH:
            found.add(block[targets[last]])
        elif word == "BSYNC" and registers[last]:
            joins.append((number, registers[last][0]))
        falls_through = word not in _NO_FALLTHROUGH or predicates[last] or (word == "CALL" and targets[last] < 0)
        if word in ("BRA", "BRXU", "BRX"):  # the condition may be an operand, "BRA P0, ..."
            conditional = any(name.lstrip("U")[0] == "P" for name in registers[last])
        if (falls_through or conditional) and number + 1 < len(starts):
            found.add(number + 1)
        follows.append(found)
    if joins:
        _follow_barriers(words, registers, targets, block, follows, dict(joins))
    return follows


def _follow_barriers(
    words: Sequence[str],
    registers: Sequence[Sequence[str]],
    targets: Sequence[int],
    block: list[int],
    follows: list[set[int]],
    waits: dict[int, str],
) -> None:
    """Add the edges of BSYNC: to what the BSSY instructions of its barrier that reach it name."""
    sets: list[dict[str, frozenset[int]]] = [{} for _ in follows]
    for row, word in enumerate(words):
        if word == "BSSY" and targets[row] >= 0 and registers[row]:
            sets[block[row]][registers[row][0]] = frozenset((block[targets[row]],))
    entering: list[dict[str, frozenset[int]]] = [{} for _ in follows]
    work = {number for number, own in enumerate(sets) if own}
    while work:
        number = min(work)
        work.discard(number)
        leaving = entering[number] | sets[number]
        if number in waits:
            follows[number] |= leaving.pop(waits[number], frozenset())
        for other in follows[number]:
            into, changed = entering[other], False
            for barrier, rows in leaving.items():
                known = into.get(barrier)
                if known is None or not rows <= known:
                    into[barrier] = rows | (known or frozenset())
                    changed = True
            if changed:
                work.add(other)
