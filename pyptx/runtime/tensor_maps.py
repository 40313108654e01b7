"""Tensor maps of a kernel's arrays, derived from its Tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyptx.errors import ArgumentTypeError, ArgumentValueError, PtxError
from pyptx.specs import Layout, Tile, select_arguments
from pyptx.tensor_map import TensorMap

__all__ = ["map_of", "maps_of"]

_SWIZZLES = {Layout.TMA_128B: "128B", Layout.TMA_64B: "64B", Layout.TMA_32B: "32B"}
_BLOCK, _PADDED_BLOCK = 64, 72  # columns of a block of the 3-dimensional form
_DEFAULT_BOX = 128


def maps_of(
    names: Sequence[str], tensors: Mapping[str, tuple[Tile, Any]], sizes: Mapping[str, int], kernel: str
) -> list[TensorMap]:
    """Return the tensor maps of the named tensors, in order.

    Args:
        names: tensors that need a map.
        tensors: Tile and array of each tensor of the kernel.
        sizes: values of the symbolic dimensions and template parameters that boxes refer to.
        kernel: name for messages.
    Raises:
        LaunchError: a tensor has no Tile, or its Tile and shape do not define a valid tensor map.
    """
    maps = []
    for name in names:
        if name not in tensors:
            raise ArgumentValueError(
                f"{kernel}: {name} is accessed by TMA but has no Tile that defines its tensor map",
                hint=f"give the kernel in_specs, or pass a TensorMap for {name}_tma_desc to launch()",
            )
        tile, array = tensors[name]
        try:
            maps.append(map_of(tile, array, sizes))
        except PtxError as error:
            raise ArgumentValueError(
                f"{kernel}: {name}: {error.message}", hint=f"{tile} of shape {tuple(array.shape)}"
            ) from None
    return maps


def map_of(tile: Tile, array: Any, sizes: Mapping[str, int]) -> TensorMap:
    """Return the tensor map of an array that a Tile describes.

    The box is `tma_box`, clipped to the array unless `tma_whole`; by default it is one swizzle span (or 128 elements)
    by 128 rows. With `tma_rank=3` a matrix is viewed as blocks of 64 columns, (columns / 64, rows, 64), and `tma_box`
    is (rows, columns). If the Tile has a `tensor_map` function, its result is used instead.

    Raises:
        LaunchError: the box or the `tensor_map` function refers to unknown sizes, or does not fit the array.
        ShapeError: the driver would refuse the map.
    """
    shape, swizzle = tuple(array.shape), _SWIZZLES.get(tile.layout)
    sizes = {**tile.extract_env(shape), **sizes}
    if tile.tensor_map is not None:
        return _own(tile, tile.tensor_map, array, sizes)
    box = None if tile.tma_box is None else tuple(_size(tile, n, sizes) for n in tile.tma_box)
    if tile.tma_rank == 3 and tile.rank == 2:
        return _blocked(tile, array, box, swizzle)
    if box is None:
        if len(shape) != 2:
            raise ArgumentValueError(f"{tile} has rank {len(shape)} and no tma_box; only rank 2 has a default box")
        span = {None: 0, "128B": 128, "64B": 64, "32B": 32}[swizzle]
        box = (_DEFAULT_BOX, span * 8 // tile.dtype.bits if span else _DEFAULT_BOX)
    if len(box) != len(shape):
        raise ArgumentValueError(f"tma_box {box} has {len(box)} sizes for an array of rank {len(shape)}")
    if not tile.tma_whole:
        box = tuple(min(b, n) for b, n in zip(box, shape, strict=True))
    return TensorMap(array, box, dtype=tile.dtype, swizzle=swizzle, l2_promotion=tile.l2_promotion)


def _own(tile: Tile, function: Callable[..., Any], array: Any, sizes: Mapping[str, int]) -> TensorMap:
    """Return the result of the Tile's `tensor_map` function for the array and the sizes that it takes."""
    given, missing = select_arguments(function, sizes, skip=1)
    if missing:
        raise ArgumentValueError(
            f"tensor_map of {tile} takes {missing[0]!r}, which is neither a size nor a template "
            f"parameter; known: {', '.join(sizes) or 'none'}"
        )
    made = function(array, **given)
    if not isinstance(made, TensorMap):
        raise ArgumentTypeError(f"tensor_map of {tile} returned {made!r}; expected a pyptx.TensorMap")
    return made


def _blocked(tile: Tile, array: Any, box: tuple[int, ...] | None, swizzle: str | None) -> TensorMap:
    height, width = array.shape
    item = tile.dtype.bits // 8
    if width % _BLOCK:
        raise ArgumentValueError(f"tma_rank=3 needs a matrix with a multiple of {_BLOCK} columns; this one has {width}")
    if box is None or len(box) != 2 or box[1] % _BLOCK:
        raise ArgumentValueError(
            f"tma_rank=3 needs tma_box=(rows, columns) with a multiple of {_BLOCK} columns, not {box}"
        )
    return TensorMap(
        array,
        (box[1] // _BLOCK, box[0], _PADDED_BLOCK if tile.tma_padding else _BLOCK),
        shape=(width // _BLOCK, height, _BLOCK),
        strides=(_BLOCK * item, width * item),
        dtype=tile.dtype,
        swizzle="128B" if swizzle == "128B" else None,
        l2_promotion=tile.l2_promotion,
    )


def _size(tile: Tile, size: int | str, sizes: Mapping[str, int]) -> int:
    if isinstance(size, int):
        return size
    if size not in sizes:
        raise ArgumentValueError(
            f"tma_box of {tile} names {size!r}, which is neither a size nor a template parameter; known: "
            f"{', '.join(sizes) or 'none'}"
        )
    return sizes[size]
