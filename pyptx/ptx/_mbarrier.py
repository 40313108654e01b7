"""The mbarrier instructions. `mbar` is one of `smem.mbarrier(n)[i]`, a slot of a ring, a register or an address."""

from __future__ import annotations

from pyptx import reg
from pyptx.ir.nodes import LabelOperand
from pyptx.ptx._typed import shared_address, typed
from pyptx.reg import NegPred, Reg
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import b64
from pyptx.types import pred as pred_type

__all__ = ["arrive", "arrive_expect_tx", "expect_tx", "init", "inval", "try_wait", "wait"]

Guard = Reg | NegPred | None


def init(mbar: object, count: int | Reg, *, pred: Guard = None) -> None:
    """Set up an mbarrier: a phase ends after `count` arrivals and all bytes it expects."""
    typed("mbarrier", "init.shared::cta.b64", shared_address(mbar), count, pred=pred)


def inval(mbar: object, *, pred: Guard = None) -> None:
    """Give the memory of an mbarrier back to other uses."""
    typed("mbarrier", "inval.shared.b64", shared_address(mbar), pred=pred)


def arrive(mbar: object, *, pred: Guard = None) -> Reg:
    """Arrive once; returns the state before, a b64."""
    target = shared_address(mbar)
    state = reg.scalar(b64)
    typed("mbarrier", "arrive.shared.b64", state, target, pred=pred)
    return state


def arrive_expect_tx(mbar: object, tx: int | Reg, *, pred: Guard = None) -> Reg:
    """Arrive once and expect `tx` more bytes in this phase; returns the state before, a b64."""
    target = shared_address(mbar)
    state = reg.scalar(b64)
    typed("mbarrier", "arrive.expect_tx.shared::cta.b64", state, target, tx, pred=pred)
    return state


def expect_tx(mbar: object, tx: int | Reg, *, pred: Guard = None) -> None:
    """Expect `tx` more bytes in this phase."""
    typed("mbarrier", "expect_tx.shared.b64", shared_address(mbar), tx, pred=pred)


def try_wait(mbar: object, phase: int | Reg, *, parity: bool = True, pred: Guard = None) -> Reg:
    """A predicate: the phase is over. It may be false after a time limit of the system; see wait.

    Args:
        phase: its parity, 0 or 1 (u32); with parity=False the state `arrive` returned (b64).
    """
    target = shared_address(mbar)
    over = reg.scalar(pred_type)
    typed("mbarrier", f"try_wait{'.parity' if parity else ''}.shared.b64", over, target, phase, pred=pred)
    return over


def wait(mbar: object, phase: int | Reg, *, pred: Guard = None) -> None:
    """Wait until the phase of the given parity is over; with `pred=`, only threads where it holds."""
    ctx = get_ctx()
    target = shared_address(mbar)
    again = ctx.label("mbar_wait")
    if pred is not None:
        skip = ctx.label("mbar_done")
        emit("bra", "", LabelOperand(skip), pred=~pred)
    ctx.place_label(again)
    over = try_wait(target, phase)
    emit("bra", "", LabelOperand(again), pred=~over)
    if pred is not None:
        ctx.place_label(skip)
