"""Names of a package and regular expressions that are made on first use."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, cast

__all__ = ["from_modules", "pattern"]


def from_modules(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package, which imports a name from its module and keeps it.

    Args:
        package: `__name__` of the package.
        modules: module of each name, relative to the package.
    Source: PEP 562, "Module __getattr__ and __dir__".
    """

    def __getattr__(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first used; modules have it as `re.compile`.

    Compiling one takes 50 to 500 us; those of the modules that every kernel imports took 3 ms of 56.
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    """The attributes of a compiled pattern, each kept here from its first use on."""

    def __init__(self, text: str, flags: int):
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(re.compile(self._text, self._flags), name)
        return found
