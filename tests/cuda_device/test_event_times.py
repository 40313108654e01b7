"""Times of events under `pyptx exec`, which are modeled."""

from __future__ import annotations

import json

import pytest
from support.cuda_programs import PROGRAMS
from support.nvcc import build

from pyptx.analysis.gpus import gpu


@pytest.mark.slow
def test_events_have_the_times_of_the_performance_model(execute, tmp_path):
    program, trace = str(build(tmp_path / "events", [PROGRAMS / "events.cu"])), tmp_path / "trace.json"
    done = execute([program], "--trace", str(trace))
    assert done.returncode == 0 and "times of events are modeled" in done.stderr
    assert "lower bounds" not in done.stderr
    large, small, copy = map(float, done.stdout.split())
    fastest = 1e6 * 3 * 4 * (1 << 22) / gpu("h200").dram_bytes_per_s  # two arrays read, one written, of 2^22 floats
    assert fastest < large < 3 * fastest and small < large
    assert copy == pytest.approx(4 * (1 << 22) / 55e3, rel=0.01)
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["name"].startswith("saxpy")]
    # the program prints two digits
    assert [event["dur"] for event in events] == pytest.approx([large, small], abs=0.051)
    other = execute([program], "--arch", "b200")
    assert float(other.stdout.split()[0]) < large
