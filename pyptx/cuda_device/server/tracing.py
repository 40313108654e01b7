"""Traces of a program: its calls of the driver, and the work of the device, in the format of Chrome's trace viewer.

Calls have measured times, of the simulation. Work has modeled times, those of a GPU, on a time line of its own that begins
with the device; the times of the two do not compare.

Source of the format: "Trace Event Format", Google, 2016.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

__all__ = ["Trace", "joined"]

_MICROSECONDS = 1e6
_PREFIX = "trace-"


class Trace:
    """Events of one client.

    Args:
        gpu: name of the simulated GPU.
    """

    def __init__(self, gpu: str):
        self._start, self._pid = time.perf_counter(), os.getpid()
        self._calls, self._work = f"calls (measured) of process {self._pid}", f"{gpu} (modeled) of process {self._pid}"
        self._events: list[dict[str, Any]] = []

    def call(self, symbol: str, thread: int, began: float, status: int) -> None:
        """Add a call that began at a time of `time.perf_counter` and ends now."""
        self._add(
            self._calls, f"thread {thread}", symbol, began - self._start, time.perf_counter() - began, status=status
        )

    def work(self, name: str, stream: int, began: float, seconds: float, **facts: Any) -> None:
        """Add work of a stream, in modeled seconds since the start of the device."""
        self._add(self._work, f"stream 0x{stream:x}", name, began, seconds, **facts)

    def _add(self, row: str, line: str, name: str, began: float, seconds: float, **facts: Any) -> None:
        times = {"ts": _MICROSECONDS * began, "dur": _MICROSECONDS * seconds}
        self._events.append({"name": name, "ph": "X", "pid": row, "tid": line, **times, "args": facts})

    def write(self, folder: Path) -> None:
        """Write the events into a folder."""
        (folder / f"{_PREFIX}{self._pid}.json").write_text(json.dumps(self._events), encoding="utf-8")


def joined(folder: Path) -> dict[str, Any]:
    """Return the trace of all clients that wrote their events into a folder."""
    files = sorted(folder.glob(f"{_PREFIX}*.json"))
    events = [event for file in files for event in json.loads(file.read_text(encoding="utf-8"))]
    rows = {name: number for number, name in enumerate(dict.fromkeys(event["pid"] for event in events), 1)}
    lines = dict.fromkeys((event["pid"], event["tid"]) for event in events)
    numbers = {line: number for number, line in enumerate(lines, 1)}
    numbered = [{**e, "pid": rows[e["pid"]], "tid": numbers[e["pid"], e["tid"]]} for e in events]
    names = [
        *({"name": "process_name", "ph": "M", "pid": number, "args": {"name": row}} for row, number in rows.items()),
        *(
            {"name": "thread_name", "ph": "M", "pid": rows[row], "tid": number, "args": {"name": line}}
            for (row, line), number in numbers.items()
        ),
    ]
    return {"traceEvents": [*names, *numbered], "displayTimeUnit": "ms"}
