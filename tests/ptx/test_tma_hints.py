"""Cache hints, L2 promotion and prefetches of TMA copies."""

from __future__ import annotations

import numpy as np
import pytest
from support.tracing import accept

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.runtime.tensor_maps import map_of
from pyptx.types import f32, s32, u32

BOX = {"tma_box": (32, 64)}


@kernel(in_specs=(Tile(64, 64, f32, **BOX),), out_specs=(Tile(64, 64, f32, **BOX),), grid=2)
def copy(x, y):
    tile, (bar,) = smem.alloc(f32, (32, 64)), [smem.mbarrier(1)[0]]
    ptx.tma.prefetch_map(x)
    ptx.mbarrier.init(bar, 1)
    ptx.fence.mbarrier_init()
    ptx.mbarrier.arrive_expect_tx(bar, 32 * 64 * 4)
    place = (0, reg.from_(ptx.ctaid.x, s32) * 32)
    ptx.cp.async_bulk.tensor_2d.prefetch(src=x, coord=place, cache_hint="evict_last")
    ptx.cp.async_bulk.tensor_2d(dst=tile, src=x, coord=place, mbar=bar, cache_hint="evict_first")
    ptx.mbarrier.wait(bar, 0)
    ptx.cp.async_bulk.tensor_2d.store(dst=y, src=tile, coord=place, cache_hint="evict_last")
    ptx.cp.async_bulk.commit_group()
    ptx.cp.async_bulk.wait_group(0)


def test_a_copy_with_hints_copies():
    x = np.random.default_rng(0).standard_normal((64, 64), dtype=np.float32)
    np.testing.assert_array_equal(copy(x), x)


def test_each_policy_is_created_once_at_the_start():
    text = copy.ptx()
    accept(copy.module())
    assert text.count("createpolicy.fractional.L2::evict_last.b64") == 1
    assert text.index("createpolicy.fractional.L2::evict_first.b64") < text.index("mbarrier.init")
    assert text.count(".L2::cache_hint") == 3 and "prefetch.tensormap [%rd" in text


@pytest.mark.parametrize("promotion", [None, "128B"])
def test_the_tensor_map_has_the_promotion_of_the_tile(promotion):
    made = map_of(Tile(64, 64, f32, tma_box=(32, 64), l2_promotion=promotion), np.zeros((64, 64), np.float32), {})
    assert made.l2_promotion == promotion


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: Tile(8, 8, f32, l2_promotion="32B"), "l2_promotion='32B'; expected None, '64B'"),
        (lambda: hinted("evict"), "cache_hint='evict'; expected 'evict_first'"),
        (lambda: hinted(reg.scalar(u32)), "a cache policy in a 64-bit register"),
    ],
)
def test_unknown_hints_are_refused(use, message):
    @kernel
    def wrong():
        use()

    with pytest.raises((ValueError, TypeError), match=message):
        wrong.ptx()


def hinted(hint):
    tile = smem.alloc(f32, (32, 64))
    ptx.cp.async_bulk.tensor_2d.store(dst="map", src=tile, coord=(0, 0), cache_hint=hint)
