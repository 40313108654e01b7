"""Symbol table of a program: the entry and the functions it reaches, their scopes, registers and variables.

Variables get their addresses here; code is only walked, not decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pyptx.errors import SimulationError
from pyptx.ir.nodes import (
    AddressOperand,
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
    NegatedOperand,
    NegativeOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegDecl,
    RegisterOperand,
    Statement,
    VarDecl,
    VectorOperand,
)
from pyptx.sim.actions import Reg
from pyptx.sim.memory.address_space import (
    FUNCTION_STRIDE,
    FUNCTION_WINDOW,
    SHARED_START,
    Buffer,
    Segment,
    place_buffers,
    space_window,
)
from pyptx.sim.memory.arguments import ParamSlot, layout, size_of
from pyptx.sim.memory.texture_objects import REFERENCES, explain_reference
from pyptx.sim.symbols.frames import Frame, place_frames, slots_of
from pyptx.sim.symbols.initializers import UnsupportedInitializerError, elements_of, initializer_bytes
from pyptx.sim.symbols.scopes import Body, Scope, Variable
from pyptx.sim.value_types import width

__all__ = ["RESERVED", "Place", "SymbolTable"]

Place = Callable[[Iterable[Buffer]], Mapping[int, Segment]]  # assigns addresses; segments by `id` of the buffer

# Shared memory that the system reserves for tools and for cooperative-group tiles that span warps.
RESERVED = ("%reserved_smem_offset_0", "%reserved_smem_offset_1")
RESERVED_BYTES = 512  # of each
STACK_BYTES = 16384  # local memory for frames at the stack pointer, and again for alloca

# Largest memory of any GPU. Source: CUDA C++ Programming Guide, "Compute Capabilities"; global: of a GB300.
MAX_BYTES = {"local": 512 << 10, "shared": 227 << 10, "const": 64 << 10, "global": 288 << 30}
_WHOSE = {"local": "a thread", "shared": "a CTA", "const": "a module", "global": "a GPU"}
MAX_VECTORS = 1 << 16  # vector registers in a declaration

_SPACES = {"shared::cta": "shared", "shared::cluster": "shared"}
_AXES = ("xyzw", "rgba")
_STACK_OPCODES = frozenset(("alloca", "stackrestore"))
_IDENTIFIER = re.compile(r"[A-Za-z_$%][\w$]*")
_SYMBOL = re.compile(r"(generic\()?([\w$%]+)\)?(?:\s*\+\s*(\d+))?")


@dataclass(eq=False, slots=True)
class _SharedDeclaration:
    """A shared variable before it is placed; `unsized` is an `.extern` array in dynamic shared memory."""

    variable: Variable
    alignment: int
    unsized: bool
    module_level: bool
    declaration: VarDecl


class SymbolTable:
    """Symbols of an entry and the functions it reaches.

    Attributes:
        instructions: every instruction with its scope; their order numbers them everywhere.
        registers: every register, in the order of their indices.
        globals: global variables of the module and of its functions.
        bodies: functions of the program by name, the entry first.
        functions: functions of the module by name, with aliases.
        addressed: names of the functions whose address is taken.
        params: parameters of the entry.
        shared_bytes: static shared memory of the functions of the program, from SHARED_START, padded to the alignment
            of dynamic shared memory, which follows it.
        reserved: shared address of the RESERVED memory, if the program uses it.
        const_bytes: initial contents of constant memory.
        local_bytes: local memory of a thread.
        stack_base: offset in local memory where alloca begins.
    """

    function: Function
    module: Module
    target: str
    params: tuple[ParamSlot, ...]
    const_bytes: bytearray
    top: Scope
    functions: dict[str, Function]
    stack_base: int
    local_bytes: int
    shared_bytes: int
    reserved: int | None

    def __init__(self, module: Module, function: Function, place: Place = place_buffers):
        self.module, self.function = module, function
        self.target = module.target.targets[0]
        self.registers: list[Reg] = []
        self.instructions: list[tuple[Instruction, Scope]] = []
        self.params = layout(function)
        self.shared_bytes = 0
        self.reserved = None
        self.const_bytes = bytearray()
        self.local_bytes = self.stack_base = 0
        self.top = Scope()
        self.bodies: dict[str, Body] = {}
        self.addressed: list[str] = []
        self.functions = {
            f.name: f for f in module.directives if isinstance(f, Function) and not f.is_entry and not f.declaration
        }
        for alias in module.directives:
            if isinstance(alias, Alias) and alias.aliasee in self.functions:
                self.functions[alias.name] = self.functions[alias.aliasee]
        self._carry: Reg | None = None
        self._stack: Reg | None = None
        self._stack_used: Reg | None = None
        self._scratch: list[Reg] = []
        self._shared: list[_SharedDeclaration] = []
        self._in_frames: list[tuple[Variable, Body]] = []
        self._initializers: list[tuple[Variable, VarDecl, Scope]] = []
        self.globals: list[Variable] = []
        for directive in module.directives:
            if isinstance(directive, VarDecl):
                self._declare(directive, self.top)
        self._walk_functions()
        segments = place(self.global_buffers)
        for variable in self.globals:
            variable.address = segments[id(variable.buffer)].address
        self._place_static_shared()
        if any(i.opcode == "mov" and getattr(i.operands[-1], "name", None) in RESERVED for i, _ in self.instructions):
            self.reserved = SHARED_START + _aligned(self.shared_bytes, 16)
            self.shared_bytes = self.reserved - SHARED_START + RESERVED_BYTES * len(RESERVED)
        for variable, declaration, scope in self._initializers:
            self._initialize(variable, declaration, scope)
        self._place_dynamic_shared()

    # registers

    def new_register(self, name: str, type_name: str) -> Reg:
        """Add a register of the program."""
        register = Reg(len(self.registers), width(type_name), name)
        self.registers.append(register)
        return register

    def carry(self) -> Reg:
        """The carry flag CC.CF, as a predicate register."""
        if self._carry is None:
            self._carry = self.new_register("CC.CF", "pred")
        return self._carry

    def stack_pointer(self) -> Reg:
        """Register with the start of the running function's frame, for functions whose frame has no fixed base."""
        if self._stack is None:
            self._stack = self.new_register("stack pointer", "b64")
        return self._stack

    def stack_used(self) -> Reg:
        """Register with the bytes behind `stack_base` that alloca has taken."""
        if self._stack_used is None:
            self._stack_used = self.new_register("stack used", "b64")
        return self._stack_used

    def scratch(self, number: int) -> Reg:
        """A 64-bit register that an instruction uses while it runs."""
        while len(self._scratch) <= number:
            self._scratch.append(self.new_register(f"scratch {len(self._scratch)}", "b64"))
        return self._scratch[number]

    @property
    def global_buffers(self) -> list[Buffer]:
        """Memory of the global variables."""
        return [v.buffer for v in self.globals if v.buffer is not None]

    def copied_buffers(self) -> list[Buffer]:
        """Return a copy of `global_buffers`, for a launch that leaves the variables as they are.

        Raises:
            SimulationError: there is no memory for the copy.
        """
        buffers = self.global_buffers
        try:
            return [Buffer(b.array.copy(), b.name) for b in buffers]
        except MemoryError:
            total = sum(b.array.nbytes for b in buffers)
            raise SimulationError(
                f"a copy of the {total:,} bytes of .global variables exceeds the memory of this machine"
            ) from None

    # functions

    def address_of_function(self, name: str) -> int | None:
        """Address of a function, as `mov.u64 %rd, f` gives it; functions are numbered in the order of the module."""
        function = self.functions.get(name)
        if function is None:
            return None
        number = next(k for k, f in enumerate(self._numbered()) if f is function)
        return FUNCTION_WINDOW + FUNCTION_STRIDE * number

    def function_at(self, address: int) -> str | None:
        """Name of the function at an address; None if it is not the address of a function."""
        number, rest = divmod(address - FUNCTION_WINDOW, FUNCTION_STRIDE)
        functions = self._numbered()
        return functions[number].name if not rest and 0 <= number < len(functions) else None

    def function_starts(self) -> tuple[str | None, ...]:
        """Names of the module's functions by number; None for those that the program does not contain."""
        return tuple(f.name if f.name in self.bodies else None for f in self._numbered())

    def _numbered(self) -> list[Function]:
        return [f for name, f in self.functions.items() if f.name == name]

    def _walk_functions(self) -> None:
        """Walk the entry and the functions it reaches, including addressed ones if there are indirect calls."""
        entry = self.function.name
        pending, addressed = [entry], self._addressed_in_initializers()
        while pending:
            name = pending.pop(0)
            if name not in self.bodies:
                self._walk_function(self.function if name == entry else self.functions[name], addressed)
                addressed += [n for n in self._addressed_in_initializers() if n not in addressed]
                pending += sorted(self.bodies[name].frame.calls)
            if not pending and any(body.frame.indirect for body in self.bodies.values()):
                pending = [n for n in addressed if n not in self.bodies]
        self.addressed = [n for n in addressed if n in self.bodies]
        frames = {name: body.frame for name, body in self.bodies.items()}
        dynamic = place_frames(frames, entry, self.addressed)
        for variable, body in self._in_frames:
            if body.frame.base is None:
                variable.stack = self.stack_pointer()
            else:
                variable.address = (variable.address or 0) + body.frame.base
        end = max(frame.base + frame.pitch for frame in frames.values() if frame.base is not None)
        if end > MAX_BYTES["local"]:
            raise SimulationError(
                f"{entry}: the frames of its functions take {end} bytes; a thread has at most {MAX_BYTES['local']} "
                "bytes of local memory"
            )
        self.local_bytes = self.stack_base = _aligned(end + (STACK_BYTES if dynamic else 0), 16)
        if any(instruction.opcode == "alloca" for instruction, _ in self.instructions):
            self.local_bytes += STACK_BYTES

    def _addressed_in_initializers(self) -> list[str]:
        """Functions whose address is in an initializer."""
        initializers = (declaration.initializer for _, declaration, _ in self._initializers)
        names = (name for i in initializers for element in elements_of(i) for name in _symbols_in(element))
        return list(dict.fromkeys(self.functions[n].name for n in names if n in self.functions))

    def _walk_function(self, function: Function, addressed: list[str]) -> None:
        is_entry = function is self.function
        scope = Scope(self.top)
        body = scope.body = self.bodies[function.name] = Body(function, self, scope, len(self.instructions))
        frame = body.frame
        if is_entry:
            for param in self.params:
                scope.variables[param.name] = Variable(param.name, "param", param.size, param.offset)
        else:
            frame.results, frame.params, frame.size = slots_of(function.return_params or (), function.params)
        for slot in (*frame.results, *frame.params):
            if slot.register:
                scope.add(slot.name, slot.type)
            else:
                scope.variables[slot.name] = variable = Variable(slot.name, "local", slot.size, slot.offset)
                self._in_frames.append((variable, body))
        self._walk(function.body, scope)
        own = self.instructions[body.start :]
        for instruction, inner in own:
            if self.functions or instruction.opcode == "call":
                self._note_references(instruction, inner, frame, addressed)
        if not is_entry and any(instruction.opcode in _STACK_OPCODES for instruction, _ in own):
            body.stack_before = body.new_register("stack before", "b64")
        if not is_entry or frame.calls or frame.indirect:
            leave = Instruction("exit" if is_entry else "ret", place=function.place)
            self.instructions.append((leave, scope))  # control must not run into the next function
        body.end = len(self.instructions)

    def _note_references(self, instruction: Instruction, scope: Scope, frame: Frame, addressed: list[str]) -> None:
        """Record the functions that an instruction calls or takes the address of."""
        operands = list(instruction.operands)
        if instruction.opcode == "call":
            if operands and isinstance(operands[0], ParenthesizedOperand):
                del operands[0]
            callee = next(iter(_symbols_in(operands[0])), "") if operands else ""
            if scope.register(callee) is not None:
                frame.indirect = True
            elif callee in self.functions:
                frame.calls.add(self.functions[callee].name)
                return
        for name in [
            n
            for operand in operands
            if operand.__class__ is not RegisterOperand
            for n in _symbols_in(operand)
            if n in self.functions
        ]:
            if self.functions[name].name not in addressed and scope.register(name) is None:
                addressed.append(self.functions[name].name)

    def _walk(self, statements: Iterable[Statement], scope: Scope) -> None:
        for statement in statements:
            match statement:
                case Instruction():
                    self.instructions.append((statement, scope))
                case Label(name):
                    scope.labels[name] = len(self.instructions)
                case RegDecl(type_, name, count, vector=int(length)):
                    if (count or 1) > MAX_VECTORS:
                        raise SimulationError(
                            f"{name}<{count}>: {count} vector registers; at most {MAX_VECTORS}", at=statement.place
                        )
                    scope.function.vectors = True
                    for member in [name] if count is None else [f"{name}{k}" for k in range(count)]:
                        scope.vectors[member] = length
                        for k in range(length):
                            entry = scope.add(f"{member}.{_AXES[0][k]}", type_.value)
                            scope.registers[f"{member}.{_AXES[1][k]}"] = entry
                case RegDecl(type_, name, None):
                    scope.add(name, type_.value)
                case RegDecl(type_, name, int(count)):
                    scope.families[name] = count, type_.value
                case VarDecl():
                    self._declare(statement, scope)
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

    # variables

    def _declare(self, declaration: VarDecl, scope: Scope) -> None:
        space = _SPACES.get(declaration.state_space.value, declaration.state_space.value)
        name, *sizes = re.findall(r"[^\[\]]+", declaration.name)
        if declaration.type.value in REFERENCES:
            scope.variables[name] = Variable(name, space, 0, problem=explain_reference(declaration.type.value, name))
            return
        item = size_of(declaration.type.value) * (declaration.vector or 1)
        unsized = declaration.array_size == 0
        count = 1 if declaration.array_size is None else declaration.array_size
        if unsized:
            count = len(elements_of(declaration.initializer))
        for size in sizes:
            count *= int(size)
        variable = scope.variables[name] = Variable(name, space, item * count)
        alignment = max(declaration.alignment or 1, item if item in (1, 2, 4, 8, 16, 32) else 1)
        limited = "local" if space == "param" else space
        if variable.size > MAX_BYTES.get(limited, variable.size):
            raise SimulationError(
                f"variable {name}: {variable.size} bytes of .{space}; {_WHOSE[limited]} has at most "
                f"{MAX_BYTES[limited]} bytes of {limited} memory",
                at=declaration.place,
            )
        if space == "shared":
            self._shared.append(_SharedDeclaration(variable, alignment, unsized, scope is self.top, declaration))
        elif space in ("local", "param") and scope.body is not None:
            variable.space = "local"
            variable.address = scope.body.frame.allocate(variable.size, alignment)
            self._in_frames.append((variable, scope.body))
        elif space == "const":
            variable.address = _aligned(len(self.const_bytes), alignment)
            self._check_total("const", variable.address + variable.size, declaration)
            self.const_bytes.extend(bytes(variable.address + variable.size - len(self.const_bytes)))
            self._initializers.append((variable, declaration, scope))
        elif space == "global":
            self._check_total("global", sum(v.size for v in self.globals) + variable.size, declaration)
            try:
                variable.buffer = Buffer(np.zeros(variable.size, np.uint8), name)
            except MemoryError:
                raise SimulationError(
                    f"variable {name}: {variable.size} bytes of .global exceed the memory of this machine",
                    at=declaration.place,
                ) from None
            self.globals.append(variable)
            self._initializers.append((variable, declaration, scope))

    def _check_total(self, space: str, total: int, declaration: VarDecl) -> None:
        if total > MAX_BYTES[space]:
            raise SimulationError(
                f"variable {declaration.name}: the variables up to it take {total} bytes; {_WHOSE[space]} has at most "
                f"{MAX_BYTES[space]} bytes of {space} memory",
                at=declaration.place,
            )

    def _place_static_shared(self) -> None:
        """Assign addresses to shared variables, module-level ones only if the program refers to them."""
        if any(shared.module_level for shared in self._shared):
            used = {name for i, _ in self.instructions for operand in i.operands for name in _words_in(operand)}
            self._shared = [s for s in self._shared if not s.module_level or s.variable.name in used]
        for shared in self._shared:
            if not shared.unsized:
                start = _aligned(self.shared_bytes, shared.alignment)
                shared.variable.address = SHARED_START + start
                self.shared_bytes = start + shared.variable.size
                self._check_total("shared", self.shared_bytes, shared.declaration)

    def _place_dynamic_shared(self) -> None:
        """Assign the address of dynamic shared memory, which starts behind all static variables."""
        dynamic = [shared for shared in self._shared if shared.unsized]
        if dynamic:
            alignment = max(16, *(shared.alignment for shared in dynamic))
            # SHARED_START is a multiple of 1024; alignments above that are relative to the window
            end = _aligned(SHARED_START + self.shared_bytes, alignment)
            self.shared_bytes = end - SHARED_START
            for shared in dynamic:
                shared.variable.address = end

    def _initialize(self, variable: Variable, declaration: VarDecl, scope: Scope) -> None:
        def resolve(symbol: str) -> int | None:
            address = _address_in(symbol, scope)
            return self.address_of_function(symbol) if address is None else address

        try:
            data = initializer_bytes(declaration.initializer, declaration.type.value, resolve)
        except UnsupportedInitializerError as error:
            variable.problem = str(error)
            return
        if len(data) > variable.size:
            raise SimulationError(
                f"variable {variable.name}: {len(data)} bytes of initializer for {variable.size}", at=declaration.place
            )
        if variable.buffer is not None:
            variable.buffer.array[: len(data)] = np.frombuffer(data, np.uint8)
        elif variable.address is not None:
            self.const_bytes[variable.address : variable.address + len(data)] = data


def _address_in(symbol: str, scope: Scope) -> int | None:
    """Value of `name`, `name+4` or `generic(name)` in an initializer; None unless it is a variable's address."""
    found = _SYMBOL.fullmatch(symbol)
    variable = scope.variable(found[2]) if found else None
    if found is None or variable is None or variable.address is None or variable.problem:
        return None
    return variable.address + int(found[3] or 0) + (space_window(variable.space) if found[1] else 0)


def _symbols_in(operand: Operand) -> Iterator[str]:
    """Names in an operand."""
    match operand:
        case RegisterOperand(name) | LabelOperand(name):
            yield name
        case ParenthesizedOperand(elements) | VectorOperand(elements):
            for element in elements:
                yield from _symbols_in(element)


def _words_in(operand: Operand) -> Iterator[str]:
    """Identifiers in an operand, those in expressions such as `name+4` included."""
    match operand:
        case RegisterOperand(name) | LabelOperand(name) | AddressOperand(base=name):
            yield name.partition("+")[0].strip()
            if isinstance(operand, AddressOperand) and operand.offset:
                yield from _IDENTIFIER.findall(operand.offset)
        case ImmediateOperand(text):
            yield from _IDENTIFIER.findall(text)
        case ParenthesizedOperand(elements) | VectorOperand(elements):
            for element in elements:
                yield from _words_in(element)
        case NegatedOperand(inner) | NegativeOperand(inner):
            yield from _words_in(inner)
        case PipeOperand(left, right):
            yield from _words_in(left)
            yield from _words_in(right)


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
