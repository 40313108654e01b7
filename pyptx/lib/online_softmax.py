"""Softmax of rows that arrive in blocks: running maximum and sum, with the factor that rescales earlier results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ptx import warp
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import f32

__all__ = ["OnlineSoftmax"]


class OnlineSoftmax:
    """Running maximum and sum of the rows of a thread, for scores that arrive in blocks of columns.

    ::

        block 0   scores  --> largest, weights = 2**(scale * (score - largest)), total
        block 1   scores  --> largest rises, factor = 2**(scale * (before - after))
                              results *= factor,  total = total * factor + sum of weights
        end       results / total

    Args:
        rows: rows of which the thread has elements.
        scale: of the scores, times log2(e) for weights in powers of e.
        lanes: neighboring lanes that share a row: 1, 2, 4, ..., 32.
        slack: powers of two by which a weight may exceed 1: the maximum is kept until a score exceeds it by more, so that
            factors other than 1 are rare.
    Attributes:
        largest: maximum of each row, f32 registers, the same in the lanes of a row.
        total: this lane's part of the sum of weights of each row.
    Source: Milakov and Gimelshein, "Online normalizer calculation for softmax"; Dao et al., "FlashAttention".
    """

    largest: list[Reg]
    total: list[Reg]
    scale: float
    slack: float

    def __init__(self, rows: int, scale: float, *, lanes: int = 4, slack: float = 0.0):
        if lanes not in (1, 2, 4, 8, 16, 32) or rows < 1:
            raise ShapeError(f"OnlineSoftmax: rows={rows!r}, lanes={lanes!r}; expected powers of two", at=user_place())
        self.scale, self.lanes, self.slack = scale, lanes, slack
        self.largest = [reg.scalar(f32, -math.inf) for _ in range(rows)]
        self.total = [reg.scalar(f32, 0.0) for _ in range(rows)]

    def raise_largest(self, row: int, scores: Sequence[Reg]) -> Reg:
        """Update the maximum of a row; return the factor that rescales earlier results, f32.

        Emits one `max` for each score, the shuffles between the lanes, and one `ex2.approx`.
        """
        largest = self.largest[row]
        before, factor = reg.from_(largest, f32), reg.scalar(f32)
        for score in scores:
            emit("max", "f32", largest, largest, score)
        if self.lanes > 1:
            warp.reduce_max(largest, width=self.lanes)
        emit("sub", "f32", factor, before, largest)
        emit("mul", "f32", factor, factor, self.scale)
        if self.slack:
            keeps = factor >= -self.slack
            emit("selp", "f32", largest, before, largest, keeps)
            emit("selp", "f32", factor, 0.0, factor, keeps)
        emit("ex2", "approx.ftz.f32", factor, factor)
        return factor

    def weigh(
        self, row: int, scores: Sequence[Reg], factor: Reg, exponential: Callable[[int, Reg], bool] | None = None
    ) -> None:
        """Replace the scores of a row by their weights, and add them to the rescaled sum.

        Emits one `fma`, `ex2.approx` and `add` for each score.

        Args:
            factor: result of `raise_largest`.
            exponential: function of index and register that emits 2**x in place and returns True, or returns False for
                `ex2.approx`.
        """
        offset, total = reg.scalar(f32), self.total[row]
        emit("mul", "f32", offset, self.largest[row], -self.scale)
        emit("mul", "f32", total, total, factor)
        for i, score in enumerate(scores):
            emit("fma", "rn.f32", score, score, self.scale, offset)
            if exponential is None or not exponential(i, score):
                emit("ex2", "approx.ftz.f32", score, score)
            emit("add", "f32", total, total, score)

    def update(self, row: int, scores: Sequence[Reg]) -> Reg:
        """Replace the scores of a row by weights; return the factor that rescales earlier results."""
        factor = self.raise_largest(row, scores)
        self.weigh(row, scores, factor)
        return factor

    def finish(self, row: int) -> Reg:
        """Return the sum of weights of a row, the same in its lanes; emits the shuffles, in place."""
        if self.lanes > 1:
            warp.reduce_sum(self.total[row], width=self.lanes)
        return self.total[row]
