"""One instruction as readable Python: an operator, a wrapper that returns a value, or a call."""

from __future__ import annotations

from pyptx.codegen.body import call
from pyptx.codegen.expressions import chain
from pyptx.codegen.idioms import VALUES, WRAPPERS
from pyptx.codegen.layout import literal
from pyptx.codegen.operators import ATOM, COMPARES, Term, number, operator
from pyptx.codegen.phrases import Phrases
from pyptx.codegen.uses import names_of
from pyptx.codegen.variables import NotFluent
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    PipeOperand,
    RegisterOperand,
    VectorOperand,
)

__all__ = ["InstructionWriter"]

_WORDS = ("b32", "u32", "s32")


class InstructionWriter:
    """Writes the instructions of one function.

    Args:
        params: parameters of a kernel that are no arrays.
    """

    def __init__(self, phrases: Phrases, params: frozenset[str]):
        self.phrases, self.variables, self.params = phrases, phrases.variables, params

    def write(self, node: Instruction) -> None:
        """Write one, or keep its result pending."""
        result = self._result(node)
        if result is not None and self.variables.take("value"):
            self.variables.assign(result, self._value(node, result))
            return
        if self._in_place(node):
            return
        self.variables.define_all(node)
        wrapper = WRAPPERS.get(node.mnemonic)
        if wrapper is not None and not _composed(node):
            self.phrases.statement(wrapper, node.operands, node.predicate, unwrap=wrapper.startswith("ptx.mbarrier"))
            return
        match node:
            case Instruction("bra", (), (LabelOperand(target),)) if target not in self.variables.types_of:
                self.phrases.statement("ptx.bra", node.operands, node.predicate)
            case Instruction("ret", (), ()):
                self.phrases.statement("ptx.ret", (), node.predicate)
            case _:
                words = chain(node.opcode, node.modifiers)
                if words is None:
                    if any(True for _ in self.variables.of(node)):
                        raise NotFluent(node.mnemonic)
                    self.variables.flush()
                    head, arguments = call(node, self.variables.find)
                    self.variables.lines.call(head, arguments)
                else:
                    self.phrases.statement(f"ptx.inst.{words}", node.operands, node.predicate)

    def _in_place(self, node: Instruction) -> bool:
        """Write `x += y` for an instruction whose destination is its left operand."""
        variables = self.variables
        found = operator(node, variables.kinds) if len(node.operands) == 3 else None
        if found is None or node.operands[0] != node.operands[1] or not variables.take("value"):
            return False
        symbol, _, _, (left, right) = found
        if symbol in COMPARES.values() or symbol[0] == "." or getattr(right, "name", "") == left.name:
            return False
        variables.define_all(node)
        if any(name == left.name for name, _ in variables.pending):
            variables.flush()
        term = self.phrases.terms([right], lambda terms: terms[0].text, numbers=variables.kinds[left.name])
        variables.flush()
        variables.lines.add(f"{variables.expressions[left.name]} {symbol}= {term.text}")
        return True

    def _result(self, node: Instruction) -> str | None:
        """The register an instruction is the first to name, as its destination."""
        if not node.operands or not isinstance(node.operands[0], (RegisterOperand, LabelOperand)):
            return None
        name = node.operands[0].name
        if name not in self.variables.types_of or self.variables.known(name):
            return None
        if list(names_of(node)).count(name) != 1:
            return None
        return name

    def _value(self, node: Instruction, result: str) -> Term:
        """The expression an instruction's result is assigned from."""
        variables = self.variables
        if not all(variables.known(name) for name in variables.of(node) if name != result):
            variables.define_all(node, skip=result)
        term = self._operator(node, result)
        if term is None and node.predicate is None:
            term = self._move(node, result) or self._wrapped(node, result)
        if term is not None:
            return term
        words, kind = chain(node.opcode, node.modifiers), variables.kinds[result]
        if words is None:
            raise NotFluent(node.mnemonic)
        variables.types.add(kind)
        return self.phrases.call(f"ptx.inst.{words}", [f"reg.scalar({kind})"], node.operands[1:], node.predicate, kind)

    def _operator(self, node: Instruction, result: str) -> Term | None:
        """`a + b`, where the result may have the type that gives."""
        variables, found = self.variables, operator(node, self.variables.kinds)
        if found is None:
            return None
        symbol, binds, kind, operands = found
        if not self._may_be(result, kind) or (kind == "pred" != variables.kinds[result]):
            return None
        variables.kinds[result] = kind

        def joined(terms: list[Term]) -> str:
            if len(terms) == 1:
                return f"{symbol}{terms[0].inside(ATOM)}"
            left, right = terms
            if symbol[0] == ".":
                return f"{left.inside(ATOM)}{symbol}({right.text})"
            strict = 2 if binds == 1 else binds
            return f"{left.inside(strict)} {symbol} {right.inside(binds + 1)}"
        return self.phrases.terms(operands, joined, binds=binds, kind=kind,
                                  numbers=variables.kinds[operands[0].name])

    def _may_be(self, result: str, kind: str) -> bool:
        """Whether the result of an instruction may have a type."""
        now = self.variables.kinds[result]
        return kind == now or self.variables.free(result, now, kind)

    def _move(self, node: Instruction, result: str) -> Term | None:
        """A number, another register, a parameter."""
        variables, kind = self.variables, self.variables.kinds[result]
        match node:
            case Instruction("mov", (word,), (_, ImmediateOperand(text))) if word != ".pred" and kind[1:] == word[2:]:
                told = number(text, kind)
                if kind[0] == "f" and told is None:
                    return None
                variables.types.add(kind)
                return Term(f"reg.scalar({kind}, {told if told is not None else literal(text)})", ATOM, kind)
            case Instruction("mov", (word,), (_, RegisterOperand(source) | LabelOperand(source))) if (
                    word != ".pred" and kind[1:] == word[2:]):
                if (kind[0] == "f" and variables.kinds.get(source, "b")[0] not in "bf") or (
                        kind[0] in "us" and variables.kinds.get(source, "b")[0] == "f"):
                    return None
                variables.types.add(kind)
                return self.phrases.call("reg.from_", [], node.operands[1:], None, kind, last=[kind])
            case Instruction("ld", (".param", word), (_, AddressOperand(base, None | "0", suffix=""))) if (
                    word[2:] == kind[1:] and base in self.params):
                variables.types.add(kind)
                return Term(f"ptx.param({kind}, {literal(base)})", ATOM, kind)
        return None

    def _wrapped(self, node: Instruction, result: str) -> Term | None:
        """A wrapper that returns a new register."""
        variables = self.variables
        wrapper = VALUES.get(node.mnemonic)
        if wrapper is None or _composed(node):
            return None
        name, kind = wrapper
        if kind == "left":
            named = [o.name for o in node.operands if isinstance(o, (RegisterOperand, LabelOperand))]
            kind = next((variables.kinds[n] for n in named[1:] if n in variables.kinds), "")
            if kind not in _WORDS or variables.kinds[result] not in _WORDS or any(n not in variables.kinds
                                                                                  for n in named):
                return None
        if not self._may_be(result, kind):
            return None
        variables.kinds[result] = kind
        return self.phrases.call(name, [], node.operands[1:], None, kind, unwrap=name.startswith("ptx.mbarrier"))


def _composed(node: Instruction) -> bool:
    """Whether an operand is several registers."""
    return any(isinstance(o, (VectorOperand, PipeOperand)) for o in node.operands)
