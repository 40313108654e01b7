"""Registration with torch and JAX as soon as both pyptx and the other package are imported, in either order.

Exported programs, caches and pickles contain operators of pyptx, and load only if these are registered. Importing torch
takes seconds, so `import pyptx` does not import it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

__all__ = ["when_imported"]


class _Finder:
    """A meta path finder that wraps the loader of a package, to call a function after the import."""

    def __init__(self, name: str, function: Callable[[ModuleType], object]):
        self.name, self._function = name, function

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Return the package's own spec with a wrapped loader; None for other modules."""
        if fullname != self.name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._function(module)

            spec.loader.exec_module = exec_module
        return spec


def when_imported(name: str, function: Callable[[ModuleType], object]) -> None:
    """Call a function with the package of a name, now if it is imported, else after its import."""
    package = sys.modules.get(name)
    if package is not None:
        function(package)
    elif not any(isinstance(finder, _Finder) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(name, function))
