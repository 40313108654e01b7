"""Functions that another machine sent as data, defined again; see `function_source`."""

from __future__ import annotations

import functools
import hashlib
import linecache
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from pyptx.errors import BackendError, InputError

__all__ = ["loaded"]

_TYPES: Mapping[str, Callable[[Any], Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


def loaded(tree: Any) -> Any:
    """Return the value of a description.

    Raises:
        BackendError: a package is not installed here, or has no such function.
        InputError: it is not a description.
    """
    match tree:
        case ("value", value):
            return value
        case ("module", str(name)):
            return _imported(name)
        case ("named", str(module), str(path)):
            try:
                return functools.reduce(getattr, path.split("."), _imported(module))
            except AttributeError:
                raise BackendError(f"the package {module} has no {path} on this machine") from None
        case ("items", str(kind), items):
            return _TYPES[kind](loaded(item) for item in items)
        case ("map", keys, values):
            return {loaded(key): loaded(value) for key, value in zip(keys, values, strict=True)}
        case ("partial", function, arguments, keywords):
            values = {name: loaded(value) for name, value in keywords.items()}
            return functools.partial(loaded(function), *map(loaded, arguments), **values)
        case ("source", str(name), str(text), names):
            return _defined(name, text, {key: loaded(value) for key, value in names.items()})
    raise InputError(f"the peer sent something that is not a function: {tree!r:.80}")


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as missing:
        package = (missing.name or name).partition(".")[0]
        raise BackendError(
            f"the package {package} is not installed for the Python there, {sys.executable}",
            hint=f"{sys.executable} -m pip install {package}",
        ) from None


def _defined(name: str, text: str, names: dict[str, Any]) -> Any:
    """Run a definition; its text is registered where `inspect.getsource` finds it, which Triton calls."""
    file = f"<sent {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"__name__": "__pyptx_sent__", **names}
    if not name:
        return eval(compile(text, file, "eval"), space)
    exec(compile(text, file, "exec"), space)
    return space[name]
