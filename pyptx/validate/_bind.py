"""Which form an instruction is, and which operand plays which part in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyptx import isa
from pyptx.errors import FormError
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import AddressOperand, Operand
from pyptx.isa import Form, Match
from pyptx.isa._syntax import Part
from pyptx.validate import _explain
from pyptx.validate._tokens import REGISTER_TYPES, TypeOf, address_parts, integer, token

__all__ = ["Bound", "bind"]


@dataclass(frozen=True, slots=True)
class Bound:
    """An instruction read with the table.

    Attributes:
        form: the row.
        choices: dict slot -> choice without dot, None for an absent optional one.
        operands: dict operand name -> operand of the tree; operands that are absent are too. Parts of a tensor address
            `[tm, {c}]` are there under their own names, `tm` as the AddressOperand it is the base of.
        types: dict operand name -> PTX type; "u64"/"u32" for addresses, "" for what has none.
    """

    form: Form
    choices: dict[str, str | None]
    operands: dict[str, Operand]
    types: dict[str, str]

    def __getitem__(self, name: str) -> Operand:
        return self.operands[name]


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where an operand of a form is in an instruction, and what stands there."""

    name: str
    path: tuple[int | str, ...]
    tokens: tuple


@dataclass(frozen=True, slots=True)
class _Plan:
    form: Form
    choices: dict[str, str | None]
    types: dict[str, str]
    simple: tuple[tuple[str, int], ...]                     # operands that are a whole operand of the instruction
    nested: tuple[tuple[str, tuple[int | str, ...]], ...]
    values: tuple[tuple[str, str], ...]                     # operands whose number must be one of these
    problem: _explain.Problem | None


_plans: dict[tuple, _Plan] = {}


def bind(instruction: Instruction, type_of: TypeOf) -> Bound:
    """The form of an instruction and its parts.

    Args:
        type_of: register name -> type it is declared with, None for what is no register.
    Raises:
        FormError: no form fits; the message says what was refused and what would do.
    """
    operands = instruction.operands
    key = (instruction.opcode, instruction.modifiers, tuple([token(operand, type_of) for operand in operands]))
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = _plan(*key)
    if plan.problem is not None:
        raise FormError(plan.problem.text(instruction), at=instruction.place, hint=plan.problem.hint)
    found = {name: operands[at] for name, at in plan.simple}
    for name, path in plan.nested:
        found[name] = _follow(operands, path)
    for name, allowed in plan.values:
        _check_value(instruction, plan.form, name, found[name], allowed)
    return Bound(plan.form, plan.choices, found, plan.types)


def _follow(operands: tuple[Operand, ...], path: tuple[int | str, ...]) -> Operand:
    at = operands[path[0]]
    for step in path[1:]:
        if step == "left":
            at = at.left
        elif step == "right":
            at = at.right
        elif isinstance(at, AddressOperand):
            at = address_parts(at.offset)[1][step - 1]
        else:
            at = at.elements[step]
    return at


def _check_value(instruction: Instruction, form: Form, name: str, operand: Operand, allowed: str) -> None:
    for text in _numbers(operand):
        value = integer(text)
        if value is not None and not in_range(value, allowed):
            raise FormError(f"{instruction.mnemonic}: {name} is {text}; expected {_explain.range_words(allowed)}",
                            at=instruction.place)


def _numbers(operand: Operand) -> Iterator[str]:
    text = getattr(operand, "text", None)
    if text is not None:
        yield text
    for element in getattr(operand, "elements", ()):
        yield from _numbers(element)


def in_range(value: int, allowed: str) -> bool:
    """Whether a number is one of "0..15", "4/8/16", "*16", "24..256*8"."""
    span, _, multiple = allowed.partition("*")
    if multiple and value % int(multiple):
        return False
    if not span:
        return True
    low, dots, high = span.partition("..")
    if dots:
        return int(low) <= value <= int(high)
    return value in map(int, span.split("/"))


# planning, once for each mnemonic with its operand kinds and register types ---------------------------------------

def _plan(opcode: str, modifiers: tuple[str, ...], tokens: tuple) -> _Plan:
    matches = isa.match(opcode, modifiers)
    aligned = []
    for match in matches:
        leaves = align(match, tokens)
        if leaves is not None:
            aligned.append((match, leaves))
    if not aligned:
        return _refused(_explain.no_form(opcode, modifiers, tokens, matches))
    first: _Plan | None = None
    for match, leaves in aligned:
        problem = _explain.type_problem(match, leaves)
        if problem is None:
            return _accepted(match, leaves)
        first = first or _refused(problem)
    return first


def _refused(problem: _explain.Problem) -> _Plan:
    return _Plan(None, {}, {}, (), (), (), problem)


def _accepted(match: Match, leaves: tuple[Leaf, ...]) -> _Plan:
    form, choices = match.form, match.choices
    types = {}
    for leaf in leaves:
        operand = form.operands[leaf.name]
        type_ = form.type_of(operand, choices)
        if operand.kind == "address":
            type_ = "u64" if type_ == "addr" else "u32"
        types[leaf.name] = type_
    values = tuple((leaf.name, form.operands[leaf.name].values) for leaf in leaves
                   if form.operands[leaf.name].values not in ("", "float") and "int" in leaf.tokens)
    simple = tuple((leaf.name, leaf.path[0]) for leaf in leaves if len(leaf.path) == 1)
    nested = tuple((leaf.name, leaf.path) for leaf in leaves if len(leaf.path) > 1)
    return _Plan(form, choices, types, simple, nested, values, None)


def align(match: Match, tokens: tuple) -> tuple[Leaf, ...] | None:
    """The operands of a form laid over tokens by kind; None when they do not fit. Of types, only predicates count."""
    form, choices = match.form, match.choices
    present = {"." + word for word in choices.values() if word}
    present |= {w.text for w in form.words if not w.optional and w.slot is None}
    items = [item for item in form.items if not item.condition or item.condition in present]
    required = sum(1 for item in items if not item.optional or item.condition)
    if not required <= len(tokens) <= len(items):
        return None

    def place(i: int, at: int) -> list[Leaf] | None:
        if i == len(items):
            return [] if at == len(tokens) else None
        item = items[i]
        if at < len(tokens):
            leaves = _fit(item.part, tokens[at], (at,), form, choices)
            if leaves is not None:
                rest = place(i + 1, at + 1)
                if rest is not None:
                    return leaves + rest
        if item.optional and not item.condition:
            return place(i + 1, at)
        return None

    leaves = place(0, 0)
    if leaves is None:
        return None
    merged: dict[str, Leaf] = {}
    for leaf in leaves:
        known = merged.get(leaf.name)
        merged[leaf.name] = leaf if known is None else Leaf(leaf.name, known.path, known.tokens + leaf.tokens)
    return tuple(merged.values())


def _fit(part: Part, tok, path: tuple, form: Form, choices: dict) -> list[Leaf] | None:
    kind = part.kind
    if kind == "operand":
        return [Leaf(part.name, path, (tok,))] if _fits(form.operands[part.name], tok, form, choices) else None
    if kind == "literal":
        return [] if tok == "_" and part.name == "_" else None
    if kind == "pair":
        if tok.__class__ is tuple and tok[0] == "|":
            left = _fit(part.parts[0], tok[1], (*path, "left"), form, choices)
            right = _fit(part.parts[1], tok[2], (*path, "right"), form, choices)
            return left + right if left is not None and right is not None else None
        return _fit(part.parts[0], tok, path, form, choices) if part.optional else None
    if tok.__class__ is not tuple:
        return None
    if kind == "vector" and tok[0] == "{":
        return _fit_vector(part, tok, path, form, choices)
    if kind == "address" and tok[0] == "[" and not part.suffix:
        return _fit_address(part, tok, path, form, choices)
    if kind == "list" and tok[0] == "(":
        return [Leaf(part.parts[0].name, path, (tok,))]
    return None


def _fit_vector(part: Part, tok: tuple, path: tuple, form: Form, choices: dict) -> list[Leaf] | None:
    if not part.count:
        if len(tok) - 1 != len(part.parts):
            return None
        leaves = []
        for i, (element, inner) in enumerate(zip(part.parts, tok[1:], strict=True)):
            found = _fit(element, inner, (*path, i), form, choices)
            if found is None:
                return None
            leaves += found
        return leaves
    operand = form.operands[part.parts[0].name]
    if len(tok) - 1 != form.count(operand, choices):
        return None
    written = operand.role == "write"
    register = any(inner in REGISTER_TYPES for inner in tok[1:])
    for inner in tok[1:]:
        if not (_fits(operand, inner, form, choices) or (inner == "_" if written else register and inner == "int")):
            return None
    return [Leaf(operand.name, path, tok[1:])]


def _fit_address(part: Part, tok: tuple, path: tuple, form: Form, choices: dict) -> list[Leaf] | None:
    if len(tok) - 1 != len(part.parts) or (form.operands[part.parts[0].name].kind != "address" and tok[1] == "int"):
        return None
    leaves = [Leaf(part.parts[0].name, path, (tok[1],))]
    for i, (element, inner) in enumerate(zip(part.parts[1:], tok[2:], strict=True), 1):
        found = _fit(element, inner, (*path, i), form, choices)
        if found is None:
            return None
        leaves += found
    return leaves


def _fits(operand: isa.Operand, tok, form: Form, choices: dict) -> bool:
    """Whether a token is of the operand's kind; for registers only predicate or not."""
    kind = operand.kind
    if kind in ("register", "vector"):
        predicate = form.type_of(operand, choices) == "pred"
        if tok.__class__ is tuple:
            if tok[0] == "!":
                return operand.negatable and predicate and tok[1] in ("pred", "?")
            if tok[0] == "-":
                return (form.op.opcode == "vmad" and operand.role == "read" and tok[1] != "int"
                        and _fits(operand, tok[1], form, choices))
            if tok[0] == ".":
                return operand.selects(tok[2]) if operand.selectors else tok[2] in "xyzwrgba"
            return tok[0] == "{" and len(tok) == 2 and \
                (form.effect.startswith(("load", "store")) or form.op.opcode == "mma") and \
                _fits(operand, tok[1], form, choices)
        if not operand.bare:
            return False
        if tok in REGISTER_TYPES:
            return tok == "?" or (tok == "pred") == predicate
        if tok == "_":
            return operand.sink
        if tok == "%":
            return operand.special
        return operand.imm and tok in ("int", "float", "hex")
    if kind == "imm":
        return tok == "int" if operand.values != "float" else tok in ("float", "hex")
    if kind == "special":
        return tok == "%"
    return tok in ("name", ("[", "name"))
