"""Loads and stores of up to 16 bytes, of f32, bf16 or f16 in memory and f32 in registers; addresses and guards; what is
done to every number of an array alone.

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; PTX ISA, "ld", "st", "cvt".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pyptx import ptx, reg
from pyptx.reg import Reg
from pyptx.types import PtxType, b16, b32, bf16, f32, pred, u32, u64

__all__ = ["THREADS", "blocks_of", "both", "elementwise", "load", "load_words", "moved", "round_pair", "rounded",
           "store", "unpacked", "wide", "widest"]

THREADS = 256                   # of a block


def widest(count: int, dtype: PtxType) -> int:
    """How many numbers one access takes: 16 bytes' worth, or the most that divides `count` evenly."""
    return math.gcd(count, 128 // dtype.bits)


def moved(address: Reg, distance: int | Reg, scale: int = 1) -> Reg:
    """The address `distance` (u32) times `scale` bytes further on."""
    result = reg.scalar(u64)
    if isinstance(distance, Reg):
        ptx.inst.mad.wide.u32(result, distance, scale, address)
    else:
        ptx.inst.add.u64(result, address, distance * scale)
    return result


def wide(count: int | Reg, scale: int) -> Reg:
    """count * scale in 64 bits."""
    result = reg.scalar(u64)
    ptx.inst.mul.wide.u32(result, count, scale)
    return result


def both(p: Reg | None, q: Reg | bool | None) -> Reg | None:
    """The predicate that both hold; None always holds, and the second may be known already."""
    if p is None or q is None:
        return q if p is None else p
    result = reg.scalar(pred)
    ptx.inst.and_.pred(result, p, q if isinstance(q, Reg) else int(q))
    return result


def load(address: Reg, count: int, dtype: PtxType, guard: Reg | None = None, offset: int = 0) -> list[Reg]:
    """The `count` numbers from `offset` bytes behind an address on, as f32; zeros where the guard does not hold."""
    return unpacked(load_words(address, count, dtype, guard, offset), dtype)


def load_words(address: Reg, count: int, dtype: PtxType, guard: Reg | None = None, offset: int = 0) -> list[Reg]:
    """The same as they are in memory: in words of 32 bits, or one of 16."""
    source = ptx.addr(address, offset)
    size = min(32, count * dtype.bits)                  # bits of a register that is read
    kind = f32 if dtype == f32 else b32 if size == 32 else b16
    words = [reg.scalar(kind, None if guard is None else 0) for _ in range(count * dtype.bits // size)]
    read = ptx.inst.ld.global_ if len(words) == 1 else getattr(ptx.inst.ld.global_, f"v{len(words)}")
    getattr(read, f"b{size}")(words[0] if len(words) == 1 else words, source, pred=guard)
    return words


def unpacked(words: list[Reg], dtype: PtxType) -> list[Reg]:
    """The numbers of words as f32."""
    if dtype == f32:
        return words
    halves = words
    if words[0].dtype == b32:
        halves = [reg.scalar(b16) for _ in range(2 * len(words))]
        for i, word in enumerate(words):
            ptx.inst.mov.b32(halves[2 * i:2 * i + 2], word)
    values, zero = [reg.scalar(f32) for _ in halves], reg.scalar(b16, 0)
    for value, half in zip(values, halves, strict=True):
        if dtype == bf16:
            ptx.inst.mov.b32(value, [zero, half])       # bf16 is the upper half of f32
        else:
            ptx.inst.cvt.f32.f16(value, half)
    return values


def store(address: Reg, values: list[Reg], dtype: PtxType, guard: Reg | None = None, offset: int = 0) -> None:
    """Write f32 values as `dtype` to consecutive places, from `offset` bytes behind an address on."""
    if dtype != f32 and len(values) == 1:
        words, size = [reg.scalar(b16)], 16
        getattr(ptx.inst.cvt.rn, dtype.name).f32(words[0], values[0])
    else:
        words, size = rounded(values, dtype), 32
    write = ptx.inst.st.global_ if len(words) == 1 else getattr(ptx.inst.st.global_, f"v{len(words)}")
    getattr(write, f"b{size}")(ptx.addr(address, offset), words[0] if len(words) == 1 else words, pred=guard)


def rounded(values: Sequence[Reg], dtype: PtxType) -> list[Reg]:
    """f32 values as 32-bit words of `dtype`, an even number of them where that has 16 bits."""
    if dtype == f32:
        return list(values)
    pairs = [reg.scalar(b32) for _ in values[::2]]
    for pair, low, high in zip(pairs, values[::2], values[1::2], strict=True):
        round_pair(pair, low, high, dtype)
    return pairs


def round_pair(pair: Reg, low: Reg, high: Reg, dtype: PtxType) -> None:
    """Two f32 as a pair of 16-bit numbers."""
    getattr(ptx.inst.cvt.rn, f"{dtype.name}x2").f32(pair, high, low)


def elementwise(inputs: list, outputs: list, function: Callable[..., list[Reg]], ROUNDS: int) -> None:
    """Write function's results for the numbers at the same places of all inputs, which have one shape and type: whole
    vectors, ROUNDS of each input on their way at a time; the numbers after the last one by one."""
    dtype = inputs[0].dtype
    vectors, tail = divmod(math.prod(inputs[0].shape), 128 // dtype.bits)
    block, tid = reg.from_(ptx.special.ctaid.x(), u32), reg.from_(ptx.special.tid.x(), u32)
    starts = ptx.global_ptrs(*inputs, *outputs)

    def apply(places: list[Reg], count: int, guards: list) -> None:
        parts = [[load(start, count, dtype, guard, offset=i * THREADS * 16) for start in places[:len(inputs)]]
                 for i, guard in enumerate(guards)]
        for i, (guard, part) in enumerate(zip(guards, parts, strict=True)):
            results = [function(*numbers) for numbers in zip(*part, strict=True)]
            for to, values in zip(places[len(inputs):], zip(*results, strict=True), strict=True):
                store(to, list(values), dtype, guard, offset=i * THREADS * 16)
    if vectors:
        first = block * (THREADS * ROUNDS) + tid
        guards = [first + i * THREADS < vectors if vectors % (THREADS * ROUNDS) else None for i in range(ROUNDS)]
        apply([moved(start, first, 16) for start in starts], 128 // dtype.bits, guards)
    if tail:
        with ptx.if_(block * THREADS + tid < tail):             # threads of the first block
            apply([moved(moved(start, vectors * 16), tid, dtype.bits // 8) for start in starts], 1, [None])


def blocks_of(size: int, dtype: PtxType, ROUNDS: int) -> int:
    """How many blocks that takes for so many numbers."""
    return max(1, -(-(size * dtype.bits // 128) // (THREADS * ROUNDS)))
