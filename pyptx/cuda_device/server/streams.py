"""Streams, and the submission of work to them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import GLOBAL, RELAXED, THREAD_LOCAL, Capture
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import GreenContext, Session
from pyptx.cuda_device.server.work_queue import Work

__all__ = [
    "LEGACY",
    "NON_BLOCKING",
    "PER_THREAD",
    "Operation",
    "Stream",
    "add_stream",
    "add_work",
    "refuse_in_capture",
    "sms_of",
    "stream_of",
    "submit",
    "valid_capture",
]

LEGACY, PER_THREAD = 1, 2  # handles of the default streams; 0 is LEGACY
NON_BLOCKING = 1


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


@runtime_checkable
class Staged(Protocol):
    """An operation whose call has read something when it returns: a copy from pageable memory of the host."""

    def staged(self, session: Session) -> Operation:
        """Return the operation with what it reads of pageable memory."""
        ...


@dataclass(eq=False)
class Stream:
    """A stream.

    Attributes:
        capture: the capture that it takes part in.
        green: the green context that it was made in.
        is_detached: True once that was destroyed.
    """

    handle: int
    flags: int = 0
    priority: int = 0
    context: int = 0
    capture: Capture | None = None
    attributes: dict[int, bytes] = field(default_factory=dict)
    green: GreenContext | None = None
    is_detached: bool = False

    def line(self, thread: int) -> Any:
        """Return what identifies the stream: the per-thread default stream is one for each thread."""
        return (PER_THREAD, thread) if self.handle == PER_THREAD else self.handle

    @property
    def is_default(self) -> bool:
        return self.handle in (LEGACY, PER_THREAD)

    @property
    def is_legacy(self) -> bool:
        return self.handle == LEGACY

    @property
    def is_blocking(self) -> bool:
        """True if it waits for the legacy stream, and that for it."""
        return not self.is_legacy and not self.flags & NON_BLOCKING


def stream_of(session: Session, handle: int) -> Stream:
    """Return a stream by its handle, which may be that of a default stream.

    Raises:
        DriverError: it is no stream, or its green context was destroyed.
    """
    if handle in (0, LEGACY, PER_THREAD):
        return session.default_stream(handle or LEGACY, lambda: Stream(handle or LEGACY, context=session.context))
    found = session.get(handle, Stream)
    if found.is_detached:
        raise DriverError("STREAM_DETACHED", "the green context of the stream was destroyed; the stream can be, too")
    return found


def sms_of(session: Session, handle: int) -> int:
    """Return the number of SMs that the work of a stream may use."""
    if not session.green_contexts:
        return session.gpu.sms
    stream = stream_of(session, handle)
    green = session.green if stream.is_default else stream.green
    return session.gpu.sms if green is None else green.sms.count


def submit(session: Session, handle: int, operation: Operation, after: Iterable[Work] = ()) -> Work | None:
    """Issue an operation of a stream, or add it to the graph that the stream captures; None in a capture.

    Args:
        after: other work that it follows.
    """
    stream = stream_of(session, handle)
    if stream.capture is None and session.captures and stream.handle == LEGACY:
        _refuse_legacy(session)
    if stream.capture is not None:
        capture = valid_capture(stream.capture)
        node = capture.graph.add(
            session.new_handle(), operation.kind, operation, capture.frontiers.get(stream.handle, ())
        )
        session.add(node, node.handle)
        capture.frontiers[stream.handle] = [node]
        return None
    blocks_host = getattr(operation, "blocks_host", False)
    if session.work.late and not blocks_host and isinstance(operation, Staged):
        operation = operation.staged(session)
    issued = session.order.issued(stream, operation) if session.order is not None else ()

    def carry_out(start: float) -> float:
        operation.run(session)
        if session.order is not None:
            session.order.finished(issued)
        seconds, waited = operation.seconds(session), 0.0
        if (engine := getattr(operation, "engine", lambda session: None)(session)) is not None:
            waited = max(0.0, session.engines.get(engine, 0.0) - start)
            start += waited
            session.engines[engine] = start + seconds
        if session.trace is not None:
            session.trace.work(operation.label, stream.handle, start, seconds)
            for step, later, taken in operation.timeline(session) if isinstance(operation, Composite) else ():
                session.trace.work(step.label, stream.handle, start + later, taken)
        return waited + seconds

    work = add_work(session, stream, carry_out, after)
    if blocks_host:
        session.work.complete(work)
    return work


def add_work(
    session: Session,
    stream: Stream,
    carry_out: Callable[[float], float] | None = None,
    after: Iterable[Work] = (),
) -> Work:
    """Add work, or a mere point in time, to the end of a stream.

    Args:
        carry_out, after: as for `WorkQueue.add`.
    """
    return session.work.add(
        stream.line(session.thread),
        carry_out,
        (session.context, session.sites),
        legacy=stream.is_legacy,
        blocking=stream.is_blocking,
        after=after,
    )


def valid_capture(capture: Capture) -> Capture:
    """Return a capture.

    Raises:
        DriverError: an earlier call invalidated it.
    """
    if capture.invalid:
        raise DriverError("STREAM_CAPTURE_INVALIDATED", "an earlier call invalidated the capture of this stream")
    return capture


def _refuse_legacy(session: Session) -> None:
    """Refuse work in the legacy stream, which would wait for streams that capture."""
    for capture in session.captures:
        stream = stream_of(session, capture.origin)
        if not stream.flags & NON_BLOCKING:
            capture.invalid = True
            raise DriverError(
                "STREAM_CAPTURE_IMPLICIT",
                "work in the legacy stream would wait for a stream that captures a graph\n"
                "hint: capture in a stream made with CU_STREAMNON_BLOCKING, or do this work before the capture",
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


# streams


@handles("cuStreamCreate")
def create(session: Session, flags: int) -> int:
    return create_with_priority(session, flags, 0)


@handles("cuStreamCreateWithPriority")
def create_with_priority(session: Session, flags: int, priority: int) -> int:
    if flags & ~NON_BLOCKING:
        raise DriverError("INVALID_VALUE", f"cuStreamCreate: unknown flags 0x{flags:x}")
    return add_stream(session, flags, priority, session.green)


def add_stream(session: Session, flags: int, priority: int, green: GreenContext | None) -> int:
    """Add a stream of the calling thread's context, or of a green one; return its handle."""
    handle, context = session.new_handle(), session.context if green is None else green.primary
    made = Stream(handle, flags, min(0, max(-5, priority)), context, green=green)
    for work, clock in green.awaited if green is not None else ():
        add_work(session, made, after=[] if work is None else [work])
        if session.order is not None:
            session.order.stream_waits(made, clock)
    return session.add(made, handle)


@handles("cuStreamDestroy", "cuStreamDestroy_v2")
def destroy(session: Session, handle: int) -> None:
    session.remove(handle, Stream)
    session.work.forget(handle)


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
    stream = stream_of(session, handle)
    green = session.green if stream.is_default else stream.green
    return green.context if green is not None else stream.context or session.context


@handles("cuStreamGetDevice")
def stream_device(session: Session, handle: int) -> int:
    stream_of(session, handle)
    return 0


def _end_of(session: Session, handle: int) -> Work:
    """Return the end of the work of a stream.

    Raises:
        DriverError: it captures a graph; the capture is invalidated.
    """
    stream = stream_of(session, handle)
    if stream.capture is not None:
        stream.capture.invalid = True
        raise DriverError("STREAM_CAPTURE_UNSUPPORTED", "a stream that captures a graph cannot be synchronized")
    last = session.work.last(stream.line(session.thread))
    return last if last is not None and last.polled else add_work(session, stream)


@handles("cuStreamSynchronize")
def synchronize(session: Session, handle: int) -> None:
    session.work.complete(_end_of(session, handle))
    sys.stdout.flush()
    if session.order is not None:
        session.order.host_waits(session.order.clock(stream_of(session, handle)))


@handles("cuStreamQuery")
def query(session: Session, handle: int) -> None:
    if not session.work.query(_end_of(session, handle)):
        raise DriverError("NOT_READY")
    synchronize(session, handle)


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
