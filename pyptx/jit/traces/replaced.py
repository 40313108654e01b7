"""Functions of pyptx that a program has replaced: kernels are then traced in every process."""

from __future__ import annotations

import sys
from types import FunctionType

from pyptx.jit.traces.known import is_deterministic_module, is_library, is_of_pyptx
from pyptx.jit.traces.record import takes_part

__all__ = ["replaced_function"]

_ours: dict[str, bool] = {}  # file names; True for those of pyptx and of the standard library


def replaced_function() -> tuple[str, FunctionType] | None:
    """Find a function or method of pyptx that a trace may call and that is somebody else's.

    Returns:
        Its name and the function in its place; None if there is none.
    """
    for module_name, module in list(sys.modules.items()):
        if not takes_part(module_name):
            continue
        for name, value in list(vars(module).items()):
            if type(value) is FunctionType:
                if not _ours.get(value.__code__.co_filename) and _is_foreign(value):
                    return f"{module_name}.{name}", value
            elif isinstance(value, type) and value.__module__ == module_name:
                if found := _replaced_method(value):
                    return f"{module_name}.{name}.{found[0]}", found[1]
    return None


def _replaced_method(kind: type) -> tuple[str, FunctionType] | None:
    for name, value in list(vars(kind).items()):
        if type(value) is property:
            value = value.fget
        elif type(value) is staticmethod or type(value) is classmethod:
            value = value.__func__
        if type(value) is FunctionType and not _ours.get(value.__code__.co_filename) and _is_foreign(value):
            return name, value
    return None


def _is_foreign(function: FunctionType) -> bool:
    filename = function.__code__.co_filename
    if _ours.setdefault(filename, is_library(filename)):
        return False
    home = str(function.__globals__.get("__name__"))  # of methods that a decorator of classes compiles
    return not (is_of_pyptx(home) or is_deterministic_module(home) or home.startswith("namedtuple_"))
