"""Canonical forms of instructions that ptxas writes in several ways, by GPU generation or execution unit.

A constant has a name instead of an address, since each generation stores parameters and driver values elsewhere: `c[0x0][0x160]` of sm_80, `c[0x0][0x210]` of sm_90 and `c[0x0][0x380]` of sm_100 are the first parameter.
A move, a shift or a sum is one operation whether the integer unit does it, or the multiplier (`IMAD.MOV`, `IMAD.SHL`,
`IMAD.IADD`), or the half-precision unit (`HFMA2 R0, -RZ, RZ, 0.8125, 0`). SASS is
undocumented; tests/analysis verify the names by compiling the same text for each generation.
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache

__all__ = ["Canonical", "constant_layout", "name_constants", "canonicalize"]

Canonical = tuple[str, tuple[str, ...]]  # opcode, operands

_WORDS = ("ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z")
_PARAMETERS = {"": None, "early": 0x160, "sm_90": 0x210, "late": 0x380}
_NAMED = {
    "early": {4 * n: name for n, name in enumerate(_WORDS)} | {0x28: "stack", 0x2C: "dynamic shared", 0x118: "memory"},
    "sm_90": {4 * n: name for n, name in enumerate(_WORDS)} | {0x28: "stack", 0x2C: "dynamic shared", 0x208: "memory"},
    "late": {
        0x37C: "stack",
        0x358: "memory",
        0x360: "ntid.x",
        0x364: "ntid.y",
        0x368: "ntid.z",
        0x370: "nctaid.x",
        0x374: "nctaid.y",
        0x378: "nctaid.z",
    },
}
_CONSTANT = re.compile(r"c\[0x0\]\[(?:(U?R(?:\d+|Z))\+?)?(0x[0-9a-f]+)?\]")
_IMMEDIATE = re.compile(r"-?0x[0-9a-f]+")


def constant_layout(target: str) -> str:
    """Return the constant layout of a target: "early" (sm_75 to sm_89), "sm_90", "late" (sm_100 on); "" if unknown."""
    number = re.match(r"sm_(\d+)", target)
    if not number or int(number[1]) < 75:
        return ""
    return "early" if int(number[1]) < 90 else "sm_90" if int(number[1]) < 100 else "late"


@lru_cache(maxsize=1 << 16)
def name_constants(operands: tuple[str, ...], layout: str) -> tuple[str, ...]:
    """Replace constants of the driver's bank by names: `c[param+0x8]`, `c[ntid.x]`."""
    first = _PARAMETERS[layout]
    if first is None:
        return operands

    def name(match: re.Match[str]) -> str:
        offset = int(match[2] or "0", 16)
        index = f"{match[1]}+" if match[1] and not match[1].endswith("RZ") else ""
        if offset >= first:
            return f"c[{index}param+{offset - first:#x}]"
        return f"c[{_NAMED[layout][offset]}]" if not index and offset in _NAMED[layout] else match[0]

    return tuple(_CONSTANT.sub(name, operand) if "c[0x0]" in operand else operand for operand in operands)


@lru_cache(maxsize=1 << 16)
def canonicalize(opcode: str, operands: tuple[str, ...]) -> Canonical:
    """Return the canonical form of an instruction, with the same results in the same registers.

    Args:
        opcode: the opcode with modifiers.
        operands: the operands, with names for constants.
    """
    match opcode, operands:
        case ("IMAD.MOV.U32" | "IMAD.MOV" | "IMAD.U32", (d, "RZ", "RZ", value)):
            opcode, operands = "MOV", (d, value)
        case ("HFMA2.MMA" | "HFMA2", (d, "-RZ", "RZ", high, low)) if (bits := _halves(high, low)) is not None:
            opcode, operands = "MOV", (d, bits)
        case ("IMAD.SHL.U32" | "IMAD.SHL", (d, a, factor, "RZ")) if (places := _power(factor)) is not None:
            opcode, operands = "SHF.L.U32", (d, a, places, "RZ")
        case ("IMAD.IADD", (d, a, "0x1", b)):
            opcode, operands = "IADD3", (d, a, b, "RZ")
        case (("VIADD" | "IADD"), (d, a, b)):
            opcode, operands = "IADD3", (d, a, b, "RZ")
        case (("UIADD" | "UVIADD"), (d, a, b)):
            opcode, operands = "UIADD3", (d, a, b, "URZ")
    if opcode == "MOV" and operands[-1] == "0x0":
        operands = (operands[0], "RZ")
    word, _, modifiers = opcode.partition(".")
    if word in ("IADD3", "UIADD3"):  # later generations write unused carries
        operands = (*operands[:1], *(one for one in operands[1:3] if one not in ("PT", "UPT")), *operands[3:])
    if word == "BAR":
        opcode = opcode.replace(".DEFER_BLOCKING", "")
    if word in ("ULDC", "LDCU") or (opcode in ("MOV", "UMOV") and operands[-1].startswith("c[")):
        opcode = "LDC" + (f".{modifiers}" if modifiers else "")
    elif word == "S2UR":
        opcode = "S2R"
    return opcode, operands


def _halves(high: str, low: str) -> str | None:
    """Return the word of two half-precision numbers, "0x3c000000"; None if they are not printed as numbers."""
    try:
        packed = struct.pack("<ee", float(low.replace("INF", "inf")), float(high.replace("INF", "inf")))
    except (ValueError, OverflowError):  # QNAN: its bits are unknown
        return None
    return f"{int.from_bytes(packed, 'little'):#x}"


def _power(factor: str) -> str | None:
    """Return the shift equivalent to a multiplication by `factor`: "0x4" for "0x10"; None for other factors."""
    if not _IMMEDIATE.fullmatch(factor):
        return None
    number = int(factor, 16) & 0xFFFFFFFF
    return hex(number.bit_length() - 1) if number and not number & number - 1 else None
