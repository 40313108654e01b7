"""The lowest `.version` of a module, which every trace asks for: by mnemonics, without forms and checks where that suffices."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache
from itertools import chain

from pyptx import isa
from pyptx.errors import FormError
from pyptx.ir.nodes import Instruction, Module, RegisterOperand, VectorOperand
from pyptx.ir.visit import statements
from pyptx.isa import form_needs, registers, satisfied_needs, targets
from pyptx.isa._versions import may_need_later
from pyptx.isa.targets import ANYWHERE, Target

__all__ = ["required_version"]


def required_version(module: Module, at_least: tuple[int, int] = ANYWHERE.ptx) -> tuple[int, int]:
    """Return the lowest `.version` that the module's target and instructions need; invalid instructions are ignored.

    Args:
        at_least: a version below which the result is of no interest: it is this one then, found in less time.
    """
    chip = targets.parse(module.target.targets[0])
    version = max(chip.first_ptx, at_least)
    mnemonics: set[tuple[str, tuple[str, ...], int]] = set()
    names: set[str] = set()
    for node in chain(module.directives, *(statements(function.body) for function in module.functions)):
        if isinstance(node, Instruction):
            mnemonics.add((node.opcode, node.modifiers, len(node.operands)))
            for operand in node.operands:
                if type(operand) is RegisterOperand:
                    names.add(operand.name)
                elif type(operand) is VectorOperand:
                    names.update([element.name for element in operand.elements if isinstance(element, RegisterOperand)])
    by_operands = set()  # mnemonics whose version depends on their operands
    for opcode, modifiers, count in mnemonics:
        if not may_need_later(opcode, modifiers, count, at_least):
            continue
        wanted = _version_of_mnemonic(opcode, modifiers, chip)
        if wanted is None:
            by_operands.add((opcode, modifiers))
        else:
            version = max(version, wanted)
    for name in names:
        row = registers.lookup(name)
        if row is not None and row.needs.on(chip):
            version = max(version, row.needs.ptx)
    return max(version, _version_by_operands(module, by_operands, chip)) if by_operands else version


def _version_by_operands(
    module: Module, mnemonics: Container[tuple[str, tuple[str, ...]]], chip: Target
) -> tuple[int, int]:
    """Return the version that the instructions with these mnemonics need."""
    from pyptx.validate._bind import bind  # late: the first trace of a process rarely needs operands
    from pyptx.validate._symbols import walk

    version = chip.first_ptx
    for instruction, scope in walk(module):
        if isinstance(instruction, Instruction) and (instruction.opcode, instruction.modifiers) in mnemonics:
            try:
                best = satisfied_needs(bind(instruction, scope.type_of).needs, chip)
            except FormError:
                continue
            if best is not None:
                version = max(version, best.ptx)
    return version


@lru_cache(maxsize=4096)
def _version_of_mnemonic(opcode: str, modifiers: tuple[str, ...], chip: Target) -> tuple[int, int] | None:
    """Return the version a mnemonic needs on a target; None when it depends on the operands."""
    versions = set()
    for match in isa.match(opcode, modifiers):
        best = satisfied_needs(form_needs(match.form, match.choices, frozenset()), chip)
        if best is None or any(operand.gate.text for operand in match.form.operands.values()):
            return None
        versions.add(best.ptx)
    return versions.pop() if len(versions) == 1 else None
