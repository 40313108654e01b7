"""Events: they record the end of the work of streams, with its modeled time."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import Capture, Node
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.stream_order import Clock
from pyptx.cuda_device.server.streams import Stream, add_work, stream_of, valid_capture
from pyptx.cuda_device.server.work_queue import Work

__all__ = ["INTERPROCESS", "NO_TIMING", "Event", "record"]

NO_TIMING, _BLOCKING_SYNC, INTERPROCESS = 2, 1, 4
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL


@dataclass(eq=False)
class Event:
    """An event.

    Attributes:
        work: what it recorded last; None before.
        captured: the capture in which it was recorded last, and the nodes before it.
        clock: what precedes it; None before it is recorded, and without `pyptx exec --check`.
    """

    flags: int = 0
    context: int = 0
    work: Work | None = None
    captured: tuple[Capture, list[Node]] | None = None
    clock: Clock | None = None


def record(session: Session, event: Event, stream: Stream) -> None:
    """Record an event at the end of the work of a stream."""
    event.captured, event.work = None, add_work(session, stream)
    if not event.flags & NO_TIMING:
        session.times.wanted = True
    if session.order is not None:
        event.clock = session.order.recorded(stream)
    if event.flags & INTERPROCESS:  # other processes see it complete
        session.work.complete(event.work)


def _external(name: str, flags: int) -> None:
    if flags & ~_EXTERNAL:
        raise DriverError("INVALID_VALUE", f"{name}: unknown flags 0x{flags:x}")


@handles("cuEventCreate")
def create_event(session: Session, flags: int) -> int:
    if flags & ~(NO_TIMING | _BLOCKING_SYNC | INTERPROCESS):
        raise DriverError("INVALID_VALUE", f"cuEventCreate: unknown flags 0x{flags:x}")
    if flags & INTERPROCESS and not flags & NO_TIMING:
        raise DriverError("INVALID_VALUE", "cuEventCreate: an event of several processes has no timing")
    return session.add(Event(flags, context=session.context))


@handles("cuEventDestroy", "cuEventDestroy_v2")
def destroy_event(session: Session, handle: int) -> None:
    session.remove(handle, Event)


@handles("cuEventRecord")
def record_event(session: Session, handle: int, stream: int) -> None:
    event, recorded = session.get(handle, Event), stream_of(session, stream)
    if recorded.capture is not None:
        capture = valid_capture(recorded.capture)
        event.captured = capture, list(capture.frontiers.get(recorded.handle, ()))
    else:
        record(session, event, recorded)


@handles("cuEventRecordWithFlags")
def record_event_with_flags(session: Session, handle: int, stream: int, flags: int) -> None:
    _external("cuEventRecordWithFlags", flags)
    record_event(session, handle, stream)


@handles("cuStreamWaitEvent")
def wait_event(session: Session, handle: int, event: int, flags: int) -> None:
    _external("cuStreamWaitEvent", flags)
    stream, found = stream_of(session, handle), session.get(event, Event)
    if found.captured is not None and found.captured[0] in session.captures:
        capture, nodes = found.captured
        if stream.capture not in (None, capture):
            raise DriverError("STREAM_CAPTURE_MERGE", "the event was recorded in another capture than the stream's")
        stream.capture = capture
        capture.frontiers.setdefault(stream.handle, []).extend(nodes)
    elif stream.capture is not None:
        if found.work is not None:
            raise DriverError("STREAM_CAPTURE_ISOLATION", "the event was recorded outside of the stream's capture")
    elif found.work is None:
        _unrecorded(session, "cuStreamWaitEvent", found)
    else:
        add_work(session, stream, after=[found.work])
        if session.order is not None:
            session.order.stream_waits(stream, found.clock)


def _unrecorded(session: Session, symbol: str, event: Event) -> None:
    """Report a wait for an event that was never recorded, by any process."""
    if session.checks is not None and not event.flags & INTERPROCESS:
        session.checks.unrecorded(symbol, session.process, session.sites)


def _recorded(session: Session, handle: int) -> Event:
    event = session.get(handle, Event)
    if event.captured is not None and event.captured[0] in session.captures:
        event.captured[0].invalid = True
        raise DriverError("CAPTURED_EVENT", "the event was last recorded in a stream that captures a graph")
    return event


@handles("cuEventSynchronize")
def synchronize_event(session: Session, handle: int) -> None:
    event = _recorded(session, handle)
    if event.work is None:
        _unrecorded(session, "cuEventSynchronize", event)
    session.work.complete(event.work)
    sys.stdout.flush()
    if session.order is not None and event.clock is not None:
        session.order.host_waits(event.clock)


@handles("cuEventQuery")
def query_event(session: Session, handle: int) -> None:
    event = _recorded(session, handle)
    if not session.work.query(event.work):
        raise DriverError("NOT_READY")
    if event.work is not None:
        synchronize_event(session, handle)


@handles("cuEventElapsedTime", "cuEventElapsedTime_v2")
def elapsed_time(session: Session, start: int, stop: int) -> float:
    events = session.get(start, Event), session.get(stop, Event)
    work = [event.work for event in events if event.work is not None]
    if any(event.flags & NO_TIMING for event in events) or len(work) < len(events):
        raise DriverError("INVALID_HANDLE", "cuEventElapsedTime: both events must be recorded, and made for timing")
    if not all(one.is_done for one in work):
        raise DriverError(
            "NOT_READY",
            "cuEventElapsedTime: the work before an event has not completed\n"
            "hint: wait for the second event first (cudaEventSynchronize)",
        )
    session.times.say_modeled()
    return 1e3 * ((work[1].end or 0.0) - (work[0].end or 0.0))
