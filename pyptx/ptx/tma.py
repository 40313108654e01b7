"""TMA copies of matrices stored as blocks of 64 columns: a rank-3 tensor map with sizes (64, rows, columns/64).

The coordinates are {0, row, col/64}; `coords` overrides them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError
from pyptx.ptx import _tensor_copy, cluster
from pyptx.ptx._checked import emit_checked
from pyptx.reg import NegPred, Reg
from pyptx.tensor import TensorSpec
from pyptx.tracing.operand import address
from pyptx.types import u32

__all__ = ["load_3d", "load_3d_multicast", "prefetch_map", "store_3d"]

Guard = Reg | NegPred | None
Index = int | Reg | None

_LOAD = "shared::cluster.global.tile.mbarrier::complete_tx::bytes"


def prefetch_map(tensor: object, *, pred: Guard = None) -> None:
    """Prefetch a tensor map, so that the first copy does not wait for it (`prefetch.tensormap`).

    Args:
        tensor: an array of the kernel, the result of its `tma_desc()`, or an address.
    """
    source = tensor.tma_desc() if isinstance(tensor, TensorSpec) else tensor
    emit_checked("prefetch", "tensormap", address(source), pred=pred)


def load_3d(
    dst: object,
    src: object,
    row: Index = None,
    col: Index = None,
    mbar: object = None,
    coords: Sequence[object] | None = None,
    *,
    pred: Guard = None,
) -> None:
    """Load the box at (row, col) into `dst`.

    Args:
        dst: shared memory of the box.
        src: the tensor map.
        row, col: position of the box in elements.
        mbar: mbarrier that tracks the bytes.
        coords: three coordinates, innermost first, instead of `row` and `col`.
    """
    _tensor_copy.load(3, _LOAD, dst=dst, src=src, coord=_coordinates(row, col, coords), mbar=mbar, pred=pred)


def load_3d_multicast(
    dst: object,
    src: object,
    row: Index = None,
    col: Index = None,
    mbar: object = None,
    mask: int | Reg | None = None,
    coords: Sequence[object] | None = None,
    *,
    issuer: int | Reg | NegPred | None = None,
    pred: Guard = None,
) -> None:
    """Load the box at (row, col), or at `coords`, into every CTA of `mask`; see `load_3d`.

    Args:
        mask: bit i for CTA i of the cluster.
        issuer: rank of the CTA that issues the copy, or a predicate that is true in it; instead of `pred`.
    """
    if mask is None:
        raise OperandError("load_3d_multicast needs mask=, bit i for CTA i of the cluster", at=user_place())
    if issuer is not None:
        if pred is not None:
            raise ShapeError("load_3d_multicast takes issuer= or pred=, not both", at=user_place())
        pred = cluster.rank(issuer) if isinstance(issuer, int) else issuer
    _tensor_copy.load(
        3,
        f"{_LOAD}.multicast::cluster",
        dst=dst,
        src=src,
        coord=_coordinates(row, col, coords),
        mbar=mbar,
        multicast_mask=mask,
        pred=pred,
    )


def store_3d(
    dst: object,
    src: object,
    row: Index = None,
    col: Index = None,
    coords: Sequence[object] | None = None,
    *,
    pred: Guard = None,
) -> None:
    """Write shared memory `src` to the box at (row, col); see `load_3d`."""
    _tensor_copy.store(
        3, "global.shared::cta.tile.bulk_group", dst=dst, src=src, coord=_coordinates(row, col, coords), pred=pred
    )


def _coordinates(row: Index, col: Index, coords: Sequence[object] | None) -> Sequence[object]:
    if coords is not None:
        return coords
    if row is None or col is None:
        raise OperandError("a 3-d TMA copy needs row= and col=, or coords=", at=user_place())
    if isinstance(col, Reg):
        block = reg.scalar(u32)
        emit_checked("shr", "u32", block, col, 6)
        return 0, row, block
    return 0, row, col // 64
