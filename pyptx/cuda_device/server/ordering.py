"""The order of calls for `pyptx exec --check`: each piece of work with the bytes that it uses, and what waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pyptx.cuda_device.server.footprints import NOTHING, joined, ranges_of_rows
from pyptx.cuda_device.server.stream_order import Clock, Conflict, Operation, StreamOrder, merged

if TYPE_CHECKING:
    from pyptx.cuda_device.server.graph_nodes import Node
    from pyptx.cuda_device.server.session import Session
    from pyptx.cuda_device.server.streams import Stream

__all__ = ["ProgramOrder"]

_LEGACY, _PER_THREAD, _NON_BLOCKING = 1, 2, 1
_HOST_KINDS = ("host", "managed")

# calls that return when all work of the device is done; the frees of memory wait for it on a GPU
_WAIT_FOR_ALL = frozenset(
    "cuCtxSynchronize cuCtxSynchronize_v2 cuMemFree_v2 cuMemFreeHost cuMemHostUnregister cuMemHostAlloc cuMemAllocHost_v2 "
    "cuMemAlloc_v2 cuMemAllocPitch_v2 cuMemAllocManaged cuArrayDestroy cuMipmappedArrayDestroy cuModuleUnload "
    "cuLibraryUnload cuCtxDestroy_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRelease_v2".split()
)
# copies that return when they are done, after the work of the legacy stream
_WAIT_FOR_COPY = frozenset(
    "cuMemcpy cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpy2D_v2 cuMemcpy2DUnaligned_v2 cuMemcpy3D_v2 cuMemcpyHtoA_v2 "
    "cuMemcpyAtoH_v2 cuMemcpyPeer cuMemcpy3DPeer".split()
)


class ProgramOrder:
    """The order of the work of a process.

    Args:
        session: its device.
        report: called for each conflict.
    """

    def __init__(self, session: Session, report: Callable[[Conflict], None]):
        self._session = session
        self._order = StreamOrder(report, self._bytes)

    @property
    def wants_footprints(self) -> bool:
        """True if the bytes that kernels use matter: there are several streams, or memory that the host shares."""
        return self._order.several or any(a.kind in _HOST_KINDS for a in self._session.memory.allocations)

    # calls

    def before_call(self, symbol: str) -> None:
        """Note a call of the driver before it is carried out."""
        if symbol in _WAIT_FOR_ALL:
            self._order.host_waits()

    def after_call(self, symbol: str) -> None:
        """Note a call of the driver that succeeded."""
        if symbol in _WAIT_FOR_COPY:
            self._order.host_waits(self._order.begin(_LEGACY, legacy=True, blocking=False))

    def clock(self, stream: Stream) -> Clock:
        """Return the clock of the next operation of a stream."""
        legacy = stream.handle == _LEGACY
        blocking = not legacy and not stream.flags & _NON_BLOCKING
        return self._order.begin(self._line(stream), legacy=legacy, blocking=blocking)

    def _line(self, stream: Stream) -> Any:
        return (_PER_THREAD, self._session.thread) if stream.handle == _PER_THREAD else stream.handle

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

    def all_wait(self, event: Clock | None) -> None:
        """Order all later work after an event."""
        self._order.all_wait(event)

    # work

    def finished(self, stream: Stream, operation: Any) -> None:
        """Add an operation of a stream that has run."""
        clock, line = self.clock(stream), self._line(stream)
        if steps := getattr(operation, "steps", None):
            self._graph(clock, line, stream, [(node, step) for node, step in steps if node not in operation.disabled])
        else:
            self._submit(clock, line, stream.handle, operation)
            if getattr(operation, "waits_for_others", False):
                self._order.wait(clock, self.everything())
            if getattr(operation, "blocks_host", False):
                self._order.host_waits(clock)

    def memory(self, stream: Stream, label: str, address: int, size: int) -> None:
        """Add the allocation or release of memory in the order of a stream."""
        operation = Operation(label, stream.handle, self._session.sites, writes=ranges_of_rows(address, size))
        self._order.submit(self.clock(stream), self._line(stream), operation)

    def _graph(self, clock: Clock, line: Any, stream: Stream, steps: Iterable[tuple[Node, Any]]) -> None:
        ends: dict[Node, Clock] = {}
        for place, (node, operation) in enumerate(steps):
            own = ends[node] = merged([clock, *(ends[before] for before in node.dependencies if before in ends)])
            if operation is None:
                continue
            if inner := getattr(operation, "steps", None):
                self._graph(own, (line, place), stream, inner)
            else:
                self._submit(own, (line, place), stream.handle, operation)
        for own in ends.values():
            self._order.wait(clock, own)

    def _submit(self, clock: Clock, line: Any, stream: int, operation: Any) -> None:
        reads, writes = operation.footprint() if hasattr(operation, "footprint") else (NOTHING, NOTHING)
        launch = operation if hasattr(operation, "kernel") else None
        concurrent = launch is not None and launch.kernel.program.ordered
        label = operation.label if launch is None else f"kernel {launch.name}"
        made = Operation(label, stream, self._session.sites, launch, reads, writes, concurrent)
        if not concurrent and not getattr(operation, "blocks_host", False):
            self._order.watch(made, self._shared(joined([reads, writes])))
        self._order.submit(clock, line, made)

    def _shared(self, ranges: np.ndarray) -> np.ndarray:
        """Return the ranges that are in memory of the host: pinned, registered, or managed."""
        memory, registered = self._session.memory, self._session.registered
        inside = []
        for start, end in ranges.tolist():
            found = memory.find(start)
            if found is not None and found.kind in _HOST_KINDS:
                inside.append((start, min(end, found.end)))
            elif any(base <= start and end <= base + size for base, size in registered.items()):
                inside.append((start, end))
        return np.array(inside, np.uint64).reshape(-1, 2)

    def _bytes(self, address: int, size: int) -> np.ndarray:
        if self._session.memory.contains(address):
            return self._session.memory.view(address, size)
        return np.frombuffer(self._session.read(address, size), np.uint8)
