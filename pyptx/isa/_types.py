"""Instruction types, their widths, and the registers that an operand of a type accepts.

A rule is one of
    "int"        bN uN sN               "bits"   bN                "float"  fN bN
    "any"        every type of the width
    ">=int" ">=bits" ">=any"            the same, or wider;  ">=float" is fN or bM with M >= N
    "{b32,f32}"  exactly these
with N the width of the operand's type. A number after the word replaces N ("int32"). If the rule ends in "+h2", f16x2 is
one of the 32-bit registers.

Source: measured with ptxas 13.5 on every operand of every row.
"""

from __future__ import annotations

from functools import cache

from pyptx._lazy import pattern
from pyptx.errors import TableError

__all__ = ["DECLARABLE", "ORDERED_SPACES", "PROFILES", "TYPE_WORDS", "WIDTHS", "default_rule", "registers_of",
           "takes_number",
           "width"]

WIDTHS = {"pred": 1, **{f"{k}{n}": n for k in "bus" for n in (8, 16, 32, 64)}, "b128": 128, "b1024": 1024, "f16": 16,
          "f32": 32, "f64": 64, "bf16": 16, "tf32": 32, "f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32,
          "u8x4": 32, "s8x4": 32, "f32x2": 64, "e4m3x2": 16, "e5m2x2": 16, "e2m3x2": 16, "e3m2x2": 16, "ue8m0x2": 16,
          "s2f6x2": 16, "ue5m3x2": 16, "e2m1x2": 8, "e4m3x4": 32, "e5m2x4": 32, "e2m3x4": 32, "e3m2x4": 32,
          "e2m1x4": 16, "e2m1p4x4": 32, "ue8m0x4": 32, "u2": 2, "s2": 2, "u4": 4, "s4": 4, "e4m3": 8, "e5m2": 8,
          "e3m2": 6, "e2m3": 6, "e2m1": 4, "ue8m0": 8, "ue4m3": 8, "b1": 1, "b2": 2, "b8x16": 128, "b6x16_p32": 96,
          "b4x16_p64": 64}
DECLARABLE = {"b8": 8, "b16": 16, "b32": 32, "b64": 64, "b128": 128, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "s8": 8,
              "s16": 16,
              "s32": 32, "s64": 64, "f16": 16, "f16x2": 32, "f32": 32, "f64": 64, "pred": 1}
TYPE_WORDS = frozenset("." + name for name in WIDTHS if name != "b1024") | {".texref", ".samplerref", ".surfref"}
ORDERED_SPACES = frozenset({".global", ".shared", ".shared::cta", ".shared::cluster"})

_ADDRESS_TYPES = {"addr": 64, "addr32": 32}


def width(type_name: str) -> int:
    """Return the width of an instruction type in bits."""
    return WIDTHS[type_name]


@cache
def default_rule(type_name: str, fixed: bool = False) -> str:
    """Return the register rule of an operand without a rule of its own; it holds for most rows.

    Args:
        fixed: the type does not depend on the mnemonic, as for a size, a mask or a shift count.
    """
    if type_name == "pred":
        return "{pred}"
    if type_name in ("f16", "f32", "f64"):
        return "float"
    if type_name[0] in "us" and type_name[1:].isdigit():
        return "int" if fixed else "int+h2"
    if type_name[0] == "b" and type_name[1:].isdigit():
        return "any+h2"
    return "bits+h2" if type_name in ("f16x2", "u16x2", "s16x2", "u8x4", "s8x4") else "bits"


PROFILES = {
    "memory": {">=any+h2": "b8 b16 b32 b64", ">=int+h2": "u8 u16 u32 u64 s8 s16 s32 s64", ">=float": "f16 f32 f64"},
    "fragment": {"bits+h2": "b8 b16 b32 b64"},
    "wider": {">=int+h2": "u8 u16 u32 u64 s8 s16 s32 s64", ">=float": "f16 f32 f64"},
    "vector": {">=any+h2": "b8 b16 b32 b64", ">=int+h2": "u8 u16 u32 u64 s8 s16 s32 s64", ">=any": "f64",
               "{b32,b64,b128,u32,s32,f32}": "f32"}}


@cache
def takes_number(type_name: str) -> bool:
    """Return True if a source of this type may be a number: not packed types, 16-bit floats and 128 bits."""
    return type_name not in ("f16", "bf16", "b128") and "x" not in type_name


_RULE = pattern(r"(>=)?(int|bits|float|any)(\d*)(\+h2)?")


@cache
def registers_of(rule: str, type_name: str) -> frozenset[str]:
    """Return the register types that a rule accepts for an operand of this type.

    Raises:
        TableError: The rule has none of the forms above.
    """
    if rule.startswith("{"):
        names = rule.removesuffix("+h2")
        return frozenset(names[1:-1].split(",")) | ({"f16x2"} if rule.endswith("+h2") else frozenset())
    found = _RULE.fullmatch(rule)
    if found is None:
        raise TableError(f"{rule!r} is not a register rule")
    at_least, kind, number, half = found.groups()
    bits = int(number) if number else width(type_name)
    fits = {n: w for n, w in DECLARABLE.items() if w == bits or (at_least and w > bits)}
    fits.pop("pred", None)
    fits.pop("f16x2", None)
    if kind == "int":
        names = {n for n in fits if n[0] in "bus"}
    elif kind == "bits":
        names = {n for n in fits if n[0] == "b"}
    elif kind == "float":
        names = {n for n, w in fits.items() if n[0] == "b" or (n[0] == "f" and w == bits)}
    else:
        names = set(fits)
    if half and (bits == 32 or (at_least and bits < 32)):
        names.add("f16x2")
    return frozenset(names)
