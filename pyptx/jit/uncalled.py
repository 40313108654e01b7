"""Detection of forgotten calls: `ptx.bar.sync` without `()` is valid Python that emits nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from opcode import opmap
from types import CodeType, FunctionType
from typing import Any

from pyptx._loc import SourceLocation, is_users
from pyptx.ir.nodes import Instruction, Statement

__all__ = ["forgotten_calls"]

_ATTRIBUTE, _POP, _CACHE = opmap["LOAD_ATTR"], opmap["POP_TOP"], 0
_DSL = ("pyptx.reg", "pyptx.smem", "pyptx.tensor", "pyptx.lib", "pyptx.ptx.mbarrier", "pyptx.ptx.pipeline_state")

Attributes = tuple[tuple[int, tuple[str, ...], bool], ...]  # offset, path, and whether its root is local
_found: dict[int, tuple[CodeType, Attributes]] = {}  # by id: hashing a code object reads its constants


def forgotten_calls(function: object, statements: Iterable[Statement]) -> Iterator[tuple[str, SourceLocation]]:
    """Find statements of a kernel that are an attribute of pyptx and nothing else: `ptx.bar.sync`, `ring.release`.

    A statement counts if the attribute is a function, method or instruction of pyptx, so that it has no effect without a
    call. The kernel function, the functions it defines and every function that emitted a statement are searched.

    Args:
        function: the kernel's function.
        statements: of its trace.
    Yields:
        The text of the attribute, and its location.
    """
    if not isinstance(function, FunctionType):
        return
    places = _places(statements)
    own = set(map(id, _with_nested(function.__code__)))
    codes = {id(place.code): place.code for place in places if isinstance(place.code, CodeType)}
    codes |= {id(code): code for code in _with_nested(function.__code__)}
    for number, code in codes.items():
        bare = _bare_attributes(code)
        if not bare:
            continue
        captured = _captured(function)
        names = function.__globals__ if number in own else _globals_of(code)
        emitted = {place.lasti for place in places if place.code is code}
        for lasti, path, local in bare:
            values = captured if local else names
            unknown = local and path[0] not in values  # a variable of the body: only the method's name is known
            if lasti in emitted:  # a property that emits
                continue
            if _is_method(path[-1]) if unknown else _is_callable(path, values):
                yield ".".join(path), SourceLocation(code, lasti)


def _places(statements: Iterable[Statement]) -> set[SourceLocation]:
    """Return the locations of statements and of the calls that led to them; those of one call are one object."""
    statements = list(statements)
    found: set[SourceLocation | None] = {one.place for one in statements if type(one) is Instruction}
    for one in statements:
        if type(one) is not Instruction:
            found.add(getattr(one, "place", None))
            found |= _places(getattr(one, "body", ()))
    callers = found
    while callers := {place.caller for place in callers if place is not None} - found:
        found |= callers
    return {place for place in found if place is not None}


def _with_nested(code: CodeType) -> list[CodeType]:
    return [code, *(one for part in code.co_consts if isinstance(part, CodeType) for one in _with_nested(part))]


def _captured(function: FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _globals_of(code: CodeType) -> Mapping[str, Any]:
    """Return the globals of the module that a helper function belongs to; empty if it is not known."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == code.co_filename:
            return vars(module)
    return {}


def _bare_attributes(code: CodeType) -> Attributes:
    known = _found.get(id(code))
    if known is None or known[0] is not code:
        known = _found[id(code)] = code, _find_bare_attributes(code)
    return known[1]


def _find_bare_attributes(code: CodeType) -> Attributes:
    """Find `a.b.c` alone in a statement: an attribute that is loaded and dropped.

    Returns:
        Offset of the last load, the path, and True where its root is a local or captured variable.
    """
    if not is_users(code) or not _drops_attribute(code.co_code):
        return ()
    from dis import get_instructions  # rare: most kernels have no such statement

    found = []
    path: list[str] = []  # of the chain of loads that ends at `last`
    local, last = False, 0
    for one in get_instructions(code):
        if one.opcode == _ATTRIBUTE and path:
            path, last = [*path, one.argval], one.offset
        elif one.opcode == _POP and len(path) > 1:
            found.append((last, tuple(path), local))
            path = []
        elif one.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME")):
            root = one.argval[-1] if isinstance(one.argval, tuple) else one.argval  # two loads in one instruction
            path, local = [root], one.opname.startswith(("LOAD_FAST", "LOAD_DEREF"))
        else:
            path = []
    return tuple(found)


def _drops_attribute(bytes_: bytes) -> bool:
    """Return True if the bytecode has a load of an attribute directly before a `POP_TOP`."""
    before = _CACHE
    for number in bytes_[::2]:
        if number == _POP and before == _ATTRIBUTE:
            return True
        before = before if number == _CACHE else number
    return False


def _is_callable(path: tuple[str, ...], names: Mapping[str, Any]) -> bool:
    """Resolve a path from a global or captured name; only attributes of pyptx are read."""
    value = names.get(path[0])
    for name in path[1:]:
        if not _is_of_pyptx(value):
            return False
        try:
            value = getattr(value, name)
        except AttributeError:
            return False
    return callable(value) and _is_of_pyptx(value)


def _is_of_pyptx(value: object) -> bool:
    module = getattr(value, "__name__", "") if isinstance(value, type(sys)) else getattr(value, "__module__", None)
    return isinstance(module, str) and (module == "pyptx" or module.startswith("pyptx."))


def _is_method(name: str) -> bool:
    """Return True for the name of a public method of the objects that a kernel body has."""
    return not name.startswith("_") and name in _methods(tuple(m for m in _DSL if m in sys.modules))


@cache
def _methods(modules: tuple[str, ...]) -> frozenset[str]:
    classes = [value for m in modules for value in vars(sys.modules[m]).values() if isinstance(value, type)]
    return frozenset(
        name
        for one in classes
        if one.__module__.startswith("pyptx.")
        for base in one.__mro__
        for name, member in vars(base).items()
        if isinstance(member, FunctionType | staticmethod | classmethod)
    )
