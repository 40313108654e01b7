"""Objects whose behavior versions determine: those of Python's own deterministic modules, and of pyptx.

A trace may read them without further inspection, because the key of a cached trace has the versions of both.
"""

from __future__ import annotations

import builtins
import os
from types import CodeType, ModuleType

from pyptx._loc import PACKAGE_DIR, shown_name

__all__ = [
    "BUILTINS",
    "describe",
    "is_deterministic_module",
    "is_library",
    "is_of_pyptx",
    "is_plain_module",
]

# Functions and classes of `builtins` that depend on nothing but their arguments. Not among them: what reads files, frames,
# namespaces or addresses (open, globals, vars, dir, eval, exec, id, hash, ...), and what has effects (print, setattr, ...).
BUILTINS = frozenset(
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float format "
    "frozenset getattr hasattr int isinstance issubclass iter len list map max min next object oct ord pow property range "
    "repr reversed round set slice sorted staticmethod str sum super tuple type zip NotImplemented Ellipsis __debug__ "
    "__build_class__ __name__".split()
) | {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)}

_MODULES = frozenset(
    "__future__ _abc _bisect _collections _collections_abc _functools _heapq _operator _struct abc bisect collections "
    "collections.abc contextlib dataclasses enum fractions functools heapq itertools keyword math numbers operator re "
    "string struct textwrap types typing".split()
)
_LIBRARY = os.path.dirname(os.__file__)
_SITE = tuple(os.path.join(_LIBRARY, name) for name in ("site-packages", "dist-packages"))


def is_deterministic_module(name: object) -> bool:
    """Return True for a module of the standard library that reads nothing but arguments."""
    return name in _MODULES


def is_of_pyptx(name: object) -> bool:
    """Return True for the name of a module of pyptx."""
    return isinstance(name, str) and (name == "pyptx" or name.startswith("pyptx."))


def is_library(filename: str) -> bool:
    """Return True for a source file of pyptx or of the standard library."""
    if filename.startswith(PACKAGE_DIR + os.sep):
        return True
    return filename.startswith("<frozen ") or (
        filename.startswith(_LIBRARY + os.sep) and not filename.startswith(_SITE)
    )


def is_plain_module(module: ModuleType) -> bool:
    """Return True for a module whose attributes are the values of its namespace."""
    return type(module) is ModuleType and "__getattr__" not in vars(module)


def describe(code: CodeType) -> str:
    """Return the name and the place of a function, for messages."""
    return f"{code.co_qualname} ({shown_name(code.co_filename)}:{code.co_firstlineno})"
