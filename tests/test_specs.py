"""Specs of array parameters (`pyptx.specs`)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyptx import Layout, Tile
from pyptx.specs import unify_envs
from pyptx.types import b32, bf16, e4m3, f32, s32, u32

pytestmark = pytest.mark.quick


# tiles -------------------------------------------------------------------------------------------------------------


def test_items_of_a_tile_come_in_any_order():
    assert Tile("M", "K", f32) == Tile(f32, "M", "K") == Tile("M", "K", dtype=f32)
    tile = Tile("M", Layout.TMA_128B, 64, bf16)
    assert (tile.shape, tile.dtype, tile.layout, tile.rank) == (("M", 64), bf16, Layout.TMA_128B, 2)
    assert tile.symbolic_dims == ("M",) and hash(tile) == hash(Tile("M", 64, bf16, Layout.TMA_128B))


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        (("M",), ValueError, "needs a dtype"),
        ((f32,), ValueError, "at least one dimension"),
        ((4, f32, u32), ValueError, "two dtypes"),
        ((4.0, f32), TypeError, "4.0"),
        ((True, f32), TypeError, "True"),
    ],
)
def test_wrong_tiles_are_refused(items, error, message):
    with pytest.raises(error, match=message):
        Tile(*items)


def test_an_alignment_is_a_power_of_two():
    assert Tile("N", f32, align=16).align == 16 and Tile("N", f32).align is None
    with pytest.raises(ValueError, match="align=12 is not a power of two"):
        Tile("N", f32, align=12)


@given(st.dictionaries(st.sampled_from("MNK"), st.integers(1, 10**6), min_size=3))
def test_a_shape_read_off_an_array_gives_the_array_back(env):
    tile = Tile("M", 4, "N", "K", f32)
    shape = tile.resolve_shape(env)
    assert tile.extract_env(shape) == env and tile.matches(shape, "float32")


def test_shapes_that_do_not_fit_are_refused():
    tile = Tile("M", "M", 8, f32)
    with pytest.raises(ValueError, match="rank 2"):
        tile.extract_env((4, 4))
    with pytest.raises(ValueError, match="expected 8, got 9"):
        tile.extract_env((4, 4, 9))
    with pytest.raises(ValueError, match="conflicting sizes for 'M': 4 and 5"):
        tile.extract_env((4, 5, 8))
    with pytest.raises(KeyError, match="size 'M'"):
        tile.resolve_shape({"N": 1})
    with pytest.raises(ValueError, match="conflicting"):
        unify_envs([{"a": 1}, {"a": 2}])


@pytest.mark.parametrize(
    ("dtype", "name", "fits"),
    [
        (f32, "float32", True),
        (f32, "float16", False),
        (u32, "int32", True),
        (b32, "float32", True),
        (s32, "float32", False),
        (bf16, "bfloat16", True),
        (bf16, "float16", False),
        (e4m3, "float8_e4m3fn", True),
        (e4m3, "float8_e5m2", False),
    ],
)
def test_dtypes_of_equal_width_and_kind_are_taken(dtype, name, fits):
    assert Tile(4, dtype).accepts_dtype(name) is fits


@pytest.mark.parametrize(
    ("columns", "layout"),
    [
        (8, Layout.ROW),
        (16, Layout.TMA_32B),
        (32, Layout.TMA_64B),
        (64, Layout.TMA_128B),
        (256, Layout.TMA_128B),
        ("K", Layout.ROW),
    ],
)
def test_the_bytes_of_a_row_choose_the_swizzle(columns, layout):
    assert Tile.wgmma_a("M", columns, bf16).layout == layout == Tile.wgmma_b("K", columns, bf16).layout


def test_boxes_of_wgmma_tiles():
    assert Tile.wgmma_a("M", "K", bf16, tile_m=128, tile_k=64).tma_box == (128, 64)
    assert Tile.wgmma_b("K", "N", bf16, tile_k=64, tile_n=256).tma_box == (64, 256)
    assert Tile.wgmma_a("M", "K", bf16).tma_box is None
    with pytest.raises(ValueError, match="16, 32, 64"):
        Tile.wgmma_a(64, 24, bf16)
