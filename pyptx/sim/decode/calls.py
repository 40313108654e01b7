"""Calls and returns, and the instructions on the local stack.

Frames are in local memory (`symbols.frames`): a call is a jump, with stores of the arguments before it and loads of the
results after it, be it direct or indirect. Functions of the driver (`memory.host_functions`) take their arguments in
registers.

alloca takes memory behind the frames of all functions. The stack grows upwards; what a function takes is released when
it returns. A stack pointer is the address of the next free byte in local memory.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from pyptx.sim.actions import (
    Action,
    Address,
    Apply,
    Call,
    Compute,
    Const,
    Exit,
    HostCall,
    Leaf,
    Load,
    Node,
    Reg,
    Return,
    Store,
    Transfer,
    Value,
)
from pyptx.sim.decode._registry import decodes
from pyptx.sim.memory.address_space import NO_FUNCTION
from pyptx.sim.memory.host_functions import HOST_FUNCTIONS
from pyptx.sim.symbols.frames import Slot, slots_of
from pyptx.sim.symbols.operands import Operands
from pyptx.sim.symbols.scopes import Body, Variable
from pyptx.sim.value_types import width

__all__ = ["prologue"]


@decodes("ret")
def leave(o: Operands) -> Action:
    body = o.scope.function
    if body.function.is_entry:
        return Exit()
    stores = [
        Store(body.address(slot.offset), slot.size, 1, (_declared(body, slot),))
        for slot in body.frame.results
        if slot.register
    ]
    released = [] if body.stack_before is None else [_copy_register(body.symbols.stack_used(), body.stack_before)]
    return Return((*stores, *released))


def _copy_register(target: Reg, source: Reg) -> Compute:
    return Compute(((target, Leaf(source, "u64")),))


def _declared(body: Body, slot: Slot) -> Reg:
    """Register of a result or parameter that is declared as one."""
    found = body.scope.register(slot.name)
    assert found is not None
    return found[0]


def prologue(body: Body) -> tuple[Action, ...]:
    """Return the actions before the first instruction of a function: loads of parameters declared as registers."""
    loads = [
        Load(body.address(slot.offset), slot.size, 1, slot.type[0] == "s", (_declared(body, slot),))
        for slot in body.frame.params
        if slot.register
    ]
    saved = [] if body.stack_before is None else [_copy_register(body.stack_before, body.symbols.stack_used())]
    return (*loads, *saved)


_Operands = Sequence[Operand]


def _name_of(operand: Operand) -> str:
    return operand.name if isinstance(operand, LabelOperand | RegisterOperand) else ""


@decodes("call")
def call(o: Operands) -> Action:
    operands = list(o.instruction.operands)
    results: _Operands = ()
    arguments: _Operands = ()
    if isinstance(operands[0], ParenthesizedOperand):
        results = operands[0].elements
        del operands[0]
    callee = operands.pop(0)
    if operands and isinstance(operands[0], ParenthesizedOperand):
        arguments = operands[0].elements
        del operands[0]
    symbols, name = o.scope.symbols, _name_of(callee)
    if name and (found := o.scope.register(name)):
        return _indirect(o, found[0], operands, results, arguments)
    name = name or str(callee)
    if name in symbols.functions:
        body = symbols.bodies[symbols.functions[name].name]
        before, after = _transfer(o, body.frame.results, body.frame.params, body.frame.base, results, arguments)
        return Call(body.function.name, None, before, after, _saved(o.scope.function, body))
    return _host(o, name, results, arguments)


def _indirect(o: Operands, address: Reg, rest: _Operands, results: _Operands, arguments: _Operands) -> Call:
    caller = o.scope.function
    symbols, label = caller.symbols, next(filter(None, map(_name_of, rest)), "")
    match o.scope.prototype(label) or next(
        (d for d in symbols.module.directives if isinstance(d, CallPrototype) and d.name == label), None
    ):
        case CallPrototype() as prototype:
            returned, params, _ = slots_of(prototype.return_params or (), prototype.params)
        case CallTargets(_, targets) if first := next(
            (symbols.functions[t] for t in targets if t in symbols.functions), None
        ):
            returned, params, _ = slots_of(first.return_params or (), first.params)
        case _:
            raise o.refuse(f"{label or 'the last operand'} is not a .callprototype or .calltargets list")
    taken = [symbols.bodies[n] for n in symbols.addressed]
    before, after = _transfer(o, returned, params, taken[0].frame.base if taken else 0, results, arguments)
    if not any(_layout(b.frame.results, b.frame.params) == _layout(returned, params) for b in taken):
        # no function can be called; an address between two functions makes the call fault when it is executed
        invalid = symbols.scratch(1)
        no_function = Compute(((invalid, _with("add", Leaf(address, "u64"), NO_FUNCTION)),))
        return Call(None, invalid, (no_function,), (), mismatch=label)  # no frame has room for the arguments
    saved = next((k for k in (_saved(caller, body) for body in taken) if k), None)
    return Call(None, address, before, after, saved)


def _layout(returned: Sequence[Slot], params: Sequence[Slot]) -> list[tuple[int, int]]:
    return [(slot.offset, slot.size) for slot in (*returned, *params)]


def _saved(caller: Body, callee: Body) -> Body | None:
    """Return the caller if the callee may call it again: its registers are saved across the call."""
    return caller if caller.frame.cycle is not None and caller.frame.cycle == callee.frame.cycle else None


def _transfer(
    o: Operands,
    returned: Sequence[Slot],
    params: Sequence[Slot],
    base: int | None,
    results: _Operands,
    arguments: _Operands,
) -> tuple[tuple[Transfer, ...], tuple[Transfer, ...]]:
    """Build the actions before the jump and after the return."""
    caller = o.scope.function
    for kind, slots, given in (("results", returned, results), ("arguments", params, arguments)):
        if len(slots) != len(given):
            raise o.refuse(f"the function has {len(slots)} {kind}, the call {len(given)}")
    before: list[Transfer] = []
    after: list[Transfer] = []
    for slot, operand in zip(params, arguments, strict=True):
        before += _store_argument(o, caller.callee_address(base, slot.offset), slot, operand)
    for slot, operand in zip(returned, results, strict=True):
        after += _load_result(o, caller.callee_address(base, slot.offset), slot, operand)
    if base is None:
        stack, frame = caller.symbols.stack_pointer(), caller.frame
        if frame.base is not None:
            before.append(Compute(((stack, _constant(frame.base + frame.pitch)),)))
        else:
            pitch = _constant(frame.pitch)
            before.append(Compute(((stack, _with("add", Leaf(stack, "u64"), pitch)),)))
            after.insert(0, Compute(((stack, _with("sub", Leaf(stack, "u64"), pitch)),)))
    return tuple(before), tuple(after)


def _variable(o: Operands, operand: Operand) -> Variable | None:
    if isinstance(operand, LabelOperand | RegisterOperand) and o.scope.register(operand.name) is None:
        return o.scope.variable(operand.name)
    return None


def _store_argument(o: Operands, to: Address, slot: Slot, operand: Operand) -> list[Transfer]:
    variable = _variable(o, operand)
    if variable is not None:
        return _copy(o, to, o.variable_address(variable), slot)
    if slot.size > 8:
        raise o.refuse(f"argument {slot.name} has {slot.size} bytes; pass a .param variable")
    if isinstance(operand, ImmediateOperand):
        return [Store(to, slot.size, 1, (o.as_value(operand, slot.type),))]
    return [Store(to, slot.size, 1, (o.as_value(operand, f"b{8 * slot.size}"),))]


def _load_result(o: Operands, source: Address, slot: Slot, operand: Operand) -> list[Transfer]:
    variable = _variable(o, operand)
    if variable is not None:
        return _copy(o, o.variable_address(variable), source, slot)
    register = o.as_target(operand)
    return [] if register is None else [Load(source, slot.size, 1, slot.type[0] == "s", (register,))]


def _copy(o: Operands, to: Address, source: Address, slot: Slot) -> list[Transfer]:
    """Copy within local memory, in pieces for which both addresses are aligned."""
    piece = gcd(8, slot.alignment, slot.size, to.offset, source.offset)
    scratch = o.scope.symbols.scratch(0)
    copies: list[Transfer] = []
    for offset in range(0, slot.size, piece):
        copies.append(Load(Address("local", source.base, source.offset + offset), piece, 1, False, (scratch,)))
        copies.append(Store(Address("local", to.base, to.offset + offset), piece, 1, (scratch,)))
    return copies


_DEVICE_RUNTIME = ("__cudaCDP2", "cudaGetParameterBuffer", "cudaLaunchDevice", "cudaDeviceSynchronize")


def _host(o: Operands, name: str, results: _Operands, arguments: _Operands) -> HostCall:
    """Call a function of the driver: its arguments are in registers, its result in one."""
    symbols = o.scope.symbols
    declared = next((d for d in symbols.module.directives if isinstance(d, Function) and d.name == name), None)
    if declared is None:
        raise o.refuse(f"{name} is not declared")
    if name.startswith(_DEVICE_RUNTIME):
        raise o.refuse(f"{name}: kernels that launch kernels (dynamic parallelism) are not simulated")
    if name not in HOST_FUNCTIONS:
        raise o.refuse(
            f"function {name} has no body in this module, and the driver does not provide it "
            f"(it provides {', '.join(HOST_FUNCTIONS)}); link the module that defines it"
        )
    returned, params, _ = slots_of(declared.return_params or (), declared.params)
    if len(params) != len(arguments) or len(results) > len(returned):
        raise o.refuse(
            f"{name} has {len(params)} arguments and {len(returned)} results, "
            f"the call {len(arguments)} and {len(results)}"
        )
    before: list[Transfer] = []
    values: list[Value] = []
    for k, (slot, operand) in enumerate(zip(params, arguments, strict=True)):
        variable = _variable(o, operand)
        if variable is None:
            values.append(o.as_value(operand, slot.type))
        else:
            values.append(symbols.scratch(k))
            before.append(Load(o.variable_address(variable), slot.size, 1, False, (symbols.scratch(k),)))
    after: list[Transfer] = []
    data = None
    if results:
        variable = _variable(o, results[0])
        if variable is None:
            data = o.as_target(results[0])
        else:
            data = symbols.scratch(0)
            after.append(Store(o.variable_address(variable), returned[0].size, 1, (data,)))
    if data is not None and data.width not in (width(returned[0].type), 64):
        raise o.refuse(f"{name} returns a .{returned[0].type}; {data.name} has {data.width} bits")
    return HostCall(name, tuple(values), data, tuple(before), tuple(after))


# alloca, stacksave, stackrestore ------------------------------------------------------------------------------------


def _constant(value: int) -> Leaf:
    return Leaf(Const(value & (1 << 64) - 1, 64), "u64")


def _with(op: str, a: Node, b: Node | int) -> Node:
    return Apply.of(op, a, _constant(b) if isinstance(b, int) else b, type="u64")


def _pointer(o: Operands) -> Node:
    return _with("add", Leaf(o.scope.symbols.stack_used(), "u64"), o.scope.symbols.stack_base)


def _narrowed(o: Operands, node: Node) -> Node:
    return Apply.of("resize", node, type="u64", result="u32") if ".u32" in o.instruction.modifiers else node


def _widened(o: Operands, name: str) -> Node:
    if ".u32" not in o.instruction.modifiers:
        return Leaf(o.value(name), "u64")
    return Apply.of("resize", Leaf(o.value(name), "u32"), type="u32", result="u64")


@decodes("alloca")
def alloca(o: Operands) -> Action | None:
    alignment = o.number("align") if "align" in o else 8
    if alignment < 1 or alignment & alignment - 1:
        raise o.refuse(f"an alignment of {alignment}; expected a power of two")
    start = _with("and", _with("add", _pointer(o), alignment - 1), -alignment)
    used = _with("sub", _with("add", start, _widened(o, "sz")), o.scope.symbols.stack_base)
    return Compute(((o.target("d"), _narrowed(o, start)), (o.scope.symbols.stack_used(), used)))


@decodes("stacksave")
def stacksave(o: Operands) -> Action | None:
    return Compute(((o.target("d"), _narrowed(o, _pointer(o))),))


@decodes("stackrestore")
def stackrestore(o: Operands) -> Action | None:
    return Compute(((o.scope.symbols.stack_used(), _with("sub", _widened(o, "a"), o.scope.symbols.stack_base)),))
