"""Tensor maps of Tiles, and how they are passed."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import Layout, TensorMap, Tile, kernel, ptx, reg, smem
from pyptx.errors import LaunchError
from pyptx.runtime.tensor_maps import map_of
from pyptx.types import f16, f32, from_name, u32

A = np.zeros((256, 128), np.float16)


def facts(m: TensorMap) -> tuple:
    return m.shape, m.strides, m.box, m.swizzle


@pytest.mark.parametrize(
    "tile, expected",
    [
        (Tile("M", "K", f16, Layout.TMA_128B), ((256, 128), (256, 2), (128, 64), "128B")),
        (Tile("M", "K", f16, Layout.TMA_64B), ((256, 128), (256, 2), (128, 32), "64B")),
        (Tile("M", "K", f16, Layout.TMA_32B), ((256, 128), (256, 2), (128, 16), "32B")),
        (Tile("M", "K", f16), ((256, 128), (256, 2), (128, 128), None)),
        (Tile("M", "K", f16, tma_box=(32, 64)), ((256, 128), (256, 2), (32, 64), None)),
        (Tile("M", "K", f16, tma_box=("BM", "BK")), ((256, 128), (256, 2), (16, 8), None)),
        (Tile("M", "K", f16, tma_box=(512, "K")), ((256, 128), (256, 2), (256, 128), None)),
        (
            Tile("M", "K", f16, Layout.TMA_128B, tma_box=(128, 128), tma_rank=3),
            ((2, 256, 64), (128, 256, 2), (2, 128, 64), "128B"),
        ),
        (
            Tile("M", "K", f16, tma_box=(64, 64), tma_rank=3, tma_padding=True),
            ((2, 256, 64), (128, 256, 2), (1, 64, 72), None),
        ),
    ],
)
def test_a_tile_describes_the_map_of_a_matrix(tile, expected):
    assert facts(map_of(tile, A, {"BM": 16, "BK": 8})) == expected


@pytest.mark.parametrize(
    "name, element",
    [
        ("u8", "u8"),
        ("u16", "u16"),
        ("u32", "u32"),
        ("s32", "s32"),
        ("u64", "u64"),
        ("s64", "s64"),
        ("bf16", "bf16"),
        ("f32", "f32"),
        ("f64", "f64"),
        ("tf32", "tf32"),
        ("e4m3", "u8"),
        ("e5m2", "u8"),
    ],
)
def test_every_type_of_a_tile_has_an_element_of_a_map(name, element):
    dtype = from_name(name)
    memory = np.zeros((64, 64), f"u{dtype.bits // 8}")
    assert map_of(Tile("M", "K", dtype, tma_box=(8, 16)), memory, {}).element.name == element


def test_a_whole_box_is_not_cut_to_the_array():
    tile = Tile("M", "K", f16, Layout.TMA_128B, tma_box=(64, 64), tma_whole=True)
    assert map_of(tile, A[:5, :24].copy(), {}).box == (64, 64)


def test_other_ranks_name_their_box():
    heads = np.zeros((2, 4, 80, 64), np.float16)
    m = map_of(Tile("B", "H", "S", "D", f16, Layout.TMA_128B, tma_box=(1, 1, 64, 64)), heads, {})
    assert facts(m) == ((2, 4, 80, 64), (40960, 10240, 128, 2), (1, 1, 64, 64), "128B")
    with pytest.raises(LaunchError, match=r"rank 3 and no tma_box"):
        map_of(Tile("B", "S", "D", f16), np.zeros((2, 80, 64), np.float16), {})


@pytest.mark.parametrize(
    "tile, message",
    [
        (
            Tile("M", "K", f16, tma_box=("X", 8)),
            "names 'X', which is neither a size nor a template parameter; known: M, K",
        ),
        (Tile("M", "K", f16, tma_box=(8, 8, 8)), r"tma_box \(8, 8, 8\) has 3 sizes for an array of rank 2"),
        (Tile("M", "K", f16, tma_rank=3), "tma_rank=3 needs tma_box="),
        (Tile("M", "K", f16, tma_rank=3, tma_box=(64, 32)), "multiple of 64 columns"),
        (Tile("M", "K", f16, Layout.TMA_128B, tma_box=(64, 128)), "swizzle='128B' supports at most 128 bytes"),
    ],
)
def test_a_tile_that_makes_no_map_says_why(tile, message):
    with pytest.raises(ValueError, match=message):
        map_of(tile, A, {})


def test_a_tile_may_make_its_map_itself():
    """From the array, the sizes and the template parameters that its function names."""

    def turned(array, K, BM, DEPTH=8):
        return TensorMap(array, (BM, DEPTH), shape=(K, 32), strides=(64,))

    assert facts(map_of(Tile("M", "K", f16, tensor_map=turned), A, {"BM": 8})) == ((128, 32), (64, 2), (8, 8), None)

    def any_of_them(array, **sizes):
        return turned(array, **{"BM": 16, **{k: v for k, v in sizes.items() if k != "M"}})

    assert facts(map_of(Tile("M", "K", f16, tensor_map=any_of_them), A, {}))[2] == (16, 8)
    with pytest.raises(LaunchError, match="takes 'BM', which is neither a size nor a template parameter; known: M, K"):
        map_of(Tile("M", "K", f16, tensor_map=turned), A, {})
    with pytest.raises(LaunchError, match=r"tensor_map of Tile\(M, K, f16\) returned 3; expected a pyptx.TensorMap"):
        map_of(Tile("M", "K", f16, tensor_map=lambda array: 3), A, {})
    with pytest.raises(ValueError, match="tensor_map= makes the whole tensor map; omit tma_box"):
        Tile("M", "K", f16, tma_box=(8, 8), tensor_map=turned)


@kernel(
    arch="sm_90a",
    in_specs=[Tile("M", 32, f32, Layout.TMA_128B, tma_box=(8, 32))],
    out_specs=[Tile("M", 32, f32, Layout.TMA_128B, tma_box=(8, 32))],
    grid=lambda M: M // 8,
    block=(32, 1, 1),
)
def copy(x, y):
    """y = x through shared memory: a box of 8 rows each CTA, taken in and given back by TMA."""
    tile, bar = smem.alloc(f32, (8, 32), align=1024), smem.mbarrier(1)
    tid, row = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.ctaid.x(), u32) * 8
    with ptx.if_(tid == 0):
        ptx.mbarrier.init(bar[0], 1)
        ptx.fence.proxy_async()
        ptx.mbarrier.arrive_expect_tx(bar[0], 1024)
        ptx.cp.async_bulk.tensor_2d(dst=tile, src=x.tma_desc(), coord=(0, row), mbar=bar[0])
        ptx.mbarrier.wait(bar[0], 0)
        ptx.cp.async_bulk.tensor_2d.store(dst=y.tma_desc(), src=tile, coord=(0, row))
        ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0)


def test_a_kernel_names_its_maps_in_the_order_of_use():
    assert [p.name for p in copy.params] == ["x", "y", "x_tma_desc", "y_tma_desc"]


def test_a_kernel_with_maps_takes_arrays():
    x = np.arange(24 * 32, dtype=np.float32).reshape(24, 32)
    np.testing.assert_array_equal(copy(x), x)
    y = np.zeros_like(x)
    copy.launch(2, 32, x, y)  # maps as the Tiles describe
    np.testing.assert_array_equal(y[:16], x[:16])
    copy.launch(3, 32, x, y, TensorMap(x, (8, 32)), TensorMap(y, (8, 32)))
    np.testing.assert_array_equal(y, x)


def test_a_map_that_cannot_be_names_kernel_and_tensor():
    narrow = kernel(
        arch="sm_90a",
        in_specs=[Tile("M", "N", f32, tma_box=(8, 6))],
        grid=(1, 1, 1),
        block=(32, 1, 1),
        out_specs=[Tile("M", "N", f32)],
    )(copy._fn)
    with pytest.raises(LaunchError, match=r"copy: x: TensorMap: box\[1\] is 6, 24 bytes of f32"):
        narrow(np.zeros((8, 32), np.float32))
    unknown = kernel(arch="sm_90a", raw_params=[("u64", "x"), ("u64", "y")], block=(32, 1, 1))(copy._fn)
    with pytest.raises(LaunchError, match="copy: x is accessed by TMA but has no Tile"):
        unknown.launch(1, 32, np.zeros((8, 32), np.float32), np.zeros((8, 32), np.float32))
