"""Declaration of shared memory: tiles, wgmma operands and mbarriers."""

from __future__ import annotations

from math import prod

from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ir.types import StateSpace
from pyptx.smem.allocation import SharedAlloc
from pyptx.smem.mbarriers import MbarrierArray
from pyptx.tracing.trace import DYNAMIC_SMEM, get_ctx
from pyptx.types import PtxType, b8, b64, no_type
from pyptx.wgmma_layout import GmmaLayout, Major, pick_gmma_layout

__all__ = ["alloc", "alloc_with_layout", "mbarrier", "wgmma_tile"]


def alloc(
    dtype: PtxType,
    shape: int | tuple[int, ...],
    swizzle: str | None = None,
    align: int | None = None,
    name: str | None = None,
) -> SharedAlloc:
    """Allocate shared memory.

    Args:
        dtype: type of the elements.
        shape: sizes in elements, outermost first.
        swizzle: "32B", "64B", "128B" or None; recorded on the allocation, without effect on its memory.
        align: alignment in bytes; default 128. Beyond 48 KiB, the extern array has the largest alignment.
        name: of the variable; default `smem_<n>`.
    Raises:
        ShapeError: a size is not a positive int.
        TypeError: `dtype` is not a type.
    Examples:
        >>> @kernel
        ... def tile():
        ...     stages = smem.alloc(bf16, (3, 64, 64), swizzle="128B")
        ...     print(stages, stages[1].symbol_and_offset)
        >>> text = tile.ptx()
        SharedAlloc(smem_0, bf16, (3, 64, 64)) ('smem_0', 8192)
    """
    return alloc_with_layout(dtype, shape, swizzle=swizzle, align=align, name=name)


def alloc_with_layout(
    dtype: PtxType,
    shape: int | tuple[int, ...],
    swizzle: str | None = None,
    align: int | None = None,
    name: str | None = None,
    gmma_layout: GmmaLayout | None = None,
    gmma_major: str | None = None,
) -> SharedAlloc:
    """Allocate shared memory as `alloc` does, with a wgmma layout recorded on it."""
    if not isinstance(dtype, PtxType):
        raise no_type(dtype)
    if swizzle not in (None, "NONE", "32B", "64B", "128B"):
        raise ShapeError(
            f"shared memory of shape {shape!r} with swizzle {swizzle!r}; expected None, '32B', '64B' or '128B'",
            at=user_place(),
            hint=f"a shape is one argument: smem.alloc({dtype}, ({shape}, {swizzle}))"
            if isinstance(swizzle, int)
            else None,
        )
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    if not dims or any(not isinstance(d, int) or d <= 0 for d in dims):
        raise ShapeError(f"shared memory of shape {shape!r}; expected positive ints", at=user_place())
    size = prod(dims) * dtype.bits // 8
    symbol, offset = _reserve(b8, size, size, 128 if align is None else align, name, "smem")
    return SharedAlloc(
        symbol, dtype, dims, swizzle=swizzle, gmma_layout=gmma_layout, gmma_major=gmma_major, dynamic_offset=offset
    )


def wgmma_tile(
    dtype: PtxType, shape: tuple[int, int], major: str = "K", *, align: int | None = None, name: str | None = None
) -> SharedAlloc:
    """Allocate a tile whose layout wgmma can read.

    Args:
        dtype: type of the elements.
        shape: (M or N, K) elements with major "K", (K, M or N) with major "MN".
        major: contiguous dimension, "K" or "MN".
        align: alignment in bytes; default 128. Beyond 48 KiB, the extern array has the largest alignment.
        name: of the variable; default `smem_<n>`.
    Raises:
        ShapeError: an unknown major, or a shape without a canonical layout.
    """
    if major not in ("K", "MN"):
        raise ShapeError(f"major {major!r}; expected 'K' or 'MN'", at=user_place())
    m_or_n, k = shape if major == "K" else shape[::-1]
    layout = pick_gmma_layout(elem_bytes=dtype.bits // 8, m_or_n=m_or_n, k=k, major=Major[major])
    return alloc_with_layout(dtype, shape, layout.smem_swizzle, align, name, layout, major)


def mbarrier(count: int, name: str | None = None) -> MbarrierArray:
    """Allocate `count` mbarrier objects; initialize each with `ptx.mbarrier.init` before use.

    Raises:
        ShapeError: `count` is not positive.
    """
    if count <= 0:
        raise ShapeError(f"{count} mbarriers; the count must be positive", at=user_place())
    symbol, offset = _reserve(b64, count, 8 * count, 8, name, "mbar")
    return MbarrierArray(symbol, count, offset)


def _reserve(
    dtype: PtxType, elements: int, size_bytes: int, align: int, name: str | None, prefix: str
) -> tuple[str, int | None]:
    """Reserve memory; return its symbol, and its offset in the dynamic array (None for a variable of its own)."""
    ctx = get_ctx()
    offset = ctx.allocate_shared(size_bytes, align)
    if ctx.force_dynamic_smem:
        return DYNAMIC_SMEM, offset
    symbol = name or f"{prefix}_{ctx.next_index(prefix)}"
    ctx.declare_variable(StateSpace.SHARED, dtype, symbol, size=elements, align=align)
    return symbol, None
