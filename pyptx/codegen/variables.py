"""The registers of a function as Python variables: their types, what holds them, and what is not assigned yet.

Registers get names of their own when the Python is traced, so only the order and kind of what is written matter. An
assignment waits as long as it may: the next instruction can take it in as an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pyptx.codegen.flow import Item
from pyptx.codegen.kinds import register_kinds
from pyptx.codegen.layout import Lines, identifier
from pyptx.codegen.operators import Term
from pyptx.codegen.rolls import base_of, numbers_of
from pyptx.codegen.scopes import Names
from pyptx.codegen.uses import WORDS, all_names, names_of, rolls_among, uses
from pyptx.ir.nodes import Instruction, LabelOperand, RegDecl, RegisterOperand, VectorOperand

__all__ = ["NotFluent", "Variables"]

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_SPECIAL = re.compile(r"%[a-z]\w*(\.[xyzw])?")


class NotFluent(ValueError):
    """Something names a register in text, so that registers must keep their names."""


class Variables:
    """Of one function.

    Args:
        types: receives the names of the types that were used.
        declared: the registers, names unique in the function.
        take: asked before each rewrite, with its kind.
        prefix: what the names of the function's parameters start with.
    Attributes:
        types_of: the declared type of every register that occurs.
        kinds: the type each gets in Python.
        allowed: for some, the first letters of all types it might have.
        arrays: register -> (variable, index) of a rolled array.
        expressions: register -> its Python expression.
        pending: instructions not written yet, in order: register and expression.
    """

    def __init__(self, lines: Lines, names: Names, types: set[str], declared: list[RegDecl], items: list[Item],
                 take: Callable[[str], bool], prefix: str):
        if any(d.vector is not None or d.alignment is not None for d in declared):
            raise NotFluent("vector registers")
        self.lines, self.names, self.types, self.take, self.prefix = lines, names, types, take, prefix
        self.bases = {d.name: (d.type.value, d.count) for d in declared if d.count is not None}
        self.types_of = self._declared({d.name: d.type.value for d in declared if d.count is None}, items)
        self.kinds, self.allowed = register_kinds(self.types_of, items)
        self.uses = uses(items, self.types_of)
        self.arrays = self._arrays(items)
        self.expressions: dict[str, str] = {}
        self.taken = set(names.taken) | {"i", "range", "reg", "ptx"}
        self.pending: list[tuple[str, Term]] = []

    # what there is ----------------------------------------------------------------------------------------------------

    def _declared(self, scalars: dict[str, str], items: list[Item]) -> dict[str, str]:
        """The declared type of every register that occurs."""
        found: dict[str, str] = {}
        for name in all_names(items):
            if name in found:
                continue
            if name in scalars:
                found[name] = scalars[name]
                continue
            stem = name.rstrip("0123456789")
            for cut in range(len(stem), len(name)):
                base = self.bases.get(name[:cut])
                if base is not None and int(name[cut:]) < base[1]:
                    found[name] = base[0]
                    break
        return found

    def _arrays(self, items: list[Item]) -> dict[str, tuple[str, int]]:
        """Arrays for the registers that rolled groups run over: intervals of numbers that overlap are one array."""
        spans: dict[str, list[tuple[int, int]]] = {}
        for roll in rolls_among(items):
            for node, steps in zip(roll.group, roll.steps, strict=True):
                for (base, value), step in zip(numbers_of(node, self.indexed), steps, strict=True):
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

    def declare_arrays(self) -> None:
        """Write the declarations of the rolled arrays."""
        for variable, base, low, high in self._spans:
            kinds = {self.kinds.get(f"{base}{n}") for n in range(low, high + 1)} - {None}
            dtype = kinds.pop() if len(kinds) == 1 else self.bases[base][0]
            for n in range(low, high + 1):
                if f"{base}{n}" in self.kinds:
                    self.kinds[f"{base}{n}"] = dtype
                self.expressions[f"{base}{n}"] = f"{variable}[{n - low}]"
            self.taken.add(variable)
            self.types.add(dtype)
            self.lines.add(f"{variable} = reg.array({dtype}, {high - low + 1})")

    def indexed(self, name: str) -> bool:
        """Whether a register is one of several of one name."""
        return name in self.types_of and base_of(name) in self.bases

    def find(self, name: str) -> tuple[str, str] | None:
        """The Python expression of a register."""
        if name in self.expressions:
            return self.expressions[name], self.kinds[name]
        if name in self.types_of:
            raise NotFluent(f"{name} is not defined yet")
        if _SPECIAL.fullmatch(name):
            return self.names.find(name)
        return None

    def known(self, name: str) -> bool:
        """Whether a register was written, or will be by what is pending."""
        return name in self.expressions or any(n == name for n, _ in self.pending)

    def of(self, node: Instruction) -> Iterable[str]:
        """The registers that an instruction names."""
        return (name for name in names_of(node) if name in self.types_of)

    def free(self, register: str, kind: str, other: str) -> bool:
        """Whether a register of a kind may as well have the other."""
        return register not in self.arrays and kind[1:] == other[1:] and other[0] in self.allowed.get(register, "")

    def checked(self, text: str) -> str:
        """The text of an operand, unless it names a register in a string: those have other names when traced."""
        for quoted in _QUOTED.findall(text):
            if any(word in self.types_of for word in WORDS.findall(quoted)):
                raise NotFluent(text)
        return text

    # assigning --------------------------------------------------------------------------------------------------------

    def assign(self, name: str, term: Term) -> None:
        """A register is what an expression says; written at once unless the next instruction is all that uses it."""
        self.pending.append((name, term))
        if self.uses.get(name, 0) != 2 or not self.take("keep"):
            self.flush()

    def flush(self) -> None:
        """Write what is pending as assignments."""
        for name, term in self.pending:
            self.expressions[name] = variable = self._named(name, term)
            self.lines.assign(variable, term.text)
        self.pending.clear()

    def new(self, register: str) -> str:
        """A Python variable named like a register, which stands for it from now on."""
        self.expressions[register] = variable = self._taken(register)
        return variable

    def _taken(self, wanted: str) -> str:
        found = identifier(wanted, self.taken)
        self.taken.add(found)
        return found

    def _named(self, name: str, term: Term) -> str:
        """A Python name for a register: after the special register or the parameter it holds, else its own."""
        wanted = name
        match = re.fullmatch(r"reg\.from_\(ptx\.special\.([\w.]+)\(\), \w+\)", term.text)
        param = re.fullmatch(r'ptx\.param\(\w+, "(.*)"\)', term.text)
        if match:
            wanted = match[1].replace(".", "_")
        elif param:
            wanted = param[1].removeprefix(self.prefix + "_")
        return self._taken(wanted)

    # declaring --------------------------------------------------------------------------------------------------------

    def define(self, name: str) -> None:
        """Declare a register that nothing declared yet."""
        if name not in self.types_of or self.known(name):
            return
        self.flush()
        kind = self.kinds[name]
        self.types.add(kind)
        self.lines.add(f"{self.new(name)} = reg.scalar({kind})")

    def define_all(self, node: Instruction, *, skip: str | None = None) -> None:
        """Declare what an instruction names, but for one register; those of a vector as one array."""
        for operand in node.operands:
            if isinstance(operand, VectorOperand) and len(operand.elements) > 1:
                self._define_vector([e.name for e in operand.elements
                                     if isinstance(e, (RegisterOperand, LabelOperand))])
        for name in names_of(node):
            if name != skip:
                self.define(name)

    def _define_vector(self, names: list[str]) -> None:
        """New registers of one vector as one array."""
        new = [n for n in names if n in self.types_of and not self.known(n)]
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
        variable = self._taken(new[0])
        for i, name in enumerate(new):
            self.kinds[name] = kind
            self.expressions[name] = f"{variable}[{i}]"
        self.lines.add(f"{variable} = reg.array({kind}, {len(new)})")
