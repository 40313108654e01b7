"""Shared memory addresses with folded shifts, the form of sm_75 to sm_89.

There, `LDS R4, [R9.X16+0x20]` is one instruction. From sm_90 on, an earlier instruction computes the address: `LEA R0, R7,
UR4, 0x4`, where UR4 is the CTA's shared memory window (`SR_CgaCtaId`, plus 0x400 for the reserved part). The accesses are
equivalent when the shifted register holds an invariant value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyptx.analysis.diff.canonical import Canonical
from pyptx.analysis.diff.live_ranges import LiveRanges
from pyptx.toolchain.sass_registers import READ, WRITE, InstructionShape, instruction_shape, register_fields

__all__ = ["fold_address_shifts"]

_SHARED = frozenset(("LDS", "STS", "ATOMS"))
_PLAIN = re.compile(r"\[(R\d+)(?:\+(-?0x[0-9a-f]+))?\]")
_SCALES = {"0x2": 4, "0x3": 8, "0x4": 16}
_BEGINNING = 0x400  # reserved shared memory, from sm_90 on

Made = tuple[str, tuple[str, ...], dict[str, int]]  # opcode that writes a web, its operands, its sources by name


def fold_address_shifts(
    words: Sequence[str],
    canonical: Sequence[Canonical],
    shapes: Sequence[InstructionShape],
    webs: LiveRanges,
    values: dict[int, int],
) -> tuple[list[Canonical], list[InstructionShape], LiveRanges] | None:
    """Return lines, shapes and webs with folded shifts; None when nothing can be folded.

    Args:
        words, canonical, shapes: opcode, canonical form and shape of each line.
        webs: webs of the registers of `shapes`.
        values: webs with invariant values.
    """
    made: dict[int, Made] = {}
    for word, (_, operands), one, of in zip(words, canonical, shapes, webs.of, strict=True):
        for role, web in zip(one.roles, of, strict=True):
            if role == WRITE and web in values and word in ("LEA", "ULEA", "SHF", "MOV", "UMOV", "S2R"):
                made[web] = (
                    word,
                    operands,
                    {
                        name: source
                        for name, kind, source in zip(one.registers, one.roles, of, strict=True)
                        if kind == READ
                    },
                )
    texts, forms, of = list(canonical), list(shapes), list(webs.of)
    changed = False
    for row, (word, (opcode, operands), one) in enumerate(zip(words, canonical, shapes, strict=True)):
        found = _place(operands) if word in _SHARED else None
        if found is None or one.key.startswith("@"):
            continue
        place, name, offset = found
        at = _unit(opcode, operands, place)
        if at is None or one.registers[at] != name:
            continue
        address = _address(made, webs.of[row][at])
        if address is None:
            continue
        register, web, scale, base = address
        step = offset + base
        text = f"[{register}.X{scale}{f'+{step:#x}' if step else ''}]"
        texts[row] = opcode, (*operands[:place], text, *operands[place + 1 :])
        forms[row] = instruction_shape(*texts[row])
        of[row] = (*webs.of[row][:at], web, *webs.of[row][at + 1 :])
        changed = True
    return (texts, forms, replace(webs, of=of)) if changed else None


def _place(operands: tuple[str, ...]) -> tuple[int, str, int] | None:
    """Return the index of the address operand, its register and its offset."""
    for place, operand in enumerate(operands):
        if found := _PLAIN.fullmatch(operand):
            return place, found[1], int(found[2] or "0", 16)
    return None


def _unit(opcode: str, operands: tuple[str, ...], place: int) -> int | None:
    """Return the index, in the order of the shape, of the only register in an operand."""
    at = 0
    for field in register_fields(opcode, operands):
        if field.place == place:
            return at
        at += len(field.units)
    return None


def _address(made: dict[int, Made], web: int) -> tuple[str, int, int, int] | None:
    """Return the shifted register, its web, the factor, and the offset into the program's shared memory."""
    match made.get(web):
        case ("SHF", (_, register, places, "RZ"), sources) if places in _SCALES and register in sources:
            return register, sources[register], _SCALES[places], 0
        case ("LEA", (_, register, base, places), sources) if places in _SCALES and register in sources:
            begins = _window(made, sources.get(base))
            return None if begins is None else (register, sources[register], _SCALES[places], begins)
    return None


def _window(made: Mapping[int, Made], web: int | None) -> int | None:
    """Return the offset in the program's shared memory of `window << 24 + 0x400 + offset`; None for other values."""
    match _get(made, web):
        case ("ULEA" | "LEA", (_, cta, start, "0x18"), sources):
            who, where = _get(made, sources.get(cta)), _get(made, sources.get(start))
            if who and who[0] == "S2R" and who[1][-1] == "SR_CgaCtaId" and where and where[0] in ("MOV", "UMOV"):
                try:
                    return int(where[1][-1], 16) - _BEGINNING
                except ValueError:  # a register or a parameter
                    return None
    return None


def _get(made: Mapping[int, Made], web: int | None) -> Made | None:
    return None if web is None else made.get(web)
