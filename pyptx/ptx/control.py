"""Control flow in the kernel: branches, loops, scopes. Python's own `if` and `for` run while tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError, TraceError
from pyptx.ir.nodes import Label, LabelOperand, PragmaDirective
from pyptx.ptx._blocks import block
from pyptx.reg import NegPred, Reg
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import pred as pred_type
from pyptx.types import s32

__all__ = ["bra", "else_", "if_", "kloop", "label", "loop", "pragma", "range_", "ret", "scope"]


def label(name: str) -> None:
    """Place a label."""
    ctx = get_ctx()
    ctx.place_label(name)
    ctx.join()


def bra(label: str, *, pred: Reg | NegPred | None = None) -> None:
    """Jump to a label; with `pred=` only where the predicate holds."""
    emit("bra", "", LabelOperand(label), pred=pred)


def ret(*, pred: Reg | NegPred | None = None) -> None:
    """Return from the kernel; with `pred=` only the threads where the predicate holds."""
    emit("ret", "", pred=pred)


def pragma(value: str) -> None:
    """Write `.pragma "value";`."""
    get_ctx().append(PragmaDirective(value, place=user_place()))


@block
def scope() -> Iterator[None]:
    """`{ ... }`: registers declared inside are local."""
    with get_ctx().block():
        yield


@block
def if_(condition: Reg | NegPred) -> Iterator[None]:
    """Run the body in threads where the predicate holds.

    Examples:
        >>> @kernel
        ... def first_warp():
        ...     with ptx.if_(reg.from_(ptx.special.tid.x(), u32) < 32):
        ...         ptx.inst.nanosleep.u32(20)
        ...     with ptx.else_():
        ...         ptx.inst.nanosleep.u32(40)
        >>> print(first_warp.ptx())
        .version 8.5
        ...
            mov.u32 %r0, %tid.x;
            setp.lt.u32 %p0, %r0, 32;
            @!%p0 bra $_else_0;
            nanosleep.u32 20;
            bra $_endif_1;
        $_else_0:
            nanosleep.u32 40;
        $_endif_1:
        }
    """
    if not isinstance(condition, Reg | NegPred):
        why = getattr(condition, "why_no_guard", "; a Python `if` decides while tracing")
        raise TypeError(f"ptx.if_ takes a predicate such as `a < b`, not {condition!r}{why}")
    ctx = get_ctx()
    otherwise, end = ctx.label("else"), ctx.label("endif")
    emit("bra", "", LabelOperand(otherwise), pred=~condition)
    with ctx.region():
        yield
    emit("bra", "", LabelOperand(end))
    ctx.place_label(otherwise)
    ctx.place_label(end)


@block
def else_() -> Iterator[None]:
    """Run the body in the threads the `if_` right before did not run."""
    ctx = get_ctx()
    last = ctx.statements[-1] if ctx.statements else None
    before = ctx.statements[-2] if len(ctx.statements) > 1 else None
    if not (isinstance(last, Label) and last.name.startswith("$_endif_")
            and isinstance(before, Label) and before.name.startswith("$_else_")):
        raise TraceError("ptx.else_ without a ptx.if_ right before it", at=user_place(),
                         hint="nothing may stand between the end of `with ptx.if_(p):` and `with ptx.else_():`")
    ctx.statements.pop()
    with ctx.region():
        yield
    ctx.append(last)


@block
def loop(label: str, *, pred: Reg | NegPred | None = None) -> Iterator[None]:
    """A do-while loop: the body runs at least once, and again while `pred` holds (for ever without one).

    The body must update the same predicate register.
    """
    get_ctx().place_label(label)
    yield
    emit("bra", "" if pred is not None else "uni", LabelOperand(label), pred=pred)


def range_(start: int | Reg, stop: int | Reg, step: int | Reg = 1) -> Iterator[Reg]:
    """A counted loop in the kernel: `for k in ptx.range_(0, n):`; the body is traced once.

    Args:
        start, stop, step: s32 numbers or registers; a register step must be positive.
    Raises:
        TraceError: the body was left by Python's `break`, which cannot depend on a register.
    """
    if isinstance(step, int) and step == 0:
        raise ShapeError("ptx.range_ with step 0 never ends", at=user_place())
    ctx = get_ctx()
    start, stop, step = map(reg.readable, (start, stop, step))
    name = f"%ri{ctx.next_index('%ri')}"
    counter = reg.scalar(s32, name=name)
    head, end = ctx.label("loop"), ctx.label("endloop")
    emit("mov", "s32", counter, start)
    ctx.place_label(head)
    done = reg.scalar(pred_type)
    descending = isinstance(step, int) and step < 0
    emit("setp", f"{'le' if descending else 'ge'}.s32", done, counter, stop)
    emit("bra", "", LabelOperand(end), pred=done)
    place = user_place()
    try:
        with ctx.region():
            yield counter
    except GeneratorExit:
        ctx.fail("Python's `break` left a ptx.range_ loop: it would take effect while tracing, in every thread", place,
                 "jump out with ptx.bra(label, pred=condition), or use ptx.loop(label, pred=...)")
        raise
    emit("add", "s32", counter, counter, step)
    emit("bra", "", LabelOperand(head))
    ctx.place_label(end)


def kloop(total: int | Reg, *, unroll: int, body: Callable[[], None], loop_label: str = "kloop") -> None:
    """Run `body` `total` times, `unroll` times per branch; the remainder by a ladder of branches.

    Args:
        total: an int unrolls completely; a register makes a loop.
        unroll: a power of two.
    """
    if unroll < 1 or unroll & (unroll - 1):
        raise ShapeError(f"unroll={unroll}; expected a power of two", at=user_place())
    if isinstance(total, int):
        for _ in range(total):
            body()
        return
    if not isinstance(total, Reg):
        raise TypeError(f"kloop takes an int or a register, not {total!r}")
    total = reg.readable(total)
    dtype = total.dtype
    unsigned = {"b32": "u32", "b64": "u64"}.get(dtype.name, dtype.name)
    remainder, rounded = reg.scalar(dtype), reg.scalar(dtype)
    emit("and", f"b{dtype.bits}", remainder, total, unroll - 1)
    emit("sub", f"s{dtype.bits}", rounded, total, remainder)
    with if_(total >= unroll):
        left, keep = reg.scalar(dtype), reg.scalar(pred_type)
        emit("mov", dtype.name, left, rounded)
        emit("setp", f"ne.{unsigned}", keep, left, 0)
        with loop(loop_label, pred=keep):
            for _ in range(unroll):
                body()
            left -= unroll
            emit("setp", f"ne.{unsigned}", keep, left, 0)
    _tail(remainder, 0, unroll - 1, body)


def _tail(remainder: Reg, done: int, most: int, body: Callable[[], None]) -> None:
    """Nested branches: another body while `remainder` is not reached."""
    if done < most:
        with if_(remainder != done):
            body()
            _tail(remainder, done + 1, most, body)

