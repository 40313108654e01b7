"""`pyptx.lib.Layout`: every operation against its definition, evaluated on all coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.errors import ShapeError
from pyptx.lib import Layout, Swizzle, SwizzledLayout
from pyptx.types import bf16, f32, s32, u8, u32

sizes = st.sampled_from([1, 2, 3, 4, 6, 8])
steps = st.integers(0, 12)
shapes = st.recursive(sizes, lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=4)
quick = settings(max_examples=30, deadline=None, derandomize=True)


@st.composite
def layouts(draw, strides=steps):
    shape = draw(shapes)
    stride = draw(st.just(None) | st.just(strides))
    return Layout(shape, _of(shape, lambda: draw(strides)) if stride is not None else None)


def _of(shape, step):
    return tuple(_of(item, step) for item in shape) if isinstance(shape, tuple) else step()


def offsets(layout: Layout) -> np.ndarray:
    """All offsets in the order of the linear index: by NumPy, from the shapes and strides of the leaves."""
    shape, strides = zip(*layout.leaves, strict=True)
    index = np.unravel_index(np.arange(layout.size), shape)
    return sum((i * s for i, s in zip(index, strides, strict=True)), np.zeros(layout.size, int))


@quick
@given(layouts())
def test_a_call_is_the_sum_of_coordinates_times_strides(layout):
    expected = offsets(layout)
    assert [Layout(layout.size).compose(Layout(layout.size))(i) for i in range(layout.size)] == list(range(layout.size))
    linear = layout if layout.rank > 1 else Layout((layout.size,), (1,))
    if layout.rank > 1:
        assert [linear(i) for i in range(layout.size)] == list(expected)
    by_mode = np.array([layout(*map(int, at)) for at in np.ndindex(*(layout[i].size for i in range(layout.rank)))])
    np.testing.assert_array_equal(by_mode, expected)
    assert layout.extent == expected.max() + 1
    np.testing.assert_array_equal(offsets(layout.coalesce()), expected)


@quick
@given(layouts(), layouts())
def test_a_composition_applies_one_layout_after_the_other(outer, inner):
    try:
        both = outer.compose(inner)
    except ShapeError:
        return
    np.testing.assert_array_equal(offsets(both), offsets(outer)[offsets(inner)])
    assert [both[i].size for i in range(both.rank)] == [inner[i].size for i in range(inner.rank)]


@quick
@given(st.permutations(range(4)), st.lists(sizes, min_size=4, max_size=4), st.integers(0, 3))
def test_layouts_that_divide_evenly_compose(order, shape, cut):
    whole = Layout(tuple(shape))
    strides = whole.stride
    inner = Layout(tuple(shape[i] for i in order[cut:]), tuple(strides[i] for i in order[cut:]))
    outer = Layout(tuple(shape), tuple(7 * s + 1 for s in range(4)))
    np.testing.assert_array_equal(offsets(outer.compose(inner)), offsets(outer)[offsets(inner)])


@quick
@given(layouts(), st.integers(1, 200))
def test_a_complement_reaches_every_other_offset_once(layout, size):
    try:
        rest = layout.complement(size)
    except ShapeError:
        leaves = sorted((step, n) for n, step in layout.leaves if n > 1)
        filled, fits = 1, True
        for step, n in leaves:
            fits, filled = fits and step >= filled and step % filled == 0, n * step
        assert not fits or size % filled
        return
    together = (offsets(layout)[:, None] + offsets(rest)[None, :]).ravel()
    assert sorted(together) == list(range(size))


@quick
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=3), st.data())
def test_tiles_and_their_rest_are_the_whole(pairs, data):
    shape = tuple(tile * count for tile, count in pairs)
    layout = Layout(shape, data.draw(st.permutations(Layout(shape).stride).map(tuple)))
    tiles = layout.divide([tile for tile, _ in pairs])
    array = np.array([layout(*map(int, i)) for i in np.ndindex(*shape)]).reshape(shape)
    for tile in np.ndindex(*(count for _, count in pairs)):
        box = tuple(slice(i * n, (i + 1) * n) for i, (n, _) in zip(tile, pairs, strict=True))
        found = [tiles(tuple(map(int, i)), tuple(map(int, tile))) for i in np.ndindex(*(n for n, _ in pairs))]
        np.testing.assert_array_equal(found, array[box].ravel())


@quick
@given(layouts(st.integers(1, 12)), sizes)
def test_a_product_repeats_a_layout_without_overlap(layout, copies):
    try:
        repeated = layout.product(copies)
    except ShapeError:
        return
    found = np.array([[repeated(i, j) for i in range(layout.size)] for j in range(copies)])
    np.testing.assert_array_equal(found[0], offsets(layout))
    assert len(set(found.ravel().tolist())) == found.size
    np.testing.assert_array_equal(found - found[:, :1], np.tile(found[0] - found[0, 0], (copies, 1)))


@pytest.mark.parametrize(
    "layout",
    [Layout((4, 8, 2), (1, 32, 4)), Layout((3, 5), (1, 3)), Layout(((2, 3), 8), ((1, 2), -6))],
    ids=["powers of two", "others", "nested, negative"],
)
def test_registers_as_coordinates_compute_the_same_offsets(layout):
    n = layout.size

    @kernel(in_specs=(Tile(1, s32),), out_specs=(Tile(n, s32), Tile(n, s32)), grid=1, block=n)
    def places(_, linear, by_mode):
        tid = reg.from_(ptx.tid.x, u32)
        linear[tid] = layout(tid).to(s32)
        by_mode[tid] = layout(*_coordinates(layout, tid)).to(s32)

    linear, by_mode = places(np.zeros(1, np.int32))
    np.testing.assert_array_equal(linear, offsets(layout))
    np.testing.assert_array_equal(by_mode, offsets(layout))


def _coordinates(layout: Layout, linear):
    found = []
    for i in reversed(range(layout.rank)):
        found.insert(0, linear % layout[i].size)
        linear = linear // layout[i].size
    return found


def test_powers_of_two_take_shifts_and_no_division():
    @kernel(out_specs=(Tile(64, u32),), grid=1, block=64)
    def places(y):
        tid = reg.from_(ptx.tid.x, u32)
        y[tid] = Layout((4, 16), (1, 4))(tid)

    text = places.ptx()
    assert "div" not in text and "rem" not in text
    assert text.count("shr") == 1


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: Layout((4, 0)), "expected positive ints"),
        (lambda: Layout((4, 2), (1,)), "expected one for each size"),
        (lambda: Layout((4, 4)).divide((3, 4)), "no complement in 4"),
        (lambda: Layout((4, 4)).divide((2,)), "1 tile sizes for"),
        (lambda: Layout(4).compose(Layout(8)), "do not divide its modes evenly"),
        (lambda: Layout((2, 2), (1, 1)).complement(8), "no complement in 8"),
        (lambda: Layout((4, 4))(1, 2, 3), "3 coordinates for 2 modes"),
        (lambda: Layout((4, 4))(1, 4), "coordinate 4 of shape 4; expected 0..3"),
        (lambda: Layout((4, 4))(1, 1.5), "expected an int or an integer register"),
    ],
)
def test_wrong_layouts_are_refused(use, message):
    with pytest.raises((ValueError, IndexError, TypeError), match=message):
        use()


@quick
@given(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4))
def test_a_swizzle_exchanges_blocks_by_xor(bits, base, more):
    swizzle, shift = Swizzle(bits, base, bits + more), bits + more
    for offset in range(1 << (base + shift + bits + 1)):
        piece, row = offset >> base, offset >> (base + shift)
        wanted = (piece ^ (row % (1 << bits))) << base | offset % (1 << base)
        assert swizzle(offset) == wanted and swizzle(wanted) == offset


@pytest.mark.parametrize("dtype", [u8, bf16, f32])
@pytest.mark.parametrize("name", ["32B", "64B", "128B"])
def test_a_swizzle_of_tma_is_that_of_shared_memory(name, dtype):
    size, swizzle = dtype.bits // 8, Swizzle.of(name, dtype)
    box = SwizzledLayout(Layout((16, 128 // size)), swizzle)
    assert [box(i) * size for i in range(box.size)] == [smem.apply_swizzle(i * size, name) for i in range(box.size)]
    tiles = box.divide((8, 4))
    assert [tiles(i, j) for i in range(32) for j in (0, 1)] == [
        box(i // 4, i % 4 + 4 * j) for i in range(32) for j in (0, 1)
    ]


def test_a_swizzle_of_registers_equals_that_of_ints():
    layout = SwizzledLayout(Layout((8, 8)), Swizzle(3, 0, 3))

    @kernel(in_specs=(Tile(64, u32),), out_specs=(Tile(64, u32),), block=64)
    def swizzled(x, y):
        y[ptx.tid.x] = layout(ptx.tid.x >> 3, ptx.tid.x & 7)

    np.testing.assert_array_equal(swizzled(np.zeros(64, np.uint32)), [layout(i) for i in range(64)])


@pytest.mark.parametrize("make", [lambda: Swizzle(3, 0, 2), lambda: Swizzle(-1, 0, 2), lambda: Swizzle.of("16B", f32)])
def test_a_wrong_swizzle_is_refused(make):
    with pytest.raises(ShapeError, match="expected"):
        make()
