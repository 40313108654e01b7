"""Which form an instruction is, and which operand plays which part in it."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx import isa
from pyptx._value import value
from pyptx.errors import FormError
from pyptx.ir.constants import constant_value
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import Operand
from pyptx.isa import Form, Match
from pyptx.validate._align import Leaf, align, follow
from pyptx.validate._explain import no_form
from pyptx.validate._optypes import type_problem
from pyptx.validate._problem import Problem, range_words
from pyptx.validate._tokens import TypeOf, token

__all__ = ["Bound", "bind"]


@value
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


@value
class _Plan:
    form: Form
    choices: dict[str, str | None]
    types: dict[str, str]
    simple: tuple[tuple[str, int], ...]                     # operands that are a whole operand of the instruction
    nested: tuple[tuple[str, tuple[int | str, ...]], ...]
    values: tuple[tuple[str, str], ...]                     # operands whose number must be one of these
    problem: Problem | None


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
        found[name] = follow(operands, path)
    for name, allowed in plan.values:
        if allowed[-1].isalpha():                       # up to another operand
            low, _, other = allowed.partition("..")
            allowed = f"{low}..{constant_value(found[other].text)}"
        _check_value(instruction, plan.form, name, found[name], allowed)
    return Bound(plan.form, plan.choices, found, plan.types)


def _check_value(instruction: Instruction, form: Form, name: str, operand: Operand, allowed: str) -> None:
    for text in _numbers(operand):
        value = constant_value(text)
        if value is not None and not _in_range(value, allowed):
            raise FormError(f"{instruction.mnemonic}: {name} is {text}; expected {range_words(allowed)}",
                            at=instruction.place)


def _numbers(operand: Operand) -> Iterator[str]:
    text = getattr(operand, "text", None)
    if text is not None:
        yield text
    for element in getattr(operand, "elements", ()):
        yield from _numbers(element)


def _in_range(value: int, allowed: str) -> bool:
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
        return _refused(no_form(opcode, modifiers, tokens, matches))
    first: _Plan | None = None
    for match, leaves in aligned:
        problem = type_problem(match, leaves)
        if problem is None:
            return _accepted(match, leaves)
        first = first or _refused(problem)
    return first


def _refused(problem: Problem) -> _Plan:
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
