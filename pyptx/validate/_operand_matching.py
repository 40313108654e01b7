"""Matching of the operands of an instruction to those of a form, by kind; of types, only predicates count."""

from __future__ import annotations

from collections.abc import Mapping

from pyptx import isa
from pyptx._frozen import frozen
from pyptx.ir.operands import (
    AddressOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    VectorOperand,
)
from pyptx.isa import Form, Match
from pyptx.isa._syntax import Item, Part
from pyptx.validate._operand_kinds import NUMBER_KINDS, REGISTER_TYPES, Kind, address_parts

__all__ = ["MatchedOperand", "expected_items", "match_operands", "match_part", "operand_at", "operand_counts"]

Choices = Mapping[str, str | None]
Path = tuple[int | str, ...]
"""Position of an operand inside an instruction: an index, then "left", "right" or the index of an element."""

# ptxas expands these to instruction sequences on some targets, and refuses special registers there.
_EXPANDED = frozenset(("mma", "wmma", "wgmma", "tcgen05", "spcompress", "spdecompress"))


@frozen
class MatchedOperand:
    """An operand of a form with its position in the instruction and the kinds found there.

    `bare` is True for a one-element vector written without braces.
    """

    name: str
    path: Path
    kinds: tuple[Kind, ...]
    bare: bool = False


def operand_at(operands: tuple[Operand, ...], path: Path) -> Operand:
    """Return the operand at `path`."""
    at: Operand | tuple[Operand, ...] = operands
    for step in path:
        if isinstance(at, PipeOperand):
            at = at.left if step == "left" else at.right
        elif isinstance(step, int):
            if isinstance(at, AddressOperand):
                at = address_parts(at.offset or "")[1][step - 1]
            elif isinstance(at, (VectorOperand, ParenthesizedOperand)):
                at = at.elements[step]
            elif isinstance(at, tuple):
                at = at[step]
    assert not isinstance(at, tuple), "a path is not empty"
    return at


def expected_items(match: Match) -> list[Item]:
    """Return the operands of a form that are present with these choices."""
    present = {"." + word for word in match.choices.values() if word}
    present |= {w.text for w in match.form.words if not w.optional and w.slot is None}
    return [item for item in match.form.items if not item.condition or item.condition in present]


def operand_counts(items: list[Item]) -> range:
    """Return the possible numbers of operands."""
    return range(sum(1 for item in items if not item.optional or item.condition), len(items) + 1)


def match_operands(match: Match, kinds: tuple[Kind, ...]) -> tuple[MatchedOperand, ...] | None:
    """Match the operands of a form to operand kinds; None when they do not fit."""
    form, choices = match.form, match.choices
    items = expected_items(match)
    if len(kinds) not in operand_counts(items):
        return None

    def assign(i: int, at: int) -> list[MatchedOperand] | None:
        if i == len(items):
            return [] if at == len(kinds) else None
        item = items[i]
        if at < len(kinds):
            found = match_part(item.part, kinds[at], (at,), form, choices)
            if found is not None:
                rest = assign(i + 1, at + 1)
                if rest is not None:
                    return found + rest
        if item.optional and not item.condition:
            return assign(i + 1, at)
        return None

    matched = assign(0, 0)
    if matched is None:
        return None
    merged: dict[str, MatchedOperand] = {}
    for operand in matched:
        known = merged.get(operand.name)
        if known is not None:
            operand = MatchedOperand(operand.name, known.path, known.kinds + operand.kinds)
        merged[operand.name] = operand
    return tuple(merged.values())


def match_part(part: Part, given: Kind, path: Path, form: Form, choices: Choices) -> list[MatchedOperand] | None:
    """Match a part of a form to an operand kind; None when it does not fit."""
    kind = part.kind
    if kind == "operand":
        return (
            [MatchedOperand(part.name, path, (given,))]
            if _fits(form.operands[part.name], given, form, choices)
            else None
        )
    if kind == "literal":
        return [] if given == "_" and part.name == "_" else None
    if kind == "pair":
        if isinstance(given, tuple) and given[0] == "|":
            left = match_part(part.parts[0], given[1], (*path, "left"), form, choices)
            right = match_part(part.parts[1], given[2], (*path, "right"), form, choices)
            return left + right if left is not None and right is not None else None
        return match_part(part.parts[0], given, path, form, choices) if part.optional else None
    if kind == "vector" and part.count and form.operands[part.parts[0].name].alone and given in REGISTER_TYPES:
        operand = form.operands[part.parts[0].name]
        return [MatchedOperand(operand.name, path, (given,), True)] if _fits(operand, given, form, choices) else None
    if not isinstance(given, tuple):
        return None
    if kind == "vector" and given[0] == "{":
        return _match_vector(part, given, path, form, choices)
    if kind == "address" and given[0] in ("[", "[]") and not part.suffix:
        return _match_address(part, given, path, form, choices)
    if kind == "list" and given[0] == "(":
        return [MatchedOperand(part.parts[0].name, path, (given,))]
    return None


def _match_vector(
    part: Part, given: tuple[Kind, ...], path: Path, form: Form, choices: Choices
) -> list[MatchedOperand] | None:
    elements = given[1:]
    if any(isinstance(element, tuple) and element[0] == "+" for element in elements):
        return None
    special = any(isinstance(element, tuple) and element[0] == "%" for element in elements)
    if special and any(element in NUMBER_KINDS for element in elements):
        return None
    if not part.count:
        if len(elements) != len(part.parts):
            return None
        matched = []
        for i, (inner, element) in enumerate(zip(part.parts, elements, strict=True)):
            found = match_part(inner, element, (*path, i), form, choices)
            if found is None:
                return None
            matched += found
        return matched
    operand = form.operands[part.parts[0].name]
    if len(elements) != form.count(operand, choices):
        return None
    # A mixed vector may also hold numbers (sources) or the sink (destinations, unless wgmma reads them, too).
    other = "int" if operand.role != "write" else "_" if form.effect != "async" else None
    register = any(element in REGISTER_TYPES for element in elements)
    for element in elements:
        if isinstance(element, tuple) and element[0] == "{":
            return None
        if not (_fits(operand, element, form, choices) or (register and element == other)):
            return None
    if not register and not special and not _numbers_fit(operand, form, choices):
        return None
    return [MatchedOperand(operand.name, path, elements)]


def _numbers_fit(operand: isa.Operand, form: Form, choices: Choices) -> bool:
    """Return True if a vector may hold numbers only: not in fragments, whose type ptxas takes from their registers."""
    if form.op.opcode == "mov" or operand.type in choices or form.effect.startswith(("load", "atomic", "reduce")):
        return True
    matrix = form.effect.startswith(("mma", "store"))
    return form.type_of(operand, choices) not in (("b32", "f32") if matrix else ("b32",))


def _match_address(
    part: Part, given: tuple[Kind, ...], path: Path, form: Form, choices: Choices
) -> list[MatchedOperand] | None:
    base = part.parts[0].name
    if len(given) - 1 != len(part.parts) or (form.operands[base].kind != "address" and given[1] == "int"):
        return None
    matched = [MatchedOperand(base, path, (given[1],))]
    for i, (inner, element) in enumerate(zip(part.parts[1:], given[2:], strict=True), 1):
        found = match_part(inner, element, (*path, i), form, choices)
        if found is None:
            return None
        matched += found
    return matched


def _fits(operand: isa.Operand, given: Kind, form: Form, choices: Choices) -> bool:
    """Return True if the kind fits the operand; of register types, only predicates count."""
    if operand.kind in ("register", "vector"):
        if isinstance(given, tuple):
            return _fits_compound(operand, given, form, choices)
        if not operand.bare:
            return False
        if given in REGISTER_TYPES:
            return given == "?" or (given == "pred") == (form.type_of(operand, choices) == "pred")
        if given == "_":
            return operand.sink
        if given == "%":
            return operand.special
        return operand.imm and given in NUMBER_KINDS
    if operand.kind == "imm":
        return given == "int" if operand.values != "float" else given in ("float", "hex")
    if operand.kind == "special":
        return given == "%"
    return given == "name" or (given == ("[]", "name") and operand.kind == "symbol")


def _fits_compound(operand: isa.Operand, given: tuple[Kind, ...], form: Form, choices: Choices) -> bool:
    """Return True if a negated, selected or braced register fits the operand."""
    predicate = form.type_of(operand, choices) == "pred"
    match given:
        case ("!", inner):
            return operand.negatable and predicate and inner in ("pred", "?")
        case ("-", inner):
            video_source = form.op.opcode == "vmad" and operand.role == "read"
            return video_source and inner != "int" and _fits(operand, inner, form, choices)
        case (".", _, str(selector)):
            return operand.selects(selector)
        case ("+", inner):  # the manual does not document these; ptxas adds the constant
            return (
                operand.kind == "register"
                and operand.role == "read"
                and inner != "%"
                and _fits(operand, inner, form, choices)
            )
        case ("%", type_name):
            expanded = form.op.opcode in _EXPANDED or form.op.name == "tex.grad"
            return type_name != "" and operand.role == "read" and not predicate and not expanded
        case ("{", inner):
            data = form.effect.startswith(("load", "store")) and (operand.role == "write" or operand.type in choices)
            return not predicate and (data or form.op.opcode == "mma") and _fits(operand, inner, form, choices)
    return False
