"""Python variables of a kernel: the registers and memory that each name is bound to, at each instruction.

The kernel's function is traced a second time while its frames are observed. The emitted PTX is the same, so the
bindings hold for the program that runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

from pyptx._loc import SourceLocation, StoredCode, is_users
from pyptx.debug.inspect.c_types import Located
from pyptx.elements import Vector
from pyptx.ir.nodes import Block, CompoundExpr, Instruction, IntrinsicScope, Statement
from pyptx.ir.visit import instructions
from pyptx.jit.specialization import Specialization
from pyptx.ptx.mbarrier import MbarrierRing
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.sim import Program
from pyptx.smem import MbarrierArray, MbarrierRef, SharedAlloc, SharedSlice
from pyptx.tracing.trace import get_ctx, in_trace

__all__ = ["Binding", "Memory", "Parts", "PythonNames", "Register", "Ring", "trace_python_names"]

_MOST_DEPTH, _MOST_ELEMENTS = 4, 4096  # of nested lists that are followed


@dataclass(frozen=True, slots=True)
class Register:
    """A register: its PTX name, and the type it has in Python."""

    name: str
    type: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """Shared memory allocated in Python, `offset` bytes after a symbol; mbarriers have the type "mbarrier"."""

    symbol: str
    offset: int
    type: str
    shape: tuple[int, ...]
    swizzle: str | None = None


@dataclass(frozen=True, slots=True)
class Ring:
    """A ring of `count` mbarriers, `offset` bytes after the address in a register or after a symbol."""

    base: Register | str
    offset: int
    count: int


@dataclass(frozen=True, slots=True)
class Parts:
    """An object whose attributes are bound to registers or memory."""

    kind: str
    attributes: dict[str, Binding]


Binding = Register | Memory | Ring | Parts | Located | tuple["Binding | None", ...] | bool | int | float | str


@dataclass(slots=True)
class _Call:
    """One call of a user function while tracing: its range of instructions, and the bindings of its names."""

    code: CodeType
    first: Instruction | None
    last: Instruction | None = None
    bindings: list[tuple[Instruction | None, str, Binding | None]] = field(default_factory=list)
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)


class PythonNames:
    """Bindings of a kernel's Python names at each instruction; `problem` explains why they are unknown, if they are."""

    problem: str

    def __init__(self, program: Program, calls: list[_Call], order: dict[int, int], total: int, problem: str = ""):
        self._program, self.problem = program, problem
        self._calls = [
            (
                call.code,
                order.get(id(call.first), -1),
                order.get(id(call.last), total),
                [(order.get(id(at), -1), name, value) for at, name, value in call.bindings],
            )
            for call in calls
        ]
        self._found: dict[int, dict[str, Binding]] = {}

    def at(self, instruction: int) -> dict[str, Binding]:
        """Return the names visible at an instruction, those of the innermost function first.

        Past the end of the kernel, these are the names at the last instruction.
        """
        instruction = min(instruction, len(self._program.instructions) - 1)
        if instruction not in self._found:
            found: dict[str, Binding] = {}
            for frame in self._stack(instruction):
                for name, value in self._in_function(frame.code, instruction).items():
                    found.setdefault(name, value)
            self._found[instruction] = found
        return self._found[instruction]

    def bound(self, instruction: int) -> list[str]:
        """Return the names of `at` that were bound before the instruction was emitted; others are bound later."""
        instruction = min(instruction, len(self._program.instructions) - 1)
        codes = {frame.code for frame in self._stack(instruction)}
        names = {
            name
            for code, first, last, bindings in self._calls
            if code in codes and first < instruction <= last
            for at, name, _ in bindings
            if at < instruction
        }
        return [name for name in self.at(instruction) if name in names]

    def absent(self, instruction: int, name: str) -> str:
        """Return why a variable has no value at an instruction: "", as all names of `at` have one."""
        return ""

    def _stack(self, instruction: int) -> tuple[SourceLocation, ...]:
        place = self._program.instructions[instruction].place
        return place.stack if isinstance(place, SourceLocation) else ()

    def _in_function(self, code: CodeType | StoredCode, instruction: int) -> dict[str, Binding]:
        calls = [call for call in self._calls if call[0] is code and call[1] < instruction <= call[2]]
        if not calls:
            return {}
        bound: dict[str, Binding | None] = {}
        for at, name, value in calls[-1][3]:
            if at < instruction or name not in bound:
                bound[name] = value
        return {name: value for name, value in bound.items() if value is not None}

    @cached_property
    def owners(self) -> dict[str, str]:
        """First Python name of each register, such as `acc[3]`, by its PTX name."""
        found: dict[str, str] = {}
        for *_, bindings in self._calls:
            for _, name, value in bindings:
                for path, register in _registers(name, value):
                    found.setdefault(register.name, path)
        return found

    @cached_property
    def types(self) -> dict[str, str]:
        """Python type of each register, by its PTX name."""
        return {
            register.name: register.type
            for *_, bindings in self._calls
            for _, name, value in bindings
            for _, register in _registers(name, value)
        }

    def owners_at(self, instruction: int) -> dict[str, str]:
        """Return `owners`: registers of a kernel in Python have one name in all of it."""
        return self.owners

    def types_at(self, instruction: int) -> dict[str, str]:
        """Return `types`."""
        return self.types

    @cached_property
    def memories(self) -> dict[str, Memory]:
        """Shared memory by its first Python name."""
        found: dict[str, Memory] = {}
        for *_, bindings in self._calls:
            for _, name, value in bindings:
                if isinstance(value, Memory) and name not in found and value not in found.values():
                    found[name] = value
        return found


def _registers(path: str, value: Binding | None) -> Iterator[tuple[str, Register]]:
    match value:
        case Register():
            if not value.negated:
                yield path, value
        case tuple():
            for k, part in enumerate(value):
                yield from _registers(f"{path}[{k}]", part)
        case Ring(base=Register() as base):
            yield f"{path}.base", base
        case Parts():
            for name, part in value.attributes.items():
                yield from _registers(f"{path}.{name}", part)


def trace_python_names(
    trace: Callable[[], Specialization], specialization: Specialization, program: Program
) -> PythonNames:
    """Trace a kernel again and record its Python names; they are unknown if the emitted PTX differs."""
    observer = _FrameObserver()
    before = sys.gettrace()
    sys.settrace(observer.trace_call)
    try:
        again = trace()
    finally:
        sys.settrace(before)
    if again.emitted.text != specialization.emitted.text:
        return PythonNames(
            program,
            [],
            {},
            0,
            "the Python names are unknown: traced again, the kernel's function emitted different PTX; "
            "does it depend on state that changes?",
        )
    numbers = {id(node): number for number, node in enumerate(program.instructions)}
    order = {
        id(theirs): numbers[id(ours)]
        for other, own in zip(again.module.functions, specialization.module.functions, strict=True)
        for theirs, ours in zip(instructions(other), instructions(own), strict=True)
        if id(ours) in numbers
    }
    return PythonNames(program, observer.calls, order, len(program.instructions))


class _FrameObserver:
    """Trace function that observes the frames of user code; of a body that is traced twice, the second counts."""

    def __init__(self):
        self.calls: list[_Call] = []
        self._newest: Instruction | None = None
        self._ctx: Any = None
        self._alive: list[Any] = []  # keeps objects alive, so that their ids stay unique

    def trace_call(self, frame: FrameType, event: str, arg: Any):
        code = frame.f_code
        if not in_trace() or not is_users(code):
            return None
        if get_ctx() is not self._ctx:
            self._ctx, self._newest = get_ctx(), None
            self.calls = []
        self._update_newest()
        call = _Call(code, self._newest)
        self.calls.append(call)

        def trace_line(frame: FrameType, event: str, arg: Any):
            if not in_trace():
                return None
            self._update_newest()
            self._record_bindings(call, frame)
            if event == "return":
                call.last = self._newest
            return trace_line

        return trace_line

    def _update_newest(self) -> None:
        newest = _last(get_ctx().statements)
        if newest is not None and newest is not self._newest:
            self._newest = newest
            self._alive.append(newest)

    def _record_bindings(self, call: _Call, frame: FrameType) -> None:
        for name, value in frame.f_locals.items():
            key = id(value), len(value) if isinstance(value, list) else 0
            if call.seen.get(name) != key:
                call.seen[name] = key
                self._alive.append(value)
                binding = _binding(value, 0)
                if binding is not None or any(known == name for _, known, _ in call.bindings):
                    call.bindings.append((self._newest, name, binding))


def _last(statements: Sequence[Statement]) -> Instruction | None:
    """Return the last instruction of a list of statements."""
    for statement in reversed(statements):
        if isinstance(statement, Instruction):
            return statement
        if isinstance(statement, Block | IntrinsicScope | CompoundExpr) and (inner := _last(statement.body)):
            return inner
    return None


def _binding(value: Any, depth: int) -> Binding | None:
    """Return what a Python value is bound to while the kernel runs, or None."""
    match value:
        case bool() | int() | float() | str():
            return value
        case Reg():
            return Register(value.name, value.dtype.name)
        case NegPred():
            return Register(value.reg.name, "pred", True)
        case Vector():
            return tuple(Register(word.name, word.dtype.name) for word in value.words)
        case RegArray():
            return tuple(Register(f"{value.base}{k}", value.dtype.name) for k in range(value.count))
        case SharedAlloc():
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, value.dtype.name, value.shape, value.swizzle)
        case MbarrierRing():
            base = value.base
            return Ring(
                Register(base.name, base.dtype.name) if isinstance(base, Reg) else base, value.byte_offset, value.count
            )
        case MbarrierArray():
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, "mbarrier", (value.count,))
        case MbarrierRef():
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, "mbarrier", (1,))
        case SharedSlice() if isinstance(value.stage, int):
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, value.alloc.dtype.name, value.shape, value.alloc.swizzle)
        case list() | tuple() if depth < _MOST_DEPTH and 0 < len(value) <= _MOST_ELEMENTS:
            parts = tuple(_binding(part, depth + 1) for part in value)
            return parts if any(part is not None for part in parts) else None
    return _parts(value, depth)


def _parts(value: Any, depth: int) -> Parts | None:
    """Return the registers and memory that an object holds as attributes."""
    if depth >= 2 or callable(value) or isinstance(value, type):
        return None
    names = [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]
    found: dict[str, Binding] = {}
    for name in names:
        if name.startswith("__"):
            continue
        part = getattr(value, name, None)
        if isinstance(part, Reg | RegArray | SharedAlloc | MbarrierArray | MbarrierRing):
            binding = _binding(part, depth + 1)
            if binding is not None:
                found[name.lstrip("_")] = binding
    return Parts(type(value).__name__, found) if found else None
