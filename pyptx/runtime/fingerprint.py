"""Fingerprints of functions: hashes of their source, of the functions they call and of the values they read.

Comments, blank lines and the position in the file do not matter, so stored results stay valid until the function changes.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pyptx._loc import PACKAGE_DIR

__all__ = ["digest", "function_fingerprint"]

_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_DEPTH = 4  # nesting of containers up to which values are hashed


def digest(value: Any) -> str:
    """Return a hash of plain values, 32 hexadecimal digits."""
    import hashlib  # imported late to keep `import pyptx` fast
    import json

    text = json.dumps(value, sort_keys=True, default=repr, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def function_fingerprint(function: Callable[..., Any]) -> str:
    """Return the hash of a function and of the user's values and functions it refers to, 32 hexadecimal digits."""
    return digest(list(_parts(function, set())))


def _parts(value: Any, seen: set[int], depth: int = 0) -> Iterator[Any]:
    if hasattr(type(value), "recorded_identity") and hasattr(value, "declaration"):
        value = value.declaration.function
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
            except ValueError:  # an empty cell
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
    """Return the source of a function without comments, blank lines and docstrings; its bytecode if there is none."""
    try:
        import textwrap

        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # created by exec, or a lambda inside a call
        return _code(function.__code__)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            if len(node.body) > 1 and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
    return ast.unparse(tree)


def _code(code: CodeType) -> Any:
    return [
        code.co_code.hex(),
        code.co_names,
        code.co_varnames,
        [_code(item) if isinstance(item, CodeType) else repr(item) for item in code.co_consts],
    ]


def _globals_of(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for item in code.co_consts:
        if isinstance(item, CodeType):
            names |= _globals_of(item)
    return names


def _stable_repr(value: Any) -> str:
    """Return the repr, or the type's name when the repr contains the object's address."""
    text = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if f"{id(value):x}" in text else text
