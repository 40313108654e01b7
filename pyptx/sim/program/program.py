"""A module's entry, resolved once: actions, registers, control flow, memory. What both engines run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from pyptx._collector import no_collections
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
from pyptx.sim.actions.asynchronous import MbarrierTest, SetMaxRegisters
from pyptx.sim.actions.basic import Action, Atomic, Branch, HostCall, Load, Reg, Special
from pyptx.sim.actions.products import flops
from pyptx.sim.actions.uses import sources, targets, values
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
    multimem,
    stack,
    tcgen05,
    tensor_copy,
    texture,
    video,
    warp,
    wgmma,
)
from pyptx.sim.decode.compute import compute
from pyptx.sim.decode.refusals import why
from pyptx.sim.program.flow import Flow, flow
from pyptx.sim.program.pool import registers_at_entry
from pyptx.sim.program.shapes import Shaped, known, parts, record
from pyptx.sim.program.spins import waiting
from pyptx.sim.symbols.names import Names
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.symbols.scope import Scope, Variable
from pyptx.validate import bind

__all__ = ["Program", "load"]


@dataclass(eq=False)
class Program:
    """An entry ready to run.

    Attributes:
        entry: the function.                    names: registers, variables, parameters.
        instructions: the tree's nodes, in the order that numbers them everywhere.
        steps: what each does, as an action or a shape of one.
        guards: (predicate register, negated) of each, or None.
        prologues: what a function does before the instruction it starts with, by that instruction's number.
    """

    module: Module
    entry: Function
    names: Names
    instructions: tuple[Instruction, ...]
    steps: tuple[Action | Shaped, ...]
    guards: tuple[tuple[Reg, bool] | None, ...]
    prologues: dict[int, tuple[Action, ...]]

    @cached_property
    def flow(self) -> Flow:
        """Its blocks."""
        return flow(self.steps, self.guards, [body.start for body in self.names.bodies.values()])

    @cached_property
    def meets(self) -> list[int | None]:
        """Where the lanes an instruction splits meet again, None for the end."""
        return self.flow.meets()

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """What each instruction does."""
        return tuple([step.action if step.__class__ is Shaped else step for step in self.steps])

    @cached_property
    def kinds(self) -> tuple[Action, ...]:
        """The same for a quick look: actions in which stand-ins may lie where registers, numbers and offsets are."""
        return tuple([step.shape.action if step.__class__ is Shaped else step for step in self.steps])

    def over(self, steps: tuple[Action | Shaped, ...]) -> Program:
        """The program with other actions."""
        return Program(self.module, self.entry, self.names, self.instructions, steps, self.guards, self.prologues)

    @cached_property
    def undefined(self) -> frozenset[int]:
        """Registers that may be read before they are written; they start as zero."""
        uses: list[set[int]] = []
        kills: list[set[int]] = []
        starts, guards, steps = self.flow.starts, self.guards, self.steps
        for start, stop in pairwise(starts):
            used: set[int] = set()
            killed: set[int] = set()
            for i in range(start, stop):
                step, guard = steps[i], guards[i]
                if step.__class__ is Shaped:
                    slots, shape = step.slots, step.shape
                    used.update([r for k in shape.reads if (r := slots[k].index) not in killed])
                    written = [slots[k].index for k in shape.writes]
                else:
                    used.update([r.index for r in sources(step) if r.index not in killed])
                    written = [r.index for r in targets(step)]
                if guard is None:
                    killed.update(written)
                elif guard[0].index not in killed:
                    used.add(guard[0].index)
            uses.append(used)
            kills.append(killed)
        return frozenset(self.flow.live_at([body.start for body in self.names.bodies.values()], uses, kills))

    @cached_property
    def shared_variables(self) -> tuple[Variable, ...]:
        """Variables of shared memory, with their addresses in it."""
        scopes = {id(scope): scope for _, scope in self.names.instructions}
        for scope in [self.names.top, *scopes.values()]:
            while scope is not None:
                scopes[id(scope)] = scope
                scope = scope.parent
        found = {id(v): v for scope in scopes.values() for v in scope.variables.values() if v.space == "shared"}
        return tuple(found.values())

    @cached_property
    def allocates(self) -> bool:
        """Whether it calls malloc or free."""
        return any(isinstance(action, HostCall) and action.name in ("malloc", "free") for action in self.kinds)

    @cached_property
    def calls_host(self) -> bool:
        """Whether it calls functions of the driver, in an order that several threads would not keep."""
        return any(isinstance(action, HostCall) for action in self.kinds)

    @cached_property
    def reduces(self) -> bool:
        """Whether copies combine with global memory, which several threads would do at once."""
        return any(getattr(action, "reduction", None) is not None for action in self.kinds)

    @cached_property
    def spins(self) -> bool:
        """Whether threads may wait for each other through memory: atomics, volatile or ordered loads, mbarriers."""
        return (any(map(_waits, self.kinds, self.instructions))
                or any(isinstance(action, MbarrierTest) for action in self.kinds))

    @cached_property
    def polls(self) -> bool:
        """Whether CTAs may: the same in global memory."""
        return any(_waits(action, instruction) and action.address.space in ("generic", "global")
                   for action, instruction in zip(self.kinds, self.instructions, strict=True))

    @cached_property
    def maxnreg(self) -> int:
        """Registers a thread is given at launch, 0: unknown."""
        wanted = {action.count for action in self.kinds if isinstance(action, SetMaxRegisters)}
        return registers_at_entry(self.entry, self.module.target.targets[0], wanted)

    @cached_property
    def tensor_flops(self) -> np.ndarray:
        """Floating-point (or integer) operations of the matrix product of a warp, for each instruction."""
        return np.array([flops(action) for action in self.kinds], np.uint64)

    @cached_property
    def multiplies(self) -> bool:
        """Whether it has such instructions."""
        return bool(self.tensor_flops.any())

    @cached_property
    def specials(self) -> tuple[str, ...]:
        """Special registers the program reads, in order of appearance."""
        return tuple(dict.fromkeys(v.name for a in self.kinds for v in values(a) if isinstance(v, Special)))


@no_collections()
def load(module: Module, entry: str | None = None) -> Program:
    """Resolve an entry of a module (the only one when `entry` is None).

    Raises:
        SimulationError: there is no such entry, or the program holds forms that are not simulated; every one is named
            with the Python place it comes from.
    """
    function = _entry(module, entry)
    names = Names(module, function)
    steps: list[Action | Shaped] = []
    guards: list[tuple[Reg, bool] | None] = []
    refused: list[Diagnostic] = []
    for instruction, scope in names.instructions:
        try:
            step = _decode(instruction, scope)
        except PtxError as error:
            refused.append(Diagnostic("error", error.message, place=error.place or instruction.place, hint=error.hint))
            continue
        if step is None:
            refused.append(Diagnostic("error", _refusal(instruction, scope), place=instruction.place))
            continue
        steps.append(step)
        guards.append(None if instruction.predicate is None else _guard(instruction, scope))
    if refused:
        error = SimulationError("\n".join(str(d) for d in refused))
        error.diagnostics = tuple(refused)
        raise error
    prologues = {body.start: prologue for body in names.bodies.values() if (prologue := calls.prologue(body))}
    return Program(module, function, names, tuple([i for i, _ in names.instructions]), waiting(steps, guards),
                   tuple(guards), prologues)


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


_branches: set[tuple] = set()                   # modifiers of branches that were found right


def _decode(instruction: Instruction, scope: Scope) -> Action | Shaped | None:
    if instruction.opcode == "bra" and instruction.modifiers in _branches and len(instruction.operands) == 1:
        target = scope.find("labels", getattr(instruction.operands[0], "name", ""))
        if target is not None:
            return Branch(target)
    if scope.body.vectors:
        instruction = _spread(instruction, scope)
    found = parts(instruction, scope)
    if found is not None:
        step = known(*found)
        if step is not None:
            return step

    def type_of(name: str) -> str | None:
        entry = scope.register(name)
        return entry[1] if entry else None
    bound = bind(instruction, type_of)
    if found is not None:
        record(found[0], instruction, scope, type_of)
    elif instruction.opcode == "bra":
        _branches.add(instruction.modifiers)
    operands = Operands(instruction, scope, bound)
    decoder = DECODERS.get(instruction.opcode)
    if decoder is not None:
        return decoder(operands)
    return compute(operands) if bound.form.means else None


def _refusal(instruction: Instruction, scope: Scope) -> str:
    bound = bind(instruction, lambda name: found[1] if (found := scope.register(name)) else None)
    reason = why(bound)
    return f"{instruction.mnemonic} is not simulated" + (f": {reason}" if reason else "")


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
