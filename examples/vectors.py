"""Vector loads and stores of up to 16 bytes (f32, bf16 or f16 in memory, f32 in registers), addresses, elementwise kernels.

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; PTX ISA, "ld", "st", "cvt".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pyptx import ptx, reg
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b16, b32, bf16, f32, pred, u32, u64

__all__ = [
    "THREADS",
    "blocks_of",
    "both",
    "elementwise",
    "load",
    "load_words",
    "moved",
    "round_pair",
    "rounded",
    "store",
    "unpacked",
    "wide",
    "widest",
]

THREADS = 256  # per CTA


def widest(count: int, dtype: PtxType) -> int:
    """Return the elements per access: up to 16 bytes, and a divisor of `count`."""
    return math.gcd(count, 128 // dtype.bits)


def moved(address: Reg, distance: int | Reg, scale: int = 1) -> Reg:
    """Return the address plus `distance` (u32) times `scale` bytes."""
    result = reg.scalar(u64)
    if isinstance(distance, Reg):
        ptx.inst.mad.wide.u32(result, distance, scale, address)
    else:
        ptx.inst.add.u64(result, address, distance * scale)
    return result


def wide(count: int | Reg, scale: int) -> Reg:
    """Return count * scale in 64 bits."""
    result = reg.scalar(u64)
    ptx.inst.mul.wide.u32(result, count, scale)
    return result


def both(p: Reg | None, q: Reg | bool | None) -> Reg | None:
    """Return the conjunction of two predicates; None is true, and beside a predicate the second may be a Python bool."""
    if q is None:
        return p
    if p is None:
        assert isinstance(q, Reg), "a Python bool needs a predicate beside it"
        return q
    result = reg.scalar(pred)
    ptx.inst.and_.pred(result, p, q if isinstance(q, Reg) else int(q))
    return result


def load(address: Reg, count: int, dtype: PtxType, guard: Reg | None = None, offset: int = 0) -> list[Reg]:
    """Load `count` elements at an address plus `offset` bytes, as f32; zeros where the guard is false."""
    return unpacked(load_words(address, count, dtype, guard, offset), dtype)


def load_words(address: Reg, count: int, dtype: PtxType, guard: Reg | None = None, offset: int = 0) -> list[Reg]:
    """Load elements as `load` does, unconverted: in 32-bit words, or one 16-bit word."""
    source = ptx.addr(address, offset)
    size = min(32, count * dtype.bits)  # bits per register
    kind = f32 if dtype == f32 else b32 if size == 32 else b16
    words = [reg.scalar(kind, None if guard is None else 0) for _ in range(count * dtype.bits // size)]
    read = ptx.inst.ld.global_ if len(words) == 1 else getattr(ptx.inst.ld.global_, f"v{len(words)}")
    getattr(read, f"b{size}")(words[0] if len(words) == 1 else words, source, pred=guard)
    return words


def unpacked(words: list[Reg], dtype: PtxType) -> list[Reg]:
    """Convert packed elements to f32."""
    if dtype == f32:
        return words
    halves = words
    if words[0].dtype == b32:
        halves = [reg.scalar(b16) for _ in range(2 * len(words))]
        for i, word in enumerate(words):
            ptx.inst.mov.b32(halves[2 * i : 2 * i + 2], word)
    values, zero = [reg.scalar(f32) for _ in halves], reg.scalar(b16, 0)
    for value, half in zip(values, halves, strict=True):
        if dtype == bf16:
            ptx.inst.mov.b32(value, [zero, half])  # bf16 is the upper half of f32
        else:
            ptx.inst.cvt.f32.f16(value, half)
    return values


def store(address: Reg, values: list[Reg], dtype: PtxType, guard: Reg | None = None, offset: int = 0) -> None:
    """Store f32 values as `dtype` to consecutive elements at an address plus `offset` bytes."""
    if dtype != f32 and len(values) == 1:
        words, size = [reg.scalar(b16)], 16
        getattr(ptx.inst.cvt.rn, dtype.name).f32(words[0], values[0])
    else:
        words, size = rounded(values, dtype), 32
    write = ptx.inst.st.global_ if len(words) == 1 else getattr(ptx.inst.st.global_, f"v{len(words)}")
    getattr(write, f"b{size}")(ptx.addr(address, offset), words[0] if len(words) == 1 else words, pred=guard)


def rounded(values: Sequence[Reg] | RegArray, dtype: PtxType) -> list[Reg]:
    """Round f32 values to 32-bit words of `dtype`; 16-bit types need an even number of values."""
    if dtype == f32:
        return list(values)
    pairs = [reg.scalar(b32) for _ in values[::2]]
    for pair, low, high in zip(pairs, values[::2], values[1::2], strict=True):
        round_pair(pair, low, high, dtype)
    return pairs


def round_pair(pair: Reg, low: Reg, high: Reg, dtype: PtxType) -> None:
    """Round two f32 to a packed pair of 16 bits."""
    getattr(ptx.inst.cvt.rn, f"{dtype.name}x2").f32(pair, high, low)


def elementwise(inputs: list, outputs: list, function: Callable[..., list[Reg]], ROUNDS: int) -> None:
    """Apply a function elementwise to inputs of one shape and type.

    Processes whole vectors, with ROUNDS of each input in flight, then the remaining elements one by one.
    """
    dtype = inputs[0].dtype
    vectors, tail = divmod(math.prod(inputs[0].shape), 128 // dtype.bits)
    block, tid = reg.from_(ptx.special.ctaid.x(), u32), reg.from_(ptx.special.tid.x(), u32)
    starts = ptx.global_ptrs(*inputs, *outputs)

    def apply(places: list[Reg], count: int, guards: list) -> None:
        parts = [
            [load(start, count, dtype, guard, offset=i * THREADS * 16) for start in places[: len(inputs)]]
            for i, guard in enumerate(guards)
        ]
        for i, (guard, part) in enumerate(zip(guards, parts, strict=True)):
            results = [function(*numbers) for numbers in zip(*part, strict=True)]
            for to, values in zip(places[len(inputs) :], zip(*results, strict=True), strict=True):
                store(to, list(values), dtype, guard, offset=i * THREADS * 16)

    if vectors:
        first = block * (THREADS * ROUNDS) + tid
        guards = [first + i * THREADS < vectors if vectors % (THREADS * ROUNDS) else None for i in range(ROUNDS)]
        apply([moved(start, first, 16) for start in starts], 128 // dtype.bits, guards)
    if tail:
        with ptx.if_(block * THREADS + tid < tail):  # threads of the first CTA
            apply([moved(moved(start, vectors * 16), tid, dtype.bits // 8) for start in starts], 1, [None])


def blocks_of(size: int, dtype: PtxType, ROUNDS: int) -> int:
    """Return the number of CTAs for `elementwise`."""
    return max(1, -(-(size * dtype.bits // 128) // (THREADS * ROUNDS)))
