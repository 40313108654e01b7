"""The statements of a cell that declare kernels and have no effects: what is executed of a cell while it is typed.

These are imports of loaded modules, functions, classes, and assignments of values that only literals, names, operators and
the types of pyptx make up. All else in a cell is left out: calls of other functions, loops, `with`, expressions.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyptx.kernel import kernel

__all__ = ["assigned_names", "is_declaration"]

_FUNCTIONS = {"abs", "bool", "dict", "divmod", "float", "frozenset", "int", "len", "list", "max", "min", "pow", "range"}
_FUNCTIONS |= {"reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip"}
_MODULES = (
    "pyptx.specs",
    "pyptx.types",
    "pyptx.tensor",
    "pyptx.elements",
    "pyptx.launch_config",
)  # types without effects
_DECORATORS = (kernel, dataclass, property, staticmethod, classmethod)
_PLAIN = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
    ast.keyword,
)


def is_declaration(statement: ast.stmt, namespace: Mapping[str, Any]) -> bool:
    """Return whether a statement has no effects but to define names.

    Args:
        namespace: the names that it refers to.
    """
    match statement:
        case ast.Import():
            return all(alias.name in sys.modules for alias in statement.names)
        case ast.ImportFrom():
            return statement.level == 0 and statement.module in sys.modules
        case ast.FunctionDef():
            arguments = statement.args
            annotated = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            annotations = [one.annotation for one in annotated] + [statement.returns]
            parts = [*arguments.defaults, *arguments.kw_defaults, *annotations]
            decorated = all(_is_decorator(one, namespace) for one in statement.decorator_list)
            return decorated and all(_is_plain(part, namespace) for part in parts if part is not None)
        case ast.ClassDef():
            plain = (*statement.bases, *statement.keywords)
            if statement.decorator_list and not all(_is_decorator(one, namespace) for one in statement.decorator_list):
                return False
            body = (one for one in statement.body if not isinstance(one, ast.Pass | ast.Expr))
            return all(_is_plain(part, namespace) for part in plain) and all(is_declaration(b, namespace) for b in body)
        case ast.Assign():
            return all(map(_is_name, statement.targets)) and _is_plain(statement.value, namespace)
        case ast.AnnAssign():
            parts = [part for part in (statement.annotation, statement.value) if part is not None]
            return _is_name(statement.target) and all(_is_plain(part, namespace) for part in parts)
    return False


def assigned_names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement assigns or defines."""
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(statement)
        for alias in getattr(node, "names", ())
        if isinstance(alias, ast.alias)
    }
    return names | ({statement.name} if isinstance(statement, ast.FunctionDef | ast.ClassDef) else set())


def _is_name(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(isinstance(part, ast.Name) for part in parts)


def _is_plain(node: ast.AST, namespace: Mapping[str, Any]) -> bool:
    """Return whether an expression consists of literals, names, operators, lambdas, and calls without effects."""
    if isinstance(node, ast.Lambda):
        return True  # its body is not evaluated here
    if isinstance(node, ast.Call):
        return _has_no_effects(node, namespace) and all(
            _is_plain(part, namespace) for part in (*node.args, *(keyword.value for keyword in node.keywords))
        )
    return isinstance(node, _PLAIN) and all(_is_plain(child, namespace) for child in ast.iter_child_nodes(node))


def _has_no_effects(call: ast.Call, namespace: Mapping[str, Any]) -> bool:
    function = _resolve(call.func, namespace)
    if function is dataclass:
        return True
    if function is kernel:
        return all(keyword.arg != "unit" for keyword in call.keywords)  # a unit is shared with other cells
    if isinstance(call.func, ast.Name) and function is getattr(builtins, call.func.id, None):
        return call.func.id in _FUNCTIONS
    return isinstance(function, type) and function.__module__.startswith(_MODULES)


def _is_decorator(node: ast.expr, namespace: Mapping[str, Any]) -> bool:
    """Return whether a decorator has no effects: `kernel`, `dataclass`, `property` and the like."""
    if isinstance(node, ast.Call) and _resolve(node.func, namespace) in _DECORATORS:
        return _is_plain(node, namespace)
    return _resolve(node, namespace) in _DECORATORS


def _resolve(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """Return the value of a name, or of attributes of a name; None if unknown."""
    match node:
        case ast.Name(id=name):
            return namespace.get(name, getattr(builtins, name, None))
        case ast.Attribute(value=value, attr=name):
            return getattr(_resolve(value, namespace), name, None)
    return None
