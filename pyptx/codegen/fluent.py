"""A body as readable Python: operators, wrappers, `if`, `with` and loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pyptx.codegen.body import BodyWriter
from pyptx.codegen.expressions import expression, guard
from pyptx.codegen.flow import If, Item, Loop, Region
from pyptx.codegen.helpers import Helper
from pyptx.codegen.idioms import Range, Wait
from pyptx.codegen.instructions import InstructionWriter
from pyptx.codegen.kinds import instructions_of
from pyptx.codegen.layout import Lines, literal
from pyptx.codegen.operators import ATOM
from pyptx.codegen.phrases import Phrases
from pyptx.codegen.rolls import Roll
from pyptx.codegen.rollwriter import write_roll
from pyptx.codegen.scopes import Names
from pyptx.codegen.uses import names_of, operand_names
from pyptx.codegen.variables import NotFluent, Variables
from pyptx.ir.nodes import Block, Instruction, Label, Predicate, RegDecl, RegisterOperand, Statement

__all__ = ["Fluent"]


class Fluent:
    """Writes one function.

    Args:
        declared: the registers, names unique in the function.
        params: parameters of a kernel that are no arrays.
        prefix: what the names of its parameters start with.
        take: asked before each rewrite, with its kind.
    """

    def __init__(self, lines: Lines, names: Names, types: set[str], declared: list[RegDecl], items: list[Item],
                 take: Callable[[str], bool], params: frozenset[str] = frozenset(), prefix: str = ""):
        self.lines, self.items = lines, items
        self.variables = Variables(lines, names, types, declared, items, take, prefix)
        self.phrases = Phrases(self.variables)
        self.instruction = InstructionWriter(self.phrases, params).write

    def write(self) -> None:
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
                    arguments.append(f"pred={guard(predicate, self.variables.find)}")
                self._inside(f"with ptx.loop({', '.join(arguments)}):", body)
            case If(skip, then, otherwise):
                self._branch(skip, then, otherwise)
            case Region(body):
                self.variables.flush()
                for node in instructions_of(body):              # a register declared inside would end there
                    for name in names_of(node):
                        self.variables.define(name)
                self._inside("with ptx.scope():", body)
            case Wait(node):
                self.phrases.statement("ptx.mbarrier.wait", node.operands[1:], None, unwrap=True)
            case Roll():
                self.variables.flush()
                write_roll(item, self.variables)
            case Helper():
                self._helper(item)
            case Range():
                self._range(item)
            case Label(name):
                self.variables.flush()
                self.lines.add(f"ptx.label({literal(name)})")
            case _:
                self._other(item)

    def _other(self, item: Statement) -> None:
        """Declarations of variables, pragmas, text."""
        self.variables.flush()
        if isinstance(item, Block):
            raise NotFluent("a deep scope")
        BodyWriter(self.lines, Names(set()), self.variables.types).statement(item)

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
        condition = self.phrases.terms([RegisterOperand(skip.register)], head="with ptx.if_():",
                                join=lambda terms: f"~{terms[0].inside(ATOM)}" if negate else terms[0].text)
        self._inside(f"with ptx.if_({condition.text}):", then)
        if otherwise:
            self._inside("with ptx.else_():", otherwise)

    def _range(self, item: Range) -> None:
        """A counted loop; with a counter that is there already, its instructions."""
        mov, setp, bra, add = item.nodes
        counter = item.counter
        variables = self.variables
        if (variables.known(counter) or counter in variables.arrays
                or variables.types_of.get(counter) not in ("s32", "b32", "u32")):
            self.instruction(mov)
            self.item(Loop(item.label, None, [setp, bra, *item.body, add]))
            self.lines.add(f"ptx.label({literal(item.end)})")
            return
        for operand in (item.start, item.stop, item.step):
            for name in operand_names(operand):
                self.variables.define(name)
        self.variables.flush()
        self.variables.kinds[counter] = "s32"
        told = [expression(o, self.variables.find) for o in (item.start, item.stop, item.step)]
        if told[2] == "1":
            told.pop()
        self._inside(f"for {self.variables.new(counter)} in ptx.range_({', '.join(told)}):", item.body)

    def _helper(self, item: Helper) -> None:
        """A helper's call, if what it writes in between is used nowhere else; else its instructions."""
        variables, inside = self.variables, Counter(name for node in item.nodes for name in names_of(node))
        between = [n for n in inside if n in variables.types_of and n not in (item.result, item.source.name)]
        if (any(variables.known(n) or variables.uses[n] != inside[n] for n in between) or variables.known(item.result)
                or item.result in variables.arrays or item.result == item.source.name):
            for node in item.nodes:
                self.instruction(node)
            return
        variables.define(item.source.name)
        kind = variables.kinds[item.result] = "b64" if "tcgen05" in item.head else "u64"
        variables.assign(item.result, self.phrases.call(item.head, [], [item.source], None, kind, last=item.keywords))
