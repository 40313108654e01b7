"""Elements of arrays in a kernel: what is loaded and stored equals NumPy's elements; the code equals the long spelling."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.tracing import accept

from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import (
    b8,
    b16,
    b32,
    b64,
    bf16,
    e4m3,
    e5m2,
    f16,
    f32,
    f64,
    pred,
    s8,
    s16,
    s32,
    s64,
    tf32,
    u8,
    u16,
    u32,
    u64,
)

ARRAYS = {
    f16: np.float16,
    bf16: ml_dtypes.bfloat16,
    e4m3: ml_dtypes.float8_e4m3fn,
    e5m2: ml_dtypes.float8_e5m2,
    f32: np.float32,
    f64: np.float64,
    tf32: np.float32,
    u8: np.uint8,
    s8: np.int8,
    b8: np.uint8,
    u16: np.uint16,
    s16: np.int16,
    b16: np.uint16,
    u32: np.uint32,
    s32: np.int32,
    b32: np.uint32,
    u64: np.uint64,
    s64: np.int64,
    b64: np.uint64,
    pred: np.bool_,
}
VECTORS = [
    (dtype, count) for dtype in ARRAYS for count in (2, 4, 8, 16) if 16 <= count * dtype.bits <= 128 and dtype != pred
]


def values(shape: tuple[int, ...], dtype) -> np.ndarray:
    numbers = np.random.default_rng(0).integers(-100, 100, shape)
    return (
        numbers.astype(np.int8).view(np.uint8).astype(ARRAYS[dtype])
        if dtype in (u8, b8)
        else numbers.astype(ARRAYS[dtype])
    )


@pytest.mark.parametrize("layout", Layout)
def test_an_element_is_that_of_numpy_in_every_layout(layout):
    @kernel(
        in_specs=(Tile("L", "M", "N", f32, layout),),
        out_specs=(Tile("N", "M", "L", f32),),
        grid=lambda L: L,
        block=(4, 8),
    )
    def reversed_(x, y):
        y[ptx.tid.x, ptx.tid.y, ptx.ctaid.x] = x[ptx.ctaid.x, ptx.tid.y, ptx.tid.x]

    x = values((3, 8, 4), f32)
    np.testing.assert_array_equal(reversed_(x), x.T)


@pytest.mark.parametrize("dtype", ARRAYS, ids=str)
def test_every_type_is_copied_unchanged(dtype):
    @kernel(in_specs=(Tile(8, 16, dtype),), out_specs=(Tile(8, 16, dtype),), grid=8, block=16)
    def copy(x, y):
        y[ptx.ctaid.x, ptx.tid.x] = x[ptx.ctaid.x, ptx.tid.x]

    x = values((8, 16), dtype)
    np.testing.assert_array_equal(copy(x).view(np.uint8), x.view(np.uint8))


@pytest.mark.parametrize(("dtype", "count"), VECTORS, ids=str)
def test_vectors_hold_consecutive_elements(dtype, count):
    @kernel(in_specs=(Tile(4, 32, dtype),), out_specs=(Tile(4, 32, dtype),) * 2, grid=4, block=32 // count)
    def copies(x, whole, elements):
        vector = x.vec(count)[ptx.ctaid.x, ptx.tid.x]
        whole.vec(count)[ptx.ctaid.x, ptx.tid.x] = vector
        for k, element in enumerate(vector):
            elements.store(ptx.ctaid.x, ptx.tid.x * count, element, offset=k)

    x = values((4, 32), dtype)
    for copy in copies(x):
        np.testing.assert_array_equal(copy.view(np.uint8), x.view(np.uint8))


@pytest.mark.slow
def test_ptxas_accepts_the_access_to_every_type():
    for dtype, count in VECTORS:

        @kernel(in_specs=(Tile(4, 32, dtype),), out_specs=(Tile(4, 32, dtype),), arch="sm_80")
        def both(x, y):
            vector, i = x.load(1, 16, vec=count, cache="cg"), ptx.tid.x  # noqa: B023 - called in the iteration
            for k in range(len(vector)):
                y[k % 4, i] = vector[k]
            vector[0] = vector[1]
            y.store(0, 0, vector, cache="cs", pred=i == 0)

        both.compile()


def test_64_bit_indices_and_large_arrays_are_addressed_in_64_bits():
    @kernel(in_specs=(Tile(70_000, 70_000, f32),), out_specs=(Tile(8, f32),), block=8)
    def far(x, y):
        y[ptx.tid.x] = x[ptx.ctaid.x, ptx.tid.x]
        y[reg.scalar(s64, 1)] = x.load(reg.scalar(s32, 1), 69_999, offset=(1, 0))

    accept(far.module())
    written = far.ptx()
    assert "mad.wide.u32 %rd2, %r1, 280000, %rd1;" not in written
    assert written.count("mad.wide") == 4 and "mad.lo.u32" not in written
    assert "ld.global.f32 %f1, [%rd" in written and "+559996]" in written


def test_offsets_move_the_address_and_guards_leave_other():
    @kernel(in_specs=(Tile(64, f32),), out_specs=(Tile(64, f32),), block=64)
    def shifted(x, y):
        i = reg.from_(ptx.tid.x, u32)
        y[i] = x.load(i, offset=-1, pred=i > 0, other=7.0)

    x = values((64,), f32)
    np.testing.assert_array_equal(shifted(x), [7.0, *x[:-1]])


def test_a_row_is_an_array_of_the_remaining_dimensions():
    @kernel(in_specs=(Tile("M", "N", f32),), out_specs=(Tile("M", f32),), grid=lambda M: M)
    def sums(x, y):
        row, total = x.row(ptx.ctaid.x), reg.scalar(f32, 0.0)
        for k in ptx.range_(0, x.shape[1]):
            total += row[k]
        y[ptx.ctaid.x] = total

    x = values((5, 9), f32)
    np.testing.assert_array_equal(sums(x), x.sum(1))


def test_atomics_return_the_old_value():
    @kernel(in_specs=(Tile(64, s32),), out_specs=(Tile(8, u32, zeroed=True), Tile(2, s32, zeroed=True)), block=64)
    def histogram(x, y, extremes):
        i = x[ptx.tid.x]
        y.atomic_add(i, 1)
        extremes.atomic_max(0, i)
        old = extremes.atomic_cas(1, 0, i)
        extremes.atomic_max(1, old, order="relaxed", scope="cta")

    x = np.random.default_rng(0).integers(1, 8, 64).astype(np.int32)
    counts, extremes = histogram(x)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=8))
    assert extremes[0] == x.max() and extremes[1] in x


def test_shared_memory_has_the_same_access_in_any_number_of_dimensions():
    @kernel(in_specs=(Tile(64, 32, f32),), out_specs=(Tile(32, 64, f32),), block=(32, 32))
    def transpose(x, y):
        halves, line = smem.alloc(f32, (2, 32, 33)), smem.alloc(f32, 32)
        for half in range(2):
            halves[half, ptx.tid.y, ptx.tid.x] = x.load(ptx.tid.y, ptx.tid.x, offset=(32 * half, 0))
        line[ptx.tid.x] = 0.0
        ptx.bar.sync()
        for half in ptx.range_(0, 2):
            value = halves[half][ptx.tid.x, ptx.tid.y] + line.load(ptx.tid.x)
            y[ptx.tid.y, half * 32 + ptx.tid.x] = value

    x = values((64, 32), f32)
    np.testing.assert_array_equal(transpose(x), x.T)
    accept(transpose.module())


def test_distributed_shared_memory_is_that_of_the_other_cta():
    @kernel(in_specs=(Tile(8, u32),), out_specs=(Tile(8, u32),), grid=2, block=4, cluster=(2, 1, 1))
    def swapped(x, y):
        tile = smem.alloc(u32, 4)
        tile[ptx.tid.x] = x[ptx.global_id()]
        ptx.cluster.sync()
        y[ptx.global_id()] = tile.at_rank(ptx.cluster_ctarank ^ 1)[ptx.tid.x]
        ptx.cluster.sync()

    x = np.arange(8, dtype=np.uint32)
    np.testing.assert_array_equal(swapped(x), [4, 5, 6, 7, 0, 1, 2, 3])


def test_the_machine_code_of_a_matrix_equals_that_of_the_long_spelling():
    specs = {
        "in_specs": (Tile("M", "N", f32),) * 2,
        "out_specs": (Tile("M", "N", f32),),
        "grid": lambda M: M,
        "block": 64,
    }

    def short(a, b, c):
        row, column = ptx.ctaid.x, ptx.tid.x
        c[row, column] = a[row, column] + b.load(row, column, offset=1)

    def long(a, b, c):
        cta, thread, at, total = reg.scalar(u32), reg.scalar(u32), reg.scalar(u32), reg.scalar(f32)
        ptx.inst.mov.u32(cta, "%ctaid.x")
        ptx.inst.mov.u32(thread, "%tid.x")
        ptx.inst.mad.lo.u32(at, cta, a.shape[1], thread)
        pointers = ptx.global_ptrs(a, b, c)
        for pointer in pointers:
            ptx.inst.mad.wide.u32(pointer, at, 4, pointer)
        x, y = reg.scalar(f32), reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(pointers[0]))
        ptx.inst.ld.global_.f32(y, ptx.addr(pointers[1], 4))
        ptx.inst.add.f32(total, x, y)
        ptx.inst.st.global_.f32(ptx.addr(pointers[2]), total)

    codes = [kernel(**specs)(function).compile(M=4, N=64).sass for function in (short, long)]
    assert [line.text for line in codes[0]] == [line.text for line in codes[1]]


def test_the_view_shows_all_instructions_below_the_line_that_indexes():
    @kernel(in_specs=(Tile(8, f32),), out_specs=(Tile(8, f32),), block=8)
    def copy(x, y):
        y[ptx.tid.x] = x[ptx.tid.x]

    entry = copy.module().directives[-1]
    places = {statement.place.line for statement in entry.body if hasattr(statement, "opcode")}
    assert len(places) == 1
