"""Register operands of machine instructions: registers read and written, and the instruction's shape without numbers.

SASS is undocumented; tests/analysis verify these tables against `nvdisasm -lrm wide`. In doubt a register counts as read,
or not as written, which makes a comparison stricter and never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pyptx._frozen import frozen
from pyptx._lazy import pattern

__all__ = [
    "mma_shape",
    "READ",
    "READ_WRITE",
    "WRITE",
    "Access",
    "InstructionShape",
    "RegisterField",
    "instruction_shape",
    "predicates_of_mask",
    "register_accesses",
    "register_fields",
    "register_uses",
]

READ, WRITE, READ_WRITE = 1, 2, 3  # READ_WRITE: a guarded write may keep the old value

_REGISTER = pattern(r"(?<![\w.])(UR|UP|R|P|B)(\d+)(?:\.(64|U32)\b)?(?:\.reuse)?")
_NUMBER = pattern(r"(?<![\w.])(UR|UP|R|P|B)\d+|-?0x[0-9a-f]+")  # register, or integer
_REGISTER_NUMBER = pattern(r"(?<![\w.])(UR|UP|R|P|B)\d+")
_NO_RESULT = pattern(
    r"(ST|RED(?!UX)|BRA|BRX|EXIT|BAR|MEMBAR|CCTL|ERRBAR|DEPBAR|LDGDEPBAR|LDGSTS|ARRIVES|UTMA|UBLK|UTC(?!ATOMSWS)|WARPSYNC|NANOSLEEP"
    r"|BSYNC|RET|CALL|JMP|KILL|YIELD|NOP|FENCE|UCGABAR|WARPGROUP|PREEXIT|ACQBULK|BREAK|BMOV|BPT|PREFETCH|R2P"
    r"|UMEMBAR|UGETNEXTWORKID|SUST|SURED|CGAERRBAR)"
)
_PREDICATE_FIRST = pattern(r"UTCATOMSWS|SHFL|U?LOP3|ATOM|ELECT|MATCH|CREDUX|R2UR|REDUX|LDG|LD$|SUATOM|SYNCS|QSPC")
_NOTE = pattern(r"\s*\(\*.*\*\)")  # nvdisasm names the targets of an indirect branch
_LAST_WORD = pattern(r"\S+$")
_SIGNS = "-+!~|"
_COORDINATES = {
    "1D": 1,
    "2D": 2,
    "3D": 3,
    "CUBE": 3,
    "ARRAY_1D": 2,
    "ARRAY_2D": 3,
    "ARRAY_CUBE": 4,
    "1D_ARRAY": 2,
    "2D_ARRAY": 3,
}
_MMA = {  # shapes of warp-level matrix products, m x n x k
    "848": (8, 4, 8),
    "884": (8, 8, 4),
    "8816": (8, 8, 16),
    "8832": (8, 8, 32),
    "88128": (8, 8, 128),
    "1684": (16, 8, 4),
    "1688": (16, 8, 8),
    "16816": (16, 8, 16),
    "16832": (16, 8, 32),
    "16864": (16, 8, 64),
    "168128": (16, 8, 128),
    "168256": (16, 8, 256),
}
_BITS = {
    "TF32": 32,
    "F16": 16,
    "BF16": 16,
    "S8": 8,
    "U8": 8,
    "S4": 4,
    "U4": 4,
    "B1": 1,
    "E4M3": 8,
    "E5M2": 8,
    "E3M2": 8,
    "E2M3": 8,
    "E2M1": 8,
}


_TEXTURE = pattern(r"(TEX|TLD4?|TXD)$")
_PACKED = pattern(r"(?:F32|F16|BF16|E4M3|E5M2)x(\d+)")
_MOST_FORMS = 1 << 16
_FORMS: dict[tuple[str, str], tuple[tuple[int, int], ...]] = {}


@frozen
class InstructionShape:
    """An instruction without its register numbers.

    Attributes:
        key: opcode and operands with a letter for each register; a branch target is `->`. Constants, offsets and
            constant banks are included; `.reuse` of the operand cache, a scheduling hint, is not.
        exact: the instruction with register names.
        registers: the units "R4", "UP0" it accesses, each word of a wide operand separately, in textual order.
        roles: READ, WRITE or READ_WRITE, one for each of `registers`.
    """

    key: str
    exact: str
    registers: tuple[str, ...]
    roles: tuple[int, ...]


class Access(NamedTuple):
    """An access to `width` consecutive registers of a bank; `role` is READ or WRITE."""

    bank: str
    number: int
    width: int
    role: int


class RegisterField(NamedTuple):
    """A register in an operand: its position, and its units, "R4" "R5" for a pair."""

    place: int  # index of the operand
    start: int
    end: int
    bank: str
    suffix: str  # "64", "U32" or empty
    units: tuple[str, ...]
    role: int


@lru_cache(maxsize=1 << 16)
def register_fields(opcode: str, operands: tuple[str, ...], predicate: str = "") -> tuple[RegisterField, ...]:
    """Return the registers in the operands, in textual order."""
    accesses, found = iter(_widths_and_roles(opcode, operands)), []
    for place, operand in enumerate(operands):
        for match in _REGISTER.finditer(operand):
            (width, role), bank, number = next(accesses), match[1], int(match[2])
            found.append(
                RegisterField(
                    place,
                    match.start(),
                    match.end(),
                    bank,
                    match[3] or "",
                    tuple(f"{bank}{number + n}" for n in range(width)),
                    READ_WRITE if role == WRITE and predicate else role,
                )
            )
    return tuple(found)


def register_accesses(opcode: str, operands: Sequence[str]) -> list[Access]:
    """Return the accesses of an instruction to registers in its operands, in textual order."""
    return [
        Access(bank, int(number), width, role)
        for (bank, number, _), (width, role) in zip(
            _REGISTER.findall("\n".join(operands)), _widths_and_roles(opcode, operands), strict=True
        )
    ]


def _widths_and_roles(opcode: str, operands: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return width and role of each register in the operands, computed once for all that differ in register numbers."""
    text = "\n".join(operands)
    form = opcode, (_REGISTER_NUMBER if opcode.startswith("T") else _NUMBER).sub(_without_number, text)
    known = _FORMS.get(form)
    if known is None:
        if len(_FORMS) >= _MOST_FORMS:
            _FORMS.clear()
        known = _FORMS[form] = _form(opcode, tuple(operands))
    return known


def _without_number(match: re.Match[str]) -> str:
    return match[1] or "#"


def predicates_of_mask(operands: Sequence[str]) -> list[str]:
    """Return the predicates that `P2R R0, PR, RZ, 0x7e` reads, or `R2P PR, R0, 0x7e` writes."""
    mask = int(operands[-1], 16) if operands[-1].startswith("0x") else 0x7F
    return [f"P{n}" for n in range(7) if mask >> n & 1]


def _form(opcode: str, operands: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Return width and role of each register in the operands."""
    word, *modifiers = opcode.split(".")
    results = _results(word, operands, modifiers)
    return tuple(
        (_width(word, modifiers, operands, place, match), WRITE if place in results else READ)
        for place, operand in enumerate(operands)
        for match in _REGISTER.finditer(operand)
    )


@lru_cache(maxsize=1 << 16)
def instruction_shape(
    opcode: str, operands: tuple[str, ...], predicate: str = "", branch: bool = False
) -> InstructionShape:
    """Return the shape of an instruction; `branch`: its last operand is an address in the same function."""
    operands = _without_addresses(operands, branch)
    fields = register_fields(opcode, operands, predicate)
    implicit, implicit_roles = _implicit_uses(opcode, operands, predicate)
    keys, at = [[] for _ in operands], [0] * len(operands)
    for one in fields:
        keys[one.place] += [operands[one.place][at[one.place] : one.start], one.bank, one.suffix and f".{one.suffix}"]
        at[one.place] = one.end
    for place, operand in enumerate(operands):
        keys[place].append(operand[at[place] :])
    guard = ""
    if predicate:
        name = predicate.lstrip("!")
        guard = f"@{predicate.rstrip('0123456789')} " if name[-1].isdigit() else f"@{predicate} "
    at_guard = f"@{predicate} " if predicate else ""
    exact = ", ".join(operand.replace(".reuse", "") for operand in operands)
    return InstructionShape(
        f"{guard}{opcode} {', '.join(map(''.join, keys))}",
        f"{at_guard}{opcode} {exact}",
        (*(unit for one in fields for unit in one.units), *implicit),
        (*(one.role for one in fields for _ in one.units), *implicit_roles),
    )


@lru_cache(maxsize=1 << 16)
def register_uses(
    opcode: str, operands: tuple[str, ...], predicate: str = "", branch: bool = False
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return `registers` and `roles` of the shape of an instruction, which take a third of the time of the whole shape."""
    operands = _without_addresses(operands, branch)
    registers: list[str] = []
    roles: list[int] = []
    for (bank, number, _), (width, role) in zip(
        _REGISTER.findall("\n".join(operands)), _widths_and_roles(opcode, operands), strict=True
    ):
        first = int(number)
        registers += [f"{bank}{n}" for n in range(first, first + width)] if width > 1 else (bank + number,)
        roles += [READ_WRITE if role == WRITE and predicate else role] * width
    implicit, implicit_roles = _implicit_uses(opcode, operands, predicate)
    return (*registers, *implicit), (*roles, *implicit_roles)


def _implicit_uses(opcode: str, operands: Sequence[str], predicate: str) -> tuple[list[str], list[int]]:
    """Return the predicates that a mask names, and the guard, with their roles."""
    registers: list[str] = []
    roles: list[int] = []
    if "PR" in operands:
        registers += predicates_of_mask(operands)
        roles += [READ_WRITE if opcode.startswith("R2P") else READ] * len(registers)
    if predicate and (name := predicate.lstrip("!"))[-1].isdigit():
        registers.append(name)
        roles.append(READ)
    return registers, roles


def _without_addresses(operands: tuple[str, ...], branch: bool) -> tuple[str, ...]:
    """Return operands with the address of a branch as `->`, and without the notes of nvdisasm."""
    if branch:
        operands = (*operands[:-1], _LAST_WORD.sub("->", operands[-1]))
    return tuple([_NOTE.sub("", operand) if "(*" in operand else operand for operand in operands])


def _results(word: str, operands: tuple[str, ...], modifiers: list[str]) -> set[int]:
    """Return the indices of the operands that the instruction writes."""
    kinds = [_kind(operand) for operand in operands]
    if not operands or _NO_RESULT.match(word):
        return set()
    if word in ("PLOP3", "UPLOP3") or word.endswith("SETP") or word.endswith("SETP2"):
        return {place for place in (0, 1) if kinds[place : place + 1] == ["P"]}
    if kinds[0] == "P":
        follows = kinds[1:2] == ["R"] and _PREDICATE_FIRST.match(word)
        return {0, 1} if follows else {0}
    if kinds[0] != "R":
        return {0} if kinds[0] == "B" and word.startswith("BSSY") else set()
    if _TEXTURE.match(word) or (word == "LDTM" and "STAT" in modifiers):
        return {0, 1}
    found, place = {0}, 1
    if "256" in modifiers and word.startswith("LD") and kinds[1:2] == ["R"]:
        return {0, 1}
    while kinds[place : place + 1] == ["P"] and operands[place][0] != "!" and place <= (1 if word[:4] == "VOTE" else 2):
        found.add(place)
        place += 1
    return found


def _kind(operand: str) -> str:
    """Return "R" for a register of either bank, "P" for a predicate, "B" for a convergence barrier, or ""."""
    name = operand.lstrip(_SIGNS)
    if re.match(r"U?R(\d+|Z)\b", name):
        return "R"
    if re.match(r"U?P(\d|T)\b", name):
        return "P"
    return "B" if re.match(r"B\d+$", name) else ""


def _width(word: str, modifiers: list[str], operands: tuple[str, ...], place: int, match: re.Match[str]) -> int:
    """Return the number of consecutive registers of an operand."""
    bank, suffix, operand = match[1], match[3], operands[place]
    if bank in ("P", "UP", "B"):
        return 1
    if _TEXTURE.match(word):
        return _texture_width(word, modifiers, operands, place, bank)
    before = operand[: match.start()]
    if suffix == "64":
        return 2
    if before.endswith("gdesc["):
        return 4
    if before.endswith(("desc[", "cx[")):
        return 1 if before.endswith("idesc[") else 2
    if "[" in before and "]" not in before[before.rindex("[") :]:
        return _address_width(word, modifiers, operand, bank, suffix, place)
    return _data_width(word, modifiers, operands, place)


def _texture_width(word: str, modifiers: list[str], operands: tuple[str, ...], place: int, bank: str) -> int:
    """Return the width of an operand of TEX, TLD, TLD4 or TXD.

    The operands are two results, coordinates, an optional extra operand, the texture, its dimensions, and a mask of
    channels unless all four are wanted. With .SCR the coordinates continue in the extra operand.
    """
    at = next((n for n, operand in enumerate(operands) if operand in _COORDINATES), None)
    if at is None:
        return 1
    if bank == "UR":  # the handles of texture and sampler; TLD has no sampler
        return 1 if word == "TLD" and at - place == 1 else 2
    count, offset = _COORDINATES[operands[at]], "AOFFI" in modifiers
    if place < 2:
        channels = int(operands[at + 1], 16).bit_count() if operands[at + 1 : at + 2] else 4
        return min(2, channels) if place else max(1, channels - 2)
    if place == 2:
        return min(2, count) if "SCR" in modifiers else count + offset
    if word == "TXD":
        return 2 * (count - ("ARRAY" in operands[at]))
    return max(1, count - 2 + ("LL" in modifiers)) if "SCR" in modifiers else 1


def _address_width(word: str, modifiers: list[str], operand: str, bank: str, suffix: str | None, place: int) -> int:
    if word.startswith("UTMA"):
        dimensions = next((int(m[0]) for m in modifiers if re.fullmatch(r"\dD", m)), 0)
        dimensions += 3 * bool({"GATHER4", "SCATTER4"} & set(modifiers))  # the numbers of four rows instead of one
        # a load has the addresses of data and mbarrier before the coordinates, a store that of the data
        before = 2 if word == "UTMALDG" else 1 if word in ("UTMASTG", "UTMAREDG") else 0
        return 2 if place or not dimensions else before + dimensions
    if word.startswith("UBLK"):
        return 1 if place == 1 and modifiers[:2] == ["G", "S"] else 2
    if word[:2] == "SU" and word != "SUQUERY":
        return next((_COORDINATES[m] for m in modifiers if m in _COORDINATES), 1)
    if suffix == "U32":
        return 1
    if bank == "UR":  # a base beside [R2.U32+UR4] is 64 bits wide
        alone = "R" not in operand.replace("UR", "")
        return 2 if ".U32" in operand or ("E" in modifiers and ("64+" in operand or alone)) else 1
    return (
        2
        if "E" in modifiers
        and "desc" not in operand
        and ".64" not in operand
        and ".U32" not in operand
        and word in ("LDG", "STG", "LD", "ST", "ATOM", "ATOMG", "RED", "QSPC")
        else 1
    )


def _data_width(word: str, modifiers: list[str], operands: tuple[str, ...], place: int) -> int:
    if word.endswith("GMMA"):
        return _gmma_width(modifiers, operands, place)
    if word[1:] == "MMA":
        return _mma_width(word, modifiers, place)
    if word in ("LEPC", "CALL", "RET", "BRX", "BRXU", "JMX"):
        return 2  # an address of code
    if word in ("LDTM", "STTM"):
        if "STAT" in modifiers and not place:
            return 1
        count = next((int(m[1:]) for m in modifiers if re.fullmatch(r"[xX]\d+", m)), 1)
        return count
    if word in ("LDSM", "STSM"):
        return int(modifiers[-1]) if modifiers[-1] in ("2", "4") else 1
    if (word[:2] == "SU" and operands[place][0] == "U") or (word == "UMEMSETS" and place == len(operands) - 1):
        return 1
    if word == "SUST" and "P" in modifiers:  # formatted: a register for each channel
        return 2 if "RG" in modifiers else 1 if "R" in modifiers else 4
    packed = next((m for m in modifiers if _PACKED.fullmatch(m)), None)
    if packed and re.match(r"ATOM|RED|LDGMC|UREDGR", word):  # a vector, such as BF16x8
        bits = {"F": 0, "B": 16, "E": 8}[packed[0]] or int(packed[1:3])
        return max(1, bits * int(packed.partition("x")[2]) // 32)
    if re.match(r"LD|ST|ULDC|SULD|SUST", word):
        return {"64": 2, "128": 4, "256": 4}.get(next((m for m in modifiers if m in ("64", "128", "256")), ""), 1)
    if re.match(r"ATOM|RED", word):
        wide = "64" in modifiers or "128" in modifiers or "F64" in modifiers
        return (4 if "128" in modifiers else 2) if wide else 1
    if word in ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "FADD2", "FMUL2", "FFMA2"):
        return 2
    if word in ("IMAD", "UIMAD") and "HI" in modifiers:  # the addend is 64 bits wide
        return 2 if place == len(operands) - 1 and place > 2 else 1
    if word in ("IMAD", "UIMAD") and "WIDE" in modifiers:
        general = [p for p, operand in enumerate(operands) if _kind(operand) != "P"]
        return 2 if place in (general[0], general[-1] if len(general) > 3 else -1) else 1
    if word == "CS2R":
        return 1 if "32" in modifiers else 2
    if word in ("F2F", "I2F", "F2I", "FRND"):
        types = [m for m in modifiers if re.fullmatch(r"[FSU]\d+|BF16", m)]
        if word == "F2F":
            return 2 if types[place : place + 1] == ["F64"] else 1
        if word == "FRND":
            return 2 if "F64" in types else 1
        wide_result = {"I2F": "F64", "F2I": ""}[word] in types if word == "I2F" else bool({"S64", "U64"} & set(types))
        wide_source = bool({"S64", "U64"} & set(types)) if word == "I2F" else "F64" in types
        return 2 if (wide_source if place else wide_result) else 1
    if word in ("I2I", "F2IP", "PRMT", "SHF", "USHF", "LEA", "ULEA"):
        return 1
    if {"64", "U64", "S64"} & set(modifiers) and word not in ("SYNCS", "MUFU", "SHFL", "R2UR"):
        return 2
    if word == "SYNCS" and modifiers[:2] == ["LD", "64"]:
        return 2
    return 2 if word == "SYNCS" and place == 2 and {"64"} & set(modifiers) else 1


def _gmma_width(modifiers: list[str], operands: tuple[str, ...], place: int) -> int:
    if any(_kind(operand) == "P" for operand in operands[:place]):  # metadata of a sparse matrix
        return 1
    columns = next((int(m.split("x")[1]) for m in modifiers if re.fullmatch(r"\d+x\d+x\d+", m)), 256)
    types = [m for m in modifiers if m in ("F32", "F16", "S32")]
    accumulator = columns // 4 if types[:1] == ["F16"] else columns // 2
    return accumulator if place != 1 else 4


def mma_shape(modifiers: Sequence[str]) -> tuple[int, int, int] | None:
    """Return (m, n, k) of a warp-level matrix product from the modifiers of its opcode; None if they state no shape."""
    return next((_MMA[word] for word in (modifier.replace("x", "") for modifier in modifiers) if word in _MMA), None)


def _mma_width(word: str, modifiers: list[str], place: int) -> int:
    shape = mma_shape(modifiers)
    if shape is None or place > 3:
        return 1 if place > 3 else 4
    m, n, k = shape
    types = [x for x in modifiers if x in _BITS]
    bits = {"DMMA": 64, "OMMA": 4}.get(word) or (_BITS[types[-1]] if types else 16)
    result = (
        64
        if word == "DMMA"
        else 16
        if word == "HMMA" and "F32" not in modifiers
        else 16
        if types[:1] == ["F16"] and word == "QMMA"
        else 32
    )
    sparse = 2 if "SP" in modifiers else 1
    return max(1, {0: m * n * result, 1: m * k * bits // sparse, 2: n * k * bits, 3: m * n * result}[place] // 1024)
