"""What a kernel is, as a hash: its Python and that of the functions it calls, its Tiles and launch sizes.

Comments, blank lines and where it stands in the file do not matter, so that a result stays found until the kernel
itself changes.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pyptx._loc import PACKAGE_DIR
from pyptx.kernel import Kernel

__all__ = ["digest", "of_function", "of_kernel", "version"]

_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_DEPTH = 4                                              # of containers


def digest(value: Any) -> str:
    """32 hexadecimal digits of plain values."""
    text = json.dumps(value, sort_keys=True, default=repr, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def version() -> str:
    """Of pyptx, which stands above this package."""
    return sys.modules["pyptx"].__version__


def of_kernel(kernel: Kernel) -> str:
    """32 hexadecimal digits; the version of pyptx, which writes the PTX, is among what decides."""
    told = kernel.declared
    sizes = [of_function(value) if callable(value) else repr(value)
             for value in (told.grid, told.block, told.cluster, told.reqntid)]
    return digest([version(), told.name, told.arch, told.version, of_function(told.function),
                   [repr(spec) for spec in told.specs], sizes, told.smem_bytes, told.raw_params,
                   told.extern_smem, repr(told.directives), repr(told.linking)])


def of_function(function: Callable[..., Any]) -> str:
    """32 hexadecimal digits of a function and of what its names stand for, as far as that is the user's."""
    return digest(list(_parts(function, set())))


def _parts(value: Any, seen: set[int], depth: int = 0) -> Iterator[Any]:
    if isinstance(value, Kernel):
        value = value.__wrapped__
    if isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, FunctionType):
        if id(value) in seen or value.__code__.co_filename.startswith(PACKAGE_DIR):
            yield value.__qualname__
            return
        seen.add(id(value))
        yield _source(value)
        yield from _parts(value.__defaults__ or (), seen, depth + 1)
        yield from _parts(dict(value.__kwdefaults__ or {}), seen, depth + 1)
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                yield from _named(name, cell.cell_contents, seen, depth)
            except ValueError:                          # an empty cell: not assigned yet
                yield name
        for name in sorted(_globals_of(value.__code__)):
            if name in value.__globals__:
                yield from _named(name, value.__globals__[name], seen, depth)
    elif isinstance(value, list | tuple | set | frozenset) and depth < _DEPTH:
        parts = [list(_parts(item, seen, depth + 1)) for item in value]
        yield sorted(map(repr, parts)) if isinstance(value, set | frozenset) else parts
    elif isinstance(value, Mapping) and depth < _DEPTH:
        yield {str(name): list(_parts(item, seen, depth + 1)) for name, item in value.items()}
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif inspect.ismethod(value):
        yield from _parts(value.__func__, seen, depth)
    else:
        yield _stable_repr(value)


def _named(name: str, value: Any, seen: set[int], depth: int) -> Iterator[Any]:
    yield name
    yield from _parts(value, seen, depth)


def _source(function: FunctionType) -> Any:
    """The text of a function without comments, blank lines and docstrings; its bytecode where there is none."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):           # made by exec, or a lambda cut out of the middle of a call
        return _code(function.__code__)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            if len(node.body) > 1 and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
    return ast.unparse(tree)


def _code(code: CodeType) -> Any:
    return [code.co_code.hex(), code.co_names, code.co_varnames,
            [_code(item) if isinstance(item, CodeType) else repr(item) for item in code.co_consts]]


def _globals_of(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for item in code.co_consts:
        if isinstance(item, CodeType):
            names |= _globals_of(item)
    return names


def _stable_repr(value: Any) -> str:
    """The repr, unless it holds the object's address; then what kind of thing it is."""
    text = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if f"{id(value):x}" in text else text
