"""Calls: that the function is there, and that arguments are as many and as large as its parameters."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.ir.nodes import CallPrototype, CallTargets, Function, Param, VarDecl
from pyptx.ir.operands import (
    ImmediateOperand,
    LabelOperand,
    Operand,
    ParenthesizedOperand,
    RegisterOperand,
    operand_text,
)
from pyptx.isa import _types
from pyptx.validate._bind import Bound
from pyptx.validate._scope import Scope
from pyptx.validate._tokens import literal

__all__ = ["call_problems"]


def call_problems(bound: Bound, scope: Scope) -> Iterator[str]:
    """What is wrong with a call: its target, and each argument against the parameter it stands for."""
    operands = bound.operands
    for argument in (a for name in ("results", "params") for a in _given(operands.get(name))):
        if not isinstance(argument, (ImmediateOperand, RegisterOperand, LabelOperand)):
            yield f"{operand_text(argument)} cannot be handed over; expected a register, a .param variable or a number"
            return
    callees = []
    target = operands.get("f")
    direct = isinstance(target, LabelOperand) and scope.type_of(target.name) is None
    if direct:
        found = scope.find(target.name)
        if not isinstance(found, Function) or found.is_entry:
            kind = "an entry" if isinstance(found, Function) else "no function"
            yield f"there is no function {target.name} here; declare it first" if found is None else \
                f"{target.name} is {kind}; only a .func can be called"
            return
        callees = [found]
    elif isinstance(prototype := operands.get("proto"), LabelOperand):
        found = scope.find(prototype.name)
        if isinstance(found, CallPrototype):
            callees = [found]
        elif isinstance(found, CallTargets):
            callees = [f for f in map(scope.find, found.functions) if isinstance(f, Function)]
    for callee in callees:
        yield from _matched(callee, "return parameter", callee.return_params or (), operands.get("results"), scope)
        yield from _matched(callee, "parameter", callee.params, operands.get("params"), scope)


def _given(operand: Operand | None) -> tuple[Operand, ...]:
    return operand.elements if isinstance(operand, ParenthesizedOperand) else () if operand is None else (operand,)


def _matched(callee: Function | CallPrototype, what: str, params: tuple[Param, ...], given: Operand | None,
             scope: Scope) -> Iterator[str]:
    arguments = _given(given)
    least = len(params) - (bool(params) and params[-1].array_size == 0)
    if not least <= len(arguments) <= len(params):
        plural = "" if len(params) == 1 else "s"
        yield f"{callee.name} has {len(params)} {what}{plural}, the call gives {len(arguments)}"
        return
    for param, argument in zip(params, arguments, strict=False):
        problem = _argument(param, argument, scope)
        if problem:
            name = f"{what} {param.name}" if param.name != "_" else f"a {what}"
            yield f"{problem}; {name} of {callee.name} is {_words(param)}"


def _argument(param: Param, argument: Operand, scope: Scope) -> str | None:
    if isinstance(argument, ImmediateOperand):
        kind = literal(argument.text)
        wrong = param.type.value == "pred" or (kind == "int" and param.type.value[0] == "f")
        return f"{argument.text} cannot stand for it" if wrong else None
    if not isinstance(argument, (RegisterOperand, LabelOperand)) or argument.name == "_":
        return None
    name = argument.name
    register = scope.type_of(name)
    if register is not None:
        same = param.array_size is None and _types.WIDTHS.get(register) == _types.WIDTHS[param.type.value]
        return None if same else f"{name} is a .{register} register"
    found = scope.find(name)
    if found is None:
        return f"{name} is not declared"
    if not isinstance(found, VarDecl) or found.state_space.value != "param":
        return f"{name} is no register and no .param variable of this body"
    if param.array_size != 0 and (_types.WIDTHS[found.type.value], found.array_size) != \
            (_types.WIDTHS[param.type.value], param.array_size):
        return f"{name} is {_words(found)}"
    return None if _alignment(found) == _alignment(param) else f"{name} is {_words(found)}"


def _alignment(node: Param | VarDecl) -> int:
    return node.alignment or max(_types.WIDTHS[node.type.value] // 8, 1)


def _words(node: Param | VarDecl) -> str:
    size = "" if node.array_size is None else f"[{node.array_size or ''}]"
    return f".{node.state_space.value}{f' .align {node.alignment}' if node.alignment else ''} .{node.type.value}{size}"
