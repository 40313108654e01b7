"""A repeated group of instructions as a Python loop over rolled arrays."""

from __future__ import annotations

from pyptx.codegen.expressions import chain, expression
from pyptx.codegen.layout import literal
from pyptx.codegen.operators import number
from pyptx.codegen.rolls import Roll, numbers_of
from pyptx.codegen.uses import names_of
from pyptx.codegen.variables import NotFluent, Variables
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

__all__ = ["write_roll"]


def write_roll(roll: Roll, variables: Variables) -> None:
    """Write the loop; what its first round names is declared before."""
    variables.flush()
    for node, steps in zip(roll.group, roll.steps, strict=True):
        for (base, value), step in zip(numbers_of(node, variables.indexed), steps, strict=True):
            if base is not None and not step:
                variables.define(f"{base}{value}")
        for name in names_of(node):
            if not variables.indexed(name):
                variables.define(name)
    variables.lines.add(f"for i in range({roll.count}):")
    variables.lines.depth += 1
    for node, steps in zip(roll.group, roll.steps, strict=True):
        head, arguments = _Step(variables, list(steps)).call(node)
        variables.lines.call(head, arguments)
    variables.lines.depth -= 1


class _Step:
    """Writes one instruction of a group: numbers that go up are sums with the loop's counter."""

    def __init__(self, variables: Variables, steps: list[int]):
        self.variables, self.steps = variables, steps

    def call(self, node: Instruction) -> tuple[str, list[str]]:
        words = chain(node.opcode, node.modifiers)
        if words is None:
            raise NotFluent(node.mnemonic)
        keyword = []
        if node.predicate is not None:
            keyword = [f"pred={'~' if node.predicate.negated else ''}{self.register(node.predicate.register)}"]
        return f"ptx.inst.{words}(", [*(self.text(o) for o in node.operands), *keyword]

    def register(self, name: str) -> str:
        if not self.variables.indexed(name):
            return self.variables.find(name)[0] if self.variables.find(name) else literal(name)
        step = self.steps.pop(0)
        if not step:
            return self.variables.find(name)[0]
        variable, index = self.variables.arrays[name]
        return f"{variable}[{_affine(index, step)}]"

    def text(self, o: Operand) -> str:
        match o:
            case RegisterOperand(name) | LabelOperand(name):
                return self.register(name)
            case ImmediateOperand(text) if number(text, "b32") is not None:
                return _affine(int(text), self.steps.pop(0))
            case AddressOperand(base, offset, suffix=""):
                shown = self.register(base)
                if offset is not None and number(offset, "b32") is None:
                    rest = expression(AddressOperand("%", offset), self.variables.find)
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
        return self.variables.checked(expression(o, self.variables.find))


def _affine(start: int, step: int) -> str:
    if not step:
        return str(start)
    moved = "i" if step == 1 else f"{step} * i"
    return moved if not start else f"{moved} + {start}" if start > 0 else f"{moved} - {-start}"
