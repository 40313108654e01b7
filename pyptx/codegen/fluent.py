"""A body as readable Python: a variable for each register, operators, wrappers, `if` and loops.

Registers get names of their own when the Python is traced, so only the order and kind of what is written matter. An
instruction is inlined into the next one when nothing else uses its result and Python evaluates it at the same place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from pyptx.codegen.body import BodyWriter, call
from pyptx.codegen.expressions import Find, chain, expression, guard
from pyptx.codegen.flow import If, Item, Loop, Region
from pyptx.codegen.helpers import Helper
from pyptx.codegen.idioms import VALUES, WRAPPERS, Range, Wait
from pyptx.codegen.kinds import instructions_of, register_kinds
from pyptx.codegen.layout import Lines, identifier, literal
from pyptx.codegen.operators import ATOM, COMPARES, Term, number, operator
from pyptx.codegen.rolls import Roll, base_of, numbered
from pyptx.codegen.scopes import Names
from pyptx.codegen.uses import WORDS, all_names, names_of, operand_names, rolls_among, uses
from pyptx.ir.nodes import (
    AddressOperand,
    Block,
    ImmediateOperand,
    Instruction,
    Label,
    LabelOperand,
    NegatedOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegDecl,
    RegisterOperand,
    Statement,
    VectorOperand,
)

__all__ = ["Fluent", "NotFluent"]

_LONGEST = 84                                           # characters of an expression that others are inlined into
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_SPECIAL = re.compile(r"%[a-z]\w*(\.[xyzw])?")


class NotFluent(ValueError):
    """Something names a register in text, so that registers must keep their names."""


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
        self.lines, self.names, self.types, self.take = lines, names, types, take
        self.params, self.prefix = params, prefix
        self.types_of = self._declared(declared, items)
        self.kinds, self.allowed = register_kinds(self.types_of, items)
        self.uses = uses(items, self.types_of)
        self.arrays = self._arrays(items)               # register -> (variable, index) of a rolled array
        self.variables: dict[str, str] = {}             # register -> its Python expression
        self.taken = set(names.taken) | {"i", "range", "reg", "ptx"}
        self.pending: list[tuple[str, Term]] = []       # instructions not written yet, in order
        self.items = items

    def write(self) -> None:
        before = len(self.lines.out)
        for variable, dtype, count in self._array_declarations():
            self.types.add(dtype)
            self.lines.add(f"{variable} = reg.array({dtype}, {count})")
        self.body(self.items)
        self.flush()
        if len(self.lines.out) == before:
            self.lines.add("pass")

    # what there is ----------------------------------------------------------------------------------------------------

    def _declared(self, declared: list[RegDecl], items: list[Item]) -> dict[str, str]:
        """The declared type of every register that occurs."""
        scalars = {d.name: d.type.value for d in declared if d.count is None}
        bases = {d.name: (d.type.value, d.count) for d in declared if d.count is not None}
        if any(d.vector is not None or d.alignment is not None for d in declared):
            raise NotFluent("vector registers")
        self.bases = bases
        found: dict[str, str] = {}
        for name in all_names(items):
            if name in found:
                continue
            if name in scalars:
                found[name] = scalars[name]
                continue
            stem = name.rstrip("0123456789")
            for cut in range(len(stem), len(name)):
                base = bases.get(name[:cut])
                if base is not None and int(name[cut:]) < base[1]:
                    found[name] = base[0]
                    break
        return found

    def _arrays(self, items: list[Item]) -> dict[str, tuple[str, int]]:
        """Arrays for the registers that rolled groups run over: intervals of numbers that overlap are one array."""
        spans: dict[str, list[tuple[int, int]]] = {}
        for roll in rolls_among(items):
            for node, steps in zip(roll.group, roll.steps, strict=True):
                for (base, value), step in zip(_numbers(node, self._indexed), steps, strict=True):
                    if base is not None and step:
                        ends = (value, value + step * (roll.count - 1))
                        spans.setdefault(base, []).append((min(ends), max(ends)))
        found: dict[str, tuple[str, int]] = {}
        self._spans: list[tuple[str, str, int, int]] = []
        for base, intervals in spans.items():
            merged: list[list[int]] = []
            for low, high in sorted(intervals):
                if merged and low <= merged[-1][1]:
                    merged[-1][1] = max(merged[-1][1], high)
                else:
                    merged.append([low, high])
            for low, high in merged:
                variable = identifier(f"{base.lstrip('%')}{low}", self.names.taken)
                self._spans.append((variable, base, low, high))
                for n in range(low, high + 1):
                    found[f"{base}{n}"] = (variable, n - low)
        return found

    def _array_declarations(self) -> Iterable[tuple[str, str, int]]:
        for variable, base, low, high in self._spans:
            kinds = {self.kinds.get(f"{base}{n}") for n in range(low, high + 1)} - {None}
            dtype = kinds.pop() if len(kinds) == 1 else self.bases[base][0]
            for n in range(low, high + 1):
                if f"{base}{n}" in self.kinds:
                    self.kinds[f"{base}{n}"] = dtype
                self.variables[f"{base}{n}"] = f"{variable}[{n - low}]"
            self.taken.add(variable)
            yield variable, dtype, high - low + 1

    def _indexed(self, name: str) -> bool:
        return name in self.types_of and base_of(name) in self.bases

    # statements -------------------------------------------------------------------------------------------------------

    def body(self, items: list[Item]) -> None:
        for item in items:
            self.item(item)

    def item(self, item: Item) -> None:
        match item:
            case Instruction():
                self.instruction(item)
            case Loop(label, predicate, body):
                self.flush()
                arguments = [literal(label)]
                if predicate is not None:
                    self._define(predicate.register)
                    arguments.append(f"pred={guard(predicate, self.find)}")
                self._inside(f"with ptx.loop({', '.join(arguments)}):", body)
            case If(skip, then, otherwise):
                self._branch(skip, then, otherwise)
            case Region(body):
                self.flush()
                for node in instructions_of(body):              # a register declared inside would end there
                    for name in names_of(node):
                        self._define(name)
                self._inside("with ptx.scope():", body)
            case Wait(node):
                self._statement("ptx.mbarrier.wait", node.operands[1:], None, unwrap=True)
            case Roll():
                self._roll(item)
            case Helper():
                self._helper(item)
            case Range():
                self._range(item)
            case Label(name):
                self.flush()
                self.lines.add(f"ptx.label({literal(name)})")
            case _:
                self._other(item)

    def _other(self, item: Statement) -> None:
        """Declarations of variables, pragmas, text."""
        self.flush()
        if isinstance(item, Block):
            raise NotFluent("a deep scope")
        BodyWriter(self.lines, Names(set()), self.types).statement(item)

    def _inside(self, head: str, body: list[Item]) -> None:
        self.lines.add(head)
        self.lines.depth += 1
        before = len(self.lines.out)
        self.body(body)
        self.flush()
        if len(self.lines.out) == before:
            self.lines.add("pass")
        self.lines.depth -= 1

    def _branch(self, skip, then: list[Item], otherwise: list[Item]) -> None:
        self._define(skip.register)
        negate = not skip.negated
        condition = self._terms([RegisterOperand(skip.register)], head="with ptx.if_():",
                                join=lambda terms: f"~{terms[0].inside(ATOM)}" if negate else terms[0].text)
        self._inside(f"with ptx.if_({condition.text}):", then)
        if otherwise:
            self._inside("with ptx.else_():", otherwise)

    # instructions -----------------------------------------------------------------------------------------------------

    def find(self, name: str) -> tuple[str, str] | None:
        """The Python expression of a register."""
        if name in self.variables:
            return self.variables[name], self.kinds[name]
        if name in self.types_of:
            raise NotFluent(f"{name} is not defined yet")
        if _SPECIAL.fullmatch(name):
            return self.names.find(name)
        return None

    def instruction(self, node: Instruction) -> None:
        result = self._result(node)
        if result is not None and self.take("value"):
            term = self._value(node, result)
            if term is not None:
                self._assign(result, term)
                return
        if self._in_place(node):
            return
        self._define_all(node, skip=None)
        wrapper = WRAPPERS.get(node.mnemonic)
        if wrapper is not None and not any(isinstance(o, (VectorOperand, PipeOperand)) for o in node.operands):
            told = node.predicate
            self._statement(wrapper, node.operands, told, unwrap=wrapper.startswith("ptx.mbarrier"))
            return
        match node:
            case Instruction("bra", (), (LabelOperand(target),)) if target not in self.types_of:
                self._statement("ptx.bra", node.operands, node.predicate)
            case Instruction("ret", (), ()):
                self._statement("ptx.ret", (), node.predicate)
            case _:
                words = chain(node.opcode, node.modifiers)
                if words is None:
                    if any(True for _ in self._registers(node)):
                        raise NotFluent(node.mnemonic)
                    self.flush()
                    head, arguments = call(node, self.find)
                    self.lines.call(head, arguments)
                else:
                    self._statement(f"ptx.inst.{words}", node.operands, node.predicate)

    def _in_place(self, node: Instruction) -> bool:
        """Write `x += y` for an instruction whose destination is its left operand."""
        found = operator(node, self.kinds) if len(node.operands) == 3 else None
        if found is None or node.operands[0] != node.operands[1] or not self.take("value"):
            return False
        symbol, _, _, (left, right) = found
        if symbol in COMPARES.values() or symbol[0] == "." or getattr(right, "name", "") == left.name:
            return False
        self._define_all(node, skip=None)
        if any(name == left.name for name, _ in self.pending):
            self.flush()
        term = self._terms([right], lambda terms: terms[0].text, numbers=self.kinds[left.name])
        self.flush()
        self.lines.add(f"{self.variables[left.name]} {symbol}= {term.text}")
        return True

    def _registers(self, node: Instruction) -> Iterable[str]:
        return (name for name in names_of(node) if name in self.types_of)

    def _result(self, node: Instruction) -> str | None:
        """The register an instruction is the first to name, as its destination."""
        if not node.operands or not isinstance(node.operands[0], (RegisterOperand, LabelOperand)):
            return None
        name = node.operands[0].name
        if name not in self.types_of or name in self.variables or any(n == name for n, _ in self.pending):
            return None
        if list(names_of(node)).count(name) != 1:
            return None
        return name

    def _value(self, node: Instruction, result: str) -> Term | None:
        """The expression an instruction's result can be assigned from; None where only a call with it will do."""
        kind = self.kinds[result]
        others = node.operands[1:]
        if not all(self._known(name) for name in self._registers(node) if name != result):
            self._define_all(node, skip=result)
        found = operator(node, self.kinds)
        if found is not None and (found[2] == kind or (found[2] != "pred" and self._free(result, kind, found[2]))):
            symbol, binds, result_kind, operands = found
            self.kinds[result] = result_kind

            def joined(texts: list[Term]) -> str:
                if len(texts) == 1:
                    return f"{symbol}{texts[0].inside(ATOM)}"
                left, right = texts
                if symbol[0] == ".":
                    return f"{left.inside(ATOM)}{symbol}({right.text})"
                strict = 2 if binds == 1 else binds
                return f"{left.inside(strict)} {symbol} {right.inside(binds + 1)}"
            return self._terms(operands, joined, binds=binds, kind=result_kind, numbers=self.kinds[operands[0].name])
        if node.predicate is None:
            term = self._simple(node, kind)
            if term is not None:
                return term
        words = chain(node.opcode, node.modifiers)
        if words is None:
            raise NotFluent(node.mnemonic)
        self.types.add(kind)
        return self._call(f"ptx.inst.{words}", [f"reg.scalar({kind})"], others, node.predicate, kind)

    def _free(self, result: str, kind: str, other: str) -> bool:
        """Whether a register may as well have the other type."""
        return result not in self.arrays and kind[1:] == other[1:] and other[0] in self.allowed.get(result, "")

    def _simple(self, node: Instruction, kind: str) -> Term | None:
        """Moves, parameters, and wrappers that return a new register."""
        match node:
            case Instruction("mov", (word,), (_, ImmediateOperand(text))) if word != ".pred" and kind[1:] == word[2:]:
                told = number(text, kind)
                if kind[0] == "f" and told is None:
                    return None
                self.types.add(kind)
                return Term(f"reg.scalar({kind}, {told if told is not None else literal(text)})", ATOM, kind)
            case Instruction("mov", (word,), (_, RegisterOperand(source) | LabelOperand(source))) if (
                    word != ".pred" and kind[1:] == word[2:]):
                if (kind[0] == "f" and self.kinds.get(source, "b")[0] not in "bf") or (
                        kind[0] in "us" and self.kinds.get(source, "b")[0] == "f"):
                    return None
                self.types.add(kind)
                return self._call("reg.from_", [], node.operands[1:], None, kind, last=[kind])
            case Instruction("ld", (".param", word), (_, AddressOperand(base, None | "0", suffix=""))) if (
                    word[2:] == kind[1:] and base in self.params):
                self.types.add(kind)
                return Term(f"ptx.param({kind}, {literal(base)})", ATOM, kind)
        wrapper = VALUES.get(node.mnemonic)
        if wrapper is None or any(isinstance(o, (VectorOperand, PipeOperand)) for o in node.operands):
            return None
        name, result = wrapper
        if result == "left":
            first = next((self.kinds[o.name] for o in node.operands[1:]
                          if isinstance(o, (RegisterOperand, LabelOperand)) and o.name in self.kinds), None)
            if first is None or first not in ("b32", "u32", "s32") or kind not in ("b32", "u32", "s32"):
                return None
            if any(isinstance(o, (RegisterOperand, LabelOperand)) and o.name not in self.kinds for o in node.operands):
                return None
            if first != kind and not self._free(node.operands[0].name, kind, first):
                return None
            result = first
        elif result != kind and not self._free(node.operands[0].name, kind, result):
            return None
        self.kinds[node.operands[0].name] = result
        return self._call(name, [], node.operands[1:], None, result, unwrap=name.startswith("ptx.mbarrier"))

    def _range(self, item: Range) -> None:
        """A counted loop; with a counter that is there already, its instructions."""
        mov, setp, bra, add = item.nodes
        counter = item.counter
        if self._known(counter) or counter in self.arrays or self.types_of.get(counter) not in ("s32", "b32", "u32"):
            self.instruction(mov)
            self.item(Loop(item.label, None, [setp, bra, *item.body, add]))
            self.lines.add(f"ptx.label({literal(item.end)})")
            return
        for operand in (item.start, item.stop, item.step):
            for name in operand_names(operand):
                self._define(name)
        self.flush()
        self.kinds[counter] = "s32"
        told = [expression(o, self.find) for o in (item.start, item.stop, item.step)]
        if told[2] == "1":
            told.pop()
        variable = identifier(counter, self.taken)
        self.taken.add(variable)
        self.variables[counter] = variable
        self._inside(f"for {variable} in ptx.range_({', '.join(told)}):", item.body)

    def _helper(self, item: Helper) -> None:
        """A helper's call, if what it writes in between is used nowhere else; else its instructions."""
        inside = Counter(name for node in item.nodes for name in names_of(node))
        between = [n for n in inside if n in self.types_of and n not in (item.result, item.source.name)]
        if (any(self._known(n) or self.uses[n] != inside[n] for n in between) or self._known(item.result)
                or item.result in self.arrays or item.result == item.source.name):
            for node in item.nodes:
                self.instruction(node)
            return
        self._define(item.source.name)
        kind = self.kinds[item.result] = "b64" if "tcgen05" in item.head else "u64"
        self._assign(item.result, self._call(item.head, [], [item.source], None, kind, last=item.keywords))

    # expressions ------------------------------------------------------------------------------------------------------

    def _terms(self, operands: Iterable[Operand], join: Callable[[list[Term]], str], *, binds: int = ATOM,
               kind: str = "pred", numbers: str | None = None, head: str = "") -> Term:
        """An expression of operands, with what is pending inlined where that keeps the order."""
        operands = list(operands)
        order = [o.name for o in operands if isinstance(o, (RegisterOperand, LabelOperand))]
        inlined = self._inlinable(order)
        inside = dict(inlined)

        def term(o: Operand) -> Term:
            if isinstance(o, ImmediateOperand) and numbers is not None:
                told = number(o.text, numbers)
                return Term(told, ATOM if told[0] != "-" else 8, numbers)
            if isinstance(o, (RegisterOperand, LabelOperand)) and o.name in inside:
                return inside[o.name]
            return Term(self._checked(expression(o, self.find)), ATOM, "")
        text = join([term(o) for o in operands])
        if inlined and len(text) + len(head) > _LONGEST:
            self.flush()
            return self._terms(operands, join, binds=binds, kind=kind, numbers=numbers, head=head)
        del self.pending[len(self.pending) - len(inlined):]
        if head:
            self.flush()
        return Term(text, binds, kind)

    def _inlinable(self, order: list[str]) -> list[tuple[str, Term]]:
        """The pending instructions that the names stand for, if they are the last ones and in this order; else none
        are pending any more."""
        waiting = {name for name, _ in self.pending}
        wanted = [name for name in order if name in waiting]
        if not wanted:
            return []
        last = self.pending[-len(wanted):]
        if [name for name, _ in last] == wanted and self.take("inline"):
            return last
        self.flush()
        return []

    def _call(self, head: str, first: list[str], operands: Iterable[Operand], predicate, kind: str, *,
              last: list[str] = (), unwrap: bool = False) -> Term:
        """A call with operands as arguments, what is pending inlined."""
        operands = list(operands)
        order = [n for o in operands for n in operand_names(o)] + ([predicate.register] if predicate else [])
        inlined = self._inlinable(order)
        inside = dict(inlined)

        def find(name: str, binds: int = 0) -> tuple[str, str] | None:
            if name in inside:
                return inside[name].inside(binds), inside[name].kind
            return self.find(name)

        def bound(name: str) -> tuple[str, str] | None:
            return find(name, ATOM)
        floats = head[head.rfind(".") + 1:]
        arguments = [*first, *(self._argument(o, find, bound, unwrap, floats) for o in operands), *last]
        if predicate is not None:
            arguments.append(f"pred={guard(predicate, bound if predicate.negated else find)}")
        text = f"{head}({', '.join(arguments)})"
        if inlined and len(text) > _LONGEST:
            self.flush()
            return self._call(head, first, operands, predicate, kind, last=last, unwrap=unwrap)
        del self.pending[len(self.pending) - len(inlined):]
        self._arguments = (f"{head}(", arguments)
        return Term(text, ATOM, kind)

    def _argument(self, o: Operand, find: Find, bound: Find, unwrap: bool, floats: str) -> str:
        """One argument of a call.

        Args:
            find, bound: the expression of a register, as it is or so that an operator may stand before it.
            unwrap: an address that is a register is the register.
            floats: the type of the instruction.
        """
        if isinstance(o, AddressOperand):
            if unwrap and o.offset in (None, "0") and not o.suffix and (found := find(o.base)) is not None:
                return found[0]
            if o.offset == "0":
                o = AddressOperand(o.base, suffix=o.suffix)
        if isinstance(o, ImmediateOperand) and floats in ("f32", "f64"):
            told = number(o.text, floats)
            if told is not None:
                return told
        return self._checked(expression(o, bound if isinstance(o, (NegatedOperand, PipeOperand)) else find))

    def _checked(self, text: str) -> str:
        """The text of an operand, unless it names a register in a string: those have other names when traced."""
        for quoted in _QUOTED.findall(text):
            if any(word in self.types_of for word in WORDS.findall(quoted)):
                raise NotFluent(text)
        return text

    def _statement(self, head: str, operands: Iterable[Operand], predicate, *, unwrap: bool = False) -> None:
        for operand in operands:
            for name in operand_names(operand):
                self._define(name)
        if predicate is not None:
            self._define(predicate.register)
        self._call(head, [], operands, predicate, "", unwrap=unwrap)
        told = self._arguments
        self.flush()
        self.lines.call(*told)

    def _assign(self, name: str, term: Term) -> None:
        self.pending.append((name, term))
        if self.uses.get(name, 0) != 2 or not self.take("keep"):
            self.flush()

    def flush(self) -> None:
        """Write what is pending as assignments."""
        for name, term in self.pending:
            variable = self._variable(name, term)
            self.variables[name] = variable
            self._write_assignment(variable, term.text)
        self.pending.clear()

    def _write_assignment(self, variable: str, text: str) -> None:
        line = f"{variable} = {text}"
        if len(line) + 4 * self.lines.depth <= 110 or not text.endswith(")") or "(" not in text:
            self.lines.add(line)
            return
        head, _, rest = text.partition("(")
        self.lines.call(f"{variable} = {head}(", _split(rest[:-1]))

    def _variable(self, name: str, term: Term) -> str:
        """A Python name for a register: after the special register or the parameter it holds, else its own."""
        wanted = name
        match = re.fullmatch(r"reg\.from_\(ptx\.special\.([\w.]+)\(\), \w+\)", term.text)
        param = re.fullmatch(r'ptx\.param\(\w+, "(.*)"\)', term.text)
        if match:
            wanted = match[1].replace(".", "_")
        elif param:
            wanted = param[1].removeprefix(self.prefix + "_")
        found = identifier(wanted, self.taken)
        self.taken.add(found)
        return found

    # declaring --------------------------------------------------------------------------------------------------------

    def _known(self, name: str) -> bool:
        return name in self.variables or any(n == name for n, _ in self.pending)

    def _define(self, name: str) -> None:
        """Declare a register that nothing declared yet."""
        if name not in self.types_of or self._known(name):
            return
        self.flush()
        kind = self.kinds[name]
        self.types.add(kind)
        variable = identifier(name, self.taken)
        self.taken.add(variable)
        self.variables[name] = variable
        self.lines.add(f"{variable} = reg.scalar({kind})")

    def _define_all(self, node: Instruction, skip: str | None) -> None:
        for operand in node.operands:
            if isinstance(operand, VectorOperand) and len(operand.elements) > 1:
                self._define_vector([e.name for e in operand.elements
                                     if isinstance(e, (RegisterOperand, LabelOperand))])
        for name in names_of(node):
            if name != skip:
                self._define(name)

    def _define_vector(self, names: list[str]) -> None:
        """New registers of one vector as one array."""
        new = [n for n in names if n in self.types_of and not self._known(n)]
        if len(new) < 2 or len(set(new)) != len(new) or new != [n for n in names if n in new]:
            return
        kinds = {self.kinds[n] for n in new}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None:
            declared = {self.types_of[n] for n in new}
            if len(declared) != 1:
                return
            kind = declared.pop()
        self.flush()
        self.types.add(kind)
        variable = identifier(new[0], self.taken)
        self.taken.add(variable)
        for i, name in enumerate(new):
            self.kinds[name] = kind
            self.variables[name] = f"{variable}[{i}]"
        self.lines.add(f"{variable} = reg.array({kind}, {len(new)})")

    # rolled groups ----------------------------------------------------------------------------------------------------

    def _roll(self, roll: Roll) -> None:
        self.flush()
        for node, steps in zip(roll.group, roll.steps, strict=True):
            for (base, value), step in zip(_numbers(node, self._indexed), steps, strict=True):
                if base is not None and not step:
                    self._define(f"{base}{value}")
            for name in names_of(node):
                if not self._indexed(name):
                    self._define(name)
        self.lines.add(f"for i in range({roll.count}):")
        self.lines.depth += 1
        for node, steps in zip(roll.group, roll.steps, strict=True):
            head, arguments = _RollWriter(self, list(steps)).call(node)
            self.lines.call(head, arguments)
        self.lines.depth -= 1


class _RollWriter:
    """Writes one instruction of a group: numbers that go up are sums with the loop's counter."""

    def __init__(self, fluent: Fluent, steps: list[int]):
        self.fluent, self.steps = fluent, steps

    def call(self, node: Instruction) -> tuple[str, list[str]]:
        words = chain(node.opcode, node.modifiers)
        if words is None:
            raise NotFluent(node.mnemonic)
        keyword = []
        if node.predicate is not None:
            keyword = [f"pred={'~' if node.predicate.negated else ''}{self.register(node.predicate.register)}"]
        return f"ptx.inst.{words}(", [*(self.text(o) for o in node.operands), *keyword]

    def register(self, name: str) -> str:
        if not self.fluent._indexed(name):
            return self.fluent.find(name)[0] if self.fluent.find(name) else literal(name)
        step = self.steps.pop(0)
        if not step:
            return self.fluent.find(name)[0]
        variable, index = self.fluent.arrays[name]
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
                    rest = expression(AddressOperand("%", offset), self.fluent.find)
                    return self.fluent._checked(rest.replace('"%"', shown))
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
        return self.fluent._checked(expression(o, self.fluent.find))


def _affine(start: int, step: int) -> str:
    if not step:
        return str(start)
    moved = "i" if step == 1 else f"{step} * i"
    return moved if not start else f"{moved} + {start}" if start > 0 else f"{moved} - {-start}"


def _numbers(node: Instruction, registers: Callable[[str], bool]) -> list[tuple[str | None, int]]:
    """The numbers of an instruction with the register base each is of, None for those of literals and offsets."""
    bases: list[tuple[int, str]] = []
    numbers: list[int] = []

    def seen(name: str) -> bool:
        if not registers(name):
            return False
        bases.append((len(numbers), base_of(name)))
        return True
    numbers = numbered(node, seen, numbers)[1]
    found = dict(bases)
    return [(found.get(k), n) for k, n in enumerate(numbers)]


def _split(text: str) -> list[str]:
    """Arguments between commas outside of brackets and strings."""
    out, depth, start, quote = [], 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[i - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and not depth:
            out.append(text[start:i].strip())
            start = i + 1
    return [*out, text[start:].strip()]
