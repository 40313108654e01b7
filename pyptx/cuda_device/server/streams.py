"""Streams and events. An operation completes when it is issued; streams keep the modeled time at which a GPU would have
completed it, which events record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import GLOBAL, RELAXED, THREAD_LOCAL, Capture, Node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.stream_order import Clock

__all__ = [
    "LEGACY",
    "PER_THREAD",
    "Event",
    "Operation",
    "Stream",
    "refuse_in_capture",
    "stream_of",
    "submit",
]

LEGACY, PER_THREAD = 1, 2  # handles of the default streams; 0 is LEGACY
_NON_BLOCKING = 1
_NO_TIMING, _BLOCKING_SYNC, _INTERPROCESS = 2, 1, 4


class Operation(Protocol):
    """Work of a stream, or of a node of a graph, whose CUgraphNodeType is `kind`."""

    kind: int

    @property
    def label(self) -> str:
        """Name in traces."""
        ...

    def run(self, session: Session) -> None:
        """Carry it out."""
        ...

    def seconds(self, session: Session) -> float:
        """Return its modeled duration."""
        ...


@runtime_checkable
class Composite(Protocol):
    """An operation that consists of others: a graph."""

    def timeline(self, session: Session) -> list[tuple[Operation, float, float]]:
        """Return the operations with their modeled start, from its own on, and their duration, in seconds."""
        ...


@dataclass(eq=False)
class Stream:
    """A stream.

    Attributes:
        time: modeled time, in seconds since the start of the device, at which its last operation completes.
        capture: the capture that it takes part in.
    """

    handle: int
    flags: int = 0
    priority: int = 0
    context: int = 0
    time: float = 0.0
    capture: Capture | None = None
    attributes: dict[int, bytes] = field(default_factory=dict)


@dataclass(eq=False)
class Event:
    """An event.

    Attributes:
        time: modeled time at which it was recorded; None before.
        captured: the capture in which it was recorded last, and the nodes before it.
        clock: what precedes it; None before it is recorded, and without `pyptx exec --check`.
    """

    flags: int = 0
    time: float | None = None
    context: int = 0
    captured: tuple[Capture, list[Node]] | None = None
    clock: Clock | None = None


def stream_of(session: Session, handle: int) -> Stream:
    """Return a stream by its handle, which may be that of a default stream.

    Raises:
        DriverError: it is no stream.
    """
    if handle in (0, LEGACY, PER_THREAD):
        return session.default_stream(handle or LEGACY, lambda: Stream(handle or LEGACY, context=session.context))
    return session.get(handle, Stream)


def submit(session: Session, handle: int, operation: Operation) -> None:
    """Carry out an operation of a stream, or add it to the graph that the stream captures."""
    stream = stream_of(session, handle)
    if stream.capture is None and session.captures and stream.handle == LEGACY:
        _refuse_legacy(session)
    if stream.capture is not None:
        capture = _valid(stream.capture)
        node = capture.graph.add(
            session.new_handle(), operation.kind, operation, capture.frontiers.get(stream.handle, ())
        )
        session.add(node, node.handle)
        capture.frontiers[stream.handle] = [node]
        return
    if session.order is not None:
        session.order.clock(stream)  # what the operation follows, before a host function may issue more
    operation.run(session)
    if session.order is not None:
        session.order.finished(stream, operation)
    began, seconds = _ready(session, stream), operation.seconds(session)
    stream.time = began + seconds
    if session.trace is not None:
        session.trace.work(operation.label, stream.handle, began, seconds)
        for step, start, taken in operation.timeline(session) if isinstance(operation, Composite) else ():
            session.trace.work(step.label, stream.handle, began + start, taken)


def _valid(capture: Capture) -> Capture:
    if capture.invalid:
        raise DriverError("STREAM_CAPTURE_INVALIDATED", "an earlier call invalidated the capture of this stream")
    return capture


def _refuse_legacy(session: Session) -> None:
    """Refuse work in the legacy stream, which would wait for streams that capture."""
    for capture in session.captures:
        stream = stream_of(session, capture.origin)
        if not stream.flags & _NON_BLOCKING:
            capture.invalid = True
            raise DriverError(
                "STREAM_CAPTURE_IMPLICIT",
                "work in the legacy stream would wait for a stream that captures a graph\n"
                "hint: capture in a stream made with CU_STREAM_NON_BLOCKING, or do this work before the capture",
            )


def refuse_in_capture(session: Session, what: str) -> None:
    """Refuse a call that is unsafe while a stream captures, unless the thread exchanged its capture mode.

    Raises:
        DriverError: a stream captures; its capture is invalidated.
    """
    for capture in session.captures:
        mine = capture.thread == session.thread
        forbidden = capture.mode == GLOBAL or (capture.mode == THREAD_LOCAL and mine)
        if forbidden and session.capture_mode() != RELAXED and (mine or session.capture_mode() == GLOBAL):
            capture.invalid = True
            raise DriverError("STREAM_CAPTURE_UNSUPPORTED", f"{what} is not permitted while a stream captures a graph")


def _ready(session: Session, stream: Stream) -> float:
    """Return the time at which the next operation may start: the legacy stream waits for others and they for it."""
    if stream.flags & _NON_BLOCKING or stream.handle == PER_THREAD:
        return stream.time
    if stream.handle == LEGACY:
        return max(s.time for _, s in session.all(Stream) if not s.flags & _NON_BLOCKING)
    return max(stream.time, stream_of(session, LEGACY).time)


# streams


@handles("cuStreamCreate")
def create(session: Session, flags: int) -> int:
    return create_with_priority(session, flags, 0)


@handles("cuStreamCreateWithPriority")
def create_with_priority(session: Session, flags: int, priority: int) -> int:
    if flags & ~_NON_BLOCKING:
        raise DriverError("INVALID_VALUE", f"cuStreamCreate: unknown flags 0x{flags:x}")
    handle = session.new_handle()
    return session.add(Stream(handle, flags, min(0, max(-5, priority)), session.context), handle)


@handles("cuStreamDestroy_v2")
def destroy(session: Session, handle: int) -> None:
    session.remove(handle, Stream)


@handles("cuStreamGetId")
def stream_id(session: Session, handle: int) -> int:
    return stream_of(session, handle).handle


@handles("cuStreamGetPriority")
def priority(session: Session, handle: int) -> int:
    return stream_of(session, handle).priority


@handles("cuStreamGetFlags")
def flags(session: Session, handle: int) -> int:
    return stream_of(session, handle).flags


@handles("cuStreamGetCtx")
def stream_context(session: Session, handle: int) -> int:
    return stream_of(session, handle).context or session.context


@handles("cuStreamGetDevice")
def stream_device(session: Session, handle: int) -> int:
    stream_of(session, handle)
    return 0


@handles("cuStreamQuery", "cuStreamSynchronize")
def synchronize(session: Session, handle: int) -> None:
    capture = stream_of(session, handle).capture
    if capture is not None:
        capture.invalid = True
        raise DriverError("STREAM_CAPTURE_UNSUPPORTED", "a stream that captures a graph cannot be synchronized")
    session.synchronize()
    if session.order is not None:
        session.order.host_waits(session.order.clock(stream_of(session, handle)))


@handles("cuStreamWaitEvent")
def wait_event(session: Session, handle: int, event: int, flags: int) -> None:
    stream, found = stream_of(session, handle), session.get(event, Event)
    if found.captured is not None and found.captured[0] in session.captures:
        capture, nodes = found.captured
        if stream.capture not in (None, capture):
            raise DriverError("STREAM_CAPTURE_MERGE", "the event was recorded in another capture than the stream's")
        stream.capture = capture
        capture.frontiers.setdefault(stream.handle, []).extend(nodes)
    elif stream.capture is not None:
        if found.time is not None:
            raise DriverError("STREAM_CAPTURE_ISOLATION", "the event was recorded outside of the stream's capture")
    else:
        stream.time = max(stream.time, found.time or 0.0)
        if session.order is not None:
            session.order.stream_waits(stream, found.clock)


@handles("cuStreamIsCapturing")
def is_capturing(session: Session, handle: int) -> int:
    capture = stream_of(session, handle).capture
    return 0 if capture is None else 2 if capture.invalid else 1


@handles("cuThreadExchangeStreamCaptureMode")
def exchange_capture_mode(session: Session, mode: int) -> None:
    wanted = int.from_bytes(session.read(mode, 4), "little")
    if wanted > 2:
        raise DriverError("INVALID_VALUE", f"cuThreadExchangeStreamCaptureMode: mode {wanted} is unknown")
    session.write(mode, session.exchange_capture_mode(wanted).to_bytes(4, "little"))


# events


@handles("cuEventCreate")
def create_event(session: Session, flags: int) -> int:
    if flags & ~(_NO_TIMING | _BLOCKING_SYNC | _INTERPROCESS):
        raise DriverError("INVALID_VALUE", f"cuEventCreate: unknown flags 0x{flags:x}")
    if flags & _INTERPROCESS:
        raise DriverError("NOT_SUPPORTED", "cuEventCreate: events are not shared between processes")
    return session.add(Event(flags, context=session.context))


@handles("cuEventDestroy_v2")
def destroy_event(session: Session, handle: int) -> None:
    session.remove(handle, Event)


@handles("cuEventRecord")
def record_event(session: Session, handle: int, stream: int) -> None:
    event, recorded = session.get(handle, Event), stream_of(session, stream)
    event.captured = None
    if recorded.capture is not None:
        capture = _valid(recorded.capture)
        event.captured = capture, list(capture.frontiers.get(recorded.handle, ()))
    else:
        event.time = _ready(session, recorded)
        if session.order is not None:
            event.clock = session.order.recorded(recorded)


@handles("cuEventRecordWithFlags")
def record_event_with_flags(session: Session, handle: int, stream: int, flags: int) -> None:
    record_event(session, handle, stream)


@handles("cuEventQuery", "cuEventSynchronize")
def synchronize_event(session: Session, handle: int) -> None:
    event = session.get(handle, Event)
    if event.captured is not None and event.captured[0] in session.captures:
        event.captured[0].invalid = True
        raise DriverError("CAPTURED_EVENT", "the event was last recorded in a stream that captures a graph")
    session.synchronize()
    if session.order is not None and event.clock is not None:
        session.order.host_waits(event.clock)


@handles("cuEventElapsedTime", "cuEventElapsedTime_v2")
def elapsed_time(session: Session, start: int, stop: int) -> float:
    events = session.get(start, Event), session.get(stop, Event)
    times = [event.time for event in events]
    if any(event.flags & _NO_TIMING for event in events) or None in times:
        raise DriverError("INVALID_HANDLE", "cuEventElapsedTime: both events must be recorded, and made for timing")
    return 1e3 * ((times[1] or 0.0) - (times[0] or 0.0))


# host functions


@dataclass(frozen=True)
class HostCall:
    """A call of a function of the host; with a stream, one of cuStreamAddCallback."""

    function: int
    data: int
    stream: int | None = None
    kind = 3
    label = "host function"

    def run(self, session: Session) -> None:
        if session.order is not None:  # the function sees, and may tell the host of, what precedes it
            session.order.host_waits(session.order.everything())
        session.call_host(self.function, self.data, self.stream)

    def seconds(self, session: Session) -> float:
        return 0.0


@handles("cuLaunchHostFunc")
def launch_host_function(session: Session, stream: int, function: int, data: int) -> None:
    if not function:
        raise DriverError("INVALID_VALUE", "cuLaunchHostFunc: the function is a null pointer")
    submit(session, stream, HostCall(function, data))


@handles("cuLaunchHostFunc_v2")
def launch_host_function_in_mode(session: Session, stream: int, function: int, data: int, mode: int) -> None:
    launch_host_function(session, stream, function, data)


@handles("cuStreamAddCallback")
def add_callback(session: Session, stream: int, function: int, data: int, flags: int) -> None:
    if not function:
        raise DriverError("INVALID_VALUE", "cuStreamAddCallback: the function is a null pointer")
    submit(session, stream, HostCall(function, data, stream))
