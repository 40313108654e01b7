"""Checks of calls: the callee exists, and the arguments match its parameters in number and size."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.ir.constants import literal_kind
from pyptx.ir.nodes import CallPrototype, CallTargets, Function, Param, VarDecl
from pyptx.ir.operands import (
    ImmediateOperand,
    LabelOperand,
    Operand,
    ParenthesizedOperand,
    RegisterOperand,
    operand_text,
)
from pyptx.ir.types import ScalarType
from pyptx.isa import _types
from pyptx.validate._bind import Bound
from pyptx.validate._name_resolution import param_variable
from pyptx.validate._symbols import Scope, register_type

__all__ = ["CallSequence", "call_problems"]

# Types of scalars that the ABI does not pass to functions; ptxas accepts .b8, .b16 and .f16.
_NOT_PASSED = frozenset({ScalarType.PRED, ScalarType.U8, ScalarType.S8, ScalarType.U16, ScalarType.S16})


def call_problems(bound: Bound, scope: Scope) -> Iterator[str]:
    """Yield the errors of a call: an unknown callee, and arguments that do not match its parameters."""
    operands = bound.operands
    for argument in (a for name in ("results", "params") for a in _given(operands.get(name))):
        if not isinstance(argument, (ImmediateOperand, RegisterOperand, LabelOperand)):
            yield f"{operand_text(argument)} is not a valid argument; expected a register, a .param variable or a number"
            return
    callees: list[Function | CallPrototype] = []
    target = operands.get("f")
    if isinstance(target, LabelOperand) and scope.type_of(target.name) is None:
        found = scope.find(target.name)
        if not isinstance(found, Function) or found.is_entry:
            kind = "an entry" if isinstance(found, Function) else "not a function"
            yield (
                f"function {target.name} is not declared; declare it first"
                if found is None
                else f"{target.name} is {kind}; only a .func can be called"
            )
            return
        callees = [found]
    elif isinstance(prototype := operands.get("proto"), LabelOperand):
        found = scope.find(prototype.name)
        if isinstance(found, CallPrototype):
            callees = [found]
        elif isinstance(found, CallTargets):
            callees = [f for f in map(scope.find, found.functions) if isinstance(f, Function)]
    for callee in callees:
        for what, params in (("parameter", callee.params), ("return parameter", callee.return_params or ())):
            for param in params:
                if param.type in _NOT_PASSED and param.array_size is None:
                    yield f"{what} {param.name} of {callee.name} is .{param.type.value}, which cannot be passed; use .b32"
        yield from _matched(callee, "return parameter", callee.return_params or (), operands.get("results"), scope)
        yield from _matched(callee, "parameter", callee.params, operands.get("params"), scope)


class CallSequence:
    """Order of calls and accesses to their results, in source order as checked by ptxas.

    A result can be loaded after the call that returns it.
    """

    def __init__(self) -> None:
        self._returned: set[int] = set()  # ids of the .param variables that calls return

    def problem(self, bound: Bound, scope: Scope) -> str | None:
        """Record a call; return the error of a load from a variable that no earlier call returns."""
        if bound.form.op.opcode == "call":
            for argument in _given(bound.operands.get("results")):
                if isinstance(argument, (RegisterOperand, LabelOperand)):
                    self._returned.add(id(scope.find(argument.name)))
        elif bound.form.effect.startswith("load"):
            name = param_variable(bound, scope)
            if name is not None and id(scope.find(name)) not in self._returned:
                return f"{name} is loaded, but no earlier call returns it"
        return None


def _given(operand: Operand | None) -> tuple[Operand, ...]:
    return operand.elements if isinstance(operand, ParenthesizedOperand) else () if operand is None else (operand,)


def _matched(
    callee: Function | CallPrototype, what: str, params: tuple[Param, ...], given: Operand | None, scope: Scope
) -> Iterator[str]:
    arguments = _given(given)
    least = len(params) - (bool(params) and params[-1].array_size == 0)
    if not least <= len(arguments) <= len(params):
        plural = "" if len(params) == 1 else "s"
        yield f"{callee.name} has {len(params)} {what}{plural}, the call passes {len(arguments)}"
        return
    for param, argument in zip(params, arguments, strict=False):
        problem = _argument(param, argument, scope)
        if problem:
            name = f"{what} {param.name}" if param.name != "_" else f"a {what}"
            yield f"{problem}; {name} of {callee.name} is {_declaration_text(param)}"


def _argument(param: Param, argument: Operand, scope: Scope) -> str | None:
    if isinstance(argument, ImmediateOperand):
        kind = literal_kind(argument.text)
        wrong = param.type.value == "pred" or (kind == "int" and param.type.value[0] == "f")
        return f"{argument.text} has the wrong type" if wrong else None
    if not isinstance(argument, (RegisterOperand, LabelOperand)) or argument.name == "_":
        return None
    name = argument.name
    register = scope.type_of(name)
    if register is not None:
        same = param.array_size is None and _register_width(register) == _register_width(register_type(param))
        return None if same else f"{name} is a .{register} register"
    found = scope.find(name)
    if found is None:
        return f"{name} is not declared"
    if not isinstance(found, VarDecl) or found.state_space.value != "param":
        return f"{name} is neither a register nor a .param variable of this function"
    if param.array_size != 0 and (_width(found), found.array_size) != (_width(param), param.array_size):
        return f"{name} is {_declaration_text(found)}"
    return None if _alignment(found) == _alignment(param) else f"{name} is {_declaration_text(found)}"


def _width(node: Param | VarDecl) -> int:
    """Return the width of an element in bits; 64 for the handle of an opaque type."""
    return _types.WIDTHS.get(node.type.value, 64)


def _register_width(type_name: str) -> tuple[str, int | None]:
    """Return the vector prefix and the element width of a register type such as "v4.f32"."""
    vector, _, scalar = type_name.rpartition(".")
    return vector, _types.WIDTHS.get(scalar)


def _alignment(node: Param | VarDecl) -> int:
    return node.alignment or max(_width(node) // 8, 1)


def _declaration_text(node: Param | VarDecl) -> str:
    size = "" if node.array_size is None else f"[{node.array_size or ''}]"
    return f".{node.state_space.value}{f' .align {node.alignment}' if node.alignment else ''} .{node.type.value}{size}"
