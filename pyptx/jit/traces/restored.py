"""A trace of an earlier process: enough to launch; the kernel is traced when its tree or text is needed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any

from pyptx._loc import SourceLocation
from pyptx.emitter import Emitted
from pyptx.ir.nodes import Function, Module
from pyptx.jit.traces.record import Record

if TYPE_CHECKING:
    from pyptx.jit.traced import Source

__all__ = ["Restored", "text_hash"]


def text_hash(text: str) -> str:
    """Return the SHA-256 of PTX text, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


class Restored:
    """The source of a specialization whose trace an earlier process recorded; see `Source`.

    Args:
        record: of the trace.
        trace: traces the kernel.
        differs: called with the new source if its text is not the recorded one.
        machine_code: see `Source`.
    """

    origin: str = "trace cache"
    is_validated: bool = True
    signature: Function
    head: Module

    def __init__(
        self,
        record: Record,
        trace: Callable[[], Source],
        differs: Callable[[Source], None],
        machine_code: Callable[[str], Any],
    ):
        self.head, self.signature = record.head, record.head.entries[0]
        self._expected, self._trace, self._differs = record.text_hash, trace, differs
        self._source: Source | None = None
        self._lock = RLock()
        self._machine_code = machine_code

    @property
    def module(self) -> Module:
        return self._traced().module

    @property
    def entry(self) -> Function:
        return self._traced().entry

    @property
    def emitted(self) -> Emitted:
        return self._traced().emitted

    @property
    def cluster_place(self) -> SourceLocation | None:
        return self._traced().cluster_place

    def machine_code(self, target: str) -> Any:
        return self._machine_code(target)

    def assembled(self) -> None:
        """Do nothing: the trace is recorded."""

    def _traced(self) -> Source:
        """Return the trace, made once, after comparing its text with the recorded one."""
        with self._lock:
            if self._source is None:
                source = self._trace()
                if text_hash(source.emitted.text) != self._expected:
                    self._differs(source)
                self._source = source
            return self._source
