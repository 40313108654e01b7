"""Binding: select the form of an instruction and assign its operands."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx import isa
from pyptx._frozen import frozen
from pyptx.errors import FormError
from pyptx.ir.constants import constant_value
from pyptx.ir.nodes import Instruction
from pyptx.ir.operands import ImmediateOperand, Operand, ParenthesizedOperand, VectorOperand
from pyptx.isa import Form, Match, form_needs
from pyptx.isa.targets import Needs
from pyptx.validate._messages import Problem, range_text
from pyptx.validate._operand_kinds import Kind, TypeOf, operand_kind
from pyptx.validate._operand_matching import MatchedOperand, Path, match_operands, operand_at
from pyptx.validate._operand_types import type_problem

__all__ = ["Bound", "bind", "require_form"]


@frozen
class Bound:
    """An instruction with its form and operands.

    Attributes:
        form: the form of the ISA table.
        choices: slot -> choice without dot, None for an absent optional slot.
        operands: operand name -> operand; absent operands are missing. The parts of a tensor address `[tm, {c}]`
            have entries of their own, and `tm` is the AddressOperand that has it as base.
        types: operand name -> PTX type; "u64" or "u32" for addresses, "" for operands without a type.
        needs: targets and versions that support it, as alternatives.
    """

    form: Form
    choices: dict[str, str | None]
    operands: dict[str, Operand]
    types: dict[str, str]
    needs: tuple[Needs, ...]

    def __getitem__(self, name: str) -> Operand:
        return self.operands[name]


@frozen
class _Plan:
    """Binding of all instructions with the same mnemonic and operand kinds."""

    form: Form
    choices: dict[str, str | None]
    types: dict[str, str]
    needs: tuple[Needs, ...]
    simple: tuple[tuple[str, int], ...]  # operands that are a whole operand of the instruction
    nested: tuple[tuple[str, Path], ...]  # operands inside an operand of the instruction
    values: tuple[tuple[str, str], ...]  # operands with a restricted range of numbers


_plans: dict[tuple, _Plan | Problem] = {}


def bind(instruction: Instruction, type_of: TypeOf) -> Bound:
    """Bind an instruction to its form in the ISA table.

    Args:
        type_of: register name -> declared type, None for other names.
    Raises:
        FormError: No form matches, or a number is out of range.
    """
    plan, operands = _plan_of(instruction, type_of), instruction.operands
    found = {name: operands[at] for name, at in plan.simple}
    for name, path in plan.nested:
        found[name] = operand_at(operands, path)
    for name, allowed in plan.values:
        if allowed[-1].isalpha():  # the upper bound is another operand
            low, _, other = allowed.partition("..")
            bound = found[other]
            value = constant_value(bound.text) if isinstance(bound, ImmediateOperand) else None
            if value is None:
                continue
            allowed = f"{low}..{value}"
        _check_value(instruction, name, found[name], allowed)
    return Bound(plan.form, plan.choices, found, plan.types, plan.needs)


def require_form(instruction: Instruction, type_of: TypeOf) -> None:
    """Raise the FormError of `bind`, if any, without the work of assigning operands."""
    if _plan_of(instruction, type_of).values:
        bind(instruction, type_of)


def _plan_of(instruction: Instruction, type_of: TypeOf) -> _Plan:
    """Return the plan of an instruction, from the cache; raise the FormError if no form fits."""
    key = (
        instruction.opcode,
        instruction.modifiers,
        tuple([operand_kind(operand, type_of) for operand in instruction.operands]),
    )
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = _plan(*key)
    if isinstance(plan, Problem):
        raise FormError(plan.text(instruction), at=instruction.place, hint=plan.hint)
    return plan


def _check_value(instruction: Instruction, name: str, operand: Operand, allowed: str) -> None:
    for text in _numbers(operand):
        value = constant_value(text)
        if value is not None and not _in_range(value, allowed):
            raise FormError(
                f"{instruction.mnemonic}: {name} is {text}; expected {range_text(allowed)}", at=instruction.place
            )


def _numbers(operand: Operand) -> Iterator[str]:
    if isinstance(operand, ImmediateOperand):
        yield operand.text
    elif isinstance(operand, (VectorOperand, ParenthesizedOperand)):
        for element in operand.elements:
            yield from _numbers(element)


def _in_range(value: int, allowed: str) -> bool:
    """Return True if a number is in a range "0..15", "4/8/16", "*16" or "24..256*8"."""
    span, _, multiple = allowed.partition("*")
    if multiple and value % int(multiple):
        return False
    if not span:
        return True
    low, dots, high = span.partition("..")
    if dots:
        return int(low) <= value <= int(high)
    return value in map(int, span.split("/"))


def _plan(opcode: str, modifiers: tuple[str, ...], kinds: tuple[Kind, ...]) -> _Plan | Problem:
    """Select the form for a mnemonic and operand kinds; the problem if none fits."""
    matches = isa.match(opcode, modifiers)
    candidates = []
    for match in matches:
        matched = match_operands(match, kinds)
        if matched is not None:
            candidates.append((match, matched))
    if not candidates:
        from pyptx.validate._form_errors import no_matching_form  # what a valid program does not need

        return no_matching_form(opcode, modifiers, kinds, matches)
    problems = []
    for match, matched in candidates:
        problem = type_problem(match, matched)
        if problem is None:
            return _accepted(match, matched)
        problems.append(problem)
    return problems[0]


def _accepted(match: Match, matched: tuple[MatchedOperand, ...]) -> _Plan:
    form, choices = match.form, match.choices
    types = {}
    for found in matched:
        operand = form.operands[found.name]
        type_ = form.type_of(operand, choices)
        if operand.kind == "address":
            type_ = "u64" if type_ == "addr" else "u32"
        types[found.name] = type_
    values = tuple(
        (found.name, form.operands[found.name].values)
        for found in matched
        if form.operands[found.name].values not in ("", "float") and "int" in found.kinds
    )
    simple = tuple((found.name, int(found.path[0])) for found in matched if len(found.path) == 1)
    nested = tuple((found.name, found.path) for found in matched if len(found.path) > 1)
    gated = frozenset(found.name for found in matched if form.operands[found.name].gate.text)
    return _Plan(form, choices, types, form_needs(form, choices, gated), simple, nested, values)
