"""Cold times of short work: a graph of several runs minus the same graph without them, so that launches do not count."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from pyptx.tune.event_timer import EventTimer

__all__ = ["GRAPH_BELOW_S", "RUNS", "GraphTimer"]

GRAPH_BELOW_S = 20e-6  # below, the resolution of events and the gap after them matter
RUNS = 20  # in a graph


class GraphTimer:
    """Captures work in graphs, and times them.

    Args:
        events: takes the times, and flushes the L2.
    """

    def __init__(self, events: EventTimer):
        self._events, self._driver = events, events.driver
        self._graphs: dict[Hashable, Any] = {}
        self._kept: list[Any] = []  # results of captured runs, whose memory the graphs write

    def __contains__(self, key: Hashable) -> bool:
        return key in self._graphs

    def capture(self, key: Hashable, run: Callable[[], object], stream: Any = None) -> None:
        """Capture runs in a graph.

        Args:
            key: name of the graph.
            run: submits its work to `stream`.
            stream: a stream that can be captured; None: that of the events.
        Raises:
            DeviceError: the work cannot be captured.
            Exception: what `run` raises.
        """
        stream = self._events.stream if stream is None else stream
        self._graphs[key] = self._graph(run, stream)
        if None not in self._graphs:
            self._graphs[None] = self._graph(None, stream)

    def times(self, key: Hashable, count: int) -> list[float]:
        """Return times in seconds; each is the mean of the runs in one graph."""
        return [max(self._seconds(key) - self._seconds(None), 1e-9) / RUNS for _ in range(count)]

    def _seconds(self, key: Hashable) -> float:
        call, stream = self._driver.call, self._events.stream
        before, after = call("cuEventCreate", 0), call("cuEventCreate", 0)
        try:
            call("cuEventRecord", before, stream)
            call("cuGraphLaunch", self._graphs[key], stream)
            call("cuEventRecord", after, stream)
            self._events.wait("timing a graph")
            return call("cuEventElapsedTime", before, after) / 1000
        finally:
            call("cuEventDestroy", before)
            call("cuEventDestroy", after)

    def _graph(self, run: Callable[[], object] | None, stream: Any) -> Any:
        call, api = self._driver.call, self._driver.api
        call("cuStreamBeginCapture", stream, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        try:
            for _ in range(RUNS):
                self._events.flush(None if self._events.cold else 16, stream)
                if run is not None:
                    self._kept.append(run())
        except BaseException:
            self._driver.api.cuStreamEndCapture(stream)  # also fails when the work invalidated it
            raise
        graph = call("cuStreamEndCapture", stream)
        try:
            return call("cuGraphInstantiate", graph, 0)
        finally:
            call("cuGraphDestroy", graph)
