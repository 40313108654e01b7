"""Operand kinds: what each operand is, with the type of every register in it, as hashable values.

The kind of an operand is one of

    a type name ("f32", "pred")      a register of that type
    "?"                              an undeclared register
    "%"                              a special register
    ("%", "b32")                     a special register in braces, read as a register of that type; ("%", "") when it has
                                     neither 32 nor 64 bits
    "_"                              the sink
    "int" "float" "hex" "hex64"      a literal: 7, 1.5, 0f3F800000, 0d3FF0000000000000
    "name"                           a label, variable or function
    ("[]", "name")                   an element of one, a[2]
    (".", kind, "b0")                a register with a selector
    ("+", kind)                      a register plus a constant, %r1+1
    ("!", kind), ("-", kind)         a negated predicate, a negated source of a video instruction
    ("{", kind, ...)                 a brace vector
    ("|", kind, kind)                a pair
    ("[", kind, ...)                 an address: its base, then the operands after the commas
    ("(", "2")                       a call list, with its length
    ("=", kind)                      a field of a sampler, which no instruction takes

and, for an invalid address, ("[", ...) of "bad base", "bad offset", "offset and parts" or "special".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import assert_never

from pyptx._lazy import pattern
from pyptx.ir.constants import literal_kind
from pyptx.ir.operands import (
    AddressOperand,
    FieldOperand,
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

__all__ = ["NUMBER_KINDS", "REGISTER_TYPES", "Kind", "TypeOf", "address_parts", "operand_kind"]

Kind = str | tuple["Kind", ...]
TypeOf = Callable[[str], str | None]
"""A function from a name to the type of the register declared under it, or None."""

REGISTER_TYPES = frozenset("b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64 pred".split()) | {"?"}
NUMBER_KINDS = frozenset({"int", "float", "hex", "hex64"})

_SELECTOR = pattern(r"[bh]\d+")
_FIELDS = {"2": "xyrg", "4": "xyzwrgba"}
_SYMBOLIC = pattern(r"[A-Za-z_$%][\w$]*")
_SYMBOL = pattern(r"(?!WARP_SZ\b)[A-Za-z_$%]")


def operand_kind(operand: Operand, type_of: TypeOf) -> Kind:
    """Return the kind of an operand.

    Args:
        type_of: register name -> declared type, None for other names.
    """
    if isinstance(operand, RegisterOperand):
        return _declared(type_of(operand.name)) or _undeclared(operand.name, type_of, "?")
    if isinstance(operand, ImmediateOperand):
        return literal_kind(operand.text)
    if isinstance(operand, AddressOperand):
        if operand.offset is None:
            return ("[", _base(operand.base, type_of))
        return _address(operand.base, operand.offset, type_of)
    if isinstance(operand, LabelOperand):
        return _declared(type_of(operand.name)) or _undeclared(operand.name, type_of, "name")
    if isinstance(operand, VectorOperand):
        return _vector(operand.elements, type_of)
    if isinstance(operand, PipeOperand):
        return ("|", operand_kind(operand.left, type_of), operand_kind(operand.right, type_of))
    if isinstance(operand, NegatedOperand):
        return ("!", operand_kind(operand.operand, type_of))
    if isinstance(operand, NegativeOperand):
        return ("-", operand_kind(operand.operand, type_of))
    if isinstance(operand, ParenthesizedOperand):
        return ("(", str(len(operand.elements)))
    if isinstance(operand, SubscriptOperand):
        return ("[]", "name")
    if isinstance(operand, FieldOperand):
        return ("=", operand_kind(operand.value, type_of))
    assert_never(operand)


def _vector(elements: tuple[Operand, ...], type_of: TypeOf) -> Kind:
    types = [type_of(e.name) for e in elements if isinstance(e, RegisterOperand)]
    if len(types) == len(elements) and REGISTER_TYPES.issuperset(types):  # as most accumulators
        return ("{", *[type_name or "?" for type_name in types])
    return ("{", *[_element(element, type_of) for element in elements])


def _element(operand: Operand, type_of: TypeOf) -> Kind:
    """Return the kind of a vector element; ptxas reads a special register of 32 or 64 bits as a register of bits."""
    found = operand_kind(operand, type_of)
    if found == "%" and isinstance(operand, (RegisterOperand, LabelOperand)):
        special = registers.lookup(operand.name)
        assert special is not None, "only special registers have the kind %"
        whole = special.components and "." not in operand.name
        return ("%", "" if whole or special.types[0] == "pred" else "b64" if special.types[0] == "u64" else "b32")
    return found


def _declared(type_name: str | None) -> Kind | None:
    """Return the kind of a declared register; a vector register, of type "v4.f32", is like its elements in braces."""
    if type_name is None or type_name[0] != "v":
        return type_name
    return ("{", *[type_name[3:]] * int(type_name[1]))


def _undeclared(name: str, type_of: TypeOf, otherwise: str) -> Kind:
    if name == "_":
        return "_"
    if name == "WARP_SZ":
        return "int"
    if registers.lookup(name) is not None:
        return "%"
    register, plus, _ = name.partition("+")
    register = register.rstrip()
    if plus and type_of(register) in REGISTER_TYPES:
        return ("+", type_of(register) or "?")
    if plus and registers.lookup(register) is not None:
        return ("+", "%")
    base, dot, suffix = name.rpartition(".")
    type_name = type_of(base) if dot else None
    if type_name is not None and type_name[0] == "v":  # an element of a vector register
        return type_name[3:] if suffix and suffix in _FIELDS[type_name[1]] else otherwise
    return (".", type_name, suffix) if type_name is not None and _SELECTOR.fullmatch(suffix) else otherwise


def _base(name: str, type_of: TypeOf) -> str:
    type_name = type_of(name)
    if type_name is not None:
        return type_name
    if _SYMBOL.match(name):
        return ("?" if registers.lookup(name) is None else "special") if name[0] == "%" else "name"
    return "int" if literal_kind(name) == "int" else "bad base"


def _address(base: str, offset: str, type_of: TypeOf) -> Kind:
    number, parts = address_parts(offset)
    base_kind = _base(base, type_of)
    if number and any(type_of(name) is not None or name[0] == "%" for name in _SYMBOLIC.findall(number)):
        return ("[", "bad offset")
    if number and parts:
        return ("[", "offset and parts", *[operand_kind(part, type_of) for part in parts])
    return ("[", base_kind, *[operand_kind(part, type_of) for part in parts])


@lru_cache(maxsize=4096)
def address_parts(offset: str) -> tuple[str, tuple[Operand, ...]]:
    """Split the text after the base of an address into its offset and the operands after the commas.

    ", {%r1, %r2}" gives ("", (a vector,)); "8" gives ("8", ()).
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
    return number.strip(), tuple(_operand(part.strip()) for part in parts)


def _operand(text: str) -> Operand:
    if text.startswith("{"):
        return VectorOperand(tuple(_operand(part.strip()) for part in text[1:-1].split(",")))
    if text[:1].isdecimal() or text.startswith(("(", "~", "!", "-")):
        return ImmediateOperand(text)
    return RegisterOperand(text) if text.startswith("%") else LabelOperand(text)
