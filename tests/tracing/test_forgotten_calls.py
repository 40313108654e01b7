"""`ptx.bar.sync` without `()` is valid Python and emits nothing: it is refused at its line."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import Tile, kernel, lib, ptx, smem
from pyptx.errors import LaunchError, TraceError
from pyptx.types import f32

X = Tile(64, f32)


# ruff: noqa: B018 - useless expressions are what is tested


def helper(x):
    ptx.bar.sync
    return x[0]


def instruction(x, y):
    ptx.inst.bar.warp.sync
    y[ptx.tid.x] = x[0]


def in_a_helper(x, y):
    y[ptx.tid.x] = helper(x)


def method(x, y):
    ring = lib.TmaRing(2, {"a": 128}, readers=1)
    ring.set_up
    y[ptx.tid.x] = x[0]


def captured(x, y):
    ring = lib.TmaRing(2, {"a": 128}, readers=1)

    def read():
        ring.wait
        return x[0]

    y[ptx.tid.x] = read()


@pytest.mark.parametrize(
    ("body", "text", "where"),
    [
        (instruction, "ptx.inst.bar.warp.sync", instruction),
        (in_a_helper, "ptx.bar.sync", helper),
        (method, "ring.set_up", method),
        (captured, "ring.wait", captured),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_forgotten_call_is_refused_at_its_line(body, text, where):
    with pytest.raises(TraceError, match=f"`{text}` without a call has no effect") as caught:
        kernel(body, in_specs=(X,), out_specs=(X,), arch="sm_90a").ptx()
    place = caught.value.place
    assert place.source_line.strip() == text
    first = where.__code__.co_firstlineno
    assert first < place.line < first + 10


class Steps:
    """An object of the user whose attribute emits."""

    @property
    def sync(self):
        ptx.bar.sync()


def test_attributes_with_an_effect_and_values_are_left_alone():
    steps, ring = Steps(), Steps()
    ring.wait = 3

    @kernel(in_specs=(X,), out_specs=(X,), block=64)
    def fine(x, y):
        own = Steps()
        own.sync
        steps.sync
        ring.wait
        x.shape  # a value: useless, and no forgotten call
        y[ptx.tid.x] = x[ptx.tid.x]

    assert fine.ptx().count("bar.sync") == 2


def neighbor(x, y):
    tile = smem.alloc(f32, 64)
    tile[ptx.tid.x] = x[ptx.tid.x]
    ptx.cluster.sync()
    y[ptx.tid.x] = tile.at_rank(1)[ptx.tid.x]
    ptx.cluster.sync()


def test_a_rank_beyond_the_cluster_is_refused_before_the_launch():
    made = kernel(neighbor, in_specs=(X,), out_specs=(X,), arch="sm_90a", block=64)
    x = np.arange(64, dtype=np.float32)
    with pytest.raises(LaunchError, match=r"rank 1 of a cluster, and is launched with clusters of 1 CTA") as caught:
        made(x)
    assert "at_rank(1)" in caught.value.place.source_line
    assert "cluster=2" in caught.value.hint
    paired = kernel(neighbor, in_specs=(X,), out_specs=(X,), arch="sm_90a", block=64, grid=2, cluster=2)
    np.testing.assert_array_equal(paired(x), x)
