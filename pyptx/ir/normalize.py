"""What a module says, without how it says it: for comparing one text with another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyptx.ir.nodes import (
    SILENT,
    Block,
    CallPrototype,
    CompoundExpr,
    FieldOperand,
    Function,
    Instruction,
    IntrinsicScope,
    Module,
    NegatedOperand,
    NegativeOperand,
    Operand,
    Param,
    ParenthesizedOperand,
    PipeOperand,
    RawLine,
    RegisterOperand,
    Statement,
    VarDecl,
    VectorOperand,
)

__all__ = ["diff_modules", "normalize_module"]


def normalize_module(module: Module) -> Module:
    """The module without comments, blank lines, debug information and formatting, its scopes flattened.

    Lines that could not be read are dropped outside of functions and kept inside.
    """
    return replace(
        module, version=replace(module.version, formatting=None), target=replace(module.target, formatting=None),
        address_size=replace(module.address_size, formatting=None),
        directives=tuple(_function(d) if isinstance(d, Function) else _statement(d) for d in module.directives
                         if not isinstance(d, (*SILENT, RawLine))))


def diff_modules(a: Module, b: Module, entry_only: bool = False) -> list[str]:
    """What differs between two modules, a line for each difference; empty when they say the same.

    Compared are version, target, address size, and function by function name, kind, parameters and body.

    Args:
        entry_only: compare kernels only.
    """
    a, b = normalize_module(a), normalize_module(b)
    found = [f"{name}: {getattr(a, name)} against {getattr(b, name)}" for name in ("version", "target", "address_size")
             if getattr(a, name) != getattr(b, name)]
    left, right = (m.entries if entry_only else m.functions for m in (a, b))
    if len(left) != len(right):
        found.append(f"function count: {len(left)} against {len(right)}")
    for one, other in zip(left, right, strict=False):
        found += _function_differences(one, other)
    return found


def _function_differences(a: Function, b: Function) -> Iterator[str]:
    if a.name != b.name:
        yield f"function {a.name}: called {b.name} on the other side"
    for name, what in (("is_entry", "entry"), ("params", "parameters"), ("return_params", "return parameters"),
                       ("declaration", "declaration only")):
        if getattr(a, name) != getattr(b, name):
            yield f"function {a.name}: {what} {getattr(a, name)} against {getattr(b, name)}"
    if len(a.body) != len(b.body):
        yield f"function {a.name}: statement count {len(a.body)} against {len(b.body)}"
    for i, (one, other) in enumerate(zip(a.body, b.body, strict=False)):
        if one != other:
            yield f"function {a.name}, statement {i}: {one} against {other}"


def _function(function: Function) -> Function:
    return replace(function, formatting=None, body=tuple(_flat(function.body)), **_headless(function))


def _headless(node: Function | CallPrototype) -> dict[str, object]:
    """Parameters and directives without their formatting."""
    returns = node.return_params
    return {"params": tuple(map(_bare, node.params)),
            "return_params": None if returns is None else tuple(map(_bare, returns)),
            "directives": tuple(map(_bare, node.directives))}


def _flat(body: Iterable[Statement]) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, (Block, IntrinsicScope, CompoundExpr)):
            yield from _flat(node.body)
        elif not isinstance(node, SILENT):
            yield _statement(node)


def _statement(node: Statement) -> Statement:
    changes: dict[str, object] = {"formatting": None}
    if isinstance(node, Instruction):
        changes["operands"] = tuple(map(_operand, node.operands))
    elif isinstance(node, VarDecl) and node.initializer is not None and not isinstance(node.initializer, str):
        changes["initializer"] = _operand(node.initializer)
    elif isinstance(node, CallPrototype):
        changes |= _headless(node)
    return replace(node, **changes)


def _bare(node: Param) -> Param:
    return replace(node, formatting=None)


def _operand(node: Operand) -> Operand:
    match node:
        case RegisterOperand():
            return node
        case VectorOperand(elements) | ParenthesizedOperand(elements):
            return replace(node, elements=tuple(map(_operand, elements)), layout=None)
        case NegatedOperand(inner) | NegativeOperand(inner):
            return replace(node, operand=_operand(inner), layout=None)
        case PipeOperand(left, right):
            return replace(node, left=_operand(left), right=_operand(right), layout=None)
        case FieldOperand(_, value):
            return replace(node, value=_operand(value), layout=None)
        case _:
            return replace(node, layout=None)
