"""The table of instructions in the shape of modifier groups and operand counts.

Everything here is read off `isa.OPS`; there is no second list of opcodes. Forms that differ only in operand types fall
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from pyptx import isa
from pyptx._value import value
from pyptx.isa import Form

__all__ = ["INSTRUCTIONS", "InstructionSpec", "ModifierGroup", "get_specs", "register_overload"]


@value
class ModifierGroup:
    """Modifiers of which an instruction has one, with their dots; at most one unless `required`."""

    name: str
    options: tuple[str, ...]
    required: bool = False


@value
class InstructionSpec:
    """One spelling of an opcode: its groups in order, and how many operands it takes."""

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
    """Every spelling of an opcode, those of `register_overload` last; empty when there is none."""
    return (*_from_table(opcode), *_OVERLOADS.get(opcode, ()))


def register_overload(spec: InstructionSpec) -> None:
    """Accept a further spelling in `validate_instruction`. The table, and with it compiling, does not change."""
    _OVERLOADS.setdefault(spec.opcode, []).append(spec)


@cache
def _from_table(opcode: str) -> tuple[InstructionSpec, ...]:
    op = isa.OPS.get(opcode)
    return tuple(dict.fromkeys(_spec(form) for form in op.forms)) if op else ()


def _spec(form: Form) -> InstructionSpec:
    optional = sum(1 for item in form.items if item.optional)
    first = form.needs[0]
    return InstructionSpec(form.op.opcode, tuple(_groups(form)), form.syntax.partition("  ")[2],
                           len(form.items) - optional, len(form.items), form.op.summary, tuple(first.ptx),
                           first.text or None)


def _groups(form: Form) -> Iterator[ModifierGroup]:
    for word in form.words:
        if word.slot is None:
            yield ModifierGroup(word.text.lstrip("."), ("." + word.text.lstrip("."),), not word.optional)
        else:
            slot = form.slots[word.slot]
            before, after = (getattr(word, name, "") or "" for name in ("before", "after"))
            options = dict.fromkeys(f".{before.lstrip('.')}{choice}{after}" for choice in slot.choices)
            yield ModifierGroup(slot.name, tuple(options), not slot.optional)


class _Instructions(Mapping):
    """Opcode -> its first spelling."""

    def __getitem__(self, opcode: str) -> InstructionSpec:
        specs = get_specs(opcode)
        if not specs:
            raise KeyError(opcode)
        return specs[0]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*isa.OPS, *_OVERLOADS)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


INSTRUCTIONS: Mapping[str, InstructionSpec] = _Instructions()
