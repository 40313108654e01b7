"""Programs: an entry of a module with its actions, control flow and symbols, as both engines run it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from pyptx._gc import gc_paused
from pyptx.errors import Diagnostic, PtxError, SimulationError
from pyptx.ir.nodes import (
    Function,
    Instruction,
    LabelOperand,
    Module,
    Operand,
    Predicate,
    RegisterOperand,
    VectorOperand,
)
from pyptx.isa import targets as isa_targets
from pyptx.sim.actions import (
    Action,
    Address,
    Atomic,
    Branch,
    HostCall,
    Load,
    MbarrierTest,
    Reg,
    SetMaxRegisters,
    Special,
    TryCancel,
    flops,
)
from pyptx.sim.actions.dataflow import sources, targets, values
from pyptx.sim.decode import calls, decode
from pyptx.sim.decode.refusals import refusal_reason
from pyptx.sim.memory.address_space import place_buffers
from pyptx.sim.program.control_flow import ControlFlow, control_flow
from pyptx.sim.program.spin_loops import replace_spin_loops
from pyptx.sim.program.templates import TemplateInstance, instantiate, record, split
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.symbols.scopes import Scope, Variable
from pyptx.sim.symbols.symbol_table import Place, SymbolTable
from pyptx.sim.variables import ModuleVariables
from pyptx.validate import bind

__all__ = ["Program", "load"]


@dataclass(eq=False)
class Program:
    """An entry that is ready to run.

    Attributes:
        module: the module of the entry.
        entry: the function.
        symbols: registers, variables, parameters and functions.
        instructions: nodes of the tree; their order numbers the instructions everywhere.
        steps: action or template instance of each instruction.
        guards: (predicate register, negated) of each instruction, or None.
        prologues: actions before the first instruction of a function, by the number of that instruction.
    """

    module: Module
    entry: Function
    symbols: SymbolTable
    instructions: tuple[Instruction, ...]
    steps: tuple[Action | TemplateInstance, ...]
    guards: tuple[tuple[Reg, bool] | None, ...]
    prologues: dict[int, tuple[Action, ...]]

    @cached_property
    def flow(self) -> ControlFlow:
        """Its control flow graph."""
        return control_flow(self.steps, self.guards, [body.start for body in self.symbols.bodies.values()])

    @cached_property
    def reconvergence(self) -> list[int | None]:
        """For each instruction that can split a warp, the instruction where its lanes reconverge; None at the end."""
        return self.flow.reconvergence()

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """Action of each instruction."""
        return tuple([step.action if isinstance(step, TemplateInstance) else step for step in self.steps])

    @cached_property
    def kinds(self) -> tuple[Action, ...]:
        """Actions as cheap to get as possible: registers, numbers and offsets may be placeholders of a template."""
        return tuple([step.template.action if isinstance(step, TemplateInstance) else step for step in self.steps])

    def share(self, shared: dict[str, Any]) -> None:
        """Use the variables in `shared`, the state of the module that all its entries have in common."""
        shared.setdefault("sim", ModuleVariables()).adopt(self.symbols)

    def with_steps(self, steps: tuple[Action | TemplateInstance, ...]) -> Program:
        """Return the program with other steps."""
        return Program(self.module, self.entry, self.symbols, self.instructions, steps, self.guards, self.prologues)

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
                if isinstance(step, TemplateInstance):
                    used.update([r for r in step.reads() if r not in killed])
                    written = step.writes()
                else:
                    used.update([r.index for r in sources(step) if r.index not in killed])
                    written = [r.index for r in targets(step)]
                if guard is None:
                    killed.update(written)
                elif guard[0].index not in killed:
                    used.add(guard[0].index)
            uses.append(used)
            kills.append(killed)
        return frozenset(self.flow.live_at([body.start for body in self.symbols.bodies.values()], uses, kills))

    @cached_property
    def shared_variables(self) -> tuple[Variable, ...]:
        """Variables in shared memory that have an address."""
        scopes: dict[int, Scope] = {}
        for start in [self.symbols.top, *(scope for _, scope in self.symbols.instructions)]:
            scope: Scope | None = start
            while scope is not None and id(scope) not in scopes:
                scopes[id(scope)] = scope
                scope = scope.parent
        found = {
            id(v): v
            for scope in scopes.values()
            for v in scope.variables.values()
            if v.space == "shared" and v.address is not None
        }
        return tuple(found.values())

    @cached_property
    def allocates(self) -> bool:
        """True if it calls malloc or free."""
        return any(isinstance(action, HostCall) and action.name in ("malloc", "free") for action in self.kinds)

    @cached_property
    def calls_host(self) -> bool:
        """True if it calls functions of the driver, whose order several OS threads would not preserve."""
        return any(isinstance(action, HostCall) for action in self.kinds)

    @cached_property
    def reduces(self) -> bool:
        """True if it has reductions into global memory, which several OS threads would do concurrently."""
        return any(getattr(action, "reduction", None) is not None for action in self.kinds)

    @cached_property
    def ordered(self) -> bool:
        """True if results may depend on the order of CTAs, races apart: several OS threads would not keep it."""
        return self.polls or self.reduces or self.calls_host

    @cached_property
    def cancels(self) -> bool:
        """True if CTAs take over the work of clusters that have not started (clusterlaunchcontrol.try_cancel)."""
        return any(isinstance(action, TryCancel) for action in self.kinds)

    @cached_property
    def spins(self) -> bool:
        """True if threads may wait for each other through memory: atomics, volatile or ordered loads, mbarriers."""
        return any(_polls(action, i) is not None or isinstance(action, MbarrierTest) for action, i in self._numbered)

    @cached_property
    def polls(self) -> bool:
        """True if CTAs may wait for each other through global memory."""
        return any(
            address.space in ("generic", "global")
            for action, i in self._numbered
            if (address := _polls(action, i)) is not None
        )

    @property
    def _numbered(self) -> zip[tuple[Action, Instruction]]:
        return zip(self.kinds, self.instructions, strict=True)

    @cached_property
    def maxnreg(self) -> int:
        """Registers of a thread at launch; 0 if unknown."""
        wanted = {action.count for action in self.kinds if isinstance(action, SetMaxRegisters)}
        return registers_at_entry(self.entry, self.module.target.targets[0], wanted)

    @cached_property
    def tensor_flops(self) -> np.ndarray:
        """Floating-point (or integer) operations of a warp's matrix product, for each instruction."""
        return np.array([flops(action) for action in self.kinds], np.uint64)

    @cached_property
    def multiplies(self) -> bool:
        """True if it has instructions with `tensor_flops`."""
        return bool(self.tensor_flops.any())

    @cached_property
    def specials(self) -> tuple[str, ...]:
        """Special registers that it reads, in order of appearance."""
        return tuple(dict.fromkeys(v.name for a in self.kinds for v in values(a) if isinstance(v, Special)))


@gc_paused()
def load(module: Module, entry: str | None = None, place: Place = place_buffers) -> Program:
    """Load an entry of a module for simulation.

    Args:
        entry: its name; None for the only entry of the module.
        place: assigns addresses to the global variables of the module.
    Raises:
        SimulationError: the module has no such entry, or the program uses forms that are not simulated; the message
            names each of them with the Python line it comes from.
    """
    function = _entry(module, entry)
    symbols = SymbolTable(module, function, place)
    steps: list[Action | TemplateInstance] = []
    guards: list[tuple[Reg, bool] | None] = []
    refused: list[Diagnostic] = []
    for instruction, scope in symbols.instructions:
        try:
            step = _decode(instruction, scope)
        except PtxError as error:
            refused.append(Diagnostic("error", error.message, place=error.place or instruction.place, hint=error.hint))
            continue
        if step is None:
            refused.append(Diagnostic("error", _refusal(instruction, scope), place=instruction.place))
            continue
        steps.append(step)
        predicate = instruction.predicate
        guards.append(None if predicate is None else _guard(predicate, instruction, scope))
    if refused:
        raise SimulationError("\n".join(str(d) for d in refused), diagnostics=refused)
    prologues = {body.start: prologue for body in symbols.bodies.values() if (prologue := calls.prologue(body))}
    return Program(
        module,
        function,
        symbols,
        tuple([i for i, _ in symbols.instructions]),
        replace_spin_loops(steps, guards),
        tuple(guards),
        prologues,
    )


_ORDERED = frozenset((".volatile", ".relaxed", ".acquire"))
_REGISTER_UNIT = 8  # registers per thread are a multiple of this


def registers_at_entry(entry: Function, target: str, wanted: Collection[int]) -> int:
    """Return the registers per thread of a kernel at launch; 0 if unknown.

    `.maxnreg` states it. Without it, ptxas (see `ptxas -v`) divides the register file of a multiprocessor among the
    threads of `.reqntid` or `.maxntid` times `.minnctapersm`, and stops at the largest count that the kernel requests.

    Args:
        wanted: counts requested by its setmaxnreg instructions; empty if it has none.
    """
    limits = {
        d.name: prod(map(int, d.values))
        for d in entry.directives
        if d.name in ("maxnreg", "reqntid", "maxntid", "minnctapersm")
    }
    threads = limits.get("reqntid", limits.get("maxntid"))
    if "maxnreg" in limits or not wanted or not threads:
        return limits.get("maxnreg", 0)
    fits = isa_targets.parse(target).limits.regs_per_sm // (threads * limits.get("minnctapersm", 1))
    return min(fits // _REGISTER_UNIT * _REGISTER_UNIT, max(wanted))


def _polls(action: Action, instruction: Instruction) -> Address | None:
    """Address of an access through which threads may wait for each other."""
    if isinstance(action, Atomic):
        return action.address
    if isinstance(action, Load) and not _ORDERED.isdisjoint(instruction.modifiers):
        return action.address
    return None


def _entry(module: Module, name: str | None) -> Function:
    entries = {f.name: f for f in module.entries}
    if name is None and len(entries) == 1:
        return next(iter(entries.values()))
    if name not in entries:
        raise SimulationError(
            f"the module has no entry {name!r}; it has {', '.join(entries) or 'none'}"
            if name is not None
            else f"the module has {len(entries)} entries ({', '.join(entries) or 'none'}); name one"
        )
    return entries[name]


_branches: set[tuple] = set()  # modifiers of branches that were already validated


def _decode(instruction: Instruction, scope: Scope) -> Action | TemplateInstance | None:
    if instruction.opcode == "bra" and instruction.modifiers in _branches and len(instruction.operands) == 1:
        target = scope.label(getattr(instruction.operands[0], "name", ""))
        if target is not None:
            return Branch(target)
    if scope.function.vectors:
        instruction = _spread(instruction, scope)
    found = split(instruction, scope)
    if found is not None:
        step = instantiate(*found)
        if step is not None:
            return step

    def type_of(name: str) -> str | None:
        entry = scope.register(name)
        return entry[1] if entry else None

    bound = bind(instruction, type_of)
    if found is not None:
        record(*found, instruction, scope, type_of)
    elif instruction.opcode == "bra":
        _branches.add(instruction.modifiers)
    return decode(Operands(instruction, scope, bound))


def _refusal(instruction: Instruction, scope: Scope) -> str:
    bound = bind(instruction, lambda name: found[1] if (found := scope.register(name)) else None)
    reason = refusal_reason(bound)
    return f"{instruction.mnemonic} is not simulated" + (f": {reason}" if reason else "")


def _spread(instruction: Instruction, scope: Scope) -> Instruction:
    """Replace vector registers by their elements: `v` by `{v.x, v.y}`."""

    def spread(operand: Operand) -> Operand:
        if not isinstance(operand, RegisterOperand | LabelOperand) or (length := scope.vector(operand.name)) is None:
            return operand
        return VectorOperand(tuple(RegisterOperand(f"{operand.name}.{axis}") for axis in "xyzw"[:length]))

    return replace(instruction, operands=tuple(map(spread, instruction.operands)))


def _guard(predicate: Predicate, instruction: Instruction, scope: Scope) -> tuple[Reg, bool]:
    found = scope.register(predicate.register)
    if found is None or found[1] != "pred":
        raise SimulationError(
            f"{instruction.mnemonic}: guard {predicate.register} is not a predicate register", at=instruction.place
        )
    return found[0], predicate.negated
