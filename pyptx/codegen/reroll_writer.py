"""Rolled loops as Python: `for i in range(n):` over register arrays."""

from __future__ import annotations

from pyptx.codegen.expressions import mnemonic_chain, operand_expression
from pyptx.codegen.items import RolledLoop
from pyptx.codegen.operators import python_number
from pyptx.codegen.python_source import literal
from pyptx.codegen.register_uses import instruction_names
from pyptx.codegen.reroll import number_bases
from pyptx.codegen.variables import NotExpressible, Variables
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    NegatedOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)

__all__ = ["write_rolled_loop"]


def write_rolled_loop(roll: RolledLoop, variables: Variables) -> None:
    """Write the loop, after declarations of the registers its first iteration uses."""
    variables.flush()
    for node, steps in zip(roll.group, roll.steps, strict=True):
        for (base, value), step in zip(number_bases(node, variables.indexed), steps, strict=True):
            if base is not None and not step:
                variables.define(f"{base}{value}")
        for name in instruction_names(node):
            if not variables.indexed(name):
                variables.define(name)
    variables.lines.add(f"for i in range({roll.count}):")
    variables.lines.depth += 1
    for node, steps in zip(roll.group, roll.steps, strict=True):
        head, arguments = _RolledInstruction(variables, list(steps)).call(node)
        variables.lines.call(head, arguments)
    variables.lines.depth -= 1


class _RolledInstruction:
    """Writes one instruction of a group; numbers that advance become expressions of the loop counter."""

    def __init__(self, variables: Variables, steps: list[int]):
        self.variables, self.steps = variables, steps

    def call(self, node: Instruction) -> tuple[str, list[str]]:
        words = mnemonic_chain(node.opcode, node.modifiers)
        if words is None:
            raise NotExpressible(node.mnemonic)
        keyword = []
        if node.predicate is not None:
            keyword = [f"pred={'~' if node.predicate.negated else ''}{self.register(node.predicate.register)}"]
        return f"ptx.inst.{words}(", [*(self.text(o) for o in node.operands), *keyword]

    def register(self, name: str) -> str:
        step = self.steps.pop(0) if self.variables.indexed(name) else 0
        if step:
            variable, index = self.variables.arrays[name]
            return f"{variable}[{_affine(index, step)}]"
        found = self.variables.find(name)
        return found[0] if found is not None else literal(name)

    def text(self, o: Operand) -> str:
        match o:
            case RegisterOperand(name) | LabelOperand(name):
                return self.register(name)
            case ImmediateOperand(text) if python_number(text, "b32") is not None:
                return _affine(int(text), self.steps.pop(0))
            case AddressOperand(base, offset, suffix=""):
                shown = self.register(base)
                if offset is not None and python_number(offset, "b32") is None:
                    rest = operand_expression(AddressOperand("%", offset), self.variables.find)
                    return self.variables.checked(rest.replace('"%"', shown))
                step = self.steps.pop(0)
                value = int(offset or 0)
                return f"ptx.addr({shown}, {_affine(value, step)})" if value or step else f"ptx.addr({shown})"
            case VectorOperand(elements):
                return f"[{', '.join(map(self.text, elements))}]"
            case ParenthesizedOperand(elements):
                return f"({', '.join(map(self.text, elements))},)"
            case PipeOperand(left, right):
                return f"{self.text(left)} | {self.text(right)}"
            case NegatedOperand(inner):
                return f"~{self.text(inner)}"
        return self.variables.checked(operand_expression(o, self.variables.find))


def _affine(start: int, step: int) -> str:
    if not step:
        return str(start)
    moved = "i" if step == 1 else f"{step} * i"
    return moved if not start else f"{moved} + {start}" if start > 0 else f"{moved} - {-start}"
