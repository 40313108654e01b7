"""Operands as Python expressions."""

from __future__ import annotations

import re
from collections.abc import Callable

from pyptx.codegen.layout import literal
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
from pyptx.isa.spelling import ptx_word, python_word
from pyptx.parser.operands import read_operand

__all__ = ["Find", "chain", "expression", "guard", "quoted"]

Find = Callable[[str], tuple[str, str] | None]                          # register -> its expression and type

_INTEGER = re.compile(r"-?(0|[1-9]\d*)")
_WORD = re.compile(r"%?[\w$][\w$.]*|-[\w.]+", re.ASCII)
_ELEMENT = re.compile(r"(\w+)\[(\d+)\]")
_OFFSET = re.compile(r"%[\w$]+|[A-Za-z_$][\w$]*")
_COORDINATES = re.compile(r", \{([^{}]*)\}")
_ALONE = re.compile(r"(, %[\w$]+)+")


def expression(node: Operand, find: Find) -> str:
    """The operand as Python: `r[0]`, `16`, `[f[0], f[1]]`, `ptx.addr(rd[1], 8)`; as text where nothing says it better.

    Raises:
        ValueError: no Python value stands for it.
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
            return _vector([expression(e, find) for e in elements])
        case ParenthesizedOperand(elements):
            inside = ", ".join(expression(e, find) for e in elements)
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
                told = _offset(offset, find)
                if told is not None:
                    return f"ptx.addr({shown}, {told})"
    return quoted(node)


def quoted(node: Operand) -> str:
    """The operand as the text it is read from.

    Raises:
        ValueError: it cannot be written alone.
    """
    text = operand_text(node)
    if _WORD.fullmatch(text) and text != "WARP_SZ":
        number = text[0].isdigit() or text[0] == "-"
        back: Operand | None = (ImmediateOperand(text) if number else
                                RegisterOperand(text) if text[0] == "%" else LabelOperand(text))
    else:
        back = read_operand(text)
    if back != node:
        raise ValueError(f"{text!r} cannot be written as one operand")
    return literal(text)


def _vector(elements: list[str]) -> str:
    """`[a, b]`, or a slice `f[0:8]` of consecutive registers."""
    found = [_ELEMENT.fullmatch(e) for e in elements]
    if len(elements) > 4 and all(found):
        base, first = found[0][1], int(found[0][2])
        if all(m[1] == base and int(m[2]) == first + i for i, m in enumerate(found)):
            return f"{base}[{first}:{first + len(elements)}]"
    return f"[{', '.join(elements)}]"


def _offset(text: str, find: Find) -> str | None:
    """An offset as Python: a number, a register, a list of coordinates, a tuple of what stands behind commas."""
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


def guard(predicate: Predicate | None, find: Find) -> str | None:
    """The guard as the value of `pred=`; None when there is none.

    Raises:
        ValueError: the register is not declared as a predicate.
    """
    if predicate is None:
        return None
    found = find(predicate.register)
    if found is None or found[1] != "pred":
        raise ValueError(f"{predicate.register} is no declared predicate")
    return f"~{found[0]}" if predicate.negated else found[0]


def chain(opcode: str, modifiers: tuple[str, ...]) -> str | None:
    """`add.rn.f32` as attributes; None when some word is no Python name."""
    words = [opcode, *(m[1:] for m in modifiers)]
    names = [python_word(word) if word else "" for word in words]
    good = all(n.isidentifier() and ptx_word(n) == w and not (n[:2] == n[-2:] == "__")
               for n, w in zip(names, words, strict=True))
    return ".".join(names) if good else None
