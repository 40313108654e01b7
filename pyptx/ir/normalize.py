"""Normalization and comparison of modules, ignoring formatting, comments and debug information."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from pyptx.ir.nodes import (
    SILENT,
    Alias,
    Block,
    CallPrototype,
    CompoundExpr,
    FieldOperand,
    Function,
    FunctionDirective,
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

_Node = TypeVar("_Node", Param, FunctionDirective)
_Flat = TypeVar("_Flat", bound=Statement | Alias)


def normalize_module(module: Module) -> Module:
    """Return the module without comments, blank lines, debug information, formatting and nested scopes.

    Lines that could not be parsed are dropped at module level and kept inside functions.
    """
    return replace(
        module,
        version=replace(module.version, formatting=None),
        target=replace(module.target, formatting=None),
        address_size=replace(module.address_size, formatting=None),
        directives=tuple(
            _function(d) if isinstance(d, Function) else _statement(d)
            for d in module.directives
            if not isinstance(d, (*SILENT, RawLine))
        ),
    )


def diff_modules(a: Module, b: Module, entry_only: bool = False) -> list[str]:
    """Return the differences between two modules, one line each; an empty list when they are equal.

    Compares version, target, address size, and each function's name, kind, parameters and body.

    Args:
        entry_only: compare only kernels.
    """
    a, b = normalize_module(a), normalize_module(b)
    found = [
        f"{name}: {getattr(a, name)} against {getattr(b, name)}"
        for name in ("version", "target", "address_size")
        if getattr(a, name) != getattr(b, name)
    ]
    left, right = (m.entries if entry_only else m.functions for m in (a, b))
    if len(left) != len(right):
        found.append(f"function count: {len(left)} against {len(right)}")
    for one, other in zip(left, right, strict=False):
        found += _function_differences(one, other)
    return found


def _function_differences(a: Function, b: Function) -> Iterator[str]:
    if a.name != b.name:
        yield f"function {a.name}: named {b.name} in the other module"
    for name, what in (
        ("is_entry", "entry"),
        ("params", "parameters"),
        ("return_params", "return parameters"),
        ("declaration", "declaration only"),
    ):
        if getattr(a, name) != getattr(b, name):
            yield f"function {a.name}: {what} {getattr(a, name)} against {getattr(b, name)}"
    if len(a.body) != len(b.body):
        yield f"function {a.name}: statement count {len(a.body)} against {len(b.body)}"
    for i, (one, other) in enumerate(zip(a.body, b.body, strict=False)):
        if one != other:
            yield f"function {a.name}, statement {i}: {one} against {other}"


def _function(function: Function) -> Function:
    return replace(function, formatting=None, body=tuple(_flat(function.body)), **_headless(function))


def _headless(node: Function | CallPrototype) -> dict[str, Any]:
    """Return parameters and directives without formatting, as keyword arguments of `replace`."""
    returns = node.return_params
    return {
        "params": tuple(map(_bare, node.params)),
        "return_params": None if returns is None else tuple(map(_bare, returns)),
        "directives": tuple(map(_bare, node.directives)),
    }


def _flat(body: Iterable[Statement]) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, (Block, IntrinsicScope, CompoundExpr)):
            yield from _flat(node.body)
        elif not isinstance(node, SILENT):
            yield _statement(node)


def _statement(node: _Flat) -> _Flat:
    changes: dict[str, Any] = {"formatting": None}
    if isinstance(node, Instruction):
        changes["operands"] = tuple(map(_operand, node.operands))
    elif isinstance(node, VarDecl) and node.initializer is not None and not isinstance(node.initializer, str):
        changes["initializer"] = _operand(node.initializer)
    elif isinstance(node, CallPrototype):
        changes |= _headless(node)
    return replace(node, **changes)


def _bare(node: _Node) -> _Node:
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
