"""Operands as Python expressions."""

from __future__ import annotations

import re
from collections.abc import Callable

from pyptx.codegen.python_source import literal
from pyptx.errors import InputError
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    Predicate,
    RegisterOperand,
    VectorOperand,
)
from pyptx.ir.operands import operand_text
from pyptx.isa.identifiers import from_identifier, to_identifier
from pyptx.parser.operands import parse_operand_text

__all__ = ["Lookup", "mnemonic_chain", "operand_expression", "guard_expression", "quoted_operand"]

Lookup = Callable[[str], tuple[str, str] | None]  # register name -> its Python expression and type

_INTEGER = re.compile(r"-?(0|[1-9]\d*)")
_WORD = re.compile(r"%?[\w$][\w$.]*|-[\w.]+", re.ASCII)
_ELEMENT = re.compile(r"(\w+)\[(\d+)\]")
_OFFSET = re.compile(r"%[\w$]+|[A-Za-z_$][\w$]*")
_COORDINATES = re.compile(r", \{([^{}]*)\}")
_ALONE = re.compile(r"(, %[\w$]+)+")


def operand_expression(node: Operand, find: Lookup) -> str:
    """Return an operand as Python: `r[0]`, `16`, `[f[0], f[1]]`, `ptx.addr(rd[1], 8)`; as a string if nothing else fits.

    Raises:
        ValueError: no Python value converts to the operand.
    """
    match node:
        case RegisterOperand(name) | LabelOperand(name):
            found = find(name)
            if found is not None and (type(node) is RegisterOperand) == (name[:1] == "%"):
                return found[0]
        case ImmediateOperand(text):
            if _INTEGER.fullmatch(text) and text != "-0":
                return text
        case VectorOperand(elements):
            return _vector([operand_expression(e, find) for e in elements])
        case ParenthesizedOperand(elements):
            inside = ", ".join(operand_expression(e, find) for e in elements)
            return f"({inside},)" if len(elements) == 1 else f"({inside})"
        case NegatedOperand(RegisterOperand(name) | LabelOperand(name)):
            found = find(name)
            if found is not None and found[1] == "pred":
                return f"~{found[0]}"
        case PipeOperand(RegisterOperand(left) | LabelOperand(left), RegisterOperand(right) | LabelOperand(right)):
            a, b = find(left), find(right)
            if a is not None and b is not None and "pred" in (a[1], b[1]):
                return f"{a[0]} | {b[0]}"
        case AddressOperand(base, offset, suffix="") if "generic(" not in base:
            found = find(base)
            shown = found[0] if found is not None else literal(base)
            if found is not None or _WORD.fullmatch(base):
                if offset is None:
                    return f"ptx.addr({shown})"
                rendered = _offset(offset, find)
                if rendered is not None:
                    return f"ptx.addr({shown}, {rendered})"
    return quoted_operand(node)


def quoted_operand(node: Operand) -> str:
    """Return a Python string that converts to the operand.

    Raises:
        ValueError: the operand cannot be read back from its text alone.
    """
    text = operand_text(node)
    if _WORD.fullmatch(text) and text != "WARP_SZ":
        number = text[0].isdigit() or text[0] == "-"
        back: Operand | None = (
            ImmediateOperand(text) if number else RegisterOperand(text) if text[0] == "%" else LabelOperand(text)
        )
    else:
        back = parse_operand_text(text)
    if back != node:
        raise InputError(f"{text!r} cannot be written as one operand")
    return literal(text)


def _vector(elements: list[str]) -> str:
    """Return `[a, b]`, or a slice `f[0:8]` for consecutive registers."""
    found = [match for e in elements if (match := _ELEMENT.fullmatch(e))]
    if len(elements) > 4 and len(found) == len(elements):
        base, first = found[0][1], int(found[0][2])
        if all(m[1] == base and int(m[2]) == first + i for i, m in enumerate(found)):
            return f"{base}[{first}:{first + len(elements)}]"
    return f"[{', '.join(elements)}]"


def _offset(text: str, find: Lookup) -> str | None:
    """Return an address offset as Python: a number, a register, a list of coordinates, or a tuple without braces."""
    if _INTEGER.fullmatch(text) and text not in ("0", "-0"):
        return text
    if _OFFSET.fullmatch(text):
        found = find(text)
        return found[0] if found is not None else literal(text)
    coordinates = _COORDINATES.fullmatch(text)
    if coordinates or _ALONE.fullmatch(text):
        shown = []
        for item in (coordinates[1] if coordinates else text[2:]).split(", "):
            found = find(item)
            if found is None and not _INTEGER.fullmatch(item):
                return literal(text)
            shown.append(found[0] if found is not None else item)
        inner = ", ".join(shown)
        return f"[{inner}]" if coordinates else f"({inner}{',' if len(shown) == 1 else ''})"
    if re.fullmatch(r"[\w%$, {}()+*-]+", text) and text[:1] not in "+-" and ("," in text) == text.startswith(", "):
        return literal(text)
    return None


def guard_expression(predicate: Predicate | None, find: Lookup) -> str | None:
    """Return a guard as the value of `pred=`; None for an unguarded instruction.

    Raises:
        ValueError: the register is not declared as a predicate.
    """
    if predicate is None:
        return None
    found = find(predicate.register)
    if found is None or found[1] != "pred":
        raise InputError(f"{predicate.register} is not declared as a predicate")
    return f"~{found[0]}" if predicate.negated else found[0]


def mnemonic_chain(opcode: str, modifiers: tuple[str, ...]) -> str | None:
    """Return a mnemonic as an attribute chain, `add.rn.f32`; None if a modifier cannot be a Python identifier."""
    words = [opcode, *(m[1:] for m in modifiers)]
    names = [to_identifier(word) if word else "" for word in words]
    good = all(
        n.isidentifier() and from_identifier(n) == w and not (n[:2] == n[-2:] == "__")
        for n, w in zip(names, words, strict=True)
    )
    return ".".join(names) if good else None
