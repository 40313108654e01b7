"""Legality of reordering: dependences through registers, memory and synchronization within a block.

Registers: each access of a value must follow as many of its writes as its counterpart does. Memory: two accesses may be
reordered if both read, if they access different spaces, or if their ranges are disjoint (the same base, other offsets).
Nothing is reordered with a barrier, a fence or an asynchronous copy.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from pyptx.analysis.diff.function import DiffFunction
from pyptx.toolchain.sass_registers import READ

__all__ = ["legal_moves"]

GLOBAL, SHARED, LOCAL, TENSOR = 1, 2, 4, 8
ALL = 15
_SPACES = tuple(
    (re.compile(opcodes), reads, writes)
    for opcodes, reads, writes in (  # the first that matches
        ("LDG$", GLOBAL, 0),
        ("STG$", 0, GLOBAL),
        ("ATOMG|RED[GA]?S?$|CCTL$", GLOBAL, GLOBAL),
        ("LDS|LDSM|MOVM", SHARED, 0),
        ("STSM?$", 0, SHARED),
        ("ATOMS", SHARED, SHARED),
        ("LDL$", LOCAL, 0),
        ("STL$", 0, LOCAL),
        ("LDTM$", TENSOR, 0),
        ("STTM$", 0, TENSOR),
        ("LD$|TEX|TLD|TXQ|SULD", ALL, 0),
        ("ST$|ATOM$|QSPC|SUST|SURED|SUATOM", ALL, ALL),
    )
)
_SYNCHRONIZES = re.compile(
    r"BAR|MEMBAR|UMEMBAR|ERRBAR|CGAERRBAR|DEPBAR|LDGDEPBAR|LDGSTS|ARRIVES|SYNCS|FENCE|UCGABAR|UTMA|UBLK|UTC|WARP|BSSY|BSYNC"
    r"|BMOV|BREAK|CALL|RET|EXIT|BRA|BRX|JM|KILL|NANOSLEEP|USETMAXREG|ACQ|PREEXIT|YIELD|CCTLL|[HIQB]GMMA|BPT|UGETNEXT"
)
_OFFSET = re.compile(r"\+?(-?0x[0-9a-f]+)\]$")
_CLOCK = re.compile("CLOCK|TIMER")
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}


class _Access(NamedTuple):
    reads: int  # spaces, bits
    writes: int
    base: tuple | None  # None: unknown address
    offset: int = 0
    size: int = 0


def legal_moves(a: DiffFunction, b: DiffFunction, fixed: dict[int, int], moved: dict[int, int]) -> dict[int, int]:
    """Return the part of `moved` that is legal; `fixed` are the pairs in the same order on both sides."""
    if not moved:
        return {}
    blocks = {a.webs.block[i] for i in moved}
    everything: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pairs in (fixed, moved):
        for i, j in pairs.items():
            if a.webs.block[i] in blocks:
                everything[a.webs.block[i]].append((i, j))
    kept = dict(moved)
    for pairs in everything.values():
        mine = {i: j for i, j in pairs if i in kept}
        while mine:
            pairs = [(i, j) for i, j in pairs if i in kept or i not in moved]
            wrong = _wrong(a, b, pairs, mine)
            if not wrong:
                break
            for i in wrong:
                del kept[i], mine[i]
    return kept


def _wrong(a: DiffFunction, b: DiffFunction, pairs: list[tuple[int, int]], moved: dict[int, int]) -> set[int]:
    epochs_a = _epochs(a, sorted(i for i, _ in pairs))
    epochs_b = _epochs(b, sorted(j for _, j in pairs))
    torn = {web for i, j in pairs for web, x, y in zip(a.webs.of[i], epochs_a[i], epochs_b[j], strict=True) if x != y}
    wrong = {i for i in moved if not torn.isdisjoint(a.webs.of[i])}
    if wrong:
        return wrong
    accesses = [(i, j, access) for i, j in pairs if (access := _access(a, i, epochs_a[i]))]
    for i, j in moved.items():
        mine = next((access for x, _, access in accesses if x == i), None)
        if mine and any((i < x) != (j < y) and x != i and _conflict(mine, other) for x, y, other in accesses):
            wrong.add(i)
    return wrong


def _epochs(side: DiffFunction, lines: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return for each line and register how often these lines have written the value before; 0 for invariant values."""
    written: dict[int, int] = defaultdict(int)
    found = {}
    for number in lines:
        webs = side.webs.of[number]
        found[number] = tuple(written[web] for web in webs)
        for web in {web for web, role in zip(webs, side.shapes[number].roles, strict=True) if role != READ}:
            if web not in side.webs.invariant:
                written[web] += 1
    return found


def _access(side: DiffFunction, number: int, epochs: tuple[int, ...]) -> _Access | None:
    word, (opcode, operands) = side.words[number], side.canonical[number]
    if _SYNCHRONIZES.match(word) or (word in ("CS2R", "S2R", "S2UR") and _CLOCK.search(operands[-1])):
        return _Access(ALL, ALL, None)
    reads, writes = next(((r, w) for name, r, w in _SPACES if name.match(word)), (0, 0))
    modifiers = opcode.split(".")[1:]
    if not (reads or writes) or (word == "LDG" and "CONSTANT" in modifiers):
        return None
    if {"STRONG", "MMIO"} & set(modifiers):  # volatile and ordered accesses stay in order
        return _Access(reads, ALL if reads else writes, None)
    address = next((operand for operand in operands if "[" in operand), None)
    if address is None or word in ("LDSM", "STSM", "MOVM"):
        return _Access(reads, writes, None)
    offset = _OFFSET.search(address)
    one = side.shapes[number]
    values = tuple(
        (web, epoch)
        for name, role, web, epoch in zip(one.registers, one.roles, side.webs.of[number], epochs, strict=True)
        if role == READ and re.search(rf"\b{name}\b", address)
    )
    size = next((_BYTES[m] for m in modifiers if m in _BYTES), 4)
    base = (address[: offset.start()] if offset else address[:-1]), values
    return _Access(reads, writes, base, int(offset[1], 16) if offset else 0, size)


def _conflict(one: _Access, other: _Access) -> bool:
    if not (one.writes & (other.reads | other.writes) or other.writes & one.reads):
        return False
    if one.base is None or other.base is None or one.base != other.base:
        return True
    return one.offset < other.offset + other.size and other.offset < one.offset + one.size
