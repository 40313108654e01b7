"""`pyptx.lib.StoreBoxes`: fragments that leave by TMA are those that `store` writes, and cost the long spelling's instructions."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import Layout, Tile, kernel, lib, ptx, reg, smem, use
from pyptx.types import b8, bf16, e4m3, f32, u32

F32, ROWS = np.float32, 100


def stored(dtype, n: int, bounded: bool):
    """A kernel of two warpgroups that stores a fragment, with row * 4 + column % 4, by TMA."""

    box = lib.StoreBoxes.box_of(dtype)
    spec = Tile(ROWS, n - 16, dtype, Layout.TMA_128B, tma_box=box, tma_whole=True, zeroed=True)

    @kernel(
        in_specs=(Tile(1, u32),),
        out_specs=(spec, spec),
        block=384,
        arch="sm_90a",
    )
    def fragments(end, y, z):
        tid = reg.from_(ptx.tid.x, u32)
        boxes = lib.StoreBoxes(8, dtype, first_warp=4)
        limit = {"end": end[0]} if bounded else {}
        with ptx.if_(tid >= 128):
            row = ((tid >> 7) - 1) * 64
            frag = lib.WgmmaFragment(n, tid)
            frag.map(lambda v, i, j: ((frag.row + row + i) % 16 * 4 + (frag.column + j) % 4).to(f32))
            frag.store_tma(y, row, 0, boxes, **limit)
            frag.map(lambda v, i, j: v + 1.0)
            frag.store_tma(z, row, 0, boxes, **limit)
            ptx.cp.async_bulk.wait_group(0, read=True)

    return fragments


@pytest.mark.parametrize(
    ("dtype", "n", "end"),
    [
        (f32, 96, None),
        (bf16, 192, 85),
        pytest.param(bf16, 64, None, marks=pytest.mark.slow),
        pytest.param(e4m3, 256, None, marks=pytest.mark.slow),
    ],
)
def test_a_fragment_is_stored(dtype, n, end):
    wanted = np.arange(ROWS)[:, None] % 16 * 4 + np.arange(n - 16) % 4
    fragments = stored(dtype, n, bounded=end is not None)
    given = np.array([end or ROWS], np.uint32)
    for schedule in ("late", "random"):
        with use("sim", schedule=schedule):
            found = fragments(given)
        for more, result in enumerate(found):
            expected = (wanted + more).astype(result.dtype).astype(F32)
            expected[end or ROWS :] = 0
            np.testing.assert_array_equal(result.astype(F32), expected)
    assert not fragments.check(given).errors
    assert fragments.compile().resources["fragments"].spill_stores == 0


def in_short(y):
    boxes = lib.StoreBoxes(4, bf16)
    frag = lib.WgmmaFragment(128, reg.from_(ptx.tid.x, u32))
    for i, value in enumerate(frag.sums):
        ptx.inst.mov.f32(value, float(i))
    frag.store_tma(y, 0, 0, boxes)


def at_length(y):
    memory = smem.alloc(b8, 4 * 2 * 16 * 128, align=1024)
    start, tid = reg.from_(memory.name, u32), reg.from_(ptx.tid.x, u32)
    sums = lib.WgmmaFragment(128, tid).sums
    for i, value in enumerate(sums):
        ptx.inst.mov.f32(value, float(i))
    lane, warp = tid & 31, tid >> 5
    own = start + warp * 4096
    place = own + smem.apply_swizzle(((lane & 15) << 7) + ((lane >> 4) << 4), "128B")
    row = (warp & 3) * 16
    for box in range(2):
        ptx.cp.async_bulk.wait_group(1, read=True)
        ptx.inst.bar.warp.sync(-1)
        for i in range(4):
            at = (place ^ (i * 32)) + box * 2048
            pairs = ptx.vector(sums[32 * box + 8 * i : 32 * box + 8 * i + 8]).to(bf16)
            ptx.stmatrix(smem=at, regs=pairs.words)
        ptx.fence.proxy_async_shared_cta()
        ptx.inst.bar.warp.sync(-1)
        with ptx.if_(lane == 0):
            ptx.cp.async_bulk.tensor_2d.store(dst=y.tma_desc(), src=own + box * 2048, coord=(box * 64, row))
        ptx.cp.async_bulk.commit_group()


def test_a_store_has_the_machine_code_of_the_long_spelling():
    spec = Tile(64, 128, bf16, Layout.TMA_128B, tma_box=(16, 64), tma_whole=True)
    codes = []
    for body in (in_short, at_length):
        made = kernel(body, name="stored", out_specs=(spec,), block=128, arch="sm_90a")
        codes.append([line.text for line in made.compile().sass])
    assert codes[0] == codes[1]
    assert sum("UTMASTG" in text for text in codes[0]) == 2


@pytest.mark.parametrize(
    ("use_", "message"),
    [
        (lambda y, f: lib.StoreBoxes(0, bf16), "warps=0"),
        (lambda y, f: f.store_tma(y, 0, 0, lib.StoreBoxes(4, f32)), "elements of bf16, the boxes of f32"),
        (
            lambda y, f: f.store_tma(y, 0, 0, lib.StoreBoxes(4, bf16)),
            "of 96 columns is not stored in boxes of 16 rows and 64 columns",
        ),
        (lambda y, f: f.store_tma(y, 0, 0, lib.StoreBoxes(4, bf16, rows=32)), "expected 16 rows"),
    ],
)
def test_wrong_boxes_are_refused(use_, message):
    @kernel(out_specs=(Tile(64, 64, bf16, Layout.TMA_128B, tma_box=(16, 64)),), block=128, arch="sm_90a")
    def wrong(y):
        use_(y, lib.WgmmaFragment(96, reg.from_(ptx.tid.x, u32)))

    with pytest.raises((ValueError, TypeError), match=message):
        wrong.ptx()
