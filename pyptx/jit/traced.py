"""Sources of a specialization: a trace, or the record of a trace in an earlier process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pyptx._loc import SourceLocation
from pyptx.emitter import Emitted
from pyptx.ir.nodes import Function, Module

__all__ = ["Source", "Traced"]


class Source(Protocol):
    """Source of a specialization: a trace, or the record of one.

    Attributes:
        origin: "traced", "traced, not cached: ..." with the reason, or "trace cache".
        is_validated: True if an earlier process has validated and assembled the text.
    """

    origin: str
    is_validated: bool

    @property
    def module(self) -> Module:
        """The tree; a restored source traces the kernel to obtain it."""
        ...

    @property
    def entry(self) -> Function:
        """The entry in the tree."""
        ...

    @property
    def emitted(self) -> Emitted:
        """The text of the module with the Python place of each line."""
        ...

    @property
    def head(self) -> Module:
        """A module with version, target and entry; the entry of a restored source has no body."""
        ...

    @property
    def signature(self) -> Function:
        """The entry of `head`: name, parameters and directives."""
        ...

    @property
    def cluster_place(self) -> SourceLocation | None:
        """The place that needs clusters of a size."""
        ...

    def machine_code(self, target: str) -> Any:
        """Return the cached machine code for a target; None if it must be assembled from the text."""
        ...

    def assembled(self) -> None:
        """Record that the text was assembled, so that the next process can restore the source."""


class Traced:
    """A tree made in this process.

    Args:
        cluster_place, origin: see `Source`.
        keep: stores the trace for other processes; called after its text has been assembled.
    """

    is_validated: bool = False

    def __init__(
        self,
        module: Module,
        entry: Function,
        emitted: Emitted,
        *,
        cluster_place: SourceLocation | None = None,
        origin: str = "traced",
        keep: Callable[[], None] | None = None,
    ):
        self.module = self.head = module
        self.entry = self.signature = entry
        self.emitted, self.cluster_place, self.origin, self._keep = emitted, cluster_place, origin, keep

    def machine_code(self, target: str) -> None:
        """Return None: the text is assembled, or its cubin found in the cache."""

    def assembled(self) -> None:
        keep, self._keep = self._keep, None
        if keep is not None:
            keep()
