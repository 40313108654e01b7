"""Decode attention for Ampere and later: one query per sequence, keys and values in pages, heads in groups, keys split over CTAs.

    python examples/ampere/paged_attention.py
    pyptx view examples/ampere/paged_attention.py:paged_attention -p B=1 H=8 HK=1 D=128 PAGES=16 PAGE=64 T=16 SPLITS=4

A decoder computes one token at a time: each query reads all keys and values of its sequence once, so that the kernel is limited by
memory. Techniques and their sources:

- Keys and values lie in pages of PAGE tokens, which a table lists for each sequence (Kwon et al., "Efficient Memory Management for
  Large Language Model Serving with PagedAttention"); a page is HK x PAGE x D.
- The queries of the heads that share keys (grouped-query attention: Ainslie et al., "GQA") are the rows of one product: 16 rows, of
  which H / HK are used, on tensor cores. Keys and values are read once for all of them.
- The keys of a sequence are split over SPLITS CTAs, whose results `combine` merges (Dao et al., "Flash-Decoding"), so that a few
  sequences fill the GPU.
- Each warp has a ring of STAGES blocks of 16 keys of its own, filled by cp.async (`lib.copy_async`): warps wait only for themselves
  until they merge their results at the end. Rows are padded by 16 bytes, so that ldmatrix has no bank conflicts.
- The softmax is online (`lib.OnlineSoftmax`).

Cost with D = 128: 136 registers per thread, 136 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from examples.ampere.tiles import MMA_K, MOST_BYTES, multiply
from examples.products import check_choices, check_memory
from examples.scores import LOG2_E, scale_of
from pyptx import Tile, kernel, lib, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg, RegArray
from pyptx.testing import compare
from pyptx.types import PtxType, b32, bf16, f16, f32, s32, u32

WARPS = 4
THREADS = 32 * WARPS
KEYS = 16  # of a warp's block
ROWS = 16  # queries of a product; heads of a group at most
PAD = 8  # elements after a row in shared memory
NONE = -1e30  # maximum where there are no keys: -inf - -inf would be NaN
SPACE = {"STAGES": (2, 3, 4)}  # tuning space


def attend(q, k, v, table, lengths, partial, sums, *, STAGES=3, SCALE=None):
    """Compute attention of one query per head over each part of the keys, and the log2 of its sum of exponentials.

    q is B x H x D, k and v are PAGES x HK x PAGE x D, table (B x T, s32) has the pages of each sequence, lengths (B, s32) its number
    of keys. partial is B x H x SPLITS x D, sums is B x H x SPLITS, both f32. D is 64 or 128, PAGE a multiple of 16, H / HK at most 16.
    """
    (_, H, D), (_, HK, PAGE, _), SPLITS = q.shape, k.shape, partial.shape[2]
    check_sizes(H, HK, D, PAGE, STAGES)
    scale, group = LOG2_E * scale_of("paged_attention", D, SCALE), H // HK
    tid = reg.from_(ptx.tid.x, u32)
    lane, warp = tid & 31, tid >> 5
    split, kv_head, sequence = (reg.from_(one, u32) for one in (ptx.ctaid.x, ptx.ctaid.y, ptx.ctaid.z))

    # This warp's blocks: every fourth of this CTA's, from `first` to `end`.
    length = lengths[sequence].to(u32)
    blocks = (length + (KEYS - 1)) // KEYS
    each = (blocks + (SPLITS - 1)) // SPLITS
    first, end = split * each + warp, (split * each + each).min(blocks)
    ring = smem.alloc(q.dtype, (WARPS * STAGES * 2, KEYS, D + PAD), align=16)
    own = warp * (2 * STAGES)

    def fill(slot: Reg, block: Reg) -> None:
        """Start the copies of a block of keys and values, committed as one group even if there is none."""
        with ptx.if_(block < end):
            token = block * KEYS
            page = table[sequence, token // PAGE]
            valid = (token % PAGE + (length - token).min(KEYS), D)  # later rows of the page become zero
            for i, cache in enumerate((k, v)):
                rows = cache.row(page, kv_head)
                to = lib.tile(ring[own + slot * 2 + i], (0, 0), (KEYS, D))
                lib.copy_async(lib.tile(rows, (token % PAGE, 0), (KEYS, D)), to, threads=32, tid=lane, end=valid)
        ptx.cp.async_.commit_group()

    for i in range(STAGES - 1):
        fill(reg.scalar(u32, i), first + i * WARPS)

    # A thread has two rows, eight apart: registers 0 and 1 of an accumulator belong to the first of them.
    row, column = lane >> 2, (lane & 3) * 2
    queries = [query_part(q, sequence, kv_head * group, row, column + d, group) for d in range(0, D, MMA_K)]
    result = [reg.array(f32, 4) for _ in range(D // 8)]
    zeros = [reg.scalar(f32, 0.0) for _ in range(4)]
    for value in (value for part in result for value in part):
        ptx.inst.mov.f32(value, 0.0)
    running = lib.OnlineSoftmax(2, scale)

    fills, reads = ptx.pipeline(STAGES, cursor=reg.scalar(u32, STAGES - 1)), ptx.pipeline(STAGES)
    for block in ptx.range_(first, end, WARPS):
        block = reg.from_(block, u32)
        ptx.cp.async_.wait_group(STAGES - 2)
        ptx.inst.bar.warp.sync(-1)  # the block has arrived, and no lane still reads the one before
        next_slot, _ = fills.advance()
        fill(next_slot, block + (STAGES - 1) * WARPS)
        slot, _ = reads.advance()
        keys, values = (ring[own + slot * 2 + i] for i in range(2))

        scores = [reg.array(f32, 4) for _ in range(KEYS // 8)]
        from_keys = keys.pointer((lane & 7) + ((lane >> 4) << 3), (lane >> 3 & 1) << 3)
        for i, part in enumerate(queries):
            of_keys = reg.array(b32, 4)
            ptx.ldmatrix(dst=of_keys, src=ptx.addr(from_keys, i * MMA_K * 2))
            for j, score in enumerate(scores):
                multiply(score, part, of_keys[2 * j : 2 * j + 2], zeros if i == 0 else score, q.dtype)
        room = reg.from_(length - block * KEYS, s32) - reg.from_(column, s32)
        for j, score in enumerate(scores):
            for i, value in enumerate(score):
                ptx.inst.selp.f32(value, value, -math.inf, room > 8 * j + i % 2)
        factors = [
            running.update(r, [value for score in scores for value in score[2 * r : 2 * r + 2]]) for r in range(2)
        ]
        for i, value in enumerate(value for part in result for value in part):
            ptx.inst.mul.f32(value, value, factors[i // 2 % 2])

        weights = [
            ptx.vector(list(score[2 * r : 2 * r + 2])).to(q.dtype).words[0] for score in scores for r in range(2)
        ]
        from_values = values.pointer(lane & 15, (lane >> 4) << 3)
        for d in range(0, D, 16):
            of_values = reg.array(b32, 4)
            ptx.ldmatrix(dst=of_values, src=ptx.addr(from_values, d * 2), trans=True)
            for j in range(2):
                total = result[d // 8 + j]
                multiply(total, weights, of_values[2 * j : 2 * j + 2], total, q.dtype)
    ptx.cp.async_.wait_all()
    merge(running, result, scale, partial, sums, (sequence, kv_head * group, split), group, tid)


def query_part(q, sequence: Reg, head: Reg, row: Reg, column: Reg, group: int) -> list[Reg]:
    """Load a thread's part of 16 x 16 queries, an A operand; rows from `group` on are zero."""
    found = []
    for j in (0, 8):
        for i in (0, 8):
            inside = row < group - i if group > i else None
            if inside is None:
                found.append(reg.scalar(b32, 0))
            else:
                pair = q.load(sequence, head + row, column, vec=2, offset=(0, i, j), pred=inside, other=0)
                found.append(pair.words[0])
    return found


def merge(
    running: lib.OnlineSoftmax,
    result: list[RegArray],
    scale: float,
    partial: Any,
    sums: Any,
    place: tuple,
    group: int,
    tid: Reg,
) -> None:
    """Merge the results of the warps, which have different maxima, and store those of the group's heads."""
    D = len(result) * 8
    lane, warp = tid & 31, tid >> 5
    row, column = lane >> 2, (lane & 3) * 2
    states, results = smem.alloc(f32, (2, WARPS, ROWS)), smem.alloc(f32, (WARPS, ROWS, D + PAD), align=16)
    for r in range(2):
        total = running.finish(r)
        with ptx.if_((lane & 3) == 0):
            states.store(0, warp, row, running.largest[r], offset=(0, 0, 8 * r))
            states.store(1, warp, row, total, offset=(0, 0, 8 * r))
    ptx.bar.sync()

    for r in range(2):
        largest = reg.scalar(f32, NONE)
        for other in range(WARPS):
            largest = ptx.max(largest, states.load(0, other, row, offset=(0, 0, 8 * r)))
        factor = ptx.exp2((running.largest[r] - largest) * scale)
        for i, part in enumerate(result):
            pair = ptx.vector(list(part[2 * r : 2 * r + 2])) * factor
            results.store(warp, row, column, pair, offset=(0, 8 * r, 8 * i))
    ptx.bar.sync()

    sequence, head, split = place
    for first in range(0, group * D, THREADS):
        index = tid + first
        own, at = index // D, index % D
        inside = index < group * D if first + THREADS > group * D else None
        with ptx.if_(inside) if inside is not None else ptx.scope():
            largest, total, value = reg.scalar(f32, NONE), reg.scalar(f32, 0.0), reg.scalar(f32, 0.0)
            tops = [states.load(0, other, own) for other in range(WARPS)]
            for top in tops:
                largest = ptx.max(largest, top)
            for other, top in enumerate(tops):
                total += states.load(1, other, own) * ptx.exp2((top - largest) * scale)
                value += results.load(other, own, at)
            partial[sequence, head + own, split, at] = ptx.select(total > 0.0, value / total, 0.0)
            sums.store(sequence, head + own, split, largest * scale + ptx.log2(total), pred=at == 0)


def combine(partial, sums, o):
    """Compute o (B x H x D) from the results of each part of the keys and their log2 of the sum of exponentials."""
    SPLITS = sums.shape[2]
    at, head, sequence = (reg.from_(one, u32) for one in (ptx.tid.x, ptx.ctaid.x, ptx.ctaid.y))
    of_head = sums.row(sequence, head)
    largest, total, value = reg.scalar(f32, NONE), reg.scalar(f32, 0.0), reg.scalar(f32, 0.0)
    for split in ptx.range_(0, SPLITS):
        ptx.inst.max.f32(largest, largest, of_head[split])
    for split in ptx.range_(0, SPLITS):
        weight = ptx.exp2(of_head[split] - largest)
        total += weight
        value += weight * partial[sequence, head, split, at]
    o[sequence, head, at] = (value / total).to(o.dtype)


def check_sizes(H: int, HK: int, D: int, PAGE: int, STAGES: int) -> None:
    """Raise ValueError for sizes that the kernel does not support."""
    check_choices("paged_attention", D=(D, (64, 128)))
    rows = WARPS * (STAGES * 2 * KEYS * 2 + ROWS * 4)  # bytes for each column
    check_memory("paged_attention", STAGES, rows * (D + PAD) + 1024, MOST_BYTES)
    if PAGE % KEYS or H % HK or H // HK > ROWS:
        raise ValueError(
            f"paged_attention: PAGE={PAGE}, H={H}, HK={HK}; expected pages of a multiple of {KEYS} tokens, and groups of at most {ROWS} heads"
        )


def kernels_of(dtype: PtxType) -> tuple[Kernel, Kernel]:
    """Return the kernel for the parts of the keys and the one that combines them, for arrays of `dtype` (bf16 or f16)."""
    pages = Tile("PAGES", "HK", "PAGE", "D", dtype, align=16)
    parts = [Tile("B", "H", "SPLITS", "D", f32), Tile("B", "H", "SPLITS", f32)]
    of_parts = kernel(
        attend,
        name="paged_attention",
        arch="sm_80",
        in_specs=[Tile("B", "H", "D", dtype, align=4), pages, pages, Tile("B", "T", s32), Tile("B", s32)],
        out_specs=parts,
        grid=lambda B, HK, SPLITS: (SPLITS, HK, B),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )
    of_all = kernel(
        combine,
        arch="sm_80",
        in_specs=parts,
        out_specs=[Tile("B", "H", "D", dtype)],
        grid=lambda B, H: (H, B, 1),
        block=lambda D: (D, 1, 1),
    )
    return of_parts, of_all


paged_attention, combine_parts = kernels_of(bf16)


def decode(q: Any, k: Any, v: Any, table: Any, lengths: Any, *, splits: int, scale: float | None = None) -> Any:
    """Return attention (B x H x D) of one query per sequence, in bf16; arrays of any supported package, see `attend`.

    Args:
        splits: CTAs that share the keys of a sequence; about the number of SMs, divided by B * HK.
        scale: of the scores; default: 1 / sqrt(D).
    """
    return combine_parts(*paged_attention(q, k, v, table, lengths, SPLITS=splits, SCALE=scale))


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, table: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return attention in NumPy, in f32."""
    q, k, v = (x.astype(np.float32) for x in (q, k, v))
    out, group = np.zeros_like(q), q.shape[1] // k.shape[1]
    for sequence, length in enumerate(lengths):
        keys, values = (
            np.concatenate([cache[page] for page in table[sequence]], axis=1)[:, :length].repeat(group, axis=0)
            for cache in (k, v)
        )
        scores = np.einsum("hd,htd->ht", q[sequence], keys) / np.sqrt(q.shape[2])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        out[sequence] = np.einsum("ht,htd->hd", weights / weights.sum(axis=1, keepdims=True), values)
    return out


def inputs(B: int, H: int, HK: int, D: int, PAGE: int, lengths: list[int], dtype: Any) -> list[np.ndarray]:
    """Return queries, pages in random order, table and lengths; pages that no sequence has are NaN."""
    random, count = np.random.default_rng(0), -(-max(lengths) // PAGE)
    q = random.standard_normal((B, H, D)).astype(dtype)
    k, v = (np.full((B * count + 1, HK, PAGE, D), np.nan, np.float32) for _ in range(2))
    table = random.permutation(B * count).reshape(B, count).astype(np.int32)
    for sequence, length in enumerate(lengths):
        for cache in (k, v):
            values = random.standard_normal((length, HK, D))
            for token in range(length):
                cache[table[sequence, token // PAGE], :, token % PAGE] = values[token]
    return [q, k.astype(dtype), v.astype(dtype), table, np.array(lengths, np.int32)]


def main() -> None:
    arrays = inputs(2, 8, 2, 64, 32, [100, 333], np.float16)
    wanted = reference(arrays[0], *(np.nan_to_num(x) for x in arrays[1:3]), *arrays[3:])
    of_parts, of_all = kernels_of(f16)
    compare(of_all, arrays, wanted, rtol=5e-3, atol=5e-3, call=lambda *given: of_all(*of_parts(*given, SPLITS=3)))


if __name__ == "__main__":
    main()
