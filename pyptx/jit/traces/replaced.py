"""Functions of the DSL that a program has replaced: kernels are then traced in every process."""

from __future__ import annotations

import sys
from types import FunctionType

from pyptx.jit.traces.known import is_deterministic_module, is_library, is_of_pyptx

__all__ = ["replaced_function"]

_PARTS = frozenset(
    "elements emitter lib parser ptx reg smem specs tensor tracing types validate wgmma_layout".split()
)  # those with functions that a trace calls; the others hold data, or trace and cache kernels themselves
_ours: set[str] = set()  # files of pyptx and of the standard library


def replaced_function() -> tuple[str, FunctionType] | None:
    """Find a function or method of the DSL that is somebody else's.

    All of them are looked at, some 1500, in the first launch of every kernel, which the loop below is written for.

    Returns:
        Its name and the function in its place; None if there is none.
    """
    ours, function = _ours, FunctionType
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith("pyptx.") or module_name.split(".", 2)[1] not in _PARTS:
            continue
        namespace = vars(module)
        for name, value in list(namespace.items()):
            if type(value) is function:
                if value.__code__.co_filename not in ours and _is_foreign(value):
                    return f"{module_name}.{name}", value
            elif isinstance(value, type) and value.__module__ == module_name:
                for method, member in list(vars(value).items()):
                    kind = type(member)
                    if kind is property:
                        member = member.fget
                    elif kind is staticmethod or kind is classmethod:
                        member = member.__func__
                    elif kind is not function:
                        continue
                    if (
                        type(member) is function
                        and member.__code__.co_filename not in ours
                        and member.__globals__ is not namespace
                        and _is_foreign(member)
                    ):
                        return f"{module_name}.{name}.{method}", member
    return None


def _is_foreign(function: FunctionType) -> bool:
    filename = function.__code__.co_filename
    if is_library(filename):
        _ours.add(filename)
        return False
    home = str(function.__globals__.get("__name__"))  # of methods that a decorator of classes compiles
    return not (is_of_pyptx(home) or is_deterministic_module(home) or home.startswith("namedtuple_"))
