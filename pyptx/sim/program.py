"""A module's entry, resolved once: actions, registers, control flow, memory. What both engines run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property

import numpy as np

from pyptx.errors import Diagnostic, PtxError, SimulationError
from pyptx.ir.nodes import (
    Function,
    Instruction,
    LabelOperand,
    Module,
    Operand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.sim.actions import (
    Action,
    Address,
    Atomic,
    Call,
    Compute,
    Const,
    HostCall,
    Load,
    Reg,
    Return,
    Special,
    Store,
)
from pyptx.sim.asynchronous import MbarrierTest
from pyptx.sim.decode import (  # noqa: F401  (they register)
    DECODERS,
    async_,
    atomics,
    barrier,
    calls,
    cluster,
    control,
    matrix,
    mbarrier,
    memory,
    mma,
    move,
    tcgen05,
    tensor_copy,
    warp,
    wgmma,
)
from pyptx.sim.decode.compute import compute
from pyptx.sim.flow import live_at_entry, reconvergence
from pyptx.sim.means import Leaf, walk
from pyptx.sim.names import Names
from pyptx.sim.operands import Operands
from pyptx.sim.scope import Scope
from pyptx.sim.shapes import Shaped, known, parts, record
from pyptx.sim.tensor import flops
from pyptx.validate import bind

__all__ = ["Program", "load"]


@dataclass(eq=False)
class Program:
    """An entry ready to run.

    Attributes:
        entry: the function.                    names: registers, variables, parameters.
        instructions: the tree's nodes, in the order that numbers them everywhere.
        actions: what each does.                guards: (predicate register, negated) of each, or None.
        meets: where the lanes a branch splits meet again, None for the end.
        prologues: what a function does before the instruction it starts with, by that instruction's number.
    """

    module: Module
    entry: Function
    names: Names
    instructions: tuple[Instruction, ...]
    actions: tuple[Action, ...]
    guards: tuple[tuple[Reg, bool] | None, ...]
    prologues: dict[int, tuple[Action, ...]]
    meets: tuple[int | None, ...] = field(init=False)

    def __post_init__(self):
        self.meets = tuple(reconvergence(self.actions, self.guarded))

    @property
    def guarded(self) -> list[bool]:
        return [g is not None for g in self.guards]

    @cached_property
    def undefined(self) -> frozenset[int]:
        """Registers that may be read before they are written; they start as zero."""
        reads, writes = [], []
        for action, guard in zip(self.actions, self.guards, strict=True):
            if action.__class__ is Shaped:
                shape, slots = action.shape, action.slots
                reads.append([slots[k].index for k in shape.reads])
                writes.append([slots[k].index for k in shape.writes])
            elif action.__class__ is Load:
                reads.append([] if action.address.base is None else [action.address.base.index])
                writes.append([r.index for r in action.data if r is not None])
            else:
                reads.append([r.index for r in sources(action)])
                writes.append([r.index for r in targets(action)])
            if guard is not None:
                reads[-1].append(guard[0].index)
        starts = [body.start for body in self.names.bodies.values()]
        return frozenset(live_at_entry(self.actions, self.guarded, reads, writes, starts))

    @cached_property
    def allocates(self) -> bool:
        """Whether it calls malloc or free."""
        return any(isinstance(action, HostCall) and action.name in ("malloc", "free") for action in self.actions)

    @cached_property
    def calls_host(self) -> bool:
        """Whether it calls functions of the driver, in an order that several threads would not keep."""
        return any(isinstance(action, HostCall) for action in self.actions)

    @cached_property
    def reduces(self) -> bool:
        """Whether copies combine with global memory, which several threads would do at once."""
        return any(getattr(action, "reduction", None) is not None for action in self.actions)

    @cached_property
    def spins(self) -> bool:
        """Whether threads may wait for each other through memory: atomics, volatile or ordered loads, mbarriers."""
        return (any(map(_waits, self.actions, self.instructions))
                or any(isinstance(action, MbarrierTest) for action in self.actions))

    @cached_property
    def polls(self) -> bool:
        """Whether CTAs may: the same in global memory."""
        return any(_waits(action, instruction) and action.address.space in ("generic", "global")
                   for action, instruction in zip(self.actions, self.instructions, strict=True))

    @cached_property
    def maxnreg(self) -> int:
        """Registers a thread is given at launch, 0: unknown."""
        return next((int(d.values[0]) for d in self.entry.directives if d.name == "maxnreg"), 0)

    @cached_property
    def tensor_flops(self) -> np.ndarray:
        """Floating-point (or integer) operations of the matrix product of a warp, for each instruction."""
        return np.array([flops(action) for action in self.actions], np.uint64)

    @cached_property
    def specials(self) -> tuple[str, ...]:
        """Special registers the program reads, in order of appearance."""
        return tuple(dict.fromkeys(v.name for a in self.actions for v in values(a) if isinstance(v, Special)))


def load(module: Module, entry: str | None = None) -> Program:
    """Resolve an entry of a module (the only one when `entry` is None).

    Raises:
        SimulationError: there is no such entry, or the program holds forms that are not simulated; every one is named
            with the Python place it comes from.
    """
    function = _entry(module, entry)
    names = Names(module, function)
    actions: list[Action] = []
    guards: list[tuple[Reg, bool] | None] = []
    refused: list[Diagnostic] = []
    for instruction, scope in names.instructions:
        try:
            action = _decode(instruction, scope)
        except PtxError as error:
            refused.append(Diagnostic("error", error.message, place=error.place or instruction.place, hint=error.hint))
            continue
        if action is None:
            refused.append(Diagnostic("error", f"{instruction.mnemonic} is not simulated", place=instruction.place))
            continue
        actions.append(action)
        guards.append(None if instruction.predicate is None else _guard(instruction, scope))
    if refused:
        error = SimulationError("\n".join(str(d) for d in refused))
        error.diagnostics = tuple(refused)
        raise error
    prologues = {body.start: prologue for body in names.bodies.values() if (prologue := calls.prologue(body))}
    return Program(module, function, names, tuple(i for i, _ in names.instructions), tuple(actions), tuple(guards),
                   prologues)


_ORDERED = frozenset((".volatile", ".relaxed", ".acquire"))


def _waits(action: Action, instruction: Instruction) -> bool:
    return isinstance(action, Atomic) or (isinstance(action, Load)
                                          and not _ORDERED.isdisjoint(instruction.modifiers))


def _entry(module: Module, name: str | None) -> Function:
    entries = {f.name: f for f in module.entries}
    if name is None and len(entries) == 1:
        return next(iter(entries.values()))
    if name not in entries:
        raise SimulationError(f"the module has no entry {name!r}; it has {', '.join(entries) or 'none'}"
                              if name is not None else
                              f"the module has {len(entries)} entries ({', '.join(entries) or 'none'}); name one")
    return entries[name]


def _decode(instruction: Instruction, scope: Scope) -> Action | None:
    if scope.body.vectors:
        instruction = _spread(instruction, scope)
    found = parts(instruction, scope)
    if found is not None:
        action = known(*found)
        if action is not None:
            return action

    def type_of(name: str) -> str | None:
        entry = scope.register(name)
        return entry[1] if entry else None
    bound = bind(instruction, type_of)
    if found is not None:
        record(found[0], instruction, scope, type_of)
    operands = Operands(instruction, scope, bound)
    decoder = DECODERS.get(instruction.opcode)
    if decoder is not None:
        return decoder(operands)
    return compute(operands) if bound.form.means else None


def _spread(instruction: Instruction, scope: Scope) -> Instruction:
    """The instruction with `{v.x, v.y}` for a vector register `v`."""
    def spread(operand: Operand) -> Operand:
        length = scope.find("vectors", operand.name) if isinstance(operand, RegisterOperand | LabelOperand) else None
        return operand if length is None else VectorOperand(tuple(RegisterOperand(f"{operand.name}.{axis}")
                                                                  for axis in "xyzw"[:length]))
    return replace(instruction, operands=tuple(map(spread, instruction.operands)))


def _guard(instruction: Instruction, scope: Scope) -> tuple[Reg, bool]:
    found = scope.register(instruction.predicate.register)
    if found is None or found[1] != "pred":
        name = instruction.predicate.register
        raise SimulationError(f"{instruction.mnemonic}: guard {name} is no predicate register",
                              at=instruction.place)
    return found[0], instruction.predicate.negated


# what an action reads and writes ------------------------------------------------------------------------------------

_WRITTEN = frozenset(("data", "inside", "equal", "leader"))


def targets(action: Action) -> Iterator[Reg]:
    """Registers an action writes."""
    if isinstance(action, Compute):
        yield from (t for t, _ in action.assignments if t is not None)
        return
    for part in _inner(action):
        yield from targets(part)
    for name in _parts(type(action))[0]:
        yield from _registers(getattr(action, name))


def sources(action: Action) -> Iterator[Reg]:
    """Registers an action reads."""
    return (v for v in values(action) if isinstance(v, Reg))


def values(action: Action) -> Iterator[Reg | Const | Special]:
    """Values an action reads."""
    if isinstance(action, Compute):
        for _, expression in action.assignments:
            yield from (n.value for n in walk(expression) if isinstance(n, Leaf))
        return
    for part in _inner(action):
        yield from values(part)
    for name in _parts(type(action))[1]:
        yield from _values(getattr(action, name))


def _inner(action: Action) -> tuple[Action, ...]:
    """Actions within an action."""
    match action:
        case Call() | HostCall():
            return (*action.before, *action.after)
        case Return(stores):
            return stores
    return ()


@cache
def _parts(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Fields of an action that it writes, and those it reads."""
    written = tuple(f.name for f in fields(kind) if f.name in _WRITTEN and kind is not Store)
    return written, tuple(f.name for f in fields(kind) if f.name not in written)


def _values(item) -> Iterator[Reg | Const | Special]:
    if isinstance(item, (Reg, Const, Special)):
        yield item
    elif isinstance(item, Address):
        if item.base is not None:
            yield item.base
    elif isinstance(item, tuple):
        for part in item:
            yield from _values(part)


def _registers(item) -> Iterator[Reg]:
    return (v for v in _values(item) if isinstance(v, Reg))
