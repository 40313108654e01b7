"""Control flow of a kernel: branches, loops, scopes. Python's own `if` and `for` run while tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError, TraceError
from pyptx.ir.nodes import Label, LabelOperand, PragmaDirective
from pyptx.ptx._blocks import block, loop_of
from pyptx.ptx._carried_values import LoopVariables
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
    """Branch to a label; with `pred=`, only in threads where it holds."""
    emit("bra", "", LabelOperand(label), pred=pred)


def ret(*, pred: Reg | NegPred | None = None) -> None:
    """Return from the kernel; with `pred=`, only in threads where it holds."""
    emit("ret", "", pred=pred)


def pragma(value: str) -> None:
    """Emit `.pragma "value";`."""
    get_ctx().append(PragmaDirective(value, place=user_place()))


@block
def scope() -> Iterator[None]:
    """Open a scope `{ ... }`: registers declared inside are local to it."""
    with get_ctx().block():
        yield


@block
def if_(condition: Reg | NegPred) -> Iterator[None]:
    """Run the body in threads where the predicate holds.

    Args:
        condition: a predicate such as `a < b`, or its negation `~p`.
    Raises:
        TypeError: any other condition.
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
        raise OperandError(f"ptx.if_ takes a predicate such as `a < b`, not {condition!r}{why}")
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
    """Run the body in threads where the condition of the preceding `if_` does not hold.

    Raises:
        TraceError: the previous statement is not the end of an `if_`.
    """
    ctx = get_ctx()
    last = ctx.statements[-1] if ctx.statements else None
    before = ctx.statements[-2] if len(ctx.statements) > 1 else None
    if not (
        isinstance(last, Label)
        and last.name.startswith("$_endif_")
        and isinstance(before, Label)
        and before.name.startswith("$_else_")
    ):
        raise TraceError(
            "ptx.else_ does not follow a ptx.if_",
            at=user_place(),
            hint="put `with ptx.else_():` directly after the block of `with ptx.if_(p):`",
        )
    ctx.statements.pop()
    with ctx.region():
        yield
    ctx.append(last)


@block
def loop(label: str, *, pred: Reg | NegPred | None = None) -> Iterator[None]:
    """Emit a do-while loop: the body runs once, and again while `pred` holds.

    Args:
        label: name of the label at the start of the body.
        pred: predicate register that the body updates; without one the loop is infinite and must be left by a branch.
    """
    get_ctx().place_label(label)
    yield
    emit("bra", "" if pred is not None else "uni", LabelOperand(label), pred=pred)


@loop_of("ptx.range_")
def range_(start: int | Reg, stop: int | Reg, step: int | Reg = 1) -> Iterator[Reg]:
    """Emit a counted loop: `for k in ptx.range_(0, n):`. The body is traced once.

    Args:
        start, stop, step: ints or s32 registers; the step must not be 0, and a register step must be positive.
    Yields:
        The loop counter, an s32 register.
    Raises:
        ShapeError: the step is 0.
        TraceError: the body was left by Python's `break`, which cannot depend on a register; or it binds a variable that the next
            iteration would read, as in `total = total + value`: the body is traced once.
    """
    if isinstance(step, int) and step == 0:
        raise ShapeError("ptx.range_ with step 0 never terminates", at=user_place())
    ctx = get_ctx()
    start, stop, step = (_bound(value) for value in (start, stop, step))
    name = f"%ri{ctx.next_index('%ri')}"
    counter = reg.scalar(s32, name=name)
    head, end = ctx.label("loop"), ctx.label("endloop")
    emit("mov", "s32", counter, start)
    ctx.place_label(head)
    done = reg.scalar(pred_type)
    descending = isinstance(step, int) and step < 0
    emit("setp", f"{'le' if descending else 'ge'}.s32", done, counter, stop)
    emit("bra", "", LabelOperand(end), pred=done)
    place, first, variables = user_place(), len(ctx.statements), LoopVariables()
    try:
        with ctx.region():
            yield counter
    except GeneratorExit:
        ctx.fail(
            "Python's `break` left a ptx.range_ loop: it would take effect while tracing, in every thread",
            place,
            "branch out with ptx.bra(label, pred=condition), or use ptx.loop(label, pred=...)",
        )
        raise
    variables.check(ctx.statements[first:])
    emit("add", "s32", counter, counter, step)
    emit("bra", "", LabelOperand(head))
    ctx.place_label(end)


def _bound(value: int | Reg) -> int | Reg:
    found = reg.readable(value)
    if isinstance(found, bool) or not isinstance(found, int | Reg):
        raise OperandError(
            f"ptx.range_ takes ints and 32-bit registers, not {value!r}",
            at=user_place(),
            hint="`//` divides integers" if isinstance(value, float) else None,
        )
    return found


def kloop(total: int | Reg, *, unroll: int, body: Callable[[], None], loop_label: str = "kloop") -> None:
    """Run `body` `total` times in a partially unrolled loop, with a branch ladder for the remainder.

    Args:
        total: iterations; an int unrolls completely, a register makes a loop.
        unroll: iterations per branch, a power of two.
        body: emits one iteration.
        loop_label: name of the loop's label.
    Raises:
        ShapeError: `unroll` is not a power of two.
        TypeError: `total` is not an int or a register.
    """
    if unroll < 1 or unroll & (unroll - 1):
        raise ShapeError(f"unroll={unroll}; expected a power of two", at=user_place())
    if isinstance(total, int):
        for _ in range(total):
            body()
        return
    if not isinstance(total, Reg):
        raise OperandError(f"kloop takes an int or a register, not {total!r}")
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
    """Emit nested branches, one body each, until `remainder` is reached."""
    if done < most:
        with if_(remainder != done):
            body()
            _tail(remainder, done + 1, most, body)
