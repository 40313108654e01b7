"""Operands of the tree as small values: what kind each is, and the type of every register in it.

A token is
    a type name ("f32", "pred")   a register of that type          "?"   a register nobody declared
    "%"                           a special register               "_"   the sink
    ("%", "b32")                  one in braces, read as a register of that type; ("%", "") is none of 32 or 64 bits
    "int" "float" "hex" "hex64"   a literal: 7, 1.5, 0f3F800000, 0d3FF0000000000000
    "name"                        a label, variable, function      ("[]", "name")  an element of one: a[2]
    (".", token, "b0")            a register with a selector       ("!", token)   negated
    ("{", token, ...)             a brace vector                   ("|", token, token)   a pair
    ("[", token, ...)             an address: base, then what follows the commas
    ("(", n)                      a call list
    "bad base" "bad offset" "offset and parts" "special"           in an address
    ("-", token)                  the negated source of a video instruction
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from pyptx.ir.operands import (
    AddressOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    NegativeOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    SubscriptOperand,
    VectorOperand,
)
from pyptx.isa import registers

__all__ = ["NUMBERS", "REGISTER_TYPES", "TypeOf", "address_parts", "literal", "token"]

TypeOf = Callable[[str], "str | None"]
REGISTER_TYPES = frozenset("b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64 pred".split()) | {"?"}
NUMBERS = frozenset({"int", "float", "hex", "hex64"})

_HEX_FLOAT = re.compile(r"0([fF])[0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}")
_FLOAT = re.compile(r"-?(\d+\.\d*|\.\d+|\d+(?=[eE][+-]?\d))([eE][+-]?\d+)?")
_FLOATS = re.compile(r"(?<![\w.$%])(\d+\.\d*|\.\d+|\d+[eE][+-]?\d+)")
_SELECTOR = re.compile(r"[bh]\d+")
_FIELDS = {"2": "xyrg", "4": "xyzwrgba"}
_INTEGERS = re.compile(r"\b0[xXbB][0-9a-fA-F]+U?|\b\d+U?\b|\(\s*\.[su]64\s*\)")
_SYMBOLIC = re.compile(r"[A-Za-z_$%][\w$]*")
_SYMBOL = re.compile(r"(?!WARP_SZ\b)[A-Za-z_$%]")


def token(operand: Operand, type_of: TypeOf):
    """The token of an operand."""
    kind = type(operand)
    if kind is RegisterOperand:
        return _declared(type_of(operand.name)) or _unknown(operand.name, type_of, "?")
    if kind is ImmediateOperand:
        return literal(operand.text)
    if kind is AddressOperand:
        if operand.offset is None:
            return ("[", _base(operand.base, type_of))
        return _offset_token(operand, type_of)
    if kind is LabelOperand:
        return _declared(type_of(operand.name)) or _unknown(operand.name, type_of, "name")
    if kind is VectorOperand:
        return ("{", *[_element(element, type_of) for element in operand.elements])
    if kind is PipeOperand:
        return ("|", token(operand.left, type_of), token(operand.right, type_of))
    if kind is NegatedOperand:
        return ("!", token(operand.operand, type_of))
    if kind is NegativeOperand:
        return ("-", token(operand.operand, type_of))
    if kind is ParenthesizedOperand:
        return ("(", len(operand.elements))
    if kind is SubscriptOperand:
        return ("[]", "name")
    raise TypeError(f"{operand!r} is no operand of an instruction")


def _element(operand: Operand, type_of: TypeOf):
    """In braces ptxas reads a special register of 32 or 64 bits like a register of bits."""
    found = token(operand, type_of)
    if found == "%":
        special = registers.lookup(operand.name)
        whole = special.components and "." not in operand.name
        return ("%", "" if whole or special.types[0] == "pred" else "b64" if special.types[0] == "u64" else "b32")
    return found


def _declared(type_name: str | None):
    """A vector register, of type "v4.f32", is like its elements in braces."""
    if type_name is None or type_name[0] != "v":
        return type_name
    return ("{", *[type_name[3:]] * int(type_name[1]))


def _unknown(name: str, type_of: TypeOf, otherwise: str):
    if name == "_":
        return "_"
    if name == "WARP_SZ":
        return "int"
    if registers.lookup(name) is not None:
        return "%"
    base, dot, suffix = name.rpartition(".")
    type_name = type_of(base) if dot else None
    if type_name is not None and type_name[0] == "v":       # an element of a vector register
        return type_name[3:] if suffix and suffix in _FIELDS[type_name[1]] else otherwise
    return (".", type_name, suffix) if type_name is not None and _SELECTOR.fullmatch(suffix) else otherwise


def _base(name: str, type_of: TypeOf):
    type_name = type_of(name)
    if type_name is not None:
        return type_name
    if _SYMBOL.match(name):
        return ("?" if registers.lookup(name) is None else "special") if name[0] == "%" else "name"
    return "int" if literal(name) == "int" else "bad base"


def _offset_token(operand: AddressOperand, type_of: TypeOf):
    number, parts = address_parts(operand.offset)
    base = _base(operand.base, type_of)
    if number and any(type_of(name) is not None or name[0] == "%" for name in _SYMBOLIC.findall(number)):
        return ("[", "bad offset")
    if number and parts:
        return ("[", "offset and parts", *[token(part, type_of) for part in parts])
    return ("[", base, *[token(part, type_of) for part in parts])


@lru_cache(maxsize=4096)
def address_parts(offset: str) -> tuple[str, tuple[Operand, ...]]:
    """What an address holds behind its base: the offset, and the operands after commas.

    ", {%r1, %r2}" is ("", (a vector,)); "8" is ("8", ()).
    """
    number, comma, rest = offset.partition(",")
    if not comma:
        return offset, ()
    parts, depth, start = [], 0, 0
    for at, char in enumerate(rest):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(rest[start:at])
            start = at + 1
    parts.append(rest[start:])
    return number.strip(), tuple(_read(part.strip()) for part in parts)


def _read(text: str) -> Operand:
    if text.startswith("{"):
        return VectorOperand(tuple(_read(part.strip()) for part in text[1:-1].split(",")))
    if re.match(r"[\d(~!-]", text):
        return ImmediateOperand(text)
    return RegisterOperand(text) if text.startswith("%") else LabelOperand(text)


@lru_cache(maxsize=8192)
def literal(text: str) -> str:
    """ "int", "float", "hex", "hex64", or "name" for a constant expression with a symbol in it."""
    hexadecimal = _HEX_FLOAT.fullmatch(text)
    if hexadecimal:
        return "hex" if hexadecimal[1] else "hex64"
    if _FLOAT.fullmatch(text):
        return "float"
    if _FLOATS.search(text):
        return "float"
    symbols = _SYMBOLIC.findall(_INTEGERS.sub("", text))
    return "name" if any(name != "WARP_SZ" for name in symbols) else "int"
