"""Mistakes in the use of pyptx.lib that would end as a wrong result or a deadlock are refused at the user's line, with the fix."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import Layout, Tile, kernel, lib, ptx, reg, smem
from pyptx.errors import PtxError
from pyptx.types import bf16, f16, f32, u32

BOX = {"tma_box": (64, 64)}
SPECS = {
    "a": Tile(128, 128, f16, Layout.TMA_128B, **BOX),
    "plain": Tile(128, 128, f16),
    "rows": Tile(128, 128, f16, Layout.ROW, **BOX),
    "other": Tile(128, 128, bf16, Layout.TMA_128B, **BOX),
    "short": Tile(32, f32),
}


def ring(rows=64, major="K", **options):
    tile = lib.WgmmaTile(rows, 64, f16, major)
    made = lib.TmaRing(2, {"a": tile}, readers=options.pop("readers", 4), **options)
    made.set_up(ptx.tid.x)
    return made


def load(array, rows=64, **options):
    ring(rows).acquire().load("a", array, (0, 0), **options)


def product(made, shape=(64, 64, 16), dtype=f16, **options):
    found = made.wait().descriptor(made.descriptor("a"))
    d = reg.wgmma_frag(m=64, n=shape[1], dtype=f32)
    ptx.wgmma.mma_async(
        shape=shape, dtype_d=f32, dtype_a=dtype, dtype_b=dtype, d=d, a=found + made.operands["a"].offset(16), b=found, **options
    )  # fmt: skip


def fragment():
    return lib.WgmmaFragment(64, ptx.tid.x)


def boxed(to, **options):
    fragment().store_tma(to, 0, 0, lib.StoreBoxes(4, f16), **options)


def rings_of(*sizes, tile=None):
    named = {f"t{i}": size for i, size in enumerate(sizes)}
    return lib.TmaRing(2, named | ({"a": tile} if tile else {}), readers=1)


MISTAKES = {
    "no box": (lambda g: load(g["plain"]), "plain, and its Tile has no tma_box", "tma_box=(rows, columns)"),
    "no swizzle": (lambda g: load(g["rows"]), "rows has layout Layout.ROW", "Layout.TMA_128B, tma_box=(64, 64)"),
    "another type": (lambda g: load(g["other"]), "other has elements of bf16", "Tile(..., f16,"),
    "boxes below each other": (lambda g: load(g["a"], 128, boxes=2), "boxes of a are (64, 64)", "tma_box=(128, 64)"),
    "multicast": (lambda g: load(g["a"], multicast_mask=3), "stages of other CTAs", "cluster=2"),
    "set up twice": (lambda g: ring().set_up(ptx.tid.x), "already set up", "once, before loops"),
    "elements of permuted rows": (
        lambda g: (
            lib.copy_async(lib.tile(g["plain"], (0, 0), (64, 64)), t := smem.alloc(f16, (64, 64)), threads=256, swizzle="128B"),
            t[0, 1],
        ),
        "was filled with swizzle='128B'",
        "smem.apply_swizzle",
    ),
    "a thread that fills and reads": (
        lambda g: ((r := ring()).acquire().load("a", g["a"], (0, 0)), r.wait()),
        "in a thread that also calls ring.acquire()",
        "a role of its own",
    ),
    "a stage of another ring": (
        lambda g: ring().release(ring().wait(), ptx.laneid),
        "the stage belongs to another ring",
        "whose wait() returned it",
    ),
    "a descriptor of another ring": (
        lambda g: ring().wait().descriptor(ring().descriptor("a")),
        "which is not a tile of this stage's ring",
        "ring.descriptor(name)",
    ),
    "a swizzled tile after a small one": (
        lambda g: rings_of(256, tile=lib.WgmmaTile(64, 64, f16)),
        "'a' of 8192 bytes begins at byte 256",
        "put WgmmaTiles first",
    ),
    "stages of odd size": (lambda g: rings_of(128, 48), "a stage of 176 bytes", "add 80 bytes"),
    "a row that is no multiple of 8": (lambda g: ring().descriptor("a", 4), "row=4", ""),
    "a row beyond": (lambda g: ring().descriptor("a", 64), "row=64", ""),
    "a row along K": (lambda g: ring(major="MN").descriptor("a", 8), "its rows are along K", "tile.offset(k)"),
    "a type of wgmma": (lambda g: product(ring(), dtype=bf16), "dtype_a=bf16", "pass dtype_a=f16"),
    "a transposition": (lambda g: product(ring(), trans_b=1), "trans_b=1", "pass trans_b=0"),
    "a forgotten transposition": (lambda g: product(ring(major="MN")), "trans_a=0", "pass trans_a=1"),
    "too many columns": (lambda g: product(ring(), (64, 128, 16)), "n=128 in shape", "at most 64"),
    "consumers": (lambda g: lib.roles(consumers=2), "are 384 threads; the CTAs of this kernel have 256", "block=384"),
    "threads of a copy": (
        lambda g: lib.copy(lib.tile(g["a"], (0, 0), (64, 64)), smem.alloc(f16, (64, 64)), threads=512),
        "over 512 threads",
        "threads that copy",
    ),
    "threads of a reduction": (
        lambda g: ptx.block_reduce(g["short"][0], threads=128),
        "over 128 threads; the CTAs of this kernel have 256",
        "block=...",
    ),
    "readers of a product": (lambda g: lib.TensorProduct(ring(128), "a", "a"), "readers=4", "readers=1"),
    "a bias that is too short": (
        lambda g: fragment().apply(lib.bias(g["short"], 0)),
        "adds 32 values of short to a fragment of 64 columns",
        "end=32",
    ),
    "a fragment beyond": (lambda g: fragment().store(g["a"], 80, 0), "64 x 64 elements reaches beyond a", "end=a.shape"),
    "a store without boxes": (lambda g: boxed(g["plain"]), "plain has no tma_box", "lib.StoreBoxes.box_of(f16)"),
    "a store of other boxes": (lambda g: boxed(g["a"]), "boxes of (16, 64)", "lib.StoreBoxes.box_of(f16)"),
    "a store to shared memory": (lambda g: boxed(smem.alloc(f16, (64, 64))), "to an array parameter", "kernel's array"),
    "too many stages": (
        lambda g: lib.TmaRing(29, {"a": lib.WgmmaTile(64, 64, f16)}, readers=1),
        "237,568 bytes of shared memory, with alignment; a CTA has at most 232,448",
        "fewer stages",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_refused_at_its_line(name):
    use, message, hint = MISTAKES[name]

    def mistaken(a, plain, rows, other, short):
        use(locals())

    made = kernel(mistaken, in_specs=tuple(SPECS.values()), block=256, arch="sm_90a")
    with pytest.raises(PtxError) as caught:
        made.ptx()
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert caught.value.place is not None and caught.value.place.file == __file__


def test_every_allocation_is_listed_where_shared_memory_is_exceeded():
    @kernel(arch="sm_90a")
    def large():
        smem.alloc(f32, (50, 256))
        for _ in range(2):
            smem.alloc(f32, (100, 256))

    with pytest.raises(ValueError, match=r"256,000 bytes of shared memory") as caught:
        large.ptx()
    first, second = caught.value.message.splitlines()[1:]
    assert "51,200 bytes allocated at" in first and "204,800 bytes allocated at" in second


def test_a_ring_of_a_cluster_is_refused_in_a_launch_without_one():
    @kernel(in_specs=(SPECS["a"],), out_specs=(Tile(1, f32),), block=128, arch="sm_90a")
    def alone(a, y):
        ring(cluster=2)
        y[0] = 0.0

    with pytest.raises(PtxError, match="clusters of 1 CTA"):
        alone(np.zeros((128, 128), np.float16))


def test_a_block_that_depends_on_unknown_sizes_is_not_compared():
    @kernel(in_specs=(Tile("N", f32),), block=lambda N: N)
    def roles(x):
        lib.roles(consumers=1, tid=reg.from_(ptx.tid.x, u32))

    assert "%tid.x" in roles.ptx()
