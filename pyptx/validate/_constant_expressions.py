"""Checks of constant expressions in operands and initializers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pyptx._lazy import pattern
from pyptx.ir.constants import constant_value, literal_kind
from pyptx.ir.operands import AddressOperand, ImmediateOperand, LabelOperand, Operand, RegisterOperand, SubscriptOperand
from pyptx.ir.visit import leaves
from pyptx.validate._messages import short
from pyptx.validate._operand_kinds import TypeOf, address_parts

__all__ = ["constant_problems", "expression_problem"]

_TOKEN = pattern(
    r"""
    (?P<hexfloat>0[fF][0-9a-fA-F]{8}(?![0-9a-fA-F])|0[dD][0-9a-fA-F]{16}(?![0-9a-fA-F]))
    | (?P<float>\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    | (?P<int>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?)
    | (?P<cast>\.[su]64\b)
    | (?P<name>[A-Za-z_$%][\w$.]*)
    | (?P<sign>\S)""",
    re.VERBOSE,
)


def constant_problems(operands: tuple[Operand, ...], type_of: TypeOf) -> Iterator[str]:
    """Yield the errors in the numbers and expressions of an instruction.

    Args:
        type_of: register name -> declared type, None for other names. `bind` checks offsets with registers.
    """
    for operand in operands:
        if isinstance(operand, RegisterOperand):
            continue
        for leaf in (operand,) if isinstance(operand, (AddressOperand, ImmediateOperand)) else leaves(operand):
            if isinstance(leaf, AddressOperand):
                if leaf.base[0] in "0123456789(-+~!" and (problem := expression_problem(leaf.base)):
                    yield problem
                number, parts = address_parts(leaf.offset) if leaf.offset else ("", ())
                if parts:
                    yield from constant_problems(parts, type_of)
                if number[:1] == "-" and ("=+", "") in (leaf.layout or ()):
                    yield f"[{leaf.base}{number}]: an offset is added; write [{leaf.base}+{number}]"
                named = not number.isdigit() and any(map(type_of, _names(number)))
                problem = _offset(number) if number and not named else None
            elif isinstance(leaf, ImmediateOperand):
                problem = expression_problem(leaf.text)
            elif isinstance(leaf, SubscriptOperand):
                problem = _offset(leaf.index) if not any(map(type_of, _names(leaf.index))) else None
            elif isinstance(leaf, LabelOperand):
                problem = _symbol(leaf.name) if not leaf.name.isidentifier() else None
            else:
                problem = None
            if problem:
                yield problem


def _names(text: str) -> list[str]:
    return [m["name"] for m in _TOKEN.finditer(text) if m["name"]]


@lru_cache(maxsize=4096)
def expression_problem(text: str) -> str | None:
    """Return the error of a constant expression; None if it is valid."""
    kinds = {}
    for found in _TOKEN.finditer(text):
        kinds[found.lastgroup] = word = found[0]
        if found.lastgroup == "int":
            if re.fullmatch(r"0[0-9]*[89][0-9]*U?", word):
                return f"{word} is octal because of its leading 0, but has a digit above 7"
            value = constant_value(word)
            if value is None or value > 2**64:
                return f"{short(word)} does not fit in 64 bits"
        elif found.lastgroup == "float" and float(word) == float("inf"):
            return f"{short(word)} does not fit in a double"
    if "int" in kinds and ("float" in kinds or "hexfloat" in kinds):
        return f"{text} mixes integers and floats"
    if re.search(r"[/%]\s*0+(?![\w.])", text):
        return f"{text} divides by zero"
    others = [name for name in _names(text) if name != "WARP_SZ"]
    if others:
        return f"{text} contains the name {others[0]}; with a name, only name+constant is allowed"
    return None


@lru_cache(maxsize=4096)
def _offset(text: str) -> str | None:
    if text[:1] == "-" and expression_problem(text[1:]) is None:
        return None
    kinds = {m.lastgroup for m in _TOKEN.finditer(text)}
    if kinds & {"float", "hexfloat"}:
        return f"{text} is not an offset; expected an integer"
    return expression_problem(text)


_NAME_AND_REST = pattern(r"[\w$%.]*\s*(\S?)(.*)", re.DOTALL)


@lru_cache(maxsize=4096)
def _symbol(text: str) -> str | None:
    """Return the error of a name, or of a name plus a constant."""
    match = _NAME_AND_REST.match(text)
    assert match is not None, "the pattern matches every text"
    sign, rest = match.groups()
    if not sign:
        return None
    if sign != "+" or literal_kind(rest.strip()) not in ("int", "name"):
        return f"{text}: only an integer can be added to a name"
    return expression_problem(rest.strip()) if rest else None
