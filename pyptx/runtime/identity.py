"""Kernel identities: names under which graphs, caches and exports refer to kernels, in this process and in others.

An identity consists of the module and qualified name of the kernel and of hashes of everything that determines its PTX:
the version of pyptx, the source with the values that it captures, the Tiles, and the launch configuration. A kernel that
another module makes with a function of this one also names that module, whose import makes the kernel again.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Hashable, Iterator
from importlib import import_module
from threading import Lock
from typing import Any, Protocol

from pyptx._frozen import frozen
from pyptx.errors import BackendError

__all__ = ["Identified", "KernelIdentity", "declare", "importing_module", "module_of", "register", "resolve"]


class Identified(Protocol):
    """A kernel with an identity."""

    @property
    def identity(self) -> str:
        """Text of its KernelIdentity, for the values that it captures now."""
        ...

    def recorded_identity(self) -> str:
        """Register the kernel and return its identity."""
        ...


class _Kernels:
    """Existing kernels by a key, in the order in which they were added."""

    def __init__(self) -> None:
        self._references: dict[Hashable, tuple[weakref.ref[Any], ...]] = {}
        self._lock = Lock()

    def add(self, key: Hashable, kernel: Any) -> None:
        """Add a kernel as the last one of a key."""
        known = self._references.get(key)
        if known and known[-1]() is kernel:
            return
        with self._lock:
            others = [one for one in self._references.get(key, ()) if one() not in (None, kernel)]
            self._references[key] = (*others, weakref.ref(kernel))

    def newest_first(self, key: Hashable) -> list[Any]:
        """Return the kernels of a key that still exist, the last one added first."""
        kernels = [one() for one in reversed(self._references.get(key, ()))]
        return [kernel for kernel in kernels if kernel is not None]


_registered = _Kernels()  # by identity
_declared = _Kernels()  # by the module and qualified name of the kernel's function


@frozen
class KernelIdentity:
    """Name and content of a kernel. Its text is `module:qualname:version:source:specs:launch[:home]`.

    Attributes:
        module, qualname: location of the kernel's function.
        version: version of pyptx, which emits the PTX.
        source: hash of the function, of the functions it calls and of the values it captures.
        specs: hash of the input and output Tiles and of the entry parameters.
        launch: hash of name, target, grid, block, cluster and shared memory.
        home: another module that makes the kernel when it is imported; "" if there is none. Not part of the content.
    """

    module: str
    qualname: str
    version: str
    source: str
    specs: str
    launch: str
    home: str = ""

    @classmethod
    def parse(cls, text: str) -> KernelIdentity:
        """Return the identity of a text.

        Raises:
            LaunchError: the text is not an identity.
        """
        parts = text.split(":")
        if len(parts) not in (6, 7):
            raise BackendError(f"{text!r} does not identify a kernel; it was created by another version of pyptx")
        return cls(*parts)

    def __str__(self) -> str:
        parts = (self.module, self.qualname, self.version, self.source, self.specs, self.launch)
        return ":".join((*parts, self.home) if self.home else parts)

    def differences(self, other: KernelIdentity) -> str:
        """Return what distinguishes another kernel from this one, as text."""
        changed = [
            text
            for name, text in (
                ("source", "its source or a value that it captures"),
                ("specs", "its Tiles or parameters"),
                ("launch", "its target or launch configuration"),
            )
            if getattr(self, name) != getattr(other, name)
        ]
        if self.version != other.version:
            changed.append(f"the version of pyptx ({self.version}, now {other.version})")
        return " and ".join(changed)


def module_of(function: Callable[..., Any]) -> str:
    """Return the module of a function, `__main__` also for the main script of a process of multiprocessing."""
    module = getattr(function, "__module__", None) or "__main__"
    return "__main__" if module == "__mp_main__" else module


def importing_module() -> str:
    """Return the innermost module outside pyptx whose body is being executed; "" if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            name = frame.f_globals.get("__name__", "")
            if name.partition(".")[0] != "pyptx":
                return "" if name in ("__main__", "__mp_main__") else name
        frame = frame.f_back
    return ""


def declare(kernel: Any, module: str, qualname: str) -> None:
    """Remember a kernel, as long as it exists, under the name by which `resolve` looks for it."""
    _declared.add((module, qualname), kernel)


def register(kernel: Identified, home: str = "") -> str:
    """Return the identity of a kernel and remember the kernel, as long as it exists, for `resolve`.

    Args:
        home: the module whose import makes the kernel, if it is not that of its function.
    """
    identity = kernel.identity
    _registered.add(identity, kernel)
    return f"{identity}:{home}" if home and not identity.startswith(f"{home}:") else identity


def resolve(identity: str) -> Any:
    """Return the kernel of an identity: one of this process, or one that the import of its modules makes.

    Of several kernels with the identity, as a notebook cell makes that is run again, it is the one registered last.

    Raises:
        LaunchError: the kernel does not exist here, or has changed; the message names the difference.
    """
    content = identity if identity.count(":") < 6 else identity.rpartition(":")[0]
    known = _registered.newest_first(content)
    for kernel in known:
        if kernel.identity == content:
            return kernel
    if known:
        return known[0]  # a captured value has changed since the call was recorded: the call uses the new value
    wanted = KernelIdentity.parse(identity)
    found = list(_kernels_named(wanted))
    for kernel in found:
        if kernel.identity == content:
            register(kernel)
            return kernel
    name = f"{wanted.module}.{wanted.qualname}"
    if found:
        changes = [wanted.differences(KernelIdentity.parse(kernel.identity)) for kernel in found]
        raise BackendError(
            f"kernel {name} has changed since this computation was compiled or exported: {min(changes, key=len)}",
            hint="compile or export the computation again",
        )
    modules = " and ".join(f"module {module}" for module in (wanted.module, wanted.home) if module)
    raise BackendError(
        f"kernel {name}, which this computation calls, does not exist in this process",
        hint=f"define the kernel, or import the module that does, before running the computation; "
        f"kernels are looked up in {modules}",
    )


def _kernels_named(wanted: KernelIdentity) -> Iterator[Any]:
    """Yield the kernels with the name of an identity, after importing the modules that make them."""
    for module in (wanted.module, wanted.home):
        if module and module not in sys.modules:
            try:
                import_module(module)
            except ImportError:
                continue
    yield from _declared.newest_first((wanted.module, wanted.qualname))
