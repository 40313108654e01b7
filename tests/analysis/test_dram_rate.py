"""DRAM with ECC, and CTAs without work beside those that wait for DRAM."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx import ptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.constants import find_constants
from pyptx.analysis.model.dram_traffic import Traffic
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.memory_system import MemorySystem
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
def test_ctas_that_leave_at_once_take_no_part(device):
    """The middle of the grid has no work: the others determine the time, and nothing is read again for it."""
    x = np.zeros(1 << 22, np.float32)
    alone, beside = (estimate(copied, x, DEPTH=depth, device=device) for depth in (1, 4))
    assert beside.seconds == pytest.approx(alone.seconds, rel=0.02)
    assert beside.terms["dram"] == pytest.approx(alone.terms["dram"], rel=0.01)
    assert beside.bound == alone.bound
