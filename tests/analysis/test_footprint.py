"""Footprints of clusters, and the DRAM traffic that follows from them."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx.analysis.gpus import gpu as find_gpu
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.work.footprint import NOTHING, Footprint, Touched, partial_bytes, touched

COUNT = 1 << 19
COPY = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{{
    .reg .u64 %rd<6>;
    .reg .u32 %r<5>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    mad.wide.u32 %rd3, %r3, {read}, %rd1;
    mad.wide.u32 %rd4, %r3, {write}, %rd2;
    ld.global.u32 %r4, [%rd3];
    st.global.u32 [%rd4], %r4;
    ret;
}}
"""


def bits(places: set[int], size: int) -> np.ndarray:
    return np.packbits(np.isin(np.arange(size), list(places)), bitorder="little")


def test_touched_units_are_those_of_sets_of_addresses():
    random, size = np.random.default_rng(0), 4096
    for count in (0, 3, 60, 1500):
        one, other = (set(random.integers(0, size, count).tolist()) for _ in range(2))

        def units(places: set[int], of: int) -> set[int]:
            return {place // of for place in places}

        assert touched(bits(one, size)) == (len(one), 32 * len(units(one, 32)), 64 * len(units(one, 64)))
        assert touched(bits(one, size), bits(other, size)) == (
            len(one - other),
            32 * len(units(one, 32) - units(other, 32)),
            64 * len(units(one, 64) - units(other, 64)),
        )
        partial = {k for k in units(one, 32) if not set(range(32 * k, 32 * k + 32)) <= one}
        assert partial_bytes(bits(one, size), None) == 32 * len(partial)
        assert partial_bytes(bits(one, size), bits(other, size)) == 32 * len(partial - units(other, 32))


def test_clusters_of_a_wave_complete_the_units_of_their_neighbors():
    """Each cluster writes 16 bytes of a row; four fill a 64-byte unit. Along y, rows are apart."""
    own = Touched(16, 32, 64)
    column = Footprint("y", True, own, (Touched(16, 0, 0), own, NOTHING), partial=32)
    assert column.wave((64, 8, 1), 1, 32) == (16, 32) and column.wave((64, 8, 1), 1, 64) == (16, 64)
    assert column.wave((64, 8, 1), 64, 64) == (1024, 1024)
    assert column.partial_wave((64, 8, 1), 1) == 32 and column.partial_wave((64, 8, 1), 64) == 0
    alone = Footprint("y", True, own, (own, NOTHING, NOTHING), partial=32)
    assert alone.wave((64, 1, 1), 8, 64) == (128, 512)
    assert alone.partial_wave((64, 1, 1), 8) == 8 * 32


@pytest.mark.parametrize("gpu, unit", [("H100 SXM", 64), ("B200 SXM", 64), ("A100 SXM 80GB", 32), ("RTX 5090", 32)])
def test_dram_moves_its_smallest_unit(gpu, unit):
    """Words that are alone in 64 bytes; where the unit is two sectors, a word is read before it is written, too."""

    def seconds(read: int, write: int) -> float:
        kernel = pyptx.load(COPY.format(read=read, write=write))["copy"]
        arrays = (np.zeros(COUNT * size // 4, np.float32) for size in (read, write))
        return estimate(kernel, *arrays, grid=(COUNT // 256,), block=(256,), device=gpu).terms["dram"]

    word = seconds(4, 4) / 8  # of 4 bytes that are read or written
    slack = 0.12  # DRAM is slower when reads and writes alternate
    assert seconds(64, 4) == pytest.approx(word * (unit + 4), rel=slack)
    assert seconds(4, 64) == pytest.approx(word * (4 + unit * (2 if unit == 64 else 1)), rel=slack)


@pytest.mark.parametrize("gpu, factor", [("H100 SXM", 1.5), ("RTX 5090", 1.0)])
def test_half_a_unit_is_completed_by_a_read(gpu, factor):
    """Eight neighbors write the 32 bytes of a sector; on H100 the other half of its 64 bytes is read."""
    sectors = (
        "shr.u32 %r4, %r3, 3; mul.wide.u32 %rd5, %r4, 32; mad.wide.u32 %rd4, %r3, 4, %rd2; add.u64 %rd4, %rd4, %rd5;"
    )
    text = COPY.format(read=4, write=4).replace("mad.wide.u32 %rd4, %r3, 4, %rd2;", sectors)
    kernel = pyptx.load(text)["copy"]
    arrays = np.zeros(COUNT, np.float32), np.zeros(2 * COUNT, np.float32)
    found = estimate(kernel, *arrays, grid=(COUNT // 256,), block=(256,), device=gpu).terms["dram"]
    rate = find_gpu(gpu).dram_bytes_per_s
    unit = 64 if factor > 1 else 32
    assert found == pytest.approx(COUNT * (4 + unit / 8 * factor) / rate, rel=0.16)
