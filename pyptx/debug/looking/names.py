"""Which registers and memory the kernel author's own Python names stand for, at each instruction.

The kernel's function is traced once more while its frames are looked at; the text that comes out is the same, so what
a name is bound to there holds for the program that runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

from pyptx._loc import Place, is_users
from pyptx.ir.nodes import Block, CompoundExpr, Instruction, IntrinsicScope
from pyptx.ir.visit import instructions
from pyptx.kernel.variant import Variant
from pyptx.ptx.rings import MbarrierRing
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.sim import Program
from pyptx.smem import MbarrierArray, MbarrierRef, SharedAlloc, SharedSlice
from pyptx.tracing.trace import get_ctx, in_trace

__all__ = ["Memory", "Names", "Parts", "Register", "Ring", "names_of"]

_DEEP, _MANY = 4, 4096          # of lists in lists; registers of one name


@dataclass(frozen=True, slots=True)
class Register:
    """One register by its name in PTX, and the type Python gave it."""

    name: str
    type: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """Shared memory that Python allocated: `offset` bytes behind a symbol; type "mbarrier" of mbarriers."""

    symbol: str
    offset: int
    type: str
    shape: tuple[int, ...]
    swizzle: str | None = None


@dataclass(frozen=True, slots=True)
class Ring:
    """`count` mbarriers that lie `offset` bytes behind what a register, or a symbol, says."""

    base: Register | str
    offset: int
    count: int


@dataclass(frozen=True, slots=True)
class Parts:
    """An object whose attributes stand for something."""

    kind: str
    attributes: dict[str, Any]


@dataclass(slots=True)
class _Call:
    """One call of a function of the kernel author: from which instruction to which, and what its names became."""

    code: CodeType
    first: Instruction | None
    last: Instruction | None = None
    open: bool = True
    bindings: list[tuple[Instruction | None, str, Any]] = field(default_factory=list)
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)


class Names:
    """What the Python names of a kernel mean at each instruction; `problem` says why they are not known, if so."""

    def __init__(self, program: Program, calls: list[_Call], order: dict[int, int], total: int, problem: str = ""):
        self._program, self.problem = program, problem
        self._calls = [(call.code, order.get(id(call.first), -1), order.get(id(call.last), total),
                        [(order.get(id(at), -1), name, value) for at, name, value in call.bindings]) for call in calls]
        self._found: dict[int, dict[str, Any]] = {}

    def at(self, instruction: int) -> dict[str, Any]:
        """Names that the functions around an instruction know there, those of the innermost first; at the end those of
        the last instruction.
        """
        instruction = min(instruction, len(self._program.instructions) - 1)
        if instruction not in self._found:
            found: dict[str, Any] = {}
            for frame in self._stack(instruction):
                for name, value in self._of(frame.code, instruction).items():
                    found.setdefault(name, value)
            self._found[instruction] = found
        return self._found[instruction]

    def known(self, instruction: int) -> list[str]:
        """Those of `at` that were bound when the instruction was written; the others come later, or in a loop again."""
        instruction = min(instruction, len(self._program.instructions) - 1)
        codes = {frame.code for frame in self._stack(instruction)}
        bound = {name for code, first, last, bindings in self._calls if code in codes and first < instruction <= last
                 for at, name, _ in bindings if at < instruction}
        return [name for name in self.at(instruction) if name in bound]

    def _stack(self, instruction: int) -> tuple[Place, ...]:
        place = self._program.instructions[instruction].place
        return place.stack if isinstance(place, Place) else ()

    def _of(self, code: CodeType, instruction: int) -> dict[str, Any]:
        calls = [call for call in self._calls if call[0] is code and call[1] < instruction <= call[2]]
        if not calls:
            return {}
        bound: dict[str, Any] = {}
        for at, name, value in calls[-1][3]:
            if at < instruction or name not in bound:
                bound[name] = value
        return {name: value for name, value in bound.items() if value is not None}

    @cached_property
    def owners(self) -> dict[str, str]:
        """The name a register goes by, as `acc[3]`, by its name in PTX: the first that was given to it."""
        found: dict[str, str] = {}
        for *_, bindings in self._calls:
            for _, name, value in bindings:
                for path, register in _registers(name, value):
                    found.setdefault(register.name, path)
        return found


    @cached_property
    def types(self) -> dict[str, str]:
        """The type Python gave a register, by its name in PTX."""
        return {register.name: register.type for *_, bindings in self._calls for _, name, value in bindings
                for _, register in _registers(name, value)}

    @cached_property
    def memories(self) -> dict[str, Memory]:
        """Shared memory by the first name that was given to it."""
        found: dict[str, Memory] = {}
        for *_, bindings in self._calls:
            for _, name, value in bindings:
                if isinstance(value, Memory) and name not in found and value not in found.values():
                    found[name] = value
        return found


def _registers(path: str, value: Any) -> Iterator[tuple[str, Register]]:
    match value:
        case Register():
            if not value.negated:
                yield path, value
        case tuple():
            for k, part in enumerate(value):
                yield from _registers(f"{path}[{k}]", part)
        case Ring(base=Register()):
            yield f"{path}.base", value.base
        case Parts():
            for name, part in value.attributes.items():
                yield from _registers(f"{path}.{name}", part)


def names_of(trace: Callable[[], Variant], variant: Variant, program: Program) -> Names:
    """Trace a kernel again and note its names; none are known where another text comes out."""
    watcher = _Watcher()
    before = sys.gettrace()
    sys.settrace(watcher.called)
    try:
        again = trace()
    finally:
        sys.settrace(before)
    if again.emitted.text != variant.emitted.text:
        return Names(program, [], {}, 0, "Python's names are not known: traced again, the kernel's function wrote "
                     "other PTX; does it depend on something that changes?")
    numbers = {id(node): number for number, node in enumerate(program.instructions)}
    order = {id(theirs): numbers[id(ours)] for other, own in zip(again.module.functions, variant.module.functions,
                                                                 strict=True)
             for theirs, ours in zip(instructions(other), instructions(own), strict=True) if id(ours) in numbers}
    return Names(program, watcher.calls, order, len(program.instructions))


class _Watcher:
    """Follows the frames of user code while a kernel is traced. A body that is traced twice is forgotten once."""

    def __init__(self):
        self.calls: list[_Call] = []
        self._newest: Instruction | None = None
        self._ctx: Any = None
        self._kept: list[Any] = []                  # so that no id is used again

    def called(self, frame: FrameType, event: str, arg: Any):
        code = frame.f_code
        if not in_trace() or not is_users(code):
            return None
        if get_ctx() is not self._ctx:
            self._ctx, self._newest = get_ctx(), None
            self.calls = []
        self._look()
        call = _Call(code, self._newest)
        self.calls.append(call)

        def step(frame: FrameType, event: str, arg: Any):
            if not in_trace():
                return None
            self._look()
            self._note(call, frame)
            if event == "return":
                call.last = self._newest
            return step
        return step

    def _look(self) -> None:
        newest = _last(get_ctx().statements)
        if newest is not None and newest is not self._newest:
            self._newest = newest
            self._kept.append(newest)

    def _note(self, call: _Call, frame: FrameType) -> None:
        for name, value in frame.f_locals.items():
            key = id(value), len(value) if isinstance(value, list) else 0
            if call.seen.get(name) != key:
                call.seen[name] = key
                self._kept.append(value)
                meaning = _meaning(value, 0)
                if meaning is not None or any(known == name for _, known, _ in call.bindings):
                    call.bindings.append((self._newest, name, meaning))


def _last(statements: list) -> Instruction | None:
    """The newest instruction of a list of statements."""
    for statement in reversed(statements):
        if isinstance(statement, Instruction):
            return statement
        if isinstance(statement, Block | IntrinsicScope | CompoundExpr) and (inner := _last(list(statement.body))):
            return inner
    return None


def _meaning(value: Any, depth: int) -> Any:
    """What a Python value stands for while the kernel runs; None: nothing."""
    match value:
        case bool() | int() | float() | str():
            return value
        case Reg():
            return Register(value.name, value.dtype.name)
        case NegPred():
            return Register(value.reg.name, "pred", True)
        case RegArray():
            return tuple(Register(f"{value.base}{k}", value.dtype.name) for k in range(value.count))
        case SharedAlloc():
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, value.dtype.name, value.shape, value.swizzle)
        case MbarrierRing():
            base = value.base
            return Ring(Register(base.name, base.dtype.name) if isinstance(base, Reg) else base, value.byte_offset,
                        value.count)
        case MbarrierArray():
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, "mbarrier", (value.count,))
        case MbarrierRef():
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, "mbarrier", (1,))
        case SharedSlice() if isinstance(value.stage, int):
            symbol, offset = value.symbol_and_offset
            return Memory(symbol, offset, value.alloc.dtype.name, value.shape, value.alloc.swizzle)
        case list() | tuple() if depth < _DEEP and 0 < len(value) <= _MANY:
            parts = tuple(_meaning(part, depth + 1) for part in value)
            return parts if any(part is not None for part in parts) else None
    return _parts(value, depth)


def _parts(value: Any, depth: int) -> Parts | None:
    """Registers that an object holds as its attributes."""
    if depth >= 2 or callable(value) or isinstance(value, type):
        return None
    names = [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]
    found = {}
    for name in names:
        if name.startswith("__"):
            continue
        part = getattr(value, name, None)
        if isinstance(part, Reg | RegArray | SharedAlloc | MbarrierArray | MbarrierRing):
            found[name.lstrip("_")] = _meaning(part, depth + 1)
    return Parts(type(value).__name__, found) if found else None
