"""call and ret: arguments into the frame of the function that is called, results out of it.

Frames lie in local memory (sim/symbols/functions.py), so a call is loads and stores around a jump: the same for a
function that is named and for one behind an address. Functions the driver provides (sim/memory/host.py) are called with
their arguments in registers.
"""

from __future__ import annotations

from math import gcd

from pyptx.ir.nodes import (
    CallPrototype,
    CallTargets,
    Function,
    ImmediateOperand,
    LabelOperand,
    Operand,
    ParenthesizedOperand,
    RegisterOperand,
)
from pyptx.sim.actions.basic import (
    Action,
    Address,
    Call,
    Compute,
    Const,
    Exit,
    HostCall,
    Load,
    Reg,
    Return,
    Store,
    Value,
)
from pyptx.sim.actions.means import Apply, Leaf
from pyptx.sim.decode import decodes
from pyptx.sim.memory.host import HOST_FUNCTIONS
from pyptx.sim.symbols.functions import Body, Slot, slots_of
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.symbols.scope import Variable, width_of

__all__ = ["prologue"]


@decodes("ret")
def leave(o: Operands) -> Action:
    body = o.scope.body
    if body.function.is_entry:
        return Exit()
    freed = () if body.stack_before is None else (_copied(body.names.stack_used(), body.stack_before),)
    return Return((*(Store(body.at(slot.offset), slot.size, 1, (body.scope.register(slot.name)[0],))
                     for slot in body.results if slot.register), *freed))


def _copied(to: Reg, source: Reg) -> Compute:
    return Compute(((to, Leaf(source, "u64")),))


def prologue(body: Body) -> tuple[Action, ...]:
    """What a function does before its first instruction: parameters declared as registers come from its frame."""
    noted = () if body.stack_before is None else (_copied(body.stack_before, body.names.stack_used()),)
    return (*(Load(body.at(slot.offset), slot.size, 1, slot.type[0] == "s", (body.scope.register(slot.name)[0],))
              for slot in body.params if slot.register), *noted)


@decodes("call")
def call(o: Operands) -> Action | None:
    operands, results, arguments = list(o.instruction.operands), (), ()
    if isinstance(operands[0], ParenthesizedOperand):
        results = operands.pop(0).elements
    callee = operands.pop(0)
    if operands and isinstance(operands[0], ParenthesizedOperand):
        arguments = operands.pop(0).elements
    names = o.scope.names
    if isinstance(callee, RegisterOperand | LabelOperand) and (found := o.scope.register(callee.name)):
        return _indirect(o, found[0], operands, results, arguments)
    name = callee.name if isinstance(callee, LabelOperand | RegisterOperand) else str(callee)
    if name in names.functions:
        body = names.bodies[names.functions[name].name]
        before, after = _transfer(o, body.results, body.params, body.base, results, arguments)
        return Call(body.function.name, None, before, after, _kept(o.scope.body, body))
    return _host(o, name, results, arguments)


def _indirect(o: Operands, address: Reg, rest: list[Operand], results, arguments) -> Call:
    caller = o.scope.body
    names, label = caller.names, next((operand.name for operand in rest if hasattr(operand, "name")), "")
    match o.scope.find("prototypes", label) or next((d for d in names.module.directives
                                                    if isinstance(d, CallPrototype) and d.name == label), None):
        case CallPrototype(_, params, returned):
            signature = slots_of(returned or (), params)
        case CallTargets(_, targets) if (first := next((names.functions[t] for t in targets if t in names.functions),
                                                       None)):
            signature = slots_of(first.return_params or (), first.params)
        case _:
            raise o.refuse(f"{label or 'the last operand'} is no .callprototype or .calltargets list")
    taken = [names.bodies[n] for n in names.addressed]
    if not taken:
        raise o.refuse("no function of this module has its address taken")
    before, after = _transfer(o, *signature[:2], taken[0].base, results, arguments)
    kept = next((k for k in (_kept(caller, body) for body in taken) if k), None)
    return Call(None, address, before, after, kept)


def _kept(caller: Body, callee: Body) -> Body | None:
    """The caller when the callee may come back to it: its registers are put aside while the call runs."""
    return caller if caller.cycle is not None and caller.cycle == callee.cycle else None


def _transfer(o: Operands, returned: tuple[Slot, ...], params: tuple[Slot, ...], base: int | None, results, arguments
              ) -> tuple[tuple[Action, ...], tuple[Action, ...]]:
    """What happens before the jump and after the return."""
    caller = o.scope.body
    for kind, slots, given in (("results", returned, results), ("arguments", params, arguments)):
        if len(slots) != len(given):
            raise o.refuse(f"the function has {len(slots)} {kind}, the call {len(given)}")
    before: list[Action] = []
    after: list[Action] = []
    for slot, operand in zip(params, arguments, strict=True):
        before += _put(o, caller.callee_at(base, slot.offset), slot, operand)
    for slot, operand in zip(returned, results, strict=True):
        after += _get(o, caller.callee_at(base, slot.offset), slot, operand)
    if base is None:
        stack = caller.names.stack_pointer()
        if caller.base is not None:
            before.append(Compute(((stack, Leaf(Const(caller.base + caller.pitch, 64), "u64")),)))
        else:
            pitch = Leaf(Const(caller.pitch, 64), "u64")
            before.append(Compute(((stack, Apply.of("add", Leaf(stack, "u64"), pitch, type="u64")),)))
            after.insert(0, Compute(((stack, Apply.of("sub", Leaf(stack, "u64"), pitch, type="u64")),)))
    return tuple(before), tuple(after)


def _variable(o: Operands, operand: Operand) -> Variable | None:
    if isinstance(operand, LabelOperand | RegisterOperand) and o.scope.register(operand.name) is None:
        return o.scope.find("variables", operand.name)
    return None


def _put(o: Operands, to: Address, slot: Slot, operand: Operand) -> list[Action]:
    variable = _variable(o, operand)
    if variable is not None:
        return _copy(o, to, o.place_of(variable), slot)
    if slot.size > 8:
        raise o.refuse(f"argument {slot.name} has {slot.size} bytes; pass a .param variable")
    if isinstance(operand, ImmediateOperand):
        return [Store(to, slot.size, 1, (o.as_value(operand, slot.type),))]
    return [Store(to, slot.size, 1, (o.as_value(operand, f"b{8 * slot.size}"),))]


def _get(o: Operands, from_: Address, slot: Slot, operand: Operand) -> list[Action]:
    variable = _variable(o, operand)
    if variable is not None:
        return _copy(o, o.place_of(variable), from_, slot)
    register = o.as_target(operand)
    return [] if register is None else [Load(from_, slot.size, 1, slot.type[0] == "s", (register,))]


def _copy(o: Operands, to: Address, from_: Address, slot: Slot) -> list[Action]:
    """Bytes from one place of local memory to another, in pieces both are aligned for."""
    piece = gcd(8, slot.alignment, slot.size, *(place.offset for place in (to, from_)))
    held, made = o.scope.names.held(0), []
    for offset in range(0, slot.size, piece):
        made.append(Load(Address("local", from_.base, from_.offset + offset), piece, 1, False, (held,)))
        made.append(Store(Address("local", to.base, to.offset + offset), piece, 1, (held,)))
    return made


def _host(o: Operands, name: str, results, arguments) -> HostCall:
    """A function of the driver: its arguments in registers, its result in one."""
    names = o.scope.names
    declared = next((d for d in names.module.directives if isinstance(d, Function) and d.name == name), None)
    if declared is None:
        raise o.refuse(f"{name} is not declared")
    if name not in HOST_FUNCTIONS:
        raise o.refuse(f"function {name} has no body in this module and is none of those the driver provides "
                       f"({', '.join(HOST_FUNCTIONS)}); link the module that defines it")
    returned, params, _ = slots_of(declared.return_params or (), declared.params)
    if len(params) != len(arguments) or len(results) > len(returned):
        raise o.refuse(f"{name} has {len(params)} arguments and {len(returned)} results, "
                       f"the call {len(arguments)} and {len(results)}")
    before: list[Action] = []
    values: list[Value] = []
    for k, (slot, operand) in enumerate(zip(params, arguments, strict=True)):
        variable = _variable(o, operand)
        if variable is None:
            values.append(o.as_value(operand, slot.type))
        else:
            values.append(names.held(k))
            before.append(Load(o.place_of(variable), slot.size, 1, False, (names.held(k),)))
    after: list[Action] = []
    data = None
    if results:
        variable = _variable(o, results[0])
        data = names.held(0) if variable is not None else o.as_target(results[0])
        if variable is not None:
            after.append(Store(o.place_of(variable), returned[0].size, 1, (data,)))
    if data is not None and data.width not in (width_of(returned[0].type), 64):
        raise o.refuse(f"{name} gives a .{returned[0].type}, {data.name} has {data.width} bits")
    return HostCall(name, tuple(values), data, tuple(before), tuple(after))
