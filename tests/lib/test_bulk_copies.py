"""`pyptx.lib.copy_bulk`: TMA, one bulk copy or one for each row, in both directions and all schedules."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import Layout, Tile, kernel, lib, ptx, smem
from pyptx.types import bf16, f32


def moved(spec: dict, shape: tuple[int, int], swizzle: str | None = None):
    """A kernel whose CTAs copy a tile to shared memory and on to the same place of another matrix."""

    @kernel(
        in_specs=(Tile("M", "N", bf16, **spec),),
        out_specs=(Tile("M", "N", bf16, **spec, zeroed=True),),
        grid=lambda M, N: (-(-N // shape[1]), -(-M // shape[0])),
        block=32,
        arch="sm_90a",
    )
    def copied(x, y):
        memory, bars = smem.alloc(bf16, shape, swizzle=swizzle, align=1024), smem.mbarrier(1)
        row, column = ptx.ctaid.y * shape[0], ptx.ctaid.x * shape[1]
        with ptx.if_(ptx.tid.x == 0):
            ptx.mbarrier.init(bars[0], 1)
            ptx.fence.mbarrier_init()
            size = lib.copy_bulk(lib.tile(x, (row, column), shape), memory, bars[0])
            assert size == shape[0] * shape[1] * 2
            ptx.mbarrier.wait(bars[0], 0)
            lib.copy_bulk(memory, lib.tile(y, (row, column), shape))
            ptx.cp.async_bulk.wait_group(0)

    return copied


@pytest.mark.parametrize(
    ("spec", "size", "shape", "swizzle", "opcodes"),
    [
        ({}, (48, 128), (16, 64), None, {"UBLKCP": 32}),
        ({}, (48, 64), (16, 64), None, {"UBLKCP": 2}),
        ({"tma_box": (16, 64)}, (40, 136), (16, 64), None, {"UTMALDG": 1, "UTMASTG": 1}),
        ({"tma_box": (16, 64), "layout": Layout.TMA_128B}, (40, 136), (16, 64), "128B", {"UTMALDG": 1, "UTMASTG": 1}),
    ],
    ids=["rows", "whole", "TMA", "swizzled"],
)
def test_a_tile_arrives(spec, size, shape, swizzle, opcodes):
    x = np.random.default_rng(0).standard_normal(size).astype(ml_dtypes.bfloat16)
    copied = moved(spec, shape, swizzle)
    np.testing.assert_array_equal(copied(x), x)
    assert not copied.check(x).errors
    found = [line.opcode.partition(".")[0] for line in copied.compile(M=size[0], N=size[1]).sass]
    assert {name: found.count(name) for name in opcodes} == opcodes


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda x, s, b: lib.copy_bulk(x, s), "and a barrier for a copy to shared memory"),
        (lambda x, s, b: lib.copy_bulk(s, s, b), "expected one tile in global and one in shared memory"),
        (lambda x, s, b: lib.copy_bulk(lib.tile(x, (0, 2), (8, 8)), s, b), "expected multiples of 16 bytes"),
        (
            lambda x, s, b: lib.copy_bulk(lib.tile(x, (0, 0), (8, 8)), smem.alloc(f32, (8, 8), swizzle="32B"), b),
            "has swizzle '32B'",
        ),
    ],
)
def test_wrong_copies_are_refused(use, message):
    @kernel(in_specs=(Tile(64, 64, f32),), arch="sm_90a")
    def wrong(x):
        use(x, smem.alloc(f32, (8, 8)), smem.mbarrier(1)[0])

    with pytest.raises(ValueError, match=message):
        wrong.ptx()


def test_a_ring_refuses_boxes_of_other_sizes():
    @kernel(in_specs=(Tile(64, 64, f32, tma_box=(8, 32)),), arch="sm_90a")
    def wrong(x):
        ring = lib.TmaRing(2, {"rows": 2048}, readers=1)
        ring.set_up(ptx.tid.x + 0)
        ring.acquire().load("rows", x, (0, 0))

    with pytest.raises(ValueError, match=r"takes 2048 bytes of each box, and a box of x has 1024: \(8, 32\) of f32"):
        wrong.ptx()
