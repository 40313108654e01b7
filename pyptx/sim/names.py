"""Names of an entry: registers, variables, labels, with the scopes of `{ }`; and where variables lie."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from pyptx.errors import SimulationError
from pyptx.ir.nodes import (
    Block,
    BranchTargets,
    CompoundExpr,
    Function,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    Module,
    RegDecl,
    RegisterOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.sim.actions import Reg
from pyptx.sim.args import layout, size_of
from pyptx.sim.literals import bits_of
from pyptx.sim.memory import SHARED_START, Buffer, place_buffers, space_window

__all__ = ["Names", "Scope", "Variable", "width_of"]

_SPACES = {"shared::cta": "shared", "shared::cluster": "shared"}


def width_of(type_name: str) -> int:
    """Bits of a register of the type; 1 for predicates."""
    return 1 if type_name == "pred" else 8 * size_of(type_name)


@dataclass(eq=False, slots=True)
class Variable:
    """A declared variable. `address` is within its space (global: None until it is placed).

    `problem` says why an instruction must not name it: its initializer is not simulated.
    """

    name: str
    space: str
    size: int
    address: int | None = None
    buffer: Buffer | None = None
    problem: str = ""


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
                self.registers[name] = found                # quicker next time
                return found
            scope = scope.parent
        return None

    def _from_family(self, name: str) -> tuple[Reg, str] | None:
        for prefix, count, type_name in self.families:
            digits = name[len(prefix):]
            if name.startswith(prefix) and digits.isdigit() and (digits == "0"
                                                                 or digits[0] != "0") and int(digits) < count:
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
                case RegDecl(vector=int()):
                    raise SimulationError(f"vector register {statement.name} is not simulated", at=statement.place)
                case RegDecl(type_, name, None):
                    scope.add(name, type_.value)
                case RegDecl(type_, name, count):
                    scope.families.append((name, count, type_.value))
                case VarDecl():
                    self._variable(statement, scope)
                case Block(inner):
                    self._walk(inner, Scope(scope, names=self))
                case IntrinsicScope(body=inner) | CompoundExpr(inner):
                    self._walk(inner, scope)
                case BranchTargets(name, labels):
                    scope.tables[name] = labels

    def _variable(self, declaration: VarDecl, scope: Scope) -> None:
        space = _SPACES.get(declaration.state_space.value, declaration.state_space.value)
        name, *sizes = re.findall(r"[^\[\]]+", declaration.name)
        item = size_of(declaration.type.value) * (declaration.vector or 1)
        unsized = declaration.array_size == 0
        count = 1 if declaration.array_size is None else declaration.array_size
        if unsized:
            count = len(_elements(declaration.initializer))
        for size in sizes:
            count *= int(size)
        variable = Variable(name, space, item * count)
        alignment = max(declaration.alignment or 1, item if item in (1, 2, 4, 8, 16, 32) else 1)
        scope.variables[name] = variable
        if space == "shared":
            if unsized:
                alignment = max(alignment, 16)
                self.shared_bytes = _aligned(self.shared_bytes, alignment)
                self.dynamic.append(variable)
                return
            variable.address = SHARED_START + _aligned(self.shared_bytes, alignment)
            self.shared_bytes = variable.address - SHARED_START + variable.size
        elif space == "local":
            variable.address = _aligned(self.local_bytes, alignment)
            self.local_bytes = variable.address + variable.size
        elif space == "const":
            variable.address = _aligned(len(self.const_bytes), alignment)
            self.const_bytes.extend(bytes(variable.address + variable.size - len(self.const_bytes)))
            self._initializers.append((variable, declaration, scope))
        elif space == "global":
            variable.buffer = Buffer(np.zeros(variable.size, np.uint8), name)
            self._initializers.append((variable, declaration, scope))

    def _initialize(self, variable: Variable, declaration: VarDecl, scope: Scope) -> None:
        data, item = bytearray(), size_of(declaration.type.value)
        for element in _elements(declaration.initializer):
            match element:
                case ImmediateOperand(text):
                    bits = bits_of(text, declaration.type.value, 8 * item)
                case LabelOperand(name) | RegisterOperand(name) if (address := _pointer(name, scope)) is not None:
                    bits = address
                case _:
                    variable.problem = f"the initializer {getattr(element, 'name', element)} is not simulated"
                    return
            data += bits.to_bytes(16, "little")[:item]
        if len(data) > variable.size:
            raise SimulationError(f"variable {variable.name}: {len(data)} bytes of initializer for {variable.size}",
                                  at=declaration.place)
        if variable.space == "const":
            self.const_bytes[variable.address:variable.address + len(data)] = data
        else:
            variable.buffer.array[:len(data)] = np.frombuffer(bytes(data), np.uint8)


_SYMBOL = re.compile(r"(generic\()?([\w$%]+)\)?(?:\s*\+\s*(\d+))?")


def _pointer(text: str, scope: Scope) -> int | None:
    """What `name`, `name+4` or `generic(name)` in an initializer stands for; None when it is no variable's address."""
    found = _SYMBOL.fullmatch(text)
    variable = scope.find("variables", found[2]) if found else None
    if variable is None or variable.address is None or variable.problem:
        return None
    return variable.address + int(found[3] or 0) + (space_window(variable.space) if found[1] else 0)


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _elements(initializer) -> list:
    """The elements of an initializer, those of nested braces one after the other."""
    match initializer:
        case None:
            return []
        case VectorOperand(elements):
            return [inner for element in elements for inner in _elements(element)]
        case str(text):
            return [ImmediateOperand(word) for word in re.split(r"[\s{},=]+", text) if word]
    return [initializer]
