"""Registers of a function as Python variables: types, expressions, and assignments not written yet.

Registers are renamed when the Python is traced, so only the order and type of what is written matter. An assignment
stays pending as long as possible, so that the next instruction can inline it as an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pyptx.codegen.items import Item
from pyptx.codegen.operators import Term
from pyptx.codegen.python_source import Lines, identifier
from pyptx.codegen.register_uses import NAME_PATTERN, all_names, count_uses, instruction_names, rolled_loops
from pyptx.codegen.reroll import base_of, number_bases
from pyptx.codegen.scopes import RegisterScopes
from pyptx.codegen.type_inference import infer_types
from pyptx.ir.nodes import Instruction, LabelOperand, RegDecl, RegisterOperand, VectorOperand

__all__ = ["NotExpressible", "Variables"]

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_SPECIAL = re.compile(r"%[a-z]\w*(\.[xyzw])?")


class NotExpressible(ValueError):
    """The function needs exact register names, for instance because PTX text refers to one."""


class Variables:
    """Registers of one function.

    Args:
        lines: receives the Python.
        names: Python names in scope.
        types: receives the names of the types used.
        declared: the register declarations, names unique in the function.
        items: the body.
        allow: consulted before each rewrite, with its kind.
        prefix: common prefix of the function's parameter names.
    Attributes:
        types_of: declared type of every register that occurs.
        dtypes: type of each in Python.
        allowed: for some, the first letters of all types they could have.
        arrays: register -> (variable, index) in a rolled array.
        expressions: register -> its Python expression.
        pending: results not written yet, in order: register and expression.
    """

    def __init__(
        self,
        lines: Lines,
        names: RegisterScopes,
        types: set[str],
        declared: list[RegDecl],
        items: list[Item],
        allow: Callable[[str], bool],
        prefix: str,
    ):
        if any(d.vector is not None or d.alignment is not None for d in declared):
            raise NotExpressible("vector registers")
        self.lines, self.names, self.types, self.allow, self.prefix = lines, names, types, allow, prefix
        self.bases = {d.name: (d.type.value, d.count) for d in declared if d.count is not None}
        self.types_of = self._declared({d.name: d.type.value for d in declared if d.count is None}, items)
        self.dtypes, self.allowed = infer_types(self.types_of, items)
        self.uses = count_uses(items, self.types_of)
        self.arrays = self._arrays(items)
        self.expressions: dict[str, str] = {}
        self.taken = set(names.taken) | {"i", "range", "reg", "ptx"}
        self.pending: list[tuple[str, Term]] = []

    # lookup ----------------------------------------------------------------------------------------------------

    def _declared(self, scalars: dict[str, str], items: list[Item]) -> dict[str, str]:
        """Return the declared type of every register that occurs."""
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
        """Choose arrays for the registers that rolled loops index; overlapping intervals of numbers share one."""
        spans: dict[str, list[tuple[int, int]]] = {}
        for roll in rolled_loops(items):
            for node, steps in zip(roll.group, roll.steps, strict=True):
                for (base, value), step in zip(number_bases(node, self.indexed), steps, strict=True):
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
            dtypes = {self.dtypes[f"{base}{n}"] for n in range(low, high + 1) if f"{base}{n}" in self.dtypes}
            dtype = dtypes.pop() if len(dtypes) == 1 else self.bases[base][0]
            for n in range(low, high + 1):
                if f"{base}{n}" in self.dtypes:
                    self.dtypes[f"{base}{n}"] = dtype
                self.expressions[f"{base}{n}"] = f"{variable}[{n - low}]"
            self.taken.add(variable)
            self.types.add(dtype)
            self.lines.add(f"{variable} = reg.array({dtype}, {high - low + 1})")

    def indexed(self, name: str) -> bool:
        """Return True for a register of a declared array."""
        return name in self.types_of and base_of(name) in self.bases

    def find(self, name: str) -> tuple[str, str] | None:
        """Return the Python expression and type of a register; None for other names.

        Raises:
            NotExpressible: the register has no expression yet.
        """
        if name in self.expressions:
            return self.expressions[name], self.dtypes[name]
        if name in self.types_of:
            raise NotExpressible(f"{name} is not defined yet")
        if _SPECIAL.fullmatch(name):
            return self.names.find(name)
        return None

    def known(self, name: str) -> bool:
        """Return True if a register has an expression or is pending."""
        return name in self.expressions or any(n == name for n, _ in self.pending)

    def of(self, node: Instruction) -> Iterable[str]:
        """Yield the registers an instruction uses."""
        return (name for name in instruction_names(node) if name in self.types_of)

    def free(self, register: str, dtype: str, other: str) -> bool:
        """Return True if a register of type `dtype` can have type `other` instead."""
        return register not in self.arrays and dtype[1:] == other[1:] and other[0] in self.allowed.get(register, "")

    def checked(self, text: str) -> str:
        """Return the text of an operand.

        Raises:
            NotExpressible: a string in it names a register, which is renamed when traced.
        """
        for quoted_operand in _QUOTED.findall(text):
            if any(word in self.types_of for word in NAME_PATTERN.findall(quoted_operand)):
                raise NotExpressible(text)
        return text

    # assigning --------------------------------------------------------------------------------------------------------

    def assign(self, name: str, term: Term) -> None:
        """Bind a register to an expression; stays pending if its only use can inline it."""
        self.pending.append((name, term))
        if self.uses.get(name, 0) != 2 or not self.allow("keep"):
            self.flush()

    def flush(self) -> None:
        """Write pending results as assignments."""
        for name, term in self.pending:
            self.expressions[name] = variable = self._named(name, term)
            self.lines.assign(variable, term.text)
        self.pending.clear()

    def new(self, register: str) -> str:
        """Create the Python variable of a register."""
        self.expressions[register] = variable = self._taken(register)
        return variable

    def _taken(self, wanted: str) -> str:
        found = identifier(wanted, self.taken)
        self.taken.add(found)
        return found

    def _named(self, name: str, term: Term) -> str:
        """Choose a Python name for a register: that of the special register or parameter it holds, else its own."""
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
        """Declare a register unless it is known."""
        if name not in self.types_of or self.known(name):
            return
        self.flush()
        dtype = self.dtypes[name]
        self.types.add(dtype)
        self.lines.add(f"{self.new(name)} = reg.scalar({dtype})")

    def define_all(self, node: Instruction, *, skip: str | None = None) -> None:
        """Declare the registers of an instruction except `skip`; those of a vector as one array."""
        for operand in node.operands:
            if isinstance(operand, VectorOperand) and len(operand.elements) > 1:
                self._define_vector(
                    [e.name for e in operand.elements if isinstance(e, (RegisterOperand, LabelOperand))]
                )
        for name in instruction_names(node):
            if name != skip:
                self.define(name)

    def _define_vector(self, names: list[str]) -> None:
        """Declare the unknown registers of one vector as one array."""
        new = [n for n in names if n in self.types_of and not self.known(n)]
        if len(new) < 2 or len(set(new)) != len(new) or new != [n for n in names if n in new]:
            return
        dtypes = {self.dtypes[n] for n in new}
        dtype = dtypes.pop() if len(dtypes) == 1 else None
        if dtype is None:
            declared = {self.types_of[n] for n in new}
            if len(declared) != 1:
                return
            dtype = declared.pop()
        self.flush()
        self.types.add(dtype)
        variable = self._taken(new[0])
        for i, name in enumerate(new):
            self.dtypes[name] = dtype
            self.expressions[name] = f"{variable}[{i}]"
        self.lines.add(f"{variable} = reg.array({dtype}, {len(new)})")
