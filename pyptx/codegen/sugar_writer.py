"""Function bodies as readable Python: operators, wrappers, `with` blocks and loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pyptx.codegen.body_writer import BodyWriter
from pyptx.codegen.call_writer import CallWriter
from pyptx.codegen.expressions import guard_expression, operand_expression
from pyptx.codegen.instruction_writer import InstructionWriter
from pyptx.codegen.items import DescriptorCall, If, Item, Loop, Range, Region, RolledLoop, Wait
from pyptx.codegen.operators import ATOM
from pyptx.codegen.python_source import Lines, literal
from pyptx.codegen.register_uses import instruction_names, instructions_of, operand_names
from pyptx.codegen.reroll_writer import write_rolled_loop
from pyptx.codegen.scopes import RegisterScopes
from pyptx.codegen.variables import NotExpressible, Variables
from pyptx.ir.nodes import Block, Instruction, Label, Predicate, RegDecl, RegisterOperand, Statement

__all__ = ["SugarWriter"]


class SugarWriter:
    """Writes the body of one function.

    Args:
        lines: receives the Python.
        names: Python names in scope.
        types: receives the names of the types used.
        declared: the register declarations, names unique in the function.
        items: the body.
        allow: consulted before each rewrite, with its kind.
        params: scalar parameters of a kernel.
        prefix: common prefix of the function's parameter names.
    """

    def __init__(
        self,
        lines: Lines,
        names: RegisterScopes,
        types: set[str],
        declared: list[RegDecl],
        items: list[Item],
        allow: Callable[[str], bool],
        params: frozenset[str] = frozenset(),
        prefix: str = "",
    ):
        self.lines, self.items = lines, items
        self.variables = Variables(lines, names, types, declared, items, allow, prefix)
        self.calls = CallWriter(self.variables)
        self.instruction = InstructionWriter(self.calls, params).write

    def write(self) -> None:
        """Write the whole body."""
        before = len(self.lines.out)
        self.variables.declare_arrays()
        self.body(self.items)
        self.variables.flush()
        if len(self.lines.out) == before:
            self.lines.add("pass")

    def body(self, items: list[Item]) -> None:
        for item in items:
            self.item(item)

    def item(self, item: Item) -> None:
        match item:
            case Instruction():
                self.instruction(item)
            case Loop(label, predicate, body):
                self.variables.flush()
                arguments = [literal(label)]
                if predicate is not None:
                    self.variables.define(predicate.register)
                    arguments.append(f"pred={guard_expression(predicate, self.variables.find)}")
                self._inside(f"with ptx.loop({', '.join(arguments)}):", body)
            case If(skip, then, otherwise):
                self._branch(skip, then, otherwise)
            case Region(body):
                self.variables.flush()
                for node in instructions_of(body):  # declared outside: their lifetime may exceed the scope
                    for name in instruction_names(node):
                        self.variables.define(name)
                self._inside("with ptx.scope():", body)
            case Wait(node):
                self.calls.statement("ptx.mbarrier.wait", node.operands[1:], None, unwrap=True)
            case RolledLoop():
                self.variables.flush()
                write_rolled_loop(item, self.variables)
            case DescriptorCall():
                self._descriptor_call(item)
            case Range():
                self._range(item)
            case Label(name):
                self.variables.flush()
                self.lines.add(f"ptx.label({literal(name)})")
            case _:
                self._other(item)

    def _other(self, item: Statement) -> None:
        """Write a variable declaration, pragma or PTX text."""
        self.variables.flush()
        if isinstance(item, Block):
            raise NotExpressible("scopes are nested too deeply")
        BodyWriter(self.lines, RegisterScopes(set()), self.variables.types).statement(item)

    def _inside(self, head: str, body: list[Item]) -> None:
        self.lines.add(head)
        self.lines.depth += 1
        before = len(self.lines.out)
        self.body(body)
        self.variables.flush()
        if len(self.lines.out) == before:
            self.lines.add("pass")
        self.lines.depth -= 1

    def _branch(self, skip: Predicate, then: list[Item], otherwise: list[Item]) -> None:
        self.variables.define(skip.register)
        negate = not skip.negated
        condition = self.calls.terms(
            [RegisterOperand(skip.register)],
            head="with ptx.if_():",
            join=lambda terms: f"~{terms[0].inside(ATOM)}" if negate else terms[0].text,
        )
        self._inside(f"with ptx.if_({condition.text}):", then)
        if otherwise:
            self._inside("with ptx.else_():", otherwise)

    def _range(self, item: Range) -> None:
        """Write a counted loop; instruction by instruction if its counter is already in use."""
        mov, setp, bra, add = item.nodes
        counter = item.counter
        variables = self.variables
        if (
            variables.known(counter)
            or counter in variables.arrays
            or variables.types_of.get(counter) not in ("s32", "b32", "u32")
        ):
            self.instruction(mov)
            self.item(Loop(item.label, None, [setp, bra, *item.body, add]))
            self.lines.add(f"ptx.label({literal(item.end)})")
            return
        for operand in (item.start, item.stop, item.step):
            for name in operand_names(operand):
                self.variables.define(name)
        self.variables.flush()
        self.variables.dtypes[counter] = "s32"
        rendered = [operand_expression(o, self.variables.find) for o in (item.start, item.stop, item.step)]
        if rendered[2] == "1":
            rendered.pop()
        self._inside(f"for {self.variables.new(counter)} in ptx.range_({', '.join(rendered)}):", item.body)

    def _descriptor_call(self, item: DescriptorCall) -> None:
        """Write a descriptor helper's call if its intermediate results have no other use, else its instructions."""
        variables, inside = self.variables, Counter(name for node in item.nodes for name in instruction_names(node))
        between = [n for n in inside if n in variables.types_of and n not in (item.result, item.source.name)]
        if (
            any(variables.known(n) or variables.uses[n] != inside[n] for n in between)
            or variables.known(item.result)
            or item.result in variables.arrays
            or item.result == item.source.name
        ):
            for node in item.nodes:
                self.instruction(node)
            return
        variables.define(item.source.name)
        dtype = variables.dtypes[item.result] = "b64" if "tcgen05" in item.head else "u64"
        variables.assign(item.result, self.calls.call(item.head, [], [item.source], None, dtype, last=item.keywords))
