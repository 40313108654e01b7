"""Reductions and scans over the threads of a warp or a CTA, and loops that unroll.

Each emits the instructions a kernel would spell out: shuffles, one operation each, and for a CTA shared memory and barriers.
"""

from __future__ import annotations

from typing import Any

from pyptx import reg, smem
from pyptx._loc import user_place
from pyptx.errors import OperandError, ShapeError
from pyptx.ptx._checked import one_of
from pyptx.ptx.position import tid
from pyptx.reg import Reg
from pyptx.tracing.operand import half_bits
from pyptx.tracing.operators import arithmetic, spelling
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, b32, pred, u32

__all__ = ["block_reduce", "unroll", "warp_reduce", "warp_scan"]

_OPERATIONS = ("add", "mul", "max", "min", "and", "or", "xor")
_ALL = -1  # member mask of a whole warp


def warp_reduce(x: Reg, op: str = "add", *, width: int = 32) -> Reg:
    """Combine the values of groups of `width` lanes; return the result, the same in every lane, in a new register.

    Emits for each of log2(width) steps one `shfl.sync.bfly` (two for 64-bit types) and the operation.

    Args:
        x: a register of 16, 32 or 64 bits.
        op: "add", "mul", "max", "min", "and", "or" or "xor".
        width: lanes per group: 2, 4, 8, 16 or 32. All lanes of the warp must participate.
    Raises:
        OperandError: `x` is not a register with that operation.
        ShapeError: another operation or width.
    Examples:
        >>> @kernel
        ... def pairs():
        ...     ptx.warp_reduce(reg.scalar(f32, 1.0), "max", width=2)
        >>> print(pairs.ptx())
        .version 8.5
        ...
            mov.f32 %f0, 0f3F800000;
            mov.f32 %f1, %f0;
            shfl.sync.bfly.b32 %f2, %f1, 1, 31, -1;
            max.f32 %f1, %f1, %f2;
        }
    """
    one_of(op, _OPERATIONS, "op")
    one_of(width, (2, 4, 8, 16, 32), "width")
    total = _copy(_number(x, "ptx.warp_reduce"))
    return _butterfly(total, op, width)


def _butterfly(total: Reg, op: str, width: int) -> Reg:
    distance = width // 2
    while distance:
        arithmetic(op, total, _shuffled(total, "bfly", distance, 31), total)
        distance //= 2
    return total


def warp_scan(x: Reg, op: str = "add", *, exclusive: bool = False) -> Reg:
    """Combine the values of all lanes up to the own one; return the result in a new register.

    Emits five steps of `shfl.sync.up` and a guarded operation; `exclusive` adds one shift.

    Args:
        x: a register of 16, 32 or 64 bits.
        op: "add", "mul", "max", "min", "and", "or" or "xor".
        exclusive: leave the own value out; lane 0 gets the identity of the operation.
    Raises:
        OperandError: `x` is not a register with that operation.
        ShapeError: another operation.
    """
    one_of(op, _OPERATIONS, "op")
    total = _copy(_number(x, "ptx.warp_scan"))
    for distance in (1, 2, 4, 8, 16):
        inside = reg.scalar(pred)
        other = _shuffled(total, "up", distance, 0, inside)
        opcode, modifiers = spelling(op, total.dtype)
        emit(opcode, modifiers, total, total, other, pred=inside)
    if not exclusive:
        return total
    inside = reg.scalar(pred)
    before = _shuffled(total, "up", 1, 0, inside)
    _set_identity(before, op, ~inside)
    return before


def block_reduce(x: Reg, op: str = "add", *, threads: int, once: bool = False) -> Reg:
    """Combine the values of all threads of a CTA; return the result, the same in every thread, in a new register.

    Emits a reduction in each warp, a store of its result to shared memory, `bar.sync 0`, and a reduction of the results of the
    warps; then another `bar.sync 0`, so that the shared memory can be written again in the next iteration of a loop.

    Args:
        x: a register of 16, 32 or 64 bits.
        op: "add", "mul", "max", "min", "and", "or" or "xor".
        threads: threads of the CTA, a multiple of 32; all of them must participate, and their index is `ptx.tid.x`.
        once: omit the last barrier: the call is not in a loop.
    Raises:
        OperandError: `x` is not a register with that operation.
        ShapeError: another operation or number of threads.
    """
    if not isinstance(threads, int) or threads % 32 or not 32 <= threads <= 1024:
        raise ShapeError(f"threads={threads!r}; expected a multiple of 32 from 32 to 1024", at=user_place())
    get_ctx().need_threads(
        threads, "block_reduce is over", "pass the threads of a CTA, @kernel(block=...)", exactly=True
    )
    total, warps = warp_reduce(x, op), threads // 32
    if warps == 1:
        return total
    parts, thread = smem.alloc(total.dtype, warps), reg.from_(tid.x, u32)
    parts.store(thread >> 5, total, pred=(thread & 31) == 0)
    emit("bar", "sync", 0)
    width = 1 << (warps - 1).bit_length()
    place = thread & (width - 1)
    if width == warps:
        result = parts.load(place)
    else:
        present = place < warps
        result = reg.scalar(total.dtype)
        _set_identity(result, op)
        found = parts.load(place, pred=present)
        emit("mov", _bits(result.dtype), result, found, pred=present)
    _butterfly(result, op, width)
    if not once:
        emit("bar", "sync", 0)
    return result


def unroll(*bounds: int) -> range:
    """Return Python's `range` of ints, for loops that unroll: each iteration of the body is emitted.

    Args:
        bounds: stop; start, stop; or start, stop, step.
    Raises:
        OperandError: a bound is a register, whose value is not known while the kernel is traced.
    """
    for bound in bounds:
        if not isinstance(bound, int):
            raise OperandError(
                f"ptx.unroll takes ints, not {bound!r}",
                at=user_place(),
                hint="write `for k in ptx.range_(start, stop):` for a loop in the kernel",
            )
    return range(*bounds)


# implementation -----------------------------------------------------------------------------------------------------


def _number(x: object, name: str) -> Reg:
    if not isinstance(x, Reg) or x.dtype.bits not in (16, 32, 64):
        raise OperandError(f"{name} takes a register of 16, 32 or 64 bits, not {x!r}", at=user_place())
    return reg.readable(x)


def _copy(x: Reg) -> Reg:
    result = reg.scalar(x.dtype)
    emit("mov", _bits(x.dtype), result, x)
    return result


def _bits(dtype: PtxType) -> str:
    return dtype.name if dtype.name in ("f32", "f64") else f"b{dtype.bits}"


def _shuffled(x: Reg, mode: str, distance: int, clamp: int, inside: Reg | None = None) -> Reg:
    """Emit the exchange of a value of 16, 32 or 64 bits with another lane; return the received one."""
    result = reg.scalar(x.dtype)
    words, received = [x], [result]
    if x.dtype.bits != 32:
        words, received = ([reg.scalar(b32) for _ in range(max(1, x.dtype.bits // 32))] for _ in range(2))
        if x.dtype.bits == 64:
            emit("mov", "b64", words, x)
        else:
            emit("mov", "b32", words[0], [x, x])
    for word, other in zip(words, received, strict=True):
        target: Any = other if inside is None or other is not received[0] else other | inside
        emit("shfl", f"sync.{mode}.b32", target, word, distance, clamp, _ALL)
    if x.dtype.bits == 64:
        emit("mov", "b64", result, received)
    elif x.dtype.bits == 16:
        emit("mov", "b32", [result, reg.scalar(x.dtype)], received[0])
    return result


def _set_identity(result: Reg, op: str, condition: object = None) -> None:
    """Emit the identity of an operation into a register."""
    dtype = result.dtype
    if dtype.is_float:
        number = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}[op]
        if dtype.bits == 16 or dtype.name in ("f16x2", "bf16x2"):
            emit("mov", f"b{dtype.bits}", result, half_bits(dtype.name, number), pred=condition)
        else:
            literal = reg.scalar(dtype, number)
            emit("mov", dtype.name, result, literal, pred=condition)
        return
    bits, signed = dtype.bits, dtype.is_signed
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    value = {"add": 0, "mul": 1, "max": low, "min": high, "and": -1 if signed else high, "or": 0, "xor": 0}[op]
    emit("mov", f"{'s' if signed else 'u'}{bits}", result, value, pred=condition)
