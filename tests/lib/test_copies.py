"""`pyptx.lib.copy` and `copy_async`: every shape, vector width and bound, and the machine code of the long spelling."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import Tile, kernel, lib, ptx, reg, smem
from pyptx.types import bf16, f16, f32, u32

ARRAYS = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}


def moved_through(shape, dtype, out, threads, how, swizzle=None):
    """A kernel that copies a tile at (row 3, column 8) of a matrix to shared memory, and from there to another matrix."""
    rows, columns = shape

    @kernel(
        in_specs=(Tile("M", "N", dtype), Tile(2, u32)),
        out_specs=(Tile("M", "N", out),),
        grid=1,
        block=threads,
        arch="sm_80",
    )
    def copied(x, start, y):
        row, column = start[0], start[1]
        memory = smem.alloc(dtype, shape, align=1024)
        end = x.shape
        from_x = lib.tile(x, (row, column), shape)
        if how == "async":
            lib.copy_async(from_x, memory, threads=threads, end=end, swizzle=swizzle)
            ptx.cp.async_.commit_group()
            ptx.cp.async_.wait_group(0)
        else:
            lib.copy(from_x, memory, threads=threads, end=end)
        ptx.bar.sync()
        if swizzle:
            tid = reg.from_(ptx.tid.x, u32)
            for i in range(rows * columns // threads):
                element = tid + i * threads
                at = smem.apply_swizzle(element * (dtype.bits // 8), swizzle) + memory.address_register()
                value = ptx.inst.ld.shared.b16(reg.scalar(dtype), ptx.addr(at))
                y.store(row + element // columns, column + element % columns, value)
        else:
            lib.copy(memory, lib.tile(y, (row, column), shape), threads=threads, end=end)

    return copied


@pytest.mark.parametrize(
    ("shape", "size", "dtype", "out", "threads", "how"),
    [
        ((16, 32), (30, 64), f32, f32, 128, "sync"),
        ((16, 32), (12, 24), f32, f32, 128, "sync"),
        ((5, 24), (30, 64), f32, bf16, 32, "sync"),
        ((5, 6), (30, 66), f16, f16, 7, "sync"),
        ((2, 1024), (8, 2048), f32, f32, 64, "sync"),
        ((16, 32), (12, 24), f32, f32, 64, "async"),
        ((5, 24), (30, 64), bf16, bf16, 32, "async"),
        ((64, 32), (80, 64), bf16, bf16, 128, "async"),
    ],
    ids=str,
)
def test_a_tile_arrives_and_nothing_else_is_written(shape, size, dtype, out, threads, how):
    x = np.random.default_rng(0).standard_normal(size).astype(ARRAYS[dtype])
    row, column = 3, 8
    copied = moved_through(shape, dtype, out, threads, how)
    wanted = np.zeros(size, ARRAYS[out])
    wanted[row : row + shape[0], column : column + shape[1]] = x[row : row + shape[0], column : column + shape[1]]
    start = np.array([row, column], np.uint32)
    y = np.zeros(size, ARRAYS[out])
    copied(x, start, out=y)
    np.testing.assert_array_equal(y, wanted)
    assert not [f for f in copied.check(x, start).errors if f.rule != "unwritten-result"]


def test_swizzled_rows_are_permuted_as_ldmatrix_reads_them():
    x = np.arange(128 * 64).reshape(128, 64).astype(np.float16)
    copied = moved_through((64, 64), f16, f16, 128, "async", "128B")
    y = np.zeros_like(x)
    copied(x, np.zeros(2, np.uint32), out=y)
    np.testing.assert_array_equal(y[:64], x[:64])


def in_short(a, c):
    tile = smem.alloc(f32, (64, 16))
    lib.copy(lib.tile(a, (ptx.ctaid.x * 64, 0), (64, 16)), tile, threads=128)
    ptx.bar.sync()
    c[ptx.ctaid.x, ptx.tid.x] = tile.load(ptx.tid.x & 63, 3)


def at_length(a, c):
    tile = smem.alloc(f32, (64, 16))
    tid = reg.from_(ptx.tid.x, u32)
    row, column = tid // 4, tid % 4 * 4
    parts = [a.load(ptx.ctaid.x * 64 + row, column, vec=4, offset=(32 * i, 0)) for i in range(2)]
    for i, part in enumerate(parts):
        tile.store(row, column, part, offset=(32 * i, 0))
    ptx.bar.sync()
    c[ptx.ctaid.x, ptx.tid.x] = tile.load(ptx.tid.x & 63, 3)


def test_a_copy_has_the_machine_code_of_the_long_spelling():
    codes = []
    for body in (in_short, at_length):
        made = kernel(
            body,
            name="copied",
            in_specs=(Tile("M", 16, f32),),
            out_specs=(Tile("M", 128, f32),),
            grid=lambda M: M // 64,
            block=128,
            arch="sm_80",
        )
        codes.append([line.text for line in made.compile(M=256).sass])
    assert codes[0] == codes[1]
    assert sum("LDG.E.128" in text for text in codes[0]) == 2


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda x, s: lib.copy(x, s, threads=32), "expected equal shapes"),
        (lambda x, s: lib.tile(x, 0, (4, 4)), "an index and a size for each"),
        (lambda x, s: lib.tile(x, (0, 0), (4, 0)), "expected positive ints"),
        (lambda x, s: lib.copy_async(s, s, threads=32), "expected a tile in global and one in shared memory"),
        (lambda x, s: lib.copy_async(lib.tile(x, (0, 0), s.shape), s, threads=32, swizzle="64B"), "rows of 64 bytes"),
        (lambda x, s: lib.tile(3, 0, 4), "not of 3"),
    ],
)
def test_wrong_tiles_are_refused(use, message):
    @kernel(in_specs=(Tile(64, 64, f32),), arch="sm_80")
    def wrong(x):
        use(x, smem.alloc(f32, (8, 8)))

    with pytest.raises((ValueError, TypeError), match=message):
        wrong.ptx()
