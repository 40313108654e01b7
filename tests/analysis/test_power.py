"""Power, and the clock it leaves."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import pyptx
from pyptx import ptx
from pyptx.analysis.gpus import GPUS, gpu
from pyptx.analysis.model.constants import find_constants
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.launch_model import LaunchModel
from pyptx.analysis.model.pipes import pipe_use
from pyptx.analysis.model.power import Activity, board_watts, boost_clock, energy_of, sustained_clock
from pyptx.types import f32

IDLE = Activity({}, 0.0, 0.0, 132)


def busy(sms: int = 132, l2: float = 0.0, dram: float = 0.0, **units: float) -> Activity:
    return Activity(units, l2, dram, sms)


def test_the_clock_meets_the_power_limit():
    on = gpu("H100 SXM")
    load = busy(tensor=0.97, shared=0.98, issue=0.1, l2=4100, dram=0.4e12)
    clock = sustained_clock(on, load)
    assert clock < boost_clock(on, 0.97) and board_watts(on, load, clock) == pytest.approx(on.watts)
    assert sustained_clock(replace(on, watts=400), load) < clock


@pytest.mark.parametrize(
    "name, load, watts, tolerance",
    [  # logs of gpu-benches gpu-roofline: board power at a known rate and clock
        ("A100 SXM 40GB", busy(108, fma=19.0e12 / (108 * 128 * 1.41e9), issue=0.5, dram=156e9), 182, 0.1),
        ("A100 SXM 40GB", busy(108, l2=1372 / 1.41, dram=1372e9), 230, 0.1),
        ("H200 SXM", busy(fma=42.1e12 / (132 * 256 * 1.98e9), issue=0.65, dram=456e9), 403, 0.15),
        ("H200 SXM", busy(l2=3759 / 1.98, dram=3759e9), 572, 0.05),
    ],
)
def test_power_is_that_of_published_logs(name, load, watts, tolerance):
    on = gpu(name)
    assert board_watts(on, load, on.clock_hz) == pytest.approx(watts, rel=tolerance)


@pytest.mark.parametrize("name", GPUS)
def test_an_idle_gpu_and_one_without_a_limit_keep_the_boost_clock(name):
    on = GPUS[name]
    assert sustained_clock(on, IDLE) == boost_clock(on, 0.0) >= on.clock_hz
    assert sustained_clock(replace(on, watts=0.0), busy(tensor=1.0, issue=1.0)) == boost_clock(on, 1.0)
    assert 0 < energy_of(on).idle < 1


def test_geforce_limits_products_with_sums_in_f32_to_half_without_their_energy():
    """RTX 4090: 330 TFLOP/s of f16 with sums in f16, 165 in f32 (NVIDIA, Ada whitepaper); PRO 6000: 440 and 427 TFLOP/s."""
    for name, factor in (("RTX 4090", 2), ("RTX 5090", 2), ("RTX PRO 6000", 1), ("A100 SXM 80GB", 1)):
        on = gpu(name)
        constants = find_constants(on.name, on.target)
        wide, narrow = (pipe_use(f"HMMA.16816.{sums}", on, constants) for sums in ("F32", "F16"))
        assert wide.cycles == factor * narrow.cycles
        assert wide.cycles * (1 - wide.idle) == narrow.cycles and narrow.idle == 0


def test_the_clock_settles_where_it_changes_the_bound():
    """Each clock made the replay favor the other one: the iteration alternated and never completed."""

    @pyptx.kernel(
        in_specs=(pyptx.Tile("N", f32), pyptx.Tile("N", f32)),
        out_specs=(pyptx.Tile("N", f32),),
        grid=lambda N: N // 1024,
        block=256,
    )
    def add(a, b, c):
        i = ptx.global_id() * 4
        c.store(i, a.load(i, vec=4) + b.load(i, vec=4))

    found = add.estimate(N=1 << 24, device="h200")
    assert found.terms["dram"] < found.seconds < 1.5 * found.terms["dram"]


def test_bank_conflicts_take_time_and_no_energy():
    """A load of 32 words that are 128 bytes apart moves as many bytes as one of adjacent words, in 32 times as long."""
    text = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry strided(.param .u64 to)
{{
    .reg .b32 %r<5>;
    .reg .pred %p1;
    .shared .align 16 .b8 tile[16384];
    mov.u32 %r1, %tid.x;
    and.b32 %r1, %r1, 31;
    shl.b32 %r2, %r1, {shift};
    mov.u32 %r3, tile;
    add.u32 %r3, %r3, %r2;
    mov.u32 %r4, 0;
L:
{loads}
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 64;
    @%p1 bra L;
    ret;
}}
"""
    loads = "\n".join(f"    ld.volatile.shared.u32 %r1, [%r3+{512 * k}];" for k in range(16))
    near, far = (
        estimate(
            pyptx.load(text.format(shift=shift, loads=loads))["strided"],
            np.zeros(1, np.uint32),
            grid=(132,),
            block=(256,),
            device="H200",
        )
        for shift in (2, 7)
    )
    assert far.terms["shared"] == pytest.approx(32 * near.terms["shared"], rel=0.02)
    assert far.watts < near.watts


def test_the_way_of_dram_traffic_across_the_gpu_takes_less_at_a_lower_clock():
    """H100 NVL streams 3.3 TB/s within 400 W; at the energies of the highest clock, DRAM alone would take 400 W."""
    on = replace(gpu("H100 SXM"), watts=400)
    stream = busy(l2=3300 / 1.98, dram=3.3e12, issue=0.1)
    assert board_watts(on, stream, on.clock_hz) > 400
    assert sustained_clock(on, stream) > 0.6 * on.clock_hz
    assert board_watts(on, stream, sustained_clock(on, stream)) == pytest.approx(400)


def test_a_light_load_runs_above_the_rated_clock_where_the_gpu_permits_it():
    on = gpu("RTX 4090")
    heavy = busy(on.sms, tensor=0.9, shared=0.9, issue=0.9, fma=0.9, dram=900e9)
    assert boost_clock(on, 1.0) == on.max_clock_hz > on.clock_hz
    assert sustained_clock(on, busy(on.sms, issue=0.1)) == on.max_clock_hz
    assert sustained_clock(on, heavy) < on.max_clock_hz


def test_the_clock_settles_where_dram_is_faster_at_a_higher_one():
    """The power of DRAM rises with the clock, and the clock that it leaves falls: repeated substitution alternates."""
    on = replace(gpu("B200"), clock_hz=2e9, tensor_clock_hz=2e9, watts=1100)
    work, cycles = 2.6e9, 6e5

    def activity(busy, cycles, clock):
        return Activity({"issue": 0.6, "fma": 0.4}, 4000, work * clock / cycles, 148)

    model = cast("LaunchModel", SimpleNamespace(gpu=on, _activity=activity))
    clock, _ = LaunchModel._settled_clock(model, {}, cycles, on.clock_hz)
    assert clock < on.clock_hz
    assert sustained_clock(on, activity({}, cycles, clock)) == pytest.approx(clock, rel=1e-3)
