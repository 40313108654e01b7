"""Barriers of a CTA, and register budgets of warpgroups."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.ptx._typed import typed
from pyptx.reg import NegPred, PipeRef, Reg

__all__ = ["NamedBarrier", "bar", "elect_sync", "named_barrier", "setmaxnreg", "setmaxnreg_dec", "setmaxnreg_inc"]


class bar:
    """CTA barriers: `ptx.bar.sync(0)`."""

    @staticmethod
    def sync(n: int | Reg = 0, count: int | Reg | None = None, *, pred: Reg | NegPred | None = None) -> None:
        """Wait at barrier `n` (0..15) for `count` threads (a multiple of 32), or for the whole CTA."""
        typed("bar", "sync", n, *(() if count is None else (count,)), pred=pred)

    @staticmethod
    def arrive(n: int | Reg, count: int | Reg, *, pred: Reg | NegPred | None = None) -> None:
        """Arrive at barrier `n` without waiting."""
        typed("bar", "arrive", n, count, pred=pred)


@dataclass(frozen=True, slots=True)
class NamedBarrier:
    """One of the CTA's 16 barriers and how many threads meet there."""

    barrier_id: int | Reg
    count: int | Reg | None = None

    def sync(self, *, pred: Reg | NegPred | None = None) -> None:
        """Arrive, and wait until all threads of the barrier have."""
        bar.sync(self.barrier_id, self.count, pred=pred)

    def arrive(self, *, pred: Reg | NegPred | None = None) -> None:
        """Arrive and go on.

        Raises:
            TypeError: the barrier was made without a count.
        """
        if self.count is None:
            raise TypeError("arriving at a barrier needs its thread count: named_barrier(id, count=...)")
        bar.arrive(self.barrier_id, self.count, pred=pred)


def named_barrier(id: int | Reg, *, count: int | Reg | None = None) -> NamedBarrier:
    """Barrier `id` (0..15) for `count` threads (a multiple of 32), or for the whole CTA."""
    return NamedBarrier(id, count)


def setmaxnreg(count: int, *, inc: bool = True, pred: Reg | NegPred | None = None) -> None:
    """Change the registers each thread of this warpgroup may use to `count` (24..256, a multiple of 8)."""
    typed("setmaxnreg", f"{'inc' if inc else 'dec'}.sync.aligned.u32", count, pred=pred)


def setmaxnreg_inc(count: int, *, pred: Reg | NegPred | None = None) -> None:
    """Raise the registers each thread of this warpgroup may use to `count`."""
    setmaxnreg(count, inc=True, pred=pred)


def setmaxnreg_dec(count: int, *, pred: Reg | NegPred | None = None) -> None:
    """Lower the registers each thread of this warpgroup may use to `count`."""
    setmaxnreg(count, inc=False, pred=pred)


def elect_sync(dst: Reg, pred_out: Reg, mask: int | Reg, *, pred: Reg | NegPred | None = None) -> None:
    """Elect one lane of `mask`: its id in `dst`, and `pred_out` true in it alone."""
    typed("elect", "sync", PipeRef(dst, pred_out), mask, pred=pred)
