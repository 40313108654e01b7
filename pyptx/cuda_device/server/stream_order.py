"""The order of the work of streams, by vector clocks, and conflicts of work that nothing orders.

Where operations complete when they are issued, a forgotten wait has no effect on results. This file finds it: each operation
has a clock, the set of operations that precede it by the rules of streams, events and synchronization; two operations without
such an order conflict if they access the same bytes and one of them writes.

All threads of the host count as one: what orders them is not visible here. Work on a GPU that the order of calls alone
separates is therefore reported, and work that threads of the host separate in other ways is not.

Source: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"; CUDA Driver API, "Stream synchronization behavior".
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyptx.cuda_device.server.footprints import NOTHING, covers, first_shared

__all__ = ["Clock", "Conflict", "Operation", "StreamOrder", "merged"]

Clock = dict[Hashable, int]
_MOST = 512  # operations that are remembered
_LARGEST_WATCHED = 256 << 20  # bytes of memory of the host whose contents are compared


@dataclass(eq=False)
class Operation:
    """Work of a stream, as the order sees it.

    Attributes:
        label: for messages, such as "the copy of 4,096 bytes".
        stream: handle of its stream.
        site: return addresses of the call that issued it.
        launch: the kernel launch; None for other work.
        reads, writes: ranges of bytes.
        clock: what precedes it.
        concurrent: True if it uses atomics, volatile or ordered accesses: it may share bytes with other such work.
        contents: checksum of the ranges in memory of the host, which the host must not change before it waits; None: no
            such memory.
    """

    label: str
    stream: int
    site: tuple[int, ...] = ()
    launch: Any = None
    reads: np.ndarray = field(default_factory=lambda: NOTHING)
    writes: np.ndarray = field(default_factory=lambda: NOTHING)
    concurrent: bool = False
    clock: Clock = field(default_factory=dict)
    line: Hashable = None
    number: int = 0
    span: tuple[int, int] = (0, 0)  # that holds all of its ranges
    contents: tuple[np.ndarray, int] | None = None


@dataclass(frozen=True)
class Conflict:
    """Two operations, the later one second, that access the byte at `address` without an order; `second` is None for the host.

    Attributes:
        first_writes, second_writes: which of them write it.
        site: return addresses of the access of the host, innermost first; empty: it is not known.
    """

    first: Operation
    second: Operation | None
    address: int
    first_writes: bool
    second_writes: bool
    site: tuple[int, ...] = ()


class StreamOrder:
    """Clocks of the streams, the events and the host of a process.

    Args:
        report: called for each conflict.
        view: returns bytes of memory of the host that the device shares, by address and size.
        unwatch: called when the contents of the memory of an operation need not remain any more.
    """

    def __init__(
        self,
        report: Callable[[Conflict], None],
        view: Callable[[int, int], np.ndarray],
        unwatch: Callable[[Operation], None] = lambda operation: None,
    ):
        self._report, self._view, self._on_unwatch = report, view, unwatch
        self._host: Clock = {}
        self._streams: dict[Hashable, Clock] = {}
        self._blocking: set[Hashable] = set()
        self._pending: list[Operation] = []
        self._unsettled = 0  # operations that were issued and have not run
        self.several = False  # True once there is another stream than the legacy one

    # what orders

    def begin(self, stream: Hashable, legacy: bool, blocking: bool) -> Clock:
        """Return the clock of the next operation of a stream, which follows what its thread has waited for.

        Args:
            legacy: it is the legacy default stream, which waits for blocking streams.
            blocking: blocking streams wait for the legacy one.
        """
        clock = self._streams.setdefault(stream, {})
        self.several = self.several or not legacy
        _join(clock, self._host)
        if blocking:
            self._blocking.add(stream)
        for other in self._blocking if legacy else {_LEGACY} if blocking else ():
            _join(clock, self._streams.get(other, {}))
        return clock

    def everything(self) -> Clock:
        """Return the clock of all work so far."""
        return merged([self._host, *self._streams.values()])

    def all_wait(self, event: Clock | None) -> None:
        """Order all later work after an event."""
        for clock in self._streams.values():
            _join(clock, event or {})

    def wait(self, clock: Clock, event: Clock | None) -> None:
        """Order later operations of a clock after an event."""
        _join(clock, event or {})

    def host_waits(self, clock: Clock | None = None) -> None:
        """Order everything that the host does from now on after a clock; None: after all work."""
        for found in [clock] if clock is not None else list(self._streams.values()):
            _join(self._host, found or {})
        still = []
        for operation in self._pending:
            is_over = _has(self._host, operation)
            if is_over:
                self._compare(operation)
            if not is_over or self._unsettled:  # what has not run yet may have been issued before this wait
                still.append(operation)
        self._pending = still

    # what conflicts

    def submit(self, clock: Clock, line: Hashable, operation: Operation) -> None:
        """Add an operation that has run, with its ranges, at the end of a clock; report its conflicts."""
        self.issue(clock, line, operation)
        self.settle(operation)

    def issue(self, clock: Clock, line: Hashable, operation: Operation) -> None:
        """Add an operation at the end of a clock, before it runs.

        Args:
            line: identifies a sequence of operations that are ordered: the stream, or a place in its graphs.
        """
        operation.clock, operation.line, operation.number = dict(clock), line, clock.get(line, 0) + 1
        clock[line] = operation.number
        self._unsettled += 1

    def settle(self, operation: Operation) -> None:
        """Report the conflicts of an operation that has run, with its ranges; others may have run before it."""
        self._unsettled -= 1
        used = [ranges for ranges in (operation.reads, operation.writes) if len(ranges)]
        if used:
            operation.span = min(int(r[0, 0]) for r in used), max(int(r[-1, 1]) for r in used)
            self._find(operation)
            self._pending.append(operation)
            for old in self._pending[:-_MOST]:
                self.unwatch(old)
            del self._pending[:-_MOST]

    def _find(self, new: Operation) -> None:
        still = []
        start, end = new.span
        for old in self._pending:
            if old.span[1] <= start or end <= old.span[0]:
                still.append(old)
                continue
            ordered = _has(new.clock, old)
            if not ordered and not _has(old.clock, new) and not (old.concurrent and new.concurrent):
                self._conflict(old, new)
            if old.contents is not None and first_shared(new.writes, old.contents[0]) is not None:
                self.unwatch(old)  # the device changes it, too
            if (
                ordered
                and not self._unsettled
                and old.contents is None
                and covers(new.writes, old.writes)
                and (covers(new.writes, old.reads) or covers(new.reads, old.reads))
            ):
                continue  # what conflicts with the old one conflicts with the new one
            still.append(old)
        self._pending = still

    def _conflict(self, old: Operation, new: Operation) -> None:
        for mine, writes, theirs, wrote in (
            (new.reads, False, old.writes, True),
            (new.writes, True, old.writes, True),
            (new.writes, True, old.reads, False),
        ):
            address = first_shared(mine, theirs)
            if address is not None:
                self._report(Conflict(old, new, address, wrote, writes))
                return

    # the host

    def watch(self, operation: Operation, ranges: np.ndarray) -> None:
        """Remember the contents of memory of the host that an operation accesses, until the host waits for it."""
        if len(ranges) and int((ranges[:, 1] - ranges[:, 0]).sum()) <= _LARGEST_WATCHED:
            operation.contents = ranges, self._checksum(ranges)

    def unwatch(self, operation: Operation) -> None:
        """Forget the contents of the memory of an operation."""
        if operation.contents is not None:
            operation.contents = None
            self._on_unwatch(operation)

    def _checksum(self, ranges: np.ndarray) -> int:
        value = 0
        for start, end in ranges.tolist():
            value = zlib.crc32(self._view(start, end - start).tobytes(), value)
        return value

    def _compare(self, operation: Operation) -> None:
        if operation.contents is None:
            return
        ranges, before = operation.contents
        self.unwatch(operation)
        if self._checksum(ranges) != before:
            at = int(ranges[0, 0])
            wrote = first_shared(operation.writes, ranges) is not None
            self._report(Conflict(operation, None, at, wrote, True))

    def forget(self, ranges: np.ndarray) -> None:
        """Forget the contents of memory that is freed."""
        for operation in self._pending:
            if operation.contents is not None and first_shared(operation.contents[0], ranges) is not None:
                self.unwatch(operation)


_LEGACY = 1


def _join(clock: Clock, other: Clock) -> None:
    for line, number in other.items():
        if clock.get(line, 0) < number:
            clock[line] = number


def _has(clock: Clock, operation: Operation) -> bool:
    return clock.get(operation.line, 0) >= operation.number


def merged(clocks: Iterable[Clock]) -> Clock:
    """Return the clock of what follows several clocks."""
    made: Clock = {}
    for clock in clocks:
        _join(made, clock)
    return made
