"""Checking the spelling of one instruction: its modifiers and how many operands it has.

Order, operand types, targets and versions are not looked at here; `pyptx.validate` reads a whole module for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

from pyptx._value import value
from pyptx.errors import PtxValidationError
from pyptx.ir.nodes import Instruction
from pyptx.spec.ptx import InstructionSpec, get_specs

__all__ = ["UnvalidatedInstructionWarning", "ValidationError", "ValidationIssue", "validate_instruction",
           "validate_or_raise"]


class UnvalidatedInstructionWarning(UserWarning):
    """An instruction the table does not hold was written through a typed wrapper. Ignored unless asked for."""


warnings.simplefilter("ignore", UnvalidatedInstructionWarning)


@value
class ValidationIssue:
    """One thing wrong with one instruction. `severity` is "error" or "warning"."""

    instruction: Instruction
    message: str
    severity: str = "error"

    def __str__(self) -> str:
        return self.message


ValidationError = ValidationIssue


def validate_instruction(inst: Instruction,
                         spec_table: Mapping[str, InstructionSpec | Iterable[InstructionSpec]] | None = None
                         ) -> list[ValidationIssue]:
    """What is wrong with the spelling of an instruction, by the spelling of the table it comes nearest to.

    Args:
        spec_table: other spellings by opcode, one or several each; the table's unless given.
    Returns:
        The issues; empty when some spelling fits. An opcode nobody knows is one issue of severity "warning".
    """
    if spec_table is None:
        specs = get_specs(inst.opcode)
    else:
        found = spec_table.get(inst.opcode, ())
        specs = (found,) if isinstance(found, InstructionSpec) else tuple(found)
    if not specs:
        return [ValidationIssue(inst, f"Unknown opcode {inst.opcode!r}", "warning")]
    messages = min((_against(inst, spec) for spec in specs), key=lambda found: (len(found), _misspelled(found)))
    return [ValidationIssue(inst, message) for message in messages]


def validate_or_raise(inst: Instruction) -> list[ValidationIssue]:
    """`validate_instruction`, raising its errors and warning of its warnings.

    Raises:
        PtxValidationError: no spelling fits.
    """
    issues = validate_instruction(inst)
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors:
        raise PtxValidationError(errors, instruction=inst.mnemonic, at=inst.place)
    for issue in issues:
        warnings.warn(f"{inst.mnemonic}: {issue.message}", UnvalidatedInstructionWarning, stacklevel=2)
    return issues


def _misspelled(messages: list[str]) -> int:
    """Of two spellings with as many faults, the one whose modifiers fit is meant."""
    return sum(message.startswith("Unrecognized") for message in messages)


def _against(inst: Instruction, spec: InstructionSpec) -> list[str]:
    """The faults of an instruction against one spelling."""
    left = list(inst.modifiers)
    missing = []
    for group in spec.modifier_groups:
        fits = next((m for m in left if m in group.options), None)
        if fits is not None:
            left.remove(fits)
        elif group.required:
            missing.append(group)
    messages = []
    for modifier in left:
        meant = missing.pop(0) if missing else next((g for g in spec.modifier_groups if len(g.options) > 1), None)
        where = f"; group {meant.name!r} takes {', '.join(meant.options)}" if meant else ""
        messages.append(f"Unrecognized modifier {modifier!r}{where}")
    messages += [f"Missing required modifier: group {g.name!r} takes {', '.join(g.options)}" for g in missing]
    count = len(inst.operands)
    if count < spec.min_operands:
        messages.append(f"Too few operands: {count} given, {spec.operand_pattern!r} has {spec.min_operands}")
    elif count > spec.max_operands:
        messages.append(f"Too many operands: {count} given, {spec.operand_pattern!r} has {spec.max_operands}")
    return messages
