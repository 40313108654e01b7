"""Addresses in shared memory with the shift written into them, as sm_75 to sm_89 have it.

There `LDS R4, [R9.X16+0x20]` is one instruction. From sm_90 on a line before it computes the address, `LEA R0, R7,
UR4, 0x4`, with the CTA's window of shared memory (`SR_CgaCtaId` and 0x400, where the program's part of it begins) as
UR4. The access is the same when the register that is shifted holds one value wherever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from pyptx.analysis.diff.spelling import Spelled
from pyptx.analysis.diff.webs import Webs
from pyptx.analysis.sass.registers import READ, WRITE, Shape, fields, shape

__all__ = ["scaled"]

_SHARED = frozenset(("LDS", "STS", "ATOMS"))
_PLAIN = re.compile(r"\[(R\d+)(?:\+(-?0x[0-9a-f]+))?\]")
_SCALES = {"0x2": 4, "0x3": 8, "0x4": 16}
_BEGINNING = 0x400                                      # what the system keeps of shared memory, from sm_90 on

Made = tuple[str, tuple[str, ...], dict[str, int]]      # the word that writes a web, its operands, its sources by name


def scaled(words: Sequence[str], spelled: Sequence[Spelled], shapes: Sequence[Shape], webs: Webs,
           values: dict[int, int]) -> tuple[list[Spelled], list[Shape], Webs] | None:
    """The lines with such addresses, their shapes and webs; None where there are none.

    Args:
        words, spelled, shapes: of each line; the webs are of the registers of `shapes`.
        values: webs that have one value wherever they are computed.
    """
    made: dict[int, Made] = {}
    for word, (_, operands), one, of in zip(words, spelled, shapes, webs.of, strict=True):
        for role, web in zip(one.roles, of, strict=True):
            if role == WRITE and web in values and word in ("LEA", "ULEA", "SHF", "MOV", "UMOV", "S2R"):
                made[web] = word, operands, {name: source for name, kind, source in
                                             zip(one.registers, one.roles, of, strict=True) if kind == READ}
    texts, forms, of = list(spelled), list(shapes), list(webs.of)
    changed = False
    for row, (word, (opcode, operands), one) in enumerate(zip(words, spelled, shapes, strict=True)):
        found = _place(operands) if word in _SHARED else None
        if found is None or one.key.startswith("@"):
            continue
        place, name, offset = found
        at = _unit(opcode, operands, place)
        address = _address(made, webs.of[row][at]) if at is not None and one.registers[at] == name else None
        if address is None:
            continue
        register, web, scale, base = address
        step = offset + base
        text = f"[{register}.X{scale}{f'+{step:#x}' if step else ''}]"
        texts[row] = opcode, (*operands[:place], text, *operands[place + 1:])
        forms[row] = shape(*texts[row])
        of[row] = (*webs.of[row][:at], web, *webs.of[row][at + 1:])
        changed = True
    return (texts, forms, replace(webs, of=of)) if changed else None


def _place(operands: tuple[str, ...]) -> tuple[int, str, int] | None:
    """Which operand is the address, its register and its offset."""
    for place, operand in enumerate(operands):
        if found := _PLAIN.fullmatch(operand):
            return place, found[1], int(found[2] or "0", 16)
    return None


def _unit(opcode: str, operands: tuple[str, ...], place: int) -> int | None:
    """Which register of the line, in the order of its shape, the only one in this operand is."""
    at = 0
    for field in fields(opcode, operands):
        if field.place == place:
            return at
        at += len(field.units)
    return None


def _address(made: dict[int, Made], web: int) -> tuple[str, int, int, int] | None:
    """What is shifted, its web, the factor, and how far into the program's shared memory it is added."""
    match made.get(web):
        case ("SHF", (_, register, places, "RZ"), sources) if places in _SCALES and register in sources:
            return register, sources[register], _SCALES[places], 0
        case ("LEA", (_, register, base, places), sources) if places in _SCALES and register in sources:
            begins = _window(made.get, sources.get(base))
            return None if begins is None else (register, sources[register], _SCALES[places], begins)
    return None


def _window(made: Callable[[int | None], Made | None], web: int | None) -> int | None:
    """The offset in the program's shared memory of `window << 24 + 0x400 + offset`; None for any other value."""
    match made(web):
        case ("ULEA" | "LEA", (_, cta, start, "0x18"), sources):
            who, where = made(sources.get(cta)), made(sources.get(start))
            if who and who[0] == "S2R" and who[1][-1] == "SR_CgaCtaId" and where and where[0] in ("MOV", "UMOV"):
                try:
                    return int(where[1][-1], 16) - _BEGINNING
                except ValueError:                      # a register or a parameter
                    return None
    return None
