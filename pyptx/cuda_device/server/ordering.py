"""The order of calls for `pyptx exec --check`: each piece of work with the bytes that it uses, and what waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pyptx.cuda_device.server.device_memory import HOST_KINDS
from pyptx.cuda_device.server.footprints import NOTHING, joined, ranges_of_rows
from pyptx.cuda_device.server.host_guards import HostGuards
from pyptx.cuda_device.server.stream_order import Clock, Conflict, Operation, StreamOrder, merged
from pyptx.cuda_device.server.work_queue import WAIT_FOR_ALL, WAIT_FOR_COPY

if TYPE_CHECKING:
    from pyptx.cuda_device.server.graph_nodes import Node
    from pyptx.cuda_device.server.session import Session
    from pyptx.cuda_device.server.streams import Stream

__all__ = ["Issued", "ProgramOrder"]

Issued = tuple[Operation, Any]  # as the order sees it, and as the session runs it

_LEGACY = 1

# calls that may wait for all work, too: nothing that a GPU's driver promises, so that late work does not
_MAY_WAIT_FOR_ALL = WAIT_FOR_ALL | frozenset(
    "cuMemHostAlloc cuMemAllocHost_v2 cuMemAlloc_v2 cuMemAllocPitch_v2 cuMemAllocManaged".split()
)


class ProgramOrder:
    """The order of the work of a process.

    Args:
        session: its device.
        report: called for each conflict.
    """

    def __init__(self, session: Session, report: Callable[[Conflict], None]):
        self._session = session
        self.guards = HostGuards(session.memory, self._touched)
        self._report = report
        self._order = StreamOrder(report, self._bytes, self.guards.release)

    @property
    def wants_footprints(self) -> bool:
        """True if the bytes that kernels use matter: there are several streams, or memory that the host shares."""
        return self._order.several or any(a.kind in HOST_KINDS for a in self._session.memory.allocations)

    def _touched(self, found: Conflict) -> None:
        self._order.unwatch(found.first)
        self._report(found)

    # calls

    def before_call(self, symbol: str) -> None:
        """Note a call of the driver before it is carried out."""
        if symbol in _MAY_WAIT_FOR_ALL:
            self._order.host_waits()

    def after_call(self, symbol: str) -> None:
        """Note a call of the driver that succeeded."""
        if symbol in WAIT_FOR_COPY:
            self._order.host_waits(self._order.begin(_LEGACY, legacy=True, blocking=False))

    def clock(self, stream: Stream) -> Clock:
        """Return the clock of the next operation of a stream."""
        return self._order.begin(self._line(stream), legacy=stream.is_legacy, blocking=stream.is_blocking)

    def _line(self, stream: Stream) -> Any:
        return stream.line(self._session.thread)

    def recorded(self, stream: Stream) -> Clock:
        """Return the clock of an event that a stream records."""
        return dict(self.clock(stream))

    def stream_waits(self, stream: Stream, event: Clock | None) -> None:
        """Order later work of a stream after an event."""
        self._order.wait(self.clock(stream), event)

    def host_waits(self, clock: Clock | None) -> None:
        """Order later calls after a clock."""
        self._order.host_waits(clock or {})

    def everything(self) -> Clock:
        """Return the clock of all work so far."""
        return self._order.everything()

    def joined(self, streams: Iterable[Stream]) -> Clock:
        """Return the clock of the work of some streams."""
        return merged([self.clock(stream) for stream in streams])

    def all_wait(self, event: Clock | None) -> None:
        """Order all later work after an event."""
        self._order.all_wait(event)

    # work

    def issued(self, stream: Stream, operation: Any) -> list[Issued]:
        """Add an operation at the end of a stream; return its parts, for `finished`."""
        clock, line = self.clock(stream), self._line(stream)
        if steps := getattr(operation, "steps", None):
            left = [(node, step) for node, step in steps if node not in operation.disabled]
            return list(self._graph(clock, line, stream.handle, left))
        made = self._issue(clock, line, stream.handle, operation)
        if getattr(operation, "waits_for_others", False):
            self._order.wait(clock, self.everything())
        return [(made, operation)]

    def finished(self, parts: Iterable[Issued]) -> None:
        """Note the bytes that an operation used, which has run."""
        for made, operation in parts:
            made.reads, made.writes = operation.footprint() if hasattr(operation, "footprint") else (NOTHING, NOTHING)
            if not made.concurrent and not getattr(operation, "blocks_host", False):
                self._order.watch(made, self._shared(joined([made.reads, made.writes])))
                if made.contents is not None:
                    self.guards.hold(made)
            self._order.settle(made)
            if getattr(operation, "blocks_host", False):
                self._order.host_waits({**made.clock, made.line: made.number})

    def memory(self, stream: Stream, label: str, address: int, size: int) -> None:
        """Add the allocation of memory in the order of a stream."""
        operation = Operation(label, stream.handle, self._session.sites, writes=ranges_of_rows(address, size))
        self._order.submit(self.clock(stream), self._line(stream), operation)

    def _graph(self, clock: Clock, line: Any, stream: int, steps: Iterable[tuple[Node, Any]]) -> Iterator[Issued]:
        ends: dict[Node, Clock] = {}
        for place, (node, operation) in enumerate(steps):
            own = ends[node] = merged([clock, *(ends[before] for before in node.dependencies if before in ends)])
            if operation is None:
                continue
            if inner := getattr(operation, "steps", None):
                yield from self._graph(own, (line, place), stream, inner)
            else:
                yield self._issue(own, (line, place), stream, operation), operation
        for own in ends.values():
            self._order.wait(clock, own)

    def _issue(self, clock: Clock, line: Any, stream: int, operation: Any) -> Operation:
        launch = operation if hasattr(operation, "kernel") else None
        concurrent = launch is not None and launch.kernel.program.ordered
        label = operation.label if launch is None else f"kernel {launch.name}"
        made = Operation(label, stream, self._session.sites, launch, concurrent=concurrent)
        self._order.issue(clock, line, made)
        return made

    def _shared(self, ranges: np.ndarray) -> np.ndarray:
        """Return the ranges that are in memory of the host: pinned, registered, or managed."""
        memory, registered = self._session.memory, self._session.registered
        inside = []
        for start, end in ranges.tolist():
            found = memory.find(start)
            if found is not None and found.kind in HOST_KINDS:
                inside.append((start, min(end, found.end)))
            elif any(base <= start and end <= base + size for base, size in registered.items()):
                inside.append((start, end))
        return np.array(inside, np.uint64).reshape(-1, 2)

    def _bytes(self, address: int, size: int) -> np.ndarray:
        if self._session.memory.contains(address):
            return self._session.memory.view(address, size)
        return np.frombuffer(self._session.read(address, size), np.uint8)
