"""Names of a program: the entry and the functions it reaches, their instructions, registers and variables, and where
variables lie.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from pyptx.errors import SimulationError
from pyptx.ir.nodes import (
    Alias,
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    CompoundExpr,
    Function,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    Module,
    Operand,
    ParenthesizedOperand,
    RegDecl,
    RegisterOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.sim.actions.basic import Reg
from pyptx.sim.memory.args import layout, size_of
from pyptx.sim.memory.objects import REFERENCES, references_end
from pyptx.sim.memory.spaces import FUNCTION_STRIDE, FUNCTION_WINDOW, SHARED_START, Buffer, place_buffers, space_window
from pyptx.sim.symbols.functions import Body, lay_out, slots_of
from pyptx.sim.symbols.literals import bits_of, integer
from pyptx.sim.symbols.scope import Scope, Variable, width_of

__all__ = ["RESERVED", "Names"]

# Shared memory the system keeps for tools and for the tiles of cooperative groups that span warps.
RESERVED = ("%reserved_smem_offset_0", "%reserved_smem_offset_1")

_SPACES = {"shared::cta": "shared", "shared::cluster": "shared"}
_AXES = ("xyzw", "rgba")
_STACK = frozenset(("alloca", "stackrestore"))
STACK_BYTES = 16384             # of local memory for frames that lie where the stack pointer says, and for alloca


class Names:
    """Everything the instructions of a program can name, and the instructions with their scopes."""

    def __init__(self, module: Module, function: Function):
        self.module, self.function = module, function
        self.target = module.target.targets[0]
        self.registers: list[Reg] = []
        self.instructions: list[tuple[Instruction, Scope]] = []
        self.params = layout(function)
        self.shared_bytes = 0                   # static, from SHARED_START
        self.reserved: int | None = None        # where the memory begins that RESERVED are the addresses of
        self.dynamic: list[Variable] = []
        self.const_bytes = bytearray()
        self.top = Scope()
        self.bodies: dict[str, Body] = {}
        self.functions = {f.name: f for f in module.directives if isinstance(f, Function) and not f.is_entry
                          and not f.declaration}
        for alias in module.directives:
            if isinstance(alias, Alias) and alias.aliasee in self.functions:
                self.functions[alias.name] = self.functions[alias.aliasee]
        self._carry: Reg | None = None
        self._stack: Reg | None = None
        self._stack_used: Reg | None = None
        self._held: list[Reg] = []
        self._initializers: list[tuple[Variable, VarDecl, Scope]] = []
        for directive in module.directives:
            if isinstance(directive, VarDecl):
                self._variable(directive, self.top)
        for segment in place_buffers(v.buffer for v in self.globals).values():
            next(v for v in self.globals if v.buffer is segment.buffer).address = segment.address
        self._walk_functions()
        if any(i.opcode == "mov" and getattr(i.operands[-1], "name", None) in RESERVED for i, _ in self.instructions):
            self.reserved = SHARED_START + _aligned(self.shared_bytes, 16)
            self.shared_bytes = self.reserved - SHARED_START + 512 * len(RESERVED)
        for variable, declaration, scope in self._initializers:
            self._initialize(variable, declaration, scope)
        end = SHARED_START + self.shared_bytes
        for variable in self.dynamic:
            variable.address = end

    # registers

    def new_register(self, name: str, type_name: str) -> Reg:
        register = Reg(len(self.registers), width_of(type_name), name)
        self.registers.append(register)
        return register

    def carry(self) -> Reg:
        """The carry flag CC.CF, as a predicate register."""
        if self._carry is None:
            self._carry = self.new_register("CC.CF", "pred")
        return self._carry

    def stack_pointer(self) -> Reg:
        """Where the frame of the running function starts in local memory, for functions whose `base` is None."""
        if self._stack is None:
            self._stack = self.new_register("stack pointer", "b64")
        return self._stack

    def stack_used(self) -> Reg:
        """Bytes that alloca took and that are not free again, behind `stack_base`."""
        if self._stack_used is None:
            self._stack_used = self.new_register("stack used", "b64")
        return self._stack_used

    def held(self, number: int) -> Reg:
        """A 64-bit register for what an instruction holds while it runs."""
        while len(self._held) <= number:
            self._held.append(self.new_register(f"held {len(self._held)}", "b64"))
        return self._held[number]

    @property
    def globals(self) -> list[Variable]:
        return [v for v in self.top.variables.values() if v.space == "global" and v.buffer is not None]

    # functions

    def address_of_function(self, name: str) -> int | None:
        """What `mov.u64 %rd, f` gives; functions are numbered in the order of the module."""
        function = self.functions.get(name)
        if function is None:
            return None
        place = next(k for k, f in enumerate(self._numbered()) if f is function)
        return FUNCTION_WINDOW + FUNCTION_STRIDE * place

    def function_starts(self) -> tuple[str | None, ...]:
        """For each number a function's address stands for, its name if the program holds it."""
        return tuple(f.name if f.name in self.bodies else None for f in self._numbered())

    def _numbered(self) -> list[Function]:
        return [f for name, f in self.functions.items() if f.name == name]

    def _walk_functions(self) -> None:
        """Walk the entry and what it reaches: called by name, or its address taken where somebody calls by address."""
        entry = self.function.name
        waiting, addressed = [entry], self._addressed(d.initializer for _, d, _ in self._initializers)
        frames: list[tuple[Variable, Body]] = []
        while waiting:
            name = waiting.pop(0)
            if name not in self.bodies:
                frames += self._walk_function(self.function if name == entry else self.functions[name], addressed)
                waiting += sorted(self.bodies[name].calls)
            if not waiting and any(body.indirect for body in self.bodies.values()):
                waiting = [n for n in addressed if n not in self.bodies]
        taken = [n for n in addressed if n in self.bodies]
        moving = lay_out(self.bodies, entry, taken)
        for variable, body in frames:
            if body.base is None:
                variable.stack = self.stack_pointer()
            else:
                variable.address += body.base
        self.addressed = taken
        ends = [body.base + body.pitch for body in self.bodies.values() if body.base is not None]
        self.local_bytes = self.stack_base = _aligned(max(ends) + (STACK_BYTES if moving else 0), 16)
        if any(instruction.opcode == "alloca" for instruction, _ in self.instructions):
            self.local_bytes += STACK_BYTES

    def _addressed(self, initializers) -> list[str]:
        """Functions whose address stands in initializers."""
        names = (name for i in initializers for element in _elements(i) for name in _named(element))
        return list(dict.fromkeys(self.functions[n].name for n in names if n in self.functions))

    def _walk_function(self, function: Function, addressed: list[str]) -> list[tuple[Variable, Body]]:
        """Walk a function; the variables of its frame."""
        body = self.bodies[function.name] = Body(function, self, len(self.instructions))
        scope = body.scope = Scope(self.top, body)
        if function is self.function:
            for slot in self.params:
                scope.variables[slot.name] = Variable(slot.name, "param", slot.size, slot.offset)
        else:
            body.results, body.params, body.frame_bytes = slots_of(function.return_params or (), function.params)
        self._frame: list[tuple[Variable, Body]] = []
        for slot in (*body.results, *body.params):
            if slot.register:
                scope.add(slot.name, slot.type)
            else:
                scope.variables[slot.name] = variable = Variable(slot.name, "local", slot.size, slot.offset)
                self._frame.append((variable, body))
        self._walk(function.body, scope)
        for instruction, inner in self.instructions[body.start:]:
            if self.functions or instruction.opcode == "call":
                self._references(instruction, inner, body, addressed)
        if function is not self.function and any(instruction.opcode in _STACK for instruction, _
                                                 in self.instructions[body.start:]):
            body.stack_before = body.new_register("stack before", "b64")
        if function is not self.function or body.calls or body.indirect:
            leave = Instruction("exit" if function is self.function else "ret", place=function.place)
            self.instructions.append((leave, scope))                # control does not run into the next function
        body.end = len(self.instructions)
        return self._frame

    def _references(self, instruction: Instruction, scope: Scope, body: Body, addressed: list[str]) -> None:
        """Note which functions an instruction calls or takes the address of."""
        operands = list(instruction.operands)
        if instruction.opcode == "call":
            if operands and isinstance(operands[0], ParenthesizedOperand):
                del operands[0]
            callee = next(iter(_named(operands[0])), "") if operands else ""
            if scope.register(callee) is not None:
                body.indirect = True
            elif callee in self.functions:
                body.calls.add(self.functions[callee].name)
                return
        for name in [n for operand in operands if operand.__class__ is not RegisterOperand for n in _named(operand)
                     if n in self.functions]:
            if self.functions[name].name not in addressed and scope.register(name) is None:
                addressed.append(self.functions[name].name)

    def _walk(self, body, scope: Scope) -> None:
        for statement in body:
            match statement:
                case Instruction():
                    self.instructions.append((statement, scope))
                case Label(name):
                    scope.labels[name] = len(self.instructions)
                case RegDecl(type_, name, count, vector=int(length)):
                    scope.body.vectors = True
                    for member in ([name] if count is None else [f"{name}{k}" for k in range(count)]):
                        scope.vectors[member] = length
                        for k in range(length):
                            entry = scope.add(f"{member}.{_AXES[0][k]}", type_.value)
                            scope.registers[f"{member}.{_AXES[1][k]}"] = entry
                case RegDecl(type_, name, None):
                    scope.add(name, type_.value)
                case RegDecl(type_, name, count):
                    scope.families[name] = count, type_.value
                case VarDecl():
                    self._variable(statement, scope)
                case Block(inner):
                    self._walk(inner, Scope(scope, scope.body))
                case IntrinsicScope(body=inner):
                    self._walk(inner, scope)
                case CompoundExpr():
                    self._walk(statement.body, scope)
                case BranchTargets(name, labels):
                    scope.tables[name] = labels
                case CallPrototype(name) | CallTargets(name):
                    scope.prototypes[name] = statement

    def _variable(self, declaration: VarDecl, scope: Scope) -> None:
        space = _SPACES.get(declaration.state_space.value, declaration.state_space.value)
        name, *sizes = re.findall(r"[^\[\]]+", declaration.name)
        if declaration.type.value in REFERENCES:
            scope.variables[name] = Variable(name, space, 0, problem=references_end(declaration.type.value, name))
            return
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
        elif space in ("local", "param") and scope.body is not None:
            variable.space = "local"
            variable.address = scope.body.allocate(variable.size, alignment)
            self._frame.append((variable, scope.body))
        elif space == "const":
            variable.address = _aligned(len(self.const_bytes), alignment)
            self.const_bytes.extend(bytes(variable.address + variable.size - len(self.const_bytes)))
            self._initializers.append((variable, declaration, scope))
        elif space == "global":
            variable.buffer = Buffer(np.zeros(variable.size, np.uint8), name)
            self._initializers.append((variable, declaration, scope))

    def _initialize(self, variable: Variable, declaration: VarDecl, scope: Scope) -> None:
        item, plain = size_of(declaration.type.value), _numbers(declaration.initializer, declaration.type.value)
        data = bytearray(plain or b"")
        for element in () if plain is not None else _elements(declaration.initializer):
            match element:
                case ImmediateOperand(text) if (cut := _MASKED.fullmatch(text)) \
                        and (address := _pointer(cut[2], scope)) is not None:
                    mask = integer(cut[1])                          # 0xff00(name): one byte of an address
                    bits = (address & mask) >> ((mask & -mask).bit_length() - 1)
                case ImmediateOperand(text):
                    bits = bits_of(text, declaration.type.value, 8 * item)
                case LabelOperand(name) | RegisterOperand(name) if (address := _pointer(name, scope)) is not None:
                    bits = address
                case LabelOperand(name) | RegisterOperand(name) if name in self.functions:
                    bits = self.address_of_function(name)
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


@lru_cache(maxsize=256)
def _numbers(initializer, type_name: str) -> bytes | None:
    """The bytes of an initializer of numbers alone."""
    elements, item = _elements(initializer), size_of(type_name)
    if not all(isinstance(e, ImmediateOperand) and _WORD.match(e.text) is None for e in elements):
        return None
    return b"".join(bits_of(e.text, type_name, 8 * item).to_bytes(16, "little")[:item] for e in elements)


_WORD = re.compile(r"[A-Za-z_$%]|0[xX][0-9a-fA-F]+\(")              # a name, or 0xff(name)
_MASKED = re.compile(r"(0[xX][0-9a-fA-F]+)\((.+)\)")
_SYMBOL = re.compile(r"(generic\()?([\w$%]+)\)?(?:\s*\+\s*(\d+))?")


def _pointer(text: str, scope: Scope) -> int | None:
    """What `name`, `name+4` or `generic(name)` in an initializer stands for; None when it is no variable's address."""
    found = _SYMBOL.fullmatch(text)
    variable = scope.find("variables", found[2]) if found else None
    if variable is None or variable.address is None or variable.problem:
        return None
    return variable.address + int(found[3] or 0) + (space_window(variable.space) if found[1] else 0)


def _named(operand: Operand) -> Iterator[str]:
    """Names an operand holds."""
    if operand.__class__ in (RegisterOperand, LabelOperand):
        yield operand.name
    elif operand.__class__ in (ParenthesizedOperand, VectorOperand):
        for element in operand.elements:
            yield from _named(element)


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
