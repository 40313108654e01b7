"""Traces of whole programs: `pyptx exec --trace`."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from support.cuda_programs import PROGRAMS
from support.nvcc import build


def rows(path: Path) -> tuple[list[dict], list[dict]]:
    """The calls and the work of the only process of a trace."""
    events = json.loads(path.read_text())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    (calls,) = (pid for pid, name in names.items() if "calls (measured)" in name)
    (work,) = (pid for pid, name in names.items() if "H200 SXM (modeled)" in name)
    return tuple([e for e in events if e["ph"] == "X" and e["pid"] == pid] for pid in (calls, work))


def overlaps(events: list[dict]) -> list[tuple[str, str]]:
    """Pairs of events of one lane of which the second begins before the first ends."""
    return [
        (a["name"], b["name"])
        for a, b in pairwise(events)
        if a["tid"] == b["tid"] and b["ts"] < a["ts"] + a["dur"] - 0.5
    ]


@pytest.mark.slow
def test_the_trace_has_measured_calls_and_modeled_operations_in_order(execute, tmp_path):
    program = build(tmp_path / "streams", [PROGRAMS / "streams.cu"])
    done = execute([str(program)], "--trace", str(tmp_path / "trace.json"))
    assert done.returncode == 0, done.stderr
    calls, work = rows(tmp_path / "trace.json")
    assert {"cuLibraryLoadData", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"} <= {
        e["name"] for e in calls
    }
    assert [e["args"]["status"] for e in calls if e["name"] == "cuEventElapsedTime_v2"] == [0, 400]
    assert not overlaps(calls)
    assert [e["name"] for e in work] == [
        "copy of 4,096 bytes over the link",
        "scale (4, 1, 1) x (256, 1, 1)",
        "copy of 4,096 bytes",
        "scale (4, 1, 1) x (256, 1, 1)",
        "copy of 4,096 bytes over the link",
        "host function",
    ]
    assert len({e["tid"] for e in work}) == 2
    assert work[3]["ts"] >= work[1]["ts"] + work[1]["dur"]  # the second stream waits for an event of the first


@pytest.mark.slow
def test_a_graph_is_traced_with_its_nodes(execute, tmp_path):
    program = build(tmp_path / "graphs", [PROGRAMS / "graph_capture.cu"])
    assert execute([str(program)], "--trace", str(tmp_path / "trace.json")).returncode == 0
    _, work = rows(tmp_path / "trace.json")
    assert [e["name"].split(" ")[0] for e in work[1:5]] == ["graph", "add", "add", "copy"]
    assert work[1]["dur"] == pytest.approx(sum(e["dur"] for e in work[2:5]))
