"""Errors that pyptx raises on purpose: each derives from PtxError and from one built-in exception."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyptx
from pyptx import errors

PACKAGE = Path(pyptx.__file__).parent
BASES = {"PtxError", "LaunchError", "_DiagnosticsError"}  # never raised themselves
BUILT_IN = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, Warning)
}
# Built-in exceptions that Python's own protocols ask for, by the function that raises them.
PROTOCOLS = {
    "KeyError": {"__missing__"},
    "AttributeError": {"__getattr__", "unknown_attribute"},
    "NotImplementedError": {"view", "_on_message"},  # abstract methods of widgets
}
# Exceptions that a part of pyptx raises and catches itself.
INTERNAL = {
    "NotCacheableError",
    *("Fault", "HostError", "NotExpressible", "Quit", "StopRun", "TensorProblem", "TmemProblem", "Unlinkable"),
    *("UnsupportedFormError", "UnsupportedInitializerError"),
    *("ClosedError", "DriverError", "UnreadableDebugInfo"),
}
STANDALONE = {  # they run before the package or its errors can be imported
    "_frozen.py",
    "sim/core/build_core.py",
    "cuda_device/entry_points.py",
    "cuda_device/runtime/functions.py",
}


def built_ins(error: type) -> list[str]:
    """Names of the most derived built-in exceptions of a class, without Exception itself."""
    found = [c for c in error.__mro__ if c.__module__ == "builtins" and c not in (Exception, BaseException, object)]
    return [c.__name__ for c in found if not any(issubclass(d, c) and d is not c for d in found)]


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name not in ("Diagnostic", *BASES)])
def test_an_error_derives_from_ptx_error_and_one_built_in(name: str):
    error = getattr(errors, name)
    assert issubclass(error, errors.PtxError)
    assert len(built_ins(error)) == 1, built_ins(error)


def raised(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, exception name and enclosing function of each `raise` of a file."""

    def visit(node: ast.AST, function: str) -> Iterator[tuple[int, str, str]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.Raise) and node.exc is not None:
            value = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(value, ast.Name):
                yield node.lineno, value.id, function
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), "")


def test_no_built_in_exception_is_raised_directly():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: raises {name}; use the fitting class of pyptx.errors"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, name, function in raised(path)
        if (name in BUILT_IN or name in BASES)
        and name != "AssertionError"
        and function not in PROTOCOLS.get(name, ())
        and str(path.relative_to(PACKAGE)) not in STANDALONE
    ]
    assert not found, "\n".join(found)


def test_every_exception_class_of_the_package_is_a_ptx_error():
    found = []
    if importlib.util.find_spec("triton"):
        importlib.import_module("triton")  # it imports our backend, not the other way round
    for module in pkgutil.walk_packages([str(PACKAGE)], "pyptx."):
        if re.search(r"__main__|\.jax_support|\.build_core|\.pyptx_core", module.name):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Exception) and value.__module__.startswith("pyptx"):
                private = value.__name__.startswith("_") or value.__name__ in INTERNAL
                if not private and not issubclass(value, errors.PtxError | Warning):
                    found.append(f"{value.__module__}.{value.__name__}")
    assert not sorted(set(found))
