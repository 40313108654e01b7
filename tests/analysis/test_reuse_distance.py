"""Data that L2 still holds when it is read again, by the data that is read in between."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.dram_traffic import WAYS, lost_part, reuse_distances
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.work.footprint import NOTHING, Footprint, Touched

PART = 1 << 18  # bytes of a part: 16 reads of 16 bytes by each of 1024 threads
READ = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry read(.param .u64 from, .param .u64 to, .param .u32 distinct)
{
    .reg .u64 %rd<4>;
    .reg .u32 %r<9>;
    .reg .pred %p;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [distinct];
    mov.u32 %r2, %ctaid.x;
    rem.u32 %r2, %r2, %r1;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r2, %r2, 16384, %r3;
    mad.wide.u32 %rd3, %r2, 16, %rd1;
    mov.u32 %r4, 0;
"""
READ += "\n".join(
    f"ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%rd3 + {k << 14}]; xor.b32 %r5, %r5, %r7; xor.b32 %r4, %r4, %r5;"
    for k in range(16)
)
READ += """
    setp.eq.u32 %p, %r4, 12345;
    @%p st.global.u32 [%rd2], %r4;
    ret;
}
"""


def test_lost_part_is_that_of_a_cache_with_least_recently_used_replacement():
    """Lines that are read in turn, in sets that a hash selects: all lines of a set with more than its ways are lost."""
    random, sets = np.random.default_rng(0), 4096
    for factor in (0.5, 0.8, 1.0, 1.3, 2.0):
        of = np.bincount(random.integers(0, sets, round(factor * sets * WAYS)), minlength=sets)
        assert lost_part(factor, 1.0) == pytest.approx(of[of > WAYS].sum() / of.sum(), abs=0.03)
    assert lost_part(1e9, 1.0) == 1.0


def test_reuse_distances_follow_the_order_of_the_clusters():
    a, b = Touched(1000, 1000, 1000), Touched(500, 500, 500)
    of_a, of_b = Footprint("a", False, a, (NOTHING, a, NOTHING)), Footprint("b", False, b, (b, NOTHING, NOTHING))
    assert reuse_distances(of_a, (256, 32, 1), 100, 32_000) == [(100, 1)], (
        "a row of tiles exceeds a wave: the next wave reads it"
    )
    assert reuse_distances(of_b, (256, 32, 1), 100, 128_000) == [(256, 1)], (
        "the next row of tiles reads the columns again"
    )
    assert reuse_distances(of_b, (16, 32, 1), 100, 8_000) == [(100, 1)], (
        "rows of tiles within a wave read them together"
    )
    both = Footprint("c", False, a, (Touched(900, 900, 900), Touched(100, 100, 100), NOTHING))
    assert reuse_distances(both, (256, 32, 1), 100, 800_000) == [
        (100, pytest.approx(0.1 / 0.91)),
        (256, pytest.approx(0.81 / 0.91)),
    ]
    in_turn = Footprint("x", False, a, (a, NOTHING, NOTHING))
    assert reuse_distances(in_turn, (5000, 1, 1), 100, 300_000) == [(300, 1)], "after 300 clusters, all has been read"


@pytest.mark.parametrize("name", ["A100", "L40S"])
def test_data_that_is_read_in_turn_comes_from_l2_as_far_as_it_fits(name):
    on, ctas = gpu(name), 20_000
    kernel = pyptx.load(READ)["read"]

    def rate(size: float) -> float:
        distinct = round(size / PART)
        args = np.zeros(distinct * PART // 4, np.uint32), np.zeros(1, np.uint32), distinct
        return ctas * PART / estimate(kernel, *args, grid=(ctas,), block=(1024,), device=on).seconds

    assert rate(0.3 * on.l2_bytes) > 0.8 * on.l2_bytes_per_s
    assert rate(2 * on.l2_bytes) == pytest.approx(on.dram_reached_bytes_per_s or on.dram_bytes_per_s, rel=0.12)
