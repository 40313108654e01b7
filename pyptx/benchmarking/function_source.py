"""Functions as data: the source of a function with the names it reads, so that another machine can define it again.

A function of an installed package is sent by its name. One of the user is sent as the text of its `def` or `lambda`, with the values of the
names in it: modules and functions of packages by name, plain values, NumPy arrays, and other functions in the same way.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
import sys
import sysconfig
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pyptx._loc import PACKAGE_DIR
from pyptx.errors import OptionError, UnknownNameError

__all__ = ["NAME", "NamedFunction", "described"]

_PLAIN = (bool, int, float, str, bytes, type(None), np.generic, np.ndarray, np.dtype)
_HINT = (
    "use functions of modules, lambdas, plain values and arrays in it; or define what it needs inside of the function"
)
_STANDARD = sysconfig.get_path("stdlib")
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


class NamedFunction:
    """A function of a package by its name, "torch.matmul", imported when it is called."""

    def __init__(self, name: str):
        self.module, _, self.path = name.rpartition(".")

    def __call__(self, *args: Any) -> Any:
        try:
            function = getattr(import_module(self.module), self.path)
        except (ImportError, AttributeError) as missing:
            raise UnknownNameError(f"{self.module}.{self.path} cannot be called here: {missing}") from None
        return function(*args)


def described(value: Any, name: str = "", inside: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """Return a function, or a value that one reads, as tuples of plain values; `function_loading.loaded` makes it again.

    Args:
        value: the function.
        name: what messages call it.
        inside: functions that are being described; a function may call itself, but not two each other.
    Returns:
        ("module", name), ("named", module, qualified name), ("value", value), ("items", type, values), ("map", keys, values),
        ("partial", function, arguments, keywords), or ("source", name, text, values of its names).
    Raises:
        OptionError: it cannot be sent; the message names the value.
    """
    name = name or getattr(value, "__name__", None) or type(value).__name__
    if isinstance(value, NamedFunction):
        return "named", value.module, value.path
    if isinstance(value, _PLAIN):
        return "value", value
    if isinstance(value, ModuleType):
        return _module(value, name)
    if type(value) in (tuple, list, set, frozenset):
        return "items", type(value).__name__, tuple(described(item, name, inside) for item in value)
    if type(value) is dict:
        keys, values = zip(*value.items(), strict=True) if value else ((), ())
        return "map", tuple(described(k, name, inside) for k in keys), tuple(described(v, name, inside) for v in values)
    if isinstance(value, functools.partial):
        return (
            "partial",
            described(value.func, name, inside),
            tuple(described(item, name, inside) for item in value.args),
            {key: described(item, key, inside) for key, item in value.keywords.items()},
        )
    if (found := _by_name(value)) is not None:
        return ("named", *found)
    function = value if isinstance(value, FunctionType) else _function_of(value)
    if function is None:
        raise OptionError(f"{name}, of type {type(value).__name__}, cannot be sent to another machine", hint=_HINT)
    if any(one is function for one in inside):
        raise OptionError(
            f"{name} calls a function that calls it again, which cannot be sent to another machine", hint=_HINT
        )
    return _source(function, value, name, (*inside, function))


def _module(value: ModuleType, name: str) -> tuple[Any, ...]:
    if not _is_installed(value.__name__):
        raise OptionError(
            f"{name} is the module {value.__name__}, which is not an installed package, and is not sent to another machine",
            hint="import the functions themselves: from module import function",
        )
    return "module", value.__name__


def _by_name(value: Any) -> tuple[str, str] | None:
    """Return module and qualified name of something that an installed package, or Python itself, defines."""
    text = repr(value)
    names = [
        (getattr(value, "__module__", None), getattr(value, "__qualname__", None)),
        (getattr(value, "__module__", None), getattr(value, "__name__", None)),
        (type(getattr(value, "__self__", None)).__module__.partition(".")[0], getattr(value, "__name__", None)),
        text.rpartition(".")[::2] if text.replace(".", "").isidentifier() else (None, None),  # torch.float16
        ("builtins", getattr(value, "__name__", None)),
    ]
    for module, path in names:
        if not isinstance(module, str) or not isinstance(path, str) or "<" in path or not _is_installed(module):
            continue
        try:
            if functools.reduce(getattr, path.split("."), import_module(module)) is value:
                return module, path
        except (ImportError, AttributeError):
            continue
    return None


def _is_installed(module: str) -> bool:
    """Return True for modules of Python and of installed packages, pyptx included, which the far side has of its own."""
    if module == "builtins" or (module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"):
        return True
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    if found is None or file is None:
        return found is not None and module != "__main__" and bool(getattr(found, "__spec__", None))
    folders = Path(file).resolve().parts
    return file.startswith((PACKAGE_DIR, _STANDARD)) or not {"site-packages", "dist-packages"}.isdisjoint(folders)


def _function_of(value: Any) -> FunctionType | None:
    """Return the function that a decorator wrapped, as those of Triton and pyptx keep it; None if there is none."""
    for one in (getattr(value, "fn", None), getattr(getattr(value, "declaration", None), "function", None)):
        if isinstance(one, FunctionType):
            return one
    wrapped = inspect.unwrap(value) if hasattr(value, "__wrapped__") else None
    return wrapped if isinstance(wrapped, FunctionType) else None


def _source(function: FunctionType, value: Any, name: str, inside: tuple[Any, ...]) -> tuple[Any, ...]:
    function = inspect.unwrap(function)
    node = _node(function.__code__)
    if node is None:
        raise OptionError(f"the source of {name} is not available, so it cannot be sent to another machine", hint=_HINT)
    if not isinstance(value, FunctionType) and not getattr(node, "decorator_list", ()):
        raise OptionError(
            f"{name} is a {type(value).__name__} that a call made, not a decorator, which cannot be sent to another machine",
            hint="decorate the function",
        )
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found = {}
    for read in sorted({one.id for one in ast.walk(node) if isinstance(one, ast.Name)}):
        if read in closure:
            found[read] = described(closure[read].cell_contents, read, inside)
        elif read in function.__globals__ and read != function.__name__:
            found[read] = described(function.__globals__[read], read, inside)
    if isinstance(node, ast.Lambda):
        return "source", "", ast.unparse(node), found
    return "source", node.name, ast.unparse(node), found


def _node(code: CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """Return the definition of a function in the syntax tree of its file or notebook cell."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return None
    nodes = list(ast.walk(tree))
    if code.co_name != "<lambda>":
        named = (node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == code.co_name)
        return next((node for node in named if _first_line(node) == code.co_firstlineno), None)
    same = [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    places = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
    fits = [node for node in same if all(_start(node) <= place < _end(node) for place in places)]
    return max(fits, key=_start, default=None)  # the innermost


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _first_line(node: ast.FunctionDef) -> int:
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno
