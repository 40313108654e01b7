"""Instructions as readable Python: an operator, a wrapper that returns a value, or a call."""

from __future__ import annotations

from pyptx.codegen.body_writer import call
from pyptx.codegen.call_writer import CallWriter
from pyptx.codegen.expressions import mnemonic_chain
from pyptx.codegen.operators import ATOM, COMPARES, Term, match_operator, python_number
from pyptx.codegen.patterns import STATEMENT_WRAPPERS, VALUE_WRAPPERS
from pyptx.codegen.python_source import literal
from pyptx.codegen.register_uses import instruction_names
from pyptx.codegen.variables import NotExpressible
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
        calls: writer of calls and expressions.
        params: scalar parameters of the kernel.
    """

    def __init__(self, calls: CallWriter, params: frozenset[str]):
        self.calls, self.variables, self.params = calls, calls.variables, params

    def write(self, node: Instruction) -> None:
        """Write an instruction, or keep its result pending."""
        result = self._result(node)
        if result is not None and self.variables.allow("value"):
            self.variables.assign(result, self._value(node, result))
            return
        if self._in_place(node):
            return
        self.variables.define_all(node)
        wrapper = STATEMENT_WRAPPERS.get(node.mnemonic)
        if wrapper is not None and not _composed(node):
            self.calls.statement(wrapper, node.operands, node.predicate, unwrap=wrapper.startswith("ptx.mbarrier"))
            return
        match node:
            case Instruction("bra", (), (LabelOperand(target),)) if target not in self.variables.types_of:
                self.calls.statement("ptx.bra", node.operands, node.predicate)
            case Instruction("ret", (), ()):
                self.calls.statement("ptx.ret", (), node.predicate)
            case _:
                words = mnemonic_chain(node.opcode, node.modifiers)
                if words is None:
                    if any(True for _ in self.variables.of(node)):
                        raise NotExpressible(node.mnemonic)
                    self.variables.flush()
                    head, arguments = call(node, self.variables.find)
                    self.variables.lines.call(head, arguments)
                else:
                    self.calls.statement(f"ptx.inst.{words}", node.operands, node.predicate)

    def _in_place(self, node: Instruction) -> bool:
        """Write `x += y` for an instruction whose destination is its left operand."""
        variables = self.variables
        found = match_operator(node, variables.dtypes) if len(node.operands) == 3 else None
        if found is None or node.operands[0] != node.operands[1] or not variables.allow("value"):
            return False
        symbol, left, right = found.symbol, found.left, found.right
        if right is None or symbol in COMPARES.values() or symbol[0] == "." or getattr(right, "name", "") == left.name:
            return False
        variables.define_all(node)
        if any(name == left.name for name, _ in variables.pending):
            variables.flush()
        term = self.calls.terms([right], lambda terms: terms[0].text, numbers=variables.dtypes[left.name])
        variables.flush()
        variables.lines.add(f"{variables.expressions[left.name]} {symbol}= {term.text}")
        return True

    def _result(self, node: Instruction) -> str | None:
        """Return the destination if the instruction is the first use of that register, else None."""
        if not node.operands or not isinstance(node.operands[0], (RegisterOperand, LabelOperand)):
            return None
        name = node.operands[0].name
        if name not in self.variables.types_of or self.variables.known(name):
            return None
        if list(instruction_names(node)).count(name) != 1:
            return None
        return name

    def _value(self, node: Instruction, result: str) -> Term:
        """Return the expression that computes an instruction's result."""
        variables = self.variables
        if not all(variables.known(name) for name in variables.of(node) if name != result):
            variables.define_all(node, skip=result)
        term = self._operator(node, result)
        if term is None and node.predicate is None:
            term = self._move(node, result) or self._wrapped(node, result)
        if term is not None:
            return term
        words, dtype = mnemonic_chain(node.opcode, node.modifiers), variables.dtypes[result]
        if words is None:
            raise NotExpressible(node.mnemonic)
        variables.types.add(dtype)
        return self.calls.call(f"ptx.inst.{words}", [f"reg.scalar({dtype})"], node.operands[1:], node.predicate, dtype)

    def _operator(self, node: Instruction, result: str) -> Term | None:
        """Return an operator expression such as `a + b` if the result can have its type."""
        variables, found = self.variables, match_operator(node, self.variables.dtypes)
        if found is None:
            return None
        symbol, precedence, dtype, left_operand, right_operand = found
        if not self._may_be(result, dtype) or (dtype == "pred" != variables.dtypes[result]):
            return None
        variables.dtypes[result] = dtype

        def joined(terms: list[Term]) -> str:
            if len(terms) == 1:
                return f"{symbol}{terms[0].inside(ATOM)}"
            left, right = terms
            if symbol[0] == ".":
                return f"{left.inside(ATOM)}{symbol}({right.text})"
            strict = 2 if precedence == 1 else precedence
            return f"{left.inside(strict)} {symbol} {right.inside(precedence + 1)}"

        operands = [left_operand] if right_operand is None else [left_operand, right_operand]
        return self.calls.terms(
            operands, joined, precedence=precedence, dtype=dtype, numbers=variables.dtypes[left_operand.name]
        )

    def _may_be(self, result: str, dtype: str) -> bool:
        """Return True if the result of an instruction can have type `dtype`."""
        now = self.variables.dtypes[result]
        return dtype == now or self.variables.free(result, now, dtype)

    def _move(self, node: Instruction, result: str) -> Term | None:
        """Return the expression for a mov of a number or register, or a load of a parameter."""
        variables, dtype = self.variables, self.variables.dtypes[result]
        match node:
            case Instruction("mov", (word,), (_, ImmediateOperand(text))) if word != ".pred" and dtype[1:] == word[2:]:
                rendered = python_number(text, dtype)
                if dtype[0] == "f" and rendered is None:
                    return None
                variables.types.add(dtype)
                return Term(f"reg.scalar({dtype}, {rendered if rendered is not None else literal(text)})", ATOM, dtype)
            case Instruction("mov", (word,), (_, RegisterOperand(source) | LabelOperand(source))) if (
                word != ".pred" and dtype[1:] == word[2:]
            ):
                if (dtype[0] == "f" and variables.dtypes.get(source, "b")[0] not in "bf") or (
                    dtype[0] in "us" and variables.dtypes.get(source, "b")[0] == "f"
                ):
                    return None
                variables.types.add(dtype)
                return self.calls.call("reg.from_", [], node.operands[1:], None, dtype, last=[dtype])
            case Instruction("ld", (".param", word), (_, AddressOperand(base, None | "0", suffix=""))) if (
                word[2:] == dtype[1:] and base in self.params
            ):
                variables.types.add(dtype)
                return Term(f"ptx.param({dtype}, {literal(base)})", ATOM, dtype)
        return None

    def _wrapped(self, node: Instruction, result: str) -> Term | None:
        """Return the call of a wrapper that returns a new register."""
        variables = self.variables
        wrapper = VALUE_WRAPPERS.get(node.mnemonic)
        if wrapper is None or _composed(node):
            return None
        name, dtype = wrapper
        if dtype == "left":
            named = [o.name for o in node.operands if isinstance(o, (RegisterOperand, LabelOperand))]
            dtype = next((variables.dtypes[n] for n in named[1:] if n in variables.dtypes), "")
            if (
                dtype not in _WORDS
                or variables.dtypes[result] not in _WORDS
                or any(n not in variables.dtypes for n in named)
            ):
                return None
        if not self._may_be(result, dtype):
            return None
        variables.dtypes[result] = dtype
        return self.calls.call(name, [], node.operands[1:], None, dtype, unwrap=name.startswith("ptx.mbarrier"))


def _composed(node: Instruction) -> bool:
    """Return True if an operand consists of several registers."""
    return any(isinstance(o, (VectorOperand, PipeOperand)) for o in node.operands)
