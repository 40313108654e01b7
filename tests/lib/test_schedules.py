"""`pyptx.lib.TileOrder`, `StreamK` and `OnlineSoftmax`: every tile and step once, and softmax by blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pyptx import Tile, kernel, lib, ptx, reg
from pyptx.types import f32, u32


@pytest.mark.parametrize(("down", "across", "group"), [(4, 5, 2), (5, 3, 2), (3, 4, 8), (1, 1, 1)])
def test_every_tile_is_visited_once_in_groups(down, across, group):
    @kernel(in_specs=(Tile(1, u32),), out_specs=(Tile(down, across, u32),), grid=3, block=32)
    def numbered(start, y):
        count = reg.scalar(u32, 0)
        order = lib.TileOrder(down, across, group=group)
        for row, column in order.persistent(ptx.ctaid.x + start[0], 3):
            y.store(row, column, count * 3 + ptx.ctaid.x, pred=ptx.tid.x == 0)
            count += 1

    found = numbered(np.zeros(1, np.uint32))
    wanted, number = np.zeros((down, across), int), 0
    for first in range(0, down, group):
        for column in range(across):
            for row in range(first, min(down, first + group)):
                wanted[row, column], number = number, number + 1
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("tiles", "steps", "ctas"), [((3, 2), 5, 4), ((2, 2), 4, 4), ((1, 3), 7, 8), ((2, 1), 3, 9)])
def test_stream_k_divides_the_steps_of_all_tiles_evenly(tiles, steps, ctas):
    down, across = tiles

    @kernel(
        in_specs=(Tile(1, u32),),
        out_specs=(Tile(down, across, steps, u32), Tile(down, across, 3, u32, zeroed=True)),
        grid=ctas,
        block=1,
    )
    def divided(_, owner, bounds):
        cta = reg.from_(ptx.ctaid.x, u32)
        plan = lib.StreamK(lib.TileOrder(down, across, group=2), steps, ctas)
        for share in plan.shares(cta):
            for step in ptx.range_(share.first, share.end):
                owner[share.row, share.column, step] = cta
            with ptx.if_(share.starts):
                bounds[share.row, share.column, 0] = cta + 1
                for other in plan.followers(share, cta):
                    bounds.atomic_add(share.row, share.column, 1, other)
            with ptx.if_(share.ends):
                bounds[share.row, share.column, 2] = cta + 1

    owner, bounds = divided(np.zeros(1, np.uint32))
    each = -(-down * across * steps // ctas)
    assert np.bincount(owner.ravel(), minlength=ctas).max() == each
    order = owner.reshape(down * across, steps)
    assert (np.diff(order, axis=1) >= 0).all()
    np.testing.assert_array_equal(bounds[..., 0], owner[..., 0] + 1)
    np.testing.assert_array_equal(bounds[..., 2], owner[..., -1] + 1)
    others = [[sum(set(owner[r, c].tolist()) - {int(owner[r, c, 0])}) for c in range(across)] for r in range(down)]
    np.testing.assert_array_equal(bounds[..., 1], others)


@pytest.mark.parametrize(("lanes", "slack"), [(1, 0.0), (4, 0.0), (4, 8.0)])
def test_softmax_by_blocks_equals_softmax_of_the_row(lanes, slack):
    block, blocks = 4, 3
    columns = block * lanes

    @kernel(in_specs=(Tile(32, blocks * columns, f32),), out_specs=(Tile(32, f32), Tile(32, f32)), block=32 * lanes)
    def weighted(x, mean, log_sum):
        row, lane = ptx.tid.x // lanes, ptx.tid.x % lanes
        running = lib.OnlineSoftmax(1, math.log2(math.e), lanes=lanes, slack=slack)
        result = reg.scalar(f32, 0.0)
        for b in ptx.range_(0, blocks):
            values = [x.load(row, b * columns + lane * block, offset=(0, i)) for i in range(block)]
            scores = [reg.from_(value, f32) for value in values]
            result *= running.update(0, scores)
            for value, weight in zip(values, scores, strict=True):
                result += value * weight
        total = running.finish(0)
        if lanes > 1:
            ptx.warp.reduce_sum(result, width=lanes)
        mean.store(row, result / total, pred=lane == 0)
        log_sum.store(row, ptx.log(total) + running.largest[0], pred=lane == 0)

    x = np.random.default_rng(0).standard_normal((32, blocks * columns), np.float32) * 8
    mean, log_sum = weighted(x)
    weights = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(mean, (weights * x).sum(1) / weights.sum(1), rtol=1e-5)
    np.testing.assert_allclose(log_sum, np.log(weights.sum(1)) + x.max(1), rtol=1e-5)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: lib.TileOrder(0, 3), "down=0; expected a positive int"),
        (lambda: lib.StreamK(lib.TileOrder(1, 1), 4, 0), "ctas=0"),
        (lambda: lib.OnlineSoftmax(1, 1.0, lanes=3), "expected powers of two"),
    ],
)
def test_wrong_numbers_are_refused(use, message):
    with pytest.raises(ValueError, match=message):
        use()
