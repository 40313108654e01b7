"""DRAM with ECC, and CTAs without work beside those that wait for DRAM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pyptx
from pyptx import ptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.constants import find_constants
from pyptx.analysis.model.dram_traffic import Traffic
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.memory_system import MemorySystem
from pyptx.analysis.model.replay_state import Recorder
from pyptx.analysis.model.resources import SmResources
from pyptx.types import f32


def rate(name: str, read: float, written: float) -> float:
    on = gpu(name)
    return MemorySystem(on, find_constants(on.name, on.target), on.sms, 1.0, 1.0, Traffic(read, written, 0.0)).dram_rate


@pytest.mark.parametrize("name", ["T4", "L4", "L40S"])
def test_ecc_of_gddr6_makes_writes_slower_than_reads(name):
    on = gpu(name)
    reads, copies, writes = rate(name, 1, 0), rate(name, 1, 1), rate(name, 0, 1)
    assert (reads, writes) == pytest.approx((on.dram_reached_bytes_per_s, on.dram_written_bytes_per_s))
    assert copies == pytest.approx(2 / (1 / reads + 1 / writes)) and writes < reads < on.dram_bytes_per_s
    assert on.source("dram_written_bytes_per_s")


def test_hbm_writes_as_fast_as_it_reads():
    assert gpu("H200").dram_written_bytes_per_s is None
    assert rate("H200", 0, 1) == rate("H200", 1, 0) > rate("H200", 1, 1)


@pyptx.kernel(
    in_specs=(pyptx.Tile("N", f32),),
    out_specs=(pyptx.Tile("N", f32),),
    grid=lambda N, DEPTH: (N // 256, 1, DEPTH),
    block=256,
)
def copied(a, b, *, DEPTH):
    with ptx.if_(ptx.special.ctaid.z() == 0):
        i = ptx.global_id()
        b.store(i, a.load(i))


@pytest.mark.parametrize("device", ["L4", "H200"])
def test_ctas_that_leave_at_once_only_take_time_to_start(device):
    """The end of the grid has no work: beyond its start, the others determine the time, and nothing is read again for it."""
    x = np.zeros(1 << 22, np.float32)
    alone, beside = (estimate(copied, x, DEPTH=depth, device=device) for depth in (1, 4))
    started = beside.attribution.overhead["CTAs without work"]
    assert beside.seconds == pytest.approx(alone.seconds + started, rel=0.02)
    assert beside.terms["dram"] == pytest.approx(alone.terms["dram"], rel=0.01)


def test_ctas_that_start_together_wait_for_the_whole_queue_of_dram():
    """Where CTAs follow others, they load at different times, and DRAM serves a burst of one SM faster than its part."""
    on = gpu("B200")
    apart = MemorySystem(on, find_constants(on.name, on.target), on.sms, 1e6, 0.0, Traffic(1e6, 0.0, 0.0))
    together = replace(apart, together=True)
    first, second = (system.seen_by_sm(on.clock_hz) for system in (apart, together))
    assert first.backlog < second.backlog == 1.0
    assert replace(first, backlog=1.0) == second
    reads = [SmResources(1, memory, 26, Recorder(None)).read(0, 1e6, 0.0, 0.0) for memory in (first, second)]
    assert reads[1] == pytest.approx(1e6 / second.dram) and reads[0] < reads[1]


def test_dram_takes_fewer_cycles_of_a_lower_clock():
    """L40 was measured at 2.49 GHz: 612 cycles are 246 ns, of which those of L2 follow the clock."""
    on = gpu("L4")
    system = MemorySystem(on, find_constants(on.name, on.target), on.sms, 1e6, 0.0, Traffic(1e6, 0.0, 0.0))
    fast, slow = (system.seen_by_sm(clock).load_cycles for clock in (on.latency_clock_hz, on.latency_clock_hz / 2))
    l2 = (on.latency_cycles["l2"] + on.latency_cycles["l2_far"]) / 2
    assert fast == on.latency_cycles["dram"] and slow == pytest.approx((fast + l2) / 2)


def test_a_load_waits_for_dram_as_often_as_its_data_is_new_to_the_ctas_that_run():
    """Of four CTAs that request the same bytes together, DRAM serves one, and all wait for it."""
    on = gpu("A100")
    apart = MemorySystem(on, find_constants(on.name, on.target), on.sms, 4e6, 0.0, Traffic(1e6, 0.0, 0.0))
    together = replace(apart, traffic=Traffic(1e6, 0.0, 0.0, waiting=4.0))
    mean, shared = (system.seen_by_sm(on.clock_hz) for system in (apart, together))
    assert mean.from_dram == shared.from_dram == 0.25
    assert shared.load_cycles == on.latency_cycles["dram"]
    assert shared.load_cycles - shared.lead_cycles == pytest.approx(mean.load_cycles) and mean.lead_cycles == 0
