"""Mixture of experts: routing of tokens to their best experts, sorting by expert, and the rows of a grouped matrix product.

    python examples/moe_routing.py
    pyptx view examples/moe_routing.py:moe_routing -p M=512 E=64 TOP=8

A layer takes five launches: `moe_routing` chooses experts and weights, `sort_by_expert` orders the choices, `gather_rows` copies the
rows of each expert together, examples/hopper/grouped_gemm.py multiplies them, and `combine_rows` adds the results of a token. See `layer`.
Source of the function: Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer"; weights
are the softmax over the chosen experts, as in Jiang et al., "Mixtral of Experts". Techniques and their sources:

- A warp has a token. A float becomes an unsigned integer of the same order, so that the largest of a warp is one instruction, as is the
  lowest index that has it (PTX ISA, "redux.sync"): a tie goes to the first expert, in every schedule.
- The order is a counting sort without atomics: the CTA of an expert counts the choices of smaller experts, where its own begin, then
  ranks its own by `vote` and `popc` (PTX ISA, "vote.sync"; Harris and Garland, "Optimizing Parallel Prefix Operations for the Fermi
  Architecture"). Its result is the same each time.
- Rows are copied in accesses of 16 bytes (`lib.copy`).

Cost of sort_by_expert: 40 registers per thread: six CTAs per SM.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from examples.vectors import widest
from pyptx import Tile, kernel, lib, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, b32, bf16, f32, s32, u32

THREADS = 256
WARPS = THREADS // 32
MOST_EXPERTS, MOST_CHOICES = 512, 16
NONE = 1 << 30  # greater than any expert
SPACE = {"AHEAD": (1, 4, 8, 16)}  # tuning space of sort_by_expert


def route(logits, weights, experts):
    """Choose the experts of each token: the TOP largest of logits (M x E, f32), in descending order, with weights that sum to 1."""
    (M, E), TOP = logits.shape, experts.shape[1]
    check_sizes(E, TOP)
    tid = reg.from_(ptx.tid.x, u32)
    row, lane = ptx.ctaid.x * WARPS + (tid >> 5), tid & 31
    if M % WARPS:
        ptx.ret(pred=row >= M)
    indices = [lane + first for first in range(0, E, 32)]
    keys = []
    for i, index in enumerate(indices):
        inside = index < E if 32 * (i + 1) > E else None
        key = ordered(
            logits.load(row, lane, offset=(0, 32 * i), pred=inside, other=None if inside is None else -math.inf)
        )
        keys.append(key if inside is None else ptx.select(inside, key, 0))
    first, total, own_weight, own_expert = (
        reg.scalar(f32),
        reg.scalar(f32, 0.0),
        reg.scalar(f32, 0.0),
        reg.scalar(u32, 0),
    )
    for k in range(TOP):
        largest, candidate = ptx.max(keys[0], 0, *keys[1:]), reg.scalar(u32, E)
        ptx.inst.redux.sync.max.u32(largest, largest, -1)
        for key, index in reversed(list(zip(keys, indices, strict=True))):
            ptx.inst.selp.u32(candidate, index, candidate, key == largest)
        ptx.inst.redux.sync.min.u32(candidate, candidate, -1)
        value = unordered(largest)
        if k == 0:
            ptx.inst.mov.f32(first, value)
        weight = ptx.exp(value - first)
        total += weight
        ptx.inst.selp.f32(own_weight, weight, own_weight, lane == k)
        ptx.inst.selp.u32(own_expert, candidate, own_expert, lane == k)
        for key, index in zip(keys, indices, strict=True):
            ptx.inst.selp.u32(key, 0, key, index == candidate)  # not again
    chosen = lane < TOP
    weights.store(row, lane, own_weight / total, pred=chosen)
    experts.store(row, lane, own_expert.to(s32), pred=chosen)


def ordered(value: Reg) -> Reg:
    """Return an unsigned integer of the same order as an f32, greater than 0."""
    bits, sign = reg.scalar(b32), reg.scalar(s32)
    ptx.inst.mov.b32(bits, value)
    ptx.inst.shr.s32(sign, bits, 31)
    result = reg.scalar(u32)
    ptx.inst.or_.b32(sign, sign, 1 << 31)
    ptx.inst.xor.b32(result, bits, sign)
    return result


def unordered(key: Reg) -> Reg:
    """Return the f32 of an integer that `ordered` gave."""
    bits, sign, result = reg.scalar(b32), reg.scalar(s32), reg.scalar(f32)
    ptx.inst.shr.s32(sign, key, 31)
    ptx.inst.not_.b32(sign, sign)
    ptx.inst.or_.b32(sign, sign, 1 << 31)
    ptx.inst.xor.b32(bits, key, sign)
    ptx.inst.mov.b32(result, bits)
    return result


def sort(experts, order, places, ends, *, AHEAD=8):
    """Sort choices by expert, stably: order (R) lists the choices, places (R) is its inverse, ends (E1 = E + 1) where experts begin.

    experts (R, s32) are 0 to E - 1. The CTA of an expert places its own choices.
    """
    R = experts.shape[0]
    expert, tid = reg.from_(ptx.ctaid.x, s32), reg.from_(ptx.tid.x, u32)
    lane, warp, each = tid & 31, tid >> 5, -(-R // (32 * WARPS)) * 32  # choices of a warp, one after the other
    first = warp * each
    end = (first + each).min(R)
    counts, parts = (
        [reg.scalar(u32, 0) for _ in range(2)],
        smem.alloc(u32, (2, WARPS)),
    )  # of smaller experts, and of this one

    def load(start: Reg) -> list[tuple[Reg, Reg]]:
        """Load the lane's next AHEAD choices; return index and choice of each, NONE beyond the end."""
        indices = [reg.from_(start, u32) + lane + 32 * i for i in range(AHEAD)]
        return [(i, experts.load(i, pred=i < end, other=NONE)) for i in indices]

    for start in ptx.range_(first, end, 32 * AHEAD):
        for _, found in load(start):
            for count, counted in zip(counts, (found < expert, found == expert), strict=True):
                ptx.inst.add.u32(count, count, 1, pred=counted)
    for i, count in enumerate(counts):
        parts.store(i, warp, ptx.warp_reduce(count), pred=lane == 0)
    ptx.bar.sync(0)
    begin, before, all_own = (reg.scalar(u32, 0) for _ in range(3))
    for other in range(WARPS):
        own = parts.load(1, other)
        begin += parts.load(0, other)
        all_own += own
        ptx.inst.add.u32(before, before, own, pred=warp > other)
    with ptx.if_(tid == 0):
        ends[ptx.ctaid.x + 1] = (begin + all_own).to(s32)
        ends.store(0, 0, pred=expert == 0)

    place, lanes_before = begin + before, reg.from_(ptx.special.lanemask_lt(), b32)
    for start in ptx.range_(first, end, 32 * AHEAD):
        for i, found in load(start):
            own, voted, lower = found == expert, reg.scalar(b32), reg.scalar(b32)
            rank, votes = reg.scalar(u32), reg.scalar(u32)
            ptx.inst.vote.sync.ballot.b32(voted, own, -1)
            ptx.inst.and_.b32(lower, voted, lanes_before)
            ptx.inst.popc.b32(rank, lower)
            ptx.inst.popc.b32(votes, voted)
            order.store(place + rank, i.to(s32), pred=own)
            places.store(i, (place + rank).to(s32), pred=own)
            place += votes


def gather(x, order, rows, *, TOP=2):
    """Copy row order[i] / TOP of x (M x D) to row i of rows (R x D)."""
    token = order[ptx.ctaid.x].to(u32) // TOP
    D = x.shape[1]
    lib.copy(lib.tile(x, (token, 0), (1, D)), lib.tile(rows, (ptx.ctaid.x, 0), (1, D)), threads=THREADS)


def combine(products, weights, places, y):
    """Compute y (M x N): the sum of a token's TOP rows of products (R x N), at places (R), times its weights (M x TOP)."""
    TOP, N = weights.shape[1], products.shape[1]
    each = widest(N, y.dtype)
    token = ptx.ctaid.x + 0
    factors = [weights.load(token, k) for k in range(TOP)]
    rows = [products.row(places.load(token * TOP, offset=k).to(u32)) for k in range(TOP)]
    for column in ptx.range_(ptx.tid.x * each, N, THREADS * each):
        values = [row.load(column, vec=each) if each > 1 else row[column] for row in rows]
        total = values[0].to(f32) * factors[0]
        for value, factor in zip(values[1:], factors[1:], strict=True):
            total = ptx.fma(value.to(f32), factor, total)
        y.store(token, column, total.to(y.dtype))


def check_sizes(E: int, TOP: int) -> None:
    """Raise ValueError for numbers of experts or choices that the kernel does not support."""
    if not 0 < E <= MOST_EXPERTS or not 0 < TOP <= min(E, MOST_CHOICES):
        raise ValueError(
            f"moe_routing: E={E}, TOP={TOP}; expected up to {MOST_EXPERTS} experts, and up to {MOST_CHOICES} of them for a token"
        )


def row_kernels_of(dtype: PtxType) -> tuple[Kernel, Kernel]:
    """Return `gather_rows` and `combine_rows` for arrays of `dtype` (f32, bf16 or f16)."""
    block = {"arch": "sm_80", "block": (THREADS, 1, 1), "reqntid": (THREADS, 1, 1)}
    of_rows = kernel(
        gather,
        name="gather_rows",
        in_specs=[Tile("M", "D", dtype, align=16), Tile("R", s32)],
        out_specs=[Tile("R", "D", dtype, align=16)],
        grid=lambda R: R,
        **block,
    )
    of_tokens = kernel(
        combine,
        name="combine_rows",
        in_specs=[Tile("R", "N", dtype, align=16), Tile("M", "TOP", f32), Tile("R", s32)],
        out_specs=[Tile("M", "N", dtype, align=16)],
        grid=lambda M: M,
        **block,
    )
    return of_rows, of_tokens


moe_routing = kernel(
    route,
    name="moe_routing",
    arch="sm_80",
    in_specs=[Tile("M", "E", f32)],
    out_specs=[Tile("M", "TOP", f32), Tile("M", "TOP", s32)],
    grid=lambda M: -(-M // WARPS),
    block=(THREADS, 1, 1),
    reqntid=(THREADS, 1, 1),
)
sort_by_expert = kernel(
    sort,
    name="sort_by_expert",
    arch="sm_80",
    in_specs=[Tile("R", s32)],
    out_specs=[Tile("R", s32), Tile("R", s32), Tile("E1", s32)],
    grid=lambda E1: E1 - 1,
    block=(THREADS, 1, 1),
    reqntid=(THREADS, 1, 1),
)
gather_rows, combine_rows = row_kernels_of(bf16)


def layer(x: Any, logits: Any, experts: Any, *, top: int, product: Any) -> Any:
    """Return the output of a layer (M x N) for tokens x (M x D), their logits (M x E) and matrices of the experts (E x D x N), in bf16.

    Args:
        top: experts of a token.
        product: function of (rows, experts, ends), such as `grouped_gemm` of examples/hopper.
    """
    weights, chosen = moe_routing(logits, TOP=top)
    order, places, ends = sort_by_expert(chosen.reshape(-1), E1=experts.shape[0] + 1)
    return combine_rows(product(gather_rows(x, order, TOP=top), experts, ends), weights, places)


def reference(logits: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and experts of each token in NumPy."""
    experts = np.argsort(-logits, axis=1, kind="stable")[:, :top]
    chosen = np.take_along_axis(logits.astype(np.float64), experts, axis=1)
    weights = np.exp(chosen - chosen[:, :1])
    return weights / weights.sum(axis=1, keepdims=True), experts


def main() -> None:
    logits = np.random.default_rng(0).standard_normal((100, 60), dtype=np.float32)
    compare(moe_routing, [logits], reference(logits, 4), rtol=1e-5, TOP=4)


if __name__ == "__main__":
    main()
