"""CTA barriers, register counts of warpgroups, and leader election."""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.errors import OperandError
from pyptx.ptx._checked import emit_checked
from pyptx.reg import NegPred, PipeRef, Reg

__all__ = ["NamedBarrier", "bar", "elect_sync", "named_barrier", "setmaxnreg", "setmaxnreg_dec", "setmaxnreg_inc"]


class bar:
    """CTA barriers: `ptx.bar.sync(0)`."""

    @staticmethod
    def sync(n: int | Reg = 0, count: int | Reg | None = None, *, pred: Reg | NegPred | None = None) -> None:
        """Arrive at barrier `n` (0..15) and wait for `count` threads (a multiple of 32; default: the whole CTA)."""
        emit_checked("bar", "sync", n, *(() if count is None else (count,)), pred=pred)

    @staticmethod
    def arrive(n: int | Reg, count: int | Reg, *, pred: Reg | NegPred | None = None) -> None:
        """Arrive at barrier `n` without waiting."""
        emit_checked("bar", "arrive", n, count, pred=pred)


@frozen
class NamedBarrier:
    """One of the CTA's 16 barriers, with its thread count."""

    barrier_id: int | Reg
    count: int | Reg | None = None

    def sync(self, *, pred: Reg | NegPred | None = None) -> None:
        """Arrive, and wait for all threads of the barrier."""
        bar.sync(self.barrier_id, self.count, pred=pred)

    def arrive(self, *, pred: Reg | NegPred | None = None) -> None:
        """Arrive without waiting.

        Raises:
            TypeError: the barrier has no count.
        """
        if self.count is None:
            raise OperandError("bar.arrive needs a thread count: named_barrier(id, count=...)")
        bar.arrive(self.barrier_id, self.count, pred=pred)


def named_barrier(id: int | Reg, *, count: int | Reg | None = None) -> NamedBarrier:
    """Return barrier `id` (0..15) for `count` threads (a multiple of 32; default: the whole CTA)."""
    return NamedBarrier(id, count)


def setmaxnreg(count: int, *, inc: bool = True, pred: Reg | NegPred | None = None) -> None:
    """Set the maximum number of registers per thread of this warpgroup to `count` (24..256, a multiple of 8)."""
    emit_checked("setmaxnreg", f"{'inc' if inc else 'dec'}.sync.aligned.u32", count, pred=pred)


def setmaxnreg_inc(count: int, *, pred: Reg | NegPred | None = None) -> None:
    """Raise the maximum number of registers per thread of this warpgroup to `count`."""
    setmaxnreg(count, inc=True, pred=pred)


def setmaxnreg_dec(count: int, *, pred: Reg | NegPred | None = None) -> None:
    """Lower the maximum number of registers per thread of this warpgroup to `count`."""
    setmaxnreg(count, inc=False, pred=pred)


def elect_sync(dst: Reg, pred_out: Reg, mask: int | Reg, *, pred: Reg | NegPred | None = None) -> None:
    """Elect one lane of `mask`.

    Args:
        dst: receives the lane id.
        pred_out: true in the elected lane only.
        mask: participating lanes, 32 bits.
    """
    emit_checked("elect", "sync", PipeRef(dst, pred_out), mask, pred=pred)
