"""Output and checks in a kernel: `ptx.printf` and `ptx.check_`; `@kernel(debug=False)` removes both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyptx import reg
from pyptx._lazy import pattern
from pyptx._loc import user_place
from pyptx.errors import OperandError
from pyptx.ir.nodes import LabelOperand
from pyptx.ptx.inline_ptx import raw
from pyptx.ptx.position import ctaid, tid
from pyptx.reg import NegPred, Reg
from pyptx.tracing.operand import float_literal
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, f32, f64, pred, s32, s64, u32, u64

__all__ = ["check_", "printf"]

_CONVERSION = pattern(
    r"%(?P<shape>[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?)(?:hh|h|ll|l|j|z|t|L)?(?P<kind>[diouxXcsaAeEfFgGp%])?"
)
_WHERE = "cta (%u, %u, %u) thread (%u, %u, %u): "
_PRINTF = ".extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 values);"
_ASSERT = (
    ".extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, "
    ".param .b64 size);"
)


def printf(format: str, *values: Any, where: bool = True) -> None:
    """Print from each thread that executes it: `ptx.printf("x[%d] = %f", i, x[i])`.

    Emits the stores of the values to local memory and a call of `vprintf`, as CUDA's printf does. A GPU prints when the
    stream is synchronized; the simulator prints at once, in the order of CTAs, warps and lanes.

    Args:
        format: as in C. Length modifiers may be omitted: they follow from the types of the values.
        values: one for each conversion: registers, Python numbers, and strings for %s. Floats are printed as f64,
            predicates as 0 or 1.
        where: start the line with the indices of the CTA and the thread, and end it if the format does not.
    Raises:
        OperandError: the values do not fit the conversions.
    Examples:
        >>> @kernel(in_specs=(Tile(2, f32),), out_specs=(Tile(2, f32),), block=2)
        ... def halves(x, y):
        ...     value = x[ptx.tid.x] / 2.0
        ...     ptx.printf("half of it is %.2f", value)
        ...     y[ptx.tid.x] = value
        >>> y = halves(np.array([1.0, 2.0], np.float32))
        cta (0, 0, 0) thread (0, 0, 0): half of it is 0.50
        cta (0, 0, 0) thread (1, 0, 0): half of it is 1.00
    """
    if not isinstance(format, str):
        raise OperandError(f"ptx.printf takes the format as text, not {format!r}", at=user_place())
    text, pairs = _matched(format, values)
    if not get_ctx().debug:
        return
    if where:
        text = _WHERE + text + "\n" * (not text.endswith("\n"))
        pairs = [*((getattr(part, axis), u32) for part in (ctaid, tid) for axis in "xyz"), *pairs]
    get_ctx().externs.setdefault("vprintf", _PRINTF)
    strings, stores, size = [text], [], 0
    for value, dtype in pairs:
        width = dtype.bits // 8
        size = -(-size // width) * width
        if isinstance(value, str):
            strings.append(value)
            stores += [f"mov.u64 %at, $text{len(strings) - 1};", "cvta.global.u64 %at, %at;"]
            source = "%at"
        else:
            source = _source(value, dtype)
        stores.append(f"st.local.b{dtype.bits} [$values+{size}], {source};")
        size += width
    lines = [_string(k, string) for k, string in enumerate(strings)]
    raw("\n".join([
        "{", *lines, f".local .align 8 .b8 $values[{max(8, size)}];", ".reg .b64 %at;", *stores,
        ".param .b64 $format;", ".param .b64 $list;", ".param .b32 $status;",
        "mov.u64 %at, $text0;", "cvta.global.u64 %at, %at;", "st.param.b64 [$format], %at;",
        "mov.u64 %at, $values;", "cvta.local.u64 %at, %at;", "st.param.b64 [$list], %at;",
        "call ($status), vprintf, ($format, $list);", "}",
    ]))  # fmt: skip


def check_(condition: Reg | NegPred, message: str = "") -> None:
    """End the launch with an error in threads where a predicate does not hold: `ptx.check_(i < n, "i is in range")`.

    Emits a branch around a call of `__assertfail`, as CUDA's assert does, and `trap`. The error names the file and line of the
    call; on the simulator it also has the thread and its registers.

    Args:
        condition: a predicate.
        message: shown as the assertion that failed; default: the source line.
    Raises:
        OperandError: the condition is not a predicate.
    """
    if not isinstance(condition, Reg | NegPred) or (isinstance(condition, Reg) and condition.dtype != pred):
        why = getattr(condition, "why_no_guard", "")
        raise OperandError(f"ptx.check_ takes a predicate such as `a < b`, not {condition!r}{why}", at=user_place())
    ctx, place = get_ctx(), user_place()
    if not ctx.debug:
        return
    ctx.externs.setdefault("__assertfail", _ASSERT)
    passed = ctx.label("checked")
    emit("bra", "", LabelOperand(passed), pred=condition)
    texts = (message or place.source_line.strip() or "check", Path(place.file).name, place.function)
    names = ("$message", "$file", "$function")
    given = [
        line
        for k, name in enumerate(names)
        for line in (f"mov.u64 %at, $text{k};", "cvta.global.u64 %at, %at;", f"st.param.b64 [{name}], %at;")
    ]
    raw("\n".join([
        "{", *(_string(k, text) for k, text in enumerate(texts)), ".reg .b64 %at;", ".param .b64 $message;",
        ".param .b64 $file;", ".param .b32 $line;", ".param .b64 $function;", ".param .b64 $size;", *given,
        f"st.param.b32 [$line], {place.line};", "st.param.b64 [$size], 1;",
        "call __assertfail, ($message, $file, $line, $function, $size);", "}",
    ]))  # fmt: skip
    emit("trap", "")
    ctx.place_label(passed)


def _matched(format: str, values: Sequence[Any]) -> tuple[str, list[tuple[Any, PtxType]]]:
    """Return the format with length modifiers for the values, and each value with the type that is passed.

    Raises:
        OperandError: a value is missing, left over, or of a type that its conversion does not print.
    """
    left, pairs = iter(values), []

    def conversion(found: re.Match[str]) -> str:
        kind = found["kind"]
        if kind == "%":
            return "%%"
        if kind is None or "*" in found["shape"]:
            raise OperandError(
                f"{found[0]!r} is not a conversion that ptx.printf prints", at=user_place(), hint="write %% for %"
            )
        value, dtype = _passed(found[0], kind, left, format, len(values))
        pairs.append((value, dtype))
        return f"%{found['shape']}{'ll' if dtype.bits == 64 and kind in 'diouxX' else ''}{kind}"

    text = _CONVERSION.sub(conversion, format)
    if rest := list(left):
        raise OperandError(f"{len(rest)} of {len(values)} values have no conversion in {format!r}", at=user_place())
    return text, pairs


def _passed(conversion: str, kind: str, left: Iterator[Any], format: str, count: int) -> tuple[Any, PtxType]:
    """Return the next value as it is passed to a conversion, with its type: s32, s64, u32, u64 or f64."""
    try:
        value = next(left)
    except StopIteration:
        raise OperandError(f"{format!r} has more conversions than the {count} values given", at=user_place()) from None
    wanted = "text" if kind == "s" else "a float" if kind in "aAeEfFgG" else "an integer"
    if isinstance(value, str) and kind == "s":
        return value, u64
    if isinstance(value, bool | int) and wanted == "an integer":
        return int(value), s32 if -(1 << 31) <= value < 1 << 32 and kind != "p" else s64
    if isinstance(value, int | float) and wanted == "a float":
        return float(value), f64
    if isinstance(value, NegPred):
        value = value & value
    if isinstance(value, Reg) and kind != "s" and value.dtype.is_float == (wanted == "a float"):
        value = reg.readable(value)
        if value.dtype == pred:
            return value.to(u32), u32
        if wanted == "a float":
            return (value if value.dtype == f64 else (value if value.dtype == f32 else value.to(f32)).to(f64)), f64
        wide = s64 if kind == "p" or value.dtype.bits == 64 else s32 if value.dtype.is_signed else u32
        return (value if value.dtype.bits == wide.bits else value.to(u64 if kind == "p" else wide)), wide
    fix = {"a float": "print it with %d, or convert it: x.to(f32)", "an integer": "print it with %f"}.get(wanted)
    raise OperandError(f"{conversion} prints {wanted}, not {value!r}", at=user_place(), hint=fix)


def _source(value: Any, dtype: PtxType) -> str:
    """Return a value as the text of an operand of `st`."""
    if isinstance(value, float):
        return float_literal(value, 64)
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, Reg):
        raise OperandError(f"{value!r} cannot be printed", at=user_place())
    value = reg.readable(value)
    return value.name


def _string(index: int, text: str) -> str:
    """Return the declaration of a text with its final zero."""
    data = [*text.encode(), 0]
    return f".global .align 1 .b8 $text{index}[{len(data)}] = {{{', '.join(map(str, data))}}};"
