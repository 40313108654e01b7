"""Warp matrix multiply-accumulate (sm_80): `ptx.mma.sync(...)`."""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.ptx._typed import one_of, type_name, typed
from pyptx.reg import NegPred, Reg, RegArray
from pyptx.types import PtxType

__all__ = ["sync"]

Fragment = RegArray | Sequence[Reg]


def sync(*, shape: tuple[int, int, int], dtype_d: PtxType, dtype_a: PtxType, dtype_b: PtxType, dtype_c: PtxType,
         d: Fragment, a: Fragment, b: Fragment, c: Fragment, a_layout: str = "row", b_layout: str = "col",
         pred: Reg | NegPred | None = None) -> None:
    """D = A * B + C over a warp; every operand is a list of the lane's registers.

    Args:
        shape: (m, n, k) in elements, such as (16, 8, 16).
        a_layout, b_layout: "row" or "col"; the hardware has row, col for all types but f64 and m8n8k4.
    """
    one_of(a_layout, ("row", "col"), "a_layout")
    one_of(b_layout, ("row", "col"), "b_layout")
    m, n, k = shape
    types = ".".join(type_name(t) for t in (dtype_d, dtype_a, dtype_b, dtype_c))
    typed("mma", f"sync.aligned.m{m}n{n}k{k}.{a_layout}.{b_layout}.{types}",
          *(f if isinstance(f, RegArray) else list(f) for f in (d, a, b, c)), pred=pred)
