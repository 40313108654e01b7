"""Names of an entry: registers, variables, labels, with the scopes of `{ }`; and where variables lie."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

import numpy as np

from pyptx.errors import SimulationError
from pyptx.ir.nodes import Block, Function, Instruction, IntrinsicScope, Label, Module, RegDecl, VarDecl
from pyptx.ir.types import LinkingDirective
from pyptx.sim.actions import Reg
from pyptx.sim.args import layout, size_of
from pyptx.sim.literals import bits_of
from pyptx.sim.memory import SHARED_START, Buffer, place_buffers

__all__ = ["Names", "Scope", "Variable", "width_of"]

_SPACES = {"shared::cta": "shared", "shared::cluster": "shared"}


def width_of(type_name: str) -> int:
    """Bits of a register of the type; 1 for predicates."""
    return 1 if type_name == "pred" else 8 * size_of(type_name)


@dataclass(eq=False, slots=True)
class Variable:
    """A declared variable. `address` is within its space (global: None until it is placed)."""

    name: str
    space: str
    size: int
    address: int | None = None
    buffer: Buffer | None = None


@dataclass(eq=False)
class Scope:
    """What names mean between two braces."""

    parent: Scope | None = None
    registers: dict[str, tuple[Reg, str]] = field(default_factory=dict)
    families: list[tuple[str, int, str]] = field(default_factory=list)       # %r<9>: prefix, count, type
    variables: dict[str, Variable] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: Names | None = None

    def register(self, name: str) -> tuple[Reg, str] | None:
        """The register and its declared type."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.registers.get(name) or scope._from_family(name)
            if found:
                return found
            scope = scope.parent
        return None

    def _from_family(self, name: str) -> tuple[Reg, str] | None:
        for prefix, count, type_name in self.families:
            digits = name[len(prefix):]
            if name.startswith(prefix) and digits.isdigit() and (digits == "0" or digits[0] != "0") and int(digits) < count:
                return self.add(name, type_name)
        return None

    def add(self, name: str, type_name: str) -> tuple[Reg, str]:
        entry = self.names.new_register(name, type_name), type_name
        self.registers[name] = entry
        return entry

    def find(self, kind: str, name: str):
        """The nearest entry of `variables`, `labels` or `tables`."""
        scope: Scope | None = self
        while scope is not None:
            found = getattr(scope, kind).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None


class Names:
    """Everything an entry's instructions can name, and the instructions with their scopes."""

    def __init__(self, module: Module, function: Function):
        self.module, self.function = module, function
        self.registers: list[Reg] = []
        self._carry: Reg | None = None
        self.instructions: list[tuple[Instruction, Scope]] = []
        self.params = layout(function)
        self.shared_bytes = 0                   # static, from SHARED_START
        self.local_bytes = 0
        self.dynamic: list[Variable] = []
        self.const_bytes = bytearray()
        self.top = Scope(names=self)
        self._initializers: list[tuple[Variable, VarDecl, Scope]] = []
        for directive in module.directives:
            if isinstance(directive, VarDecl):
                self._variable(directive, self.top)
        body = Scope(self.top, names=self)
        for slot in self.params:
            body.variables[slot.name] = Variable(slot.name, "param", slot.size, slot.offset)
        for segment in place_buffers(v.buffer for v in self.globals).values():
            next(v for v in self.globals if v.buffer is segment.buffer).address = segment.address
        self._walk(function.body, body)
        for variable, declaration, scope in self._initializers:
            self._initialize(variable, declaration, scope)
        end = SHARED_START + self.shared_bytes
        for variable in self.dynamic:
            variable.address = end

    def new_register(self, name: str, type_name: str) -> Reg:
        register = Reg(len(self.registers), width_of(type_name), name)
        self.registers.append(register)
        return register

    def carry(self) -> Reg:
        """The carry flag CC.CF, as a predicate register."""
        if self._carry is None:
            self._carry = self.new_register("CC.CF", "pred")
        return self._carry

    @property
    def globals(self) -> list[Variable]:
        return [v for v in self.top.variables.values() if v.space == "global"]

    def _walk(self, body, scope: Scope) -> None:
        for statement in body:
            match statement:
                case Instruction():
                    self.instructions.append((statement, scope))
                case Label(name):
                    scope.labels[name] = len(self.instructions)
                case RegDecl(type_, name, None):
                    scope.add(name, type_.value)
                case RegDecl(type_, name, count):
                    scope.families.append((name, count, type_.value))
                case VarDecl():
                    self._variable(statement, scope)
                case Block(inner):
                    self._walk(inner, Scope(scope, names=self))
                case IntrinsicScope(body=inner):
                    self._walk(inner, scope)
                case _:
                    text = getattr(statement, "text", "")
                    found = re.fullmatch(r"\s*([\w$%]+)\s*:\s*\.branchtargets\s+([^;]+);\s*", text)
                    if found:
                        scope.tables[found[1]] = tuple(t.strip() for t in found[2].split(","))

    def _variable(self, declaration: VarDecl, scope: Scope) -> None:
        space = _SPACES.get(declaration.state_space.value, declaration.state_space.value)
        item = size_of(declaration.type.value)
        unsized = declaration.array_size == 0
        count = 1 if declaration.array_size is None else declaration.array_size
        if unsized and declaration.initializer:
            count = declaration.initializer.count(",") + 1
        size, alignment = item * count, max(declaration.alignment or 1, item)
        variable = Variable(declaration.name, space, size)
        scope.variables[declaration.name] = variable
        if space == "shared":
            if unsized and declaration.linking is LinkingDirective.EXTERN or unsized:
                self.shared_bytes = -(-self.shared_bytes // max(alignment, 16)) * max(alignment, 16)
                self.dynamic.append(variable)
                return
            self.shared_bytes = -(-self.shared_bytes // alignment) * alignment
            variable.address = SHARED_START + self.shared_bytes
            self.shared_bytes += size
        elif space == "local":
            self.local_bytes = -(-self.local_bytes // alignment) * alignment
            variable.address = self.local_bytes
            self.local_bytes += size
        elif space == "const":
            start = -(-len(self.const_bytes) // alignment) * alignment
            self.const_bytes.extend(bytes(start + size - len(self.const_bytes)))
            variable.address = start
            self._initializers.append((variable, declaration, scope))
        elif space == "global":
            variable.buffer = Buffer(np.zeros(size, np.uint8), declaration.name)
            self._initializers.append((variable, declaration, scope))

    def _initialize(self, variable: Variable, declaration: VarDecl, scope: Scope) -> None:
        if not declaration.initializer:
            return
        item = size_of(declaration.type.value)
        words = [w for w in re.split(r"[\s{},=]+", declaration.initializer) if w]
        data = bytearray()
        for word in words:
            if scope.find("variables", word) is not None or "generic(" in word:
                raise SimulationError(f"variable {variable.name}: an initializer that names another variable is not simulated",
                                      at=declaration.place)
            data += struct.pack("<Q", bits_of(word, declaration.type.value, 8 * item))[:item]
        if len(data) > variable.size:
            raise SimulationError(f"variable {variable.name}: initializer has {len(data)} bytes for {variable.size}",
                                  at=declaration.place)
        if variable.space == "const":
            self.const_bytes[variable.address:variable.address + len(data)] = data
        else:
            variable.buffer.array[:len(data)] = np.frombuffer(bytes(data), np.uint8)
