"""Capture of streams into graphs."""

from __future__ import annotations

import struct

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.graph_nodes import Capture, Graph, Node
from pyptx.cuda_device.server.graphs import create, handles_at
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import Stream, stream_of

__all__: list[str] = []


@handles("cuStreamBeginCapture_v2")
def begin_capture(session: Session, handle: int, mode: int) -> None:
    stream = stream_of(session, handle)
    if handle in (0, 1):
        raise DriverError("STREAM_CAPTURE_UNSUPPORTED", "the legacy stream cannot capture a graph")
    if stream.capture is not None or mode not in (0, 1, 2):
        raise DriverError("ILLEGAL_STATE", "the stream captures a graph already, or the capture mode is unknown")
    graph = session.get(create(session, 0), Graph)
    stream.capture = Capture(session.new_handle(), graph, stream.handle, mode, session.thread, {stream.handle: []})
    session.captures.append(stream.capture)


@handles("cuStreamBeginCaptureToGraph")
def begin_capture_to(
    session: Session, handle: int, graph: int, dependencies: int, edges: int, count: int, mode: int
) -> None:
    before = [session.get(number, Node) for number in handles_at(session, dependencies, count)]
    stream, made = stream_of(session, handle), session.get(graph, Graph)
    begin_capture(session, handle, mode)
    capture = stream.capture
    assert capture is not None, "the stream captures"
    session.discard(capture.graph.handle)
    capture.graph, capture.frontiers = made, {stream.handle: before}


@handles("cuStreamUpdateCaptureDependencies_v2")
def update_capture(session: Session, handle: int, dependencies: int, edges: int, count: int, flags: int) -> None:
    stream = stream_of(session, handle)
    if stream.capture is None:
        raise DriverError("ILLEGAL_STATE", "the stream does not capture a graph")
    nodes = [session.get(number, Node) for number in handles_at(session, dependencies, count)]
    kept = [] if flags & 1 else stream.capture.frontiers.get(stream.handle, [])  # SET, else ADD
    stream.capture.frontiers[stream.handle] = list(dict.fromkeys([*kept, *nodes]))


@handles("cuStreamBeginCapture")
def begin_global_capture(session: Session, handle: int) -> None:
    begin_capture(session, handle, 0)


@handles("cuStreamEndCapture")
def end_capture(session: Session, handle: int) -> int:
    stream = stream_of(session, handle)
    capture = stream.capture
    if capture is None:
        raise DriverError("ILLEGAL_STATE", "the stream does not capture a graph")
    if capture.origin != stream.handle:
        raise DriverError("STREAM_CAPTURE_UNMATCHED", "the capture began in another stream")
    if capture.mode != 2 and capture.thread != session.thread:
        raise DriverError("STREAM_CAPTURE_WRONG_THREAD", "the capture began in another thread")
    session.captures.remove(capture)
    for stream in (found for _, found in session.all(Stream) if found.capture is capture):
        stream.capture = None
    if capture.invalid:
        raise DriverError("STREAM_CAPTURE_INVALIDATED", "an earlier call invalidated the capture of this stream")
    if not capture.joined():
        raise DriverError(
            "STREAM_CAPTURE_UNJOINED",
            "other streams take part in the capture, and the stream does not wait for them\n"
            "hint: record an event in them, and wait for it in the stream before the end of the capture",
        )
    return capture.graph.handle


@handles("cuStreamGetCaptureInfo")
def capture_status(session: Session, handle: int) -> tuple[int, int]:
    return capture_info(session, handle, 0, 0)[:2]


@handles("cuStreamGetCaptureInfo_v2")
def capture_info(session: Session, handle: int, dependencies: int, count: int) -> tuple[int, int, int]:
    return capture_info_with_edges(session, handle, dependencies, 0, count)


@handles("cuStreamGetCaptureInfo_v3")
def capture_info_with_edges(
    session: Session, handle: int, dependencies: int, edges: int, count: int
) -> tuple[int, int, int]:
    capture = stream_of(session, handle).capture
    if capture is None:
        return 0, 0, 0
    nodes = capture.frontiers.get(stream_of(session, handle).handle, ())
    if dependencies or edges:
        kept = session.kept_memory(16 * len(nodes))  # handles, then the data of the edges, which are all plain
        kept.bytes[: 8 * len(nodes)] = list(struct.pack(f"<{len(nodes)}Q", *(node.handle for node in nodes)))
        for place, address in ((dependencies, kept.address), (edges, kept.address + 8 * len(nodes))):
            if place:
                session.write(place, address.to_bytes(8, "little"))
    if count:
        session.write(count, len(nodes).to_bytes(8, "little"))
    return 2 if capture.invalid else 1, capture.number, capture.graph.handle
