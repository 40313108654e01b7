"""Waits for the work of whole contexts, and events that record it."""

from __future__ import annotations

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.events import Event
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import GreenContext, Session
from pyptx.cuda_device.server.streams import Stream, add_work, refuse_in_capture

__all__ = ["streams_of"]


def _green(session: Session, handle: int) -> GreenContext | None:
    """Return the green context of a handle, 0 for the calling thread's; None for another context.

    Raises:
        DriverError: there is no such context.
    """
    if handle:
        session.get_context(handle)
        return session.green_contexts.get(handle)
    session.get_context(session.context)
    return session.green


def streams_of(session: Session, green: GreenContext) -> list[Stream]:
    """Return the streams of a green context."""
    return [stream for _, stream in session.all(Stream) if stream.green is green]


def _synchronize(session: Session, green: GreenContext | None) -> None:
    if green is None:
        session.synchronize()
        if session.order is not None:
            session.order.host_waits(session.order.everything())
        return
    streams = streams_of(session, green)
    for stream in streams:
        session.work.complete(session.work.last(stream.line(session.thread)))
    if session.order is not None:
        session.order.host_waits(session.order.joined(streams))


@handles("cuCtxSynchronize")
def synchronize(session: Session) -> None:
    refuse_in_capture(session, "cuCtxSynchronize")
    _synchronize(session, session.green)


@handles("cuCtxSynchronize_v2")
def synchronize_context(session: Session, handle: int) -> None:
    _synchronize(session, _green(session, handle))


def _refuse_captures(session: Session, name: str, green: GreenContext) -> list[Stream]:
    """Return the streams of a green context, of which none may capture."""
    streams = streams_of(session, green)
    capturing = [stream.capture for stream in streams if stream.capture is not None]
    for capture in capturing:
        capture.invalid = True
    if capturing:
        raise DriverError("STREAM_CAPTURE_UNSUPPORTED", f"{name}: a stream of the green context captures a graph")
    return streams


@handles("cuGreenCtxRecordEvent")
def record_green(session: Session, handle: int, event: int) -> None:
    _record(session, session.get(handle, GreenContext), session.get(event, Event))


def _record(session: Session, green: GreenContext, event: Event) -> None:
    streams = _refuse_captures(session, "cuGreenCtxRecordEvent", green)
    ends = [work for stream in streams if (work := session.work.last(stream.line(session.thread))) is not None]
    event.captured, event.work = None, session.work.add(None, None, (session.context, session.sites), after=ends)
    if session.order is not None:
        event.clock = session.order.joined(streams)


@handles("cuGreenCtxWaitEvent")
def wait_green(session: Session, handle: int, event: int) -> None:
    _wait(session, session.get(handle, GreenContext), session.get(event, Event))


def _wait(session: Session, green: GreenContext, event: Event) -> None:
    streams = _refuse_captures(session, "cuGreenCtxWaitEvent", green)
    if event.work is not None:
        green.awaited.append((event.work, event.clock))
        for stream in streams:
            add_work(session, stream, after=[event.work])
            if session.order is not None:
                session.order.stream_waits(stream, event.clock)


@handles("cuCtxRecordEvent")
def record_all(session: Session, context: int, event: int) -> None:
    found, green = session.get(event, Event), _green(session, context)
    if green is not None:
        _record(session, green, found)
        return
    found.captured, found.work = None, session.work.after_all((session.context, session.sites))
    if session.order is not None:
        found.clock = session.order.everything()


@handles("cuCtxWaitEvent")
def wait_all(session: Session, context: int, event: int) -> None:
    found, green = session.get(event, Event), _green(session, context)
    if green is not None:
        _wait(session, green, found)
        return
    if session.order is not None:
        session.order.all_wait(found.clock)
    if found.work is not None:
        for _, stream in session.all(Stream):
            add_work(session, stream, after=[found.work])
