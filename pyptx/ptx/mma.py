"""Warp matrix multiply-accumulate (sm_80): `ptx.mma.sync(...)`."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.ptx._checked import check_option, emit_checked, type_name
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.types import PtxType

__all__ = ["sync"]

Fragment = RegArray | Sequence[Reg]


def sync(
    *,
    shape: tuple[int, int, int],
    dtype_d: PtxType,
    dtype_a: PtxType,
    dtype_b: PtxType,
    dtype_c: PtxType,
    d: Fragment,
    a: Fragment,
    b: Fragment,
    c: Fragment,
    a_layout: str = "row",
    b_layout: str = "col",
    pred: Reg | NegPred | None = None,
) -> None:
    """Emit D = A * B + C over a warp.

    Args:
        shape: (m, n, k) in elements, such as (16, 8, 16).
        dtype_d, dtype_a, dtype_b, dtype_c: types of the elements.
        d, a, b, c: registers of the lane's fragment of each matrix.
        a_layout, b_layout: "row" or "col"; all shapes but m8n8k4 require row, col.
    Raises:
        PtxValidationError: no such form.
    """
    check_option(a_layout, ("row", "col"), "a_layout")
    check_option(b_layout, ("row", "col"), "b_layout")
    m, n, k = shape
    types = ".".join(type_name(t) for t in (dtype_d, dtype_a, dtype_b, dtype_c))
    emit_checked(
        "mma",
        f"sync.aligned.m{m}n{n}k{k}.{a_layout}.{b_layout}.{types}",
        *(f if isinstance(f, RegArray) else list(f) for f in (d, a, b, c)),
        pred=pred,
    )
