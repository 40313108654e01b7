"""Instruction specs of the public 0.1 API: modifier groups and operand counts, and checks against them.

`pyptx.spec` re-exports these names. New code uses `pyptx.validate`, which also checks the order of modifiers, operand
types, targets and versions. All specs are derived from `isa.OPS`; forms that differ only in operand types share a spec.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from pyptx import isa
from pyptx._frozen import frozen
from pyptx.errors import PtxValidationError, UnknownNameError
from pyptx.ir.nodes import Instruction
from pyptx.isa import Form

__all__ = [
    "INSTRUCTIONS",
    "InstructionSpec",
    "ModifierGroup",
    "PtxValidationError",
    "UnvalidatedInstructionWarning",
    "ValidationError",
    "ValidationIssue",
    "get_specs",
    "is_strict",
    "register_overload",
    "set_strict",
    "strict",
    "validate_instruction",
    "validate_or_raise",
]


@frozen
class ModifierGroup:
    """Alternative modifiers, with their dots; an instruction has one of them, or none unless `required`."""

    name: str
    options: tuple[str, ...]
    required: bool = False


@frozen
class InstructionSpec:
    """Spec of an opcode: its modifier groups in order, and its number of operands."""

    opcode: str
    modifier_groups: tuple[ModifierGroup, ...] = ()
    operand_pattern: str = ""
    min_operands: int = 0
    max_operands: int = 0
    description: str = ""
    since_version: tuple[int, int] = (1, 0)
    arch: str | None = None


_OVERLOADS: dict[str, list[InstructionSpec]] = {}


def get_specs(opcode: str) -> tuple[InstructionSpec, ...]:
    """Return all specs of an opcode, those of `register_overload` last; empty for an unknown opcode."""
    return (*_from_table(opcode), *_OVERLOADS.get(opcode, ()))


def register_overload(spec: InstructionSpec) -> None:
    """Accept another spec in `validate_instruction`. The ISA table, and therefore compilation, is not affected."""
    _OVERLOADS.setdefault(spec.opcode, []).append(spec)


@cache
def _from_table(opcode: str) -> tuple[InstructionSpec, ...]:
    op = isa.op_of(opcode)
    return tuple(dict.fromkeys(_spec(form) for form in op.forms)) if op else ()


def _spec(form: Form) -> InstructionSpec:
    optional = sum(1 for item in form.items if item.optional)
    first = form.needs[0]
    return InstructionSpec(
        form.op.opcode,
        tuple(_groups(form)),
        form.syntax.partition("  ")[2],
        len(form.items) - optional,
        len(form.items),
        form.op.summary,
        first.ptx,
        first.text or None,
    )


def _groups(form: Form) -> Iterator[ModifierGroup]:
    for word in form.words:
        if word.slot is None:
            yield ModifierGroup(word.text.lstrip("."), ("." + word.text.lstrip("."),), not word.optional)
        else:
            slot = form.slots[word.slot]
            options = dict.fromkeys(f".{word.before.lstrip('.')}{choice}{word.after}" for choice in slot.choices)
            yield ModifierGroup(slot.name, tuple(options), not slot.optional)


class _Instructions(Mapping[str, InstructionSpec]):
    """Mapping from opcodes to their first spec."""

    def __getitem__(self, opcode: str) -> InstructionSpec:
        specs = get_specs(opcode)
        if not specs:
            raise UnknownNameError(opcode)
        return specs[0]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*isa.OPS, *_OVERLOADS)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


INSTRUCTIONS: Mapping[str, InstructionSpec] = _Instructions()


# checks ---------------------------------------------------------------------------------------------------------------


class UnvalidatedInstructionWarning(UserWarning):
    """A typed wrapper emitted an instruction that the ISA table does not contain. Ignored by default."""


warnings.simplefilter("ignore", UnvalidatedInstructionWarning)


@frozen
class ValidationIssue:
    """Issue of an instruction. `severity` is "error" or "warning"."""

    instruction: Instruction
    message: str
    severity: str = "error"

    def __str__(self) -> str:
        return self.message


ValidationError = ValidationIssue


def validate_instruction(
    inst: Instruction, spec_table: Mapping[str, InstructionSpec | Iterable[InstructionSpec]] | None = None
) -> list[ValidationIssue]:
    """Check the modifiers and operand count of an instruction against the closest spec of its opcode.

    Args:
        spec_table: specs by opcode, one or several each, instead of those of the ISA table.
    Returns:
        The issues; empty if a spec matches. An unknown opcode is an issue of severity "warning".
    """
    if spec_table is None:
        specs = get_specs(inst.opcode)
    else:
        found = spec_table.get(inst.opcode, ())
        specs = (found,) if isinstance(found, InstructionSpec) else tuple(found)
    if not specs:
        return [ValidationIssue(inst, f"Unknown opcode {inst.opcode!r}", "warning")]
    messages = min((_mismatches(inst, spec) for spec in specs), key=lambda found: (len(found), _unrecognized(found)))
    return [ValidationIssue(inst, message) for message in messages]


def validate_or_raise(inst: Instruction) -> list[ValidationIssue]:
    """Check an instruction like `validate_instruction`; raise its errors and issue its warnings.

    Raises:
        PtxValidationError: No spec matches.
    """
    issues = validate_instruction(inst)
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors:
        raise PtxValidationError(errors, instruction=inst.mnemonic, at=inst.place)
    for issue in issues:
        warnings.warn(f"{inst.mnemonic}: {issue.message}", UnvalidatedInstructionWarning, stacklevel=2)
    return issues


def _unrecognized(messages: list[str]) -> int:
    """Count unrecognized modifiers: of two specs with equally many mismatches, the one with fewer is closer."""
    return sum(message.startswith("Unrecognized") for message in messages)


def _mismatches(inst: Instruction, spec: InstructionSpec) -> list[str]:
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
        expected = f"; group {meant.name!r} takes {', '.join(meant.options)}" if meant else ""
        messages.append(f"Unrecognized modifier {modifier!r}{expected}")
    messages += [f"Missing required modifier: group {g.name!r} takes {', '.join(g.options)}" for g in missing]
    count = len(inst.operands)
    if count < spec.min_operands:
        messages.append(f"Too few operands: {count} given, {spec.operand_pattern!r} has {spec.min_operands}")
    elif count > spec.max_operands:
        messages.append(f"Too many operands: {count} given, {spec.operand_pattern!r} has {spec.max_operands}")
    return messages


# strictness -----------------------------------------------------------------------------------------------------------

_thread = threading.local()


def is_strict() -> bool:
    """Return True if typed wrappers raise PtxValidationError while tracing in this thread, the default."""
    return getattr(_thread, "strict", True)


def set_strict(value: bool) -> None:
    """Enable or disable errors while tracing in this thread. Compilation and launches check the module either way."""
    _thread.strict = bool(value)


@contextmanager
def strict(value: bool) -> Iterator[None]:
    """Call `set_strict(value)` for the duration of a `with` statement."""
    before = is_strict()
    set_strict(value)
    try:
        yield
    finally:
        set_strict(before)
