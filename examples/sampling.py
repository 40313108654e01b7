"""Top-k and top-p sampling: choose the next token of each row of logits, without sorting them.

    python examples/sampling.py
    pyptx view examples/sampling.py:sampling -p M=64 N=128256

The weight of a token is 2**((x - largest) * log2(e) / temperature). Kept are the tokens that are among the `top_k` heaviest, and among the
heaviest that have `top_p` of all weight together; ties stay together. One of them is chosen, with the probability of its share of their weight,
by a given random number: the result is the same each time, in every schedule. Techniques and their sources:

- The lightest kept weight is found digit by digit, as in a radix selection: the bits of a positive float order as integers. For each digit a CTA
  sums the weights and counts the tokens above each of its candidates; a sum that both limits allow decides (Holtzman et al., "The Curious Case
  of Neural Text Degeneration", for top-p; Ye et al., "FlashInfer", 2025, for sampling without sorting).
- No atomics: a thread always has the same tokens, and sums are combined in the same order.
- The token is found by inverse transform: a scan over threads finds the one whose tokens have the random number's part of the weight; it goes
  through its own tokens again.

Cost: 56 registers per thread (64 for f32), 1 KiB of shared memory: one CTA per SM. A row is read 19 times; after the first it comes from L2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, bf16, f32, s32, u32

THREADS = 1024
WARPS = THREADS // 32
DIGITS = 30  # bits of a weight: it is positive and less than 2
MOST = 1 << 24  # tokens, so that their number is exact in f32
SPACE = {"BITS": (1, 2, 3), "AHEAD": (1, 2, 4)}  # tuning space


def sample(logits, uniforms, tokens, *, BITS=2, AHEAD=4):
    """Choose a token for each row of logits (M x N), by uniforms (M, f32) in [0, 1); -1 where no logit is a number.

    Parameters of a launch: top_k (0: no limit), top_p and temperature. See check_sizes for supported sizes.
    """
    N = logits.shape[1]
    check_sizes(N, logits.dtype, BITS)
    row, tid = ptx.ctaid.x + 0, reg.from_(ptx.tid.x, u32)
    lane, warp = tid & 31, tid >> 5
    top_k, top_p, temperature = ptx.param(u32, "top_k"), ptx.param(f32, "top_p"), ptx.param(f32, "temperature")
    parts = smem.alloc(f32, (2 << BITS, WARPS))

    largest = reg.scalar(f32, -math.inf)
    over_row(logits, row, tid, AHEAD, lambda values, _: maximum(largest, values))
    largest = ptx.block_reduce(largest, "max", threads=THREADS)
    scale = math.log2(math.e) / temperature
    shift_down = -largest * scale

    def weights_of(values: list[Reg]) -> list[Reg]:
        scaled = [ptx.fma(value, scale, shift_down) for value in values]
        for value in scaled:
            ptx.inst.ex2.approx.ftz.f32(value, value)
        return scaled

    total = reg.scalar(f32, 0.0)

    def add_all(values: list[Reg], _: Reg) -> None:
        for weight in weights_of(values):
            ptx.inst.add.f32(total, total, weight)

    over_row(logits, row, tid, AHEAD, add_all)
    wanted = ptx.block_reduce(total, threads=THREADS) * top_p
    most = ptx.select(top_k == 0, N, top_k).to(f32)

    least, candidates = reg.scalar(u32, 0), (1 << BITS) - 1  # bits of the lightest weight that is kept
    for digit in ptx.range_(0, DIGITS // BITS):
        shift = (DIGITS - BITS) - digit * BITS
        bits = [least + (reg.scalar(u32, j) << shift) for j in range(1, candidates + 1)]
        pivots = [as_float(one) for one in bits]
        sums = [[reg.scalar(f32, 0.0) for _ in pivots] for _ in range(2)]  # of weights, and of tokens

        def count(values: list[Reg], _: Reg, pivots=pivots, sums=sums) -> None:
            for weight in weights_of(values):
                for pivot, of_weights, number in zip(pivots, *sums, strict=True):
                    above = weight >= pivot
                    ptx.inst.add.f32(of_weights, of_weights, weight, pred=above)
                    ptx.inst.add.f32(number, number, 1.0, pred=above)

        over_row(logits, row, tid, AHEAD, count)
        for i, one in enumerate(sums[0] + sums[1]):
            parts.store(i, warp, ptx.warp_reduce(one), pred=lane == 0)
        ptx.bar.sync()
        found = [ptx.warp_reduce(parts.load(i, lane)) for i in range(2 * candidates)]
        ptx.bar.sync()
        for one, of_weights, number in zip(bits, found, found[candidates:], strict=False):
            ptx.inst.selp.u32(least, one, least, number >= most)
            ptx.inst.selp.u32(least, one, least, of_weights >= wanted)
    choose(logits, uniforms, tokens, row, tid, AHEAD, weights_of, as_float(least), parts)


def choose(
    logits: Any, uniforms: Any, tokens: Any, row: Reg, tid: Reg, AHEAD: int,
    weights_of: Callable[[list[Reg]], list[Reg]], least: Reg, parts: smem.SharedAlloc,
) -> None:  # fmt: skip
    """Choose one of the tokens whose weight is at least `least`, in the order of the threads that have them."""
    lane, warp, own = tid & 31, tid >> 5, reg.scalar(f32, 0.0)

    def add_kept(values: list[Reg], _: Reg) -> None:
        for weight in weights_of(values):
            ptx.inst.add.f32(own, own, weight, pred=weight >= least)

    over_row(logits, row, tid, AHEAD, add_kept)
    before = ptx.warp_scan(own, exclusive=True)
    parts.store(0, warp, before + own, pred=lane == 31)
    ptx.bar.sync()
    of_warps = parts.load(0, lane)
    starts = ptx.warp_scan(of_warps, exclusive=True)
    end, start = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.shfl.sync.idx.b32(end, starts + of_warps, 31, 31, -1)
    ptx.inst.shfl.sync.idx.b32(start, starts, warp, 31, -1)
    start = start + before
    goal = uniforms[row] * end
    mine = ptx.select((own > 0.0) & (start <= goal), tid, 0)
    last = ptx.block_reduce(mine, "max", threads=THREADS)  # rounding leaves no gap between threads
    tokens.store(row, -1, pred=(tid == 0) & ~(end > 0.0))
    with ptx.if_((tid == last) & (own > 0.0)):
        token, sum_ = reg.scalar(u32, 0), start

        def pass_by(values: list[Reg], first: Reg) -> None:
            for i, weight in enumerate(weights_of(values)):
                kept = (weight >= least) & (weight > 0.0)
                ptx.inst.selp.u32(token, first + i, token, kept & (sum_ <= goal))
                ptx.inst.add.f32(sum_, sum_, weight, pred=kept)

        over_row(logits, row, tid, AHEAD, pass_by)
        tokens[row] = token.to(s32)


def over_row(logits: Any, row: Reg, tid: Reg, AHEAD: int, visit: Callable[[list[Reg], Reg], Any]) -> None:
    """Visit this thread's logits as f32, with the index of the first of each vector; -infinity beyond the row."""
    N, each = logits.shape[1], 128 // logits.dtype.bits  # elements of an access
    step = THREADS * each
    whole = N // (step * AHEAD) * AHEAD
    for i in ptx.range_(0, whole // AHEAD):
        at = i * (step * AHEAD) + tid * each
        for j, vector in enumerate([logits.load(row, at, vec=each, offset=(0, a * step)) for a in range(AHEAD)]):
            visit(list(vector.to(f32)), at + j * step)
    for first in range(whole * step, N, step):
        inside = tid * each < N - first if first + step > N else None
        other = None if inside is None else -math.inf
        vector = logits.load(row, tid * each, vec=each, offset=(0, first), pred=inside, other=other)
        visit(list(vector.to(f32)), tid * each + first)


def maximum(largest: Reg, values: list[Reg]) -> None:
    for value in values:
        ptx.inst.max.f32(largest, largest, value)


def as_float(bits: Reg) -> Reg:
    """Return the f32 of these bits."""
    value = reg.scalar(f32)
    ptx.inst.mov.b32(value, bits)
    return value


def check_sizes(N: int, dtype: PtxType, BITS: int) -> None:
    """Raise ValueError for sizes that the kernel does not support."""
    each = 128 // dtype.bits
    if N % each or not 0 < N <= MOST:
        raise ValueError(f"sampling: N={N}; expected a multiple of {each} up to {MOST}")
    if BITS not in (1, 2, 3):
        raise ValueError(f"sampling: BITS={BITS}; expected 1, 2 or 3")


def sampling_of(dtype: PtxType) -> Kernel:
    """Return the kernel for logits of `dtype` (f32, bf16 or f16); top_k=, top_p= and temperature= are given with each call."""
    return kernel(
        sample,
        name="sampling",
        arch="sm_80",
        raw_params=[("u32", "top_k"), ("f32", "top_p"), ("f32", "temperature")],
        in_specs=[Tile("M", "N", dtype, align=16), Tile("M", f32)],
        out_specs=[Tile("M", s32)],
        grid=lambda M: M,
        block=(THREADS, 1, 1),
        raw_directives=[("reqntid", (THREADS, 1, 1)), ("maxnreg", (64,))],
    )


sampling = sampling_of(bf16)


def kept(logits: np.ndarray, top_k: int, top_p: float, temperature: float) -> np.ndarray:
    """Return the weights of the kept tokens of each row, 0 for the others, in f64."""
    x = logits.astype(np.float64)
    weights = np.exp((x - x.max(1, keepdims=True)) / temperature)
    falling = -np.sort(-weights, axis=1)
    sums = np.cumsum(falling, axis=1)
    by_sum = (sums < top_p * sums[:, -1:]).sum(1).clip(max=x.shape[1] - 1)
    last = np.minimum(by_sum, (top_k or x.shape[1]) - 1)
    return np.where(weights >= np.take_along_axis(falling, last[:, None], 1), weights, 0)


def reference(
    logits: np.ndarray, uniforms: np.ndarray, top_k: int = 0, top_p: float = 1.0, temperature: float = 1.0
) -> np.ndarray:
    """Return the tokens in NumPy."""
    each = 16 // logits.dtype.itemsize
    index = np.arange(logits.shape[1])
    order = np.lexsort((index, index // each % THREADS))  # of the threads
    sums = np.cumsum(kept(logits, top_k, top_p, temperature)[:, order], axis=1)
    return order[(sums <= uniforms[:, None] * sums[:, -1:]).sum(1)].astype(np.int32)


def main() -> None:
    random = np.random.default_rng(0)
    logits, uniforms = random.standard_normal((5, 3000), np.float32) * 3, random.random(5, np.float32)
    options = {"top_k": 50, "top_p": 0.9, "temperature": 0.7}
    compare(sampling_of(f32), [logits, uniforms], reference(logits, uniforms, **options), rtol=0, **options)


if __name__ == "__main__":
    main()
