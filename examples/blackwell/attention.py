"""Attention for Blackwell, forward: O = softmax(scale * Q K^T) V without ever storing the scores, causal or not.

    python examples/blackwell/attention.py
    pyptx view examples/blackwell/attention.py:attention -p B=1 H=1 S=512 T=512 D=128 -o attention.html

A CTA computes 256 rows of O of one head, two tiles of 128. Each tile has four warps that take its softmax; one thread
of a ninth warp copies, one of a tenth starts the products. Techniques, and where they are described:

- Scores, weights and results lie in tensor memory; a thread has a whole row, so that neither the largest score nor the
  sum needs another thread (PTX ISA, "tcgen05.ld", shape .32x32b).
- Weights, rounded, are the A operand of the second product from tensor memory (PTX ISA, "tcgen05.mma").
- Two tiles take turns: while one has its softmax taken, the products of the other run; the next scores of a tile are
  started with the product of its last weights (Shah et al., "FlashAttention-3", 3.1, for two groups of warps).
- The softmax is taken block by block (Dao et al., "FlashAttention"). Results so far are scaled, in tensor memory, only
  where a warp has a row with a new largest score.
- exp as 2 to the power of scaled differences; masks only in blocks that need one; the longest rows of blocks first.

Cost with D = 128: 143 registers a thread, 160 KiB of shared memory, all of tensor memory: one CTA on an SM.
"""

from __future__ import annotations

import math

from examples.blackwell.tiles import BOX, LINE, MMA_K, MOST_BYTES, ROWS, barriers
from examples.products import check_memory
from examples.scores import LOG2_E, check_heads, compare_attention, softmax_step, visible
from examples.scores import reference as reference  # beside the kernel: pyptx tune --reference
from examples.vectors import rounded
from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, b8, b32, bf16, f16, f32, pred, s32, u32

TILES = 2                       # of a CTA, of ROWS queries each
BM = TILES * ROWS
COPIES, MULTIPLIES = 32 * 8, 32 * 9                     # threads with a role of their own
THREADS = 32 * 10
COLUMNS = 512                   # of tensor memory
SPACE = {"BN": (32, 64), "STAGES": (1, 2, 3, 4)}  # values worth trying


def forward(q, k, v, o, *, BN=64, STAGES=3, CAUSAL=False, SCALE=None):
    """O (B x H x S x D) of queries (B x H x S x D), keys and values (B x H x T x D); D is 64 or 128.

    SCALE is 1 / sqrt(D) unless given. With CAUSAL, query i sees keys 0 to i, and T is S.
    """
    (S, D), T = q.shape[2:], k.shape[2]
    check_sizes(S, T, D, BN, STAGES, CAUSAL)
    scale = LOG2_E * (1 / math.sqrt(D) if SCALE is None else SCALE)
    q_bytes, block_bytes = ROWS * D * 2, BN * D * 2
    of_tile = BN + BN // 2                              # columns of its scores, and of its weights, two to a column

    q_tiles = smem.alloc(b8, (TILES, q_bytes), align=1024)
    k_ring, v_ring = (smem.alloc(b8, (STAGES, block_bytes), align=1024) for _ in range(2))
    slot = smem.alloc(b32, 1, align=16)
    q_start, k_start, v_start = (reg.from_(memory.name, u32) for memory in (q_tiles, k_ring, v_ring))
    k_filled, k_freed, v_filled, v_freed = (barriers(STAGES) for _ in range(4))
    q_filled, scored, weighed, added = barriers(1), barriers(TILES), barriers(TILES), barriers(TILES)
    tid = reg.from_(ptx.special.tid.x(), u32)
    warp, lane = tid >> 5, tid & 31
    head, batch = reg.from_(ptx.special.ctaid.y(), u32), reg.from_(ptx.special.ctaid.z(), u32)
    row = (-(-S // BM) - 1 - reg.from_(ptx.special.ctaid.x(), s32)) * BM      # the last rows first
    blocks = reg.scalar(s32, -(-T // BN))
    if CAUSAL:
        blocks = ((row + (BM + BN - 1)) // BN).min(blocks)

    with ptx.if_(warp == 0):
        ptx.tcgen05.alloc(slot, COLUMNS)
        ptx.tcgen05.relinquish_alloc_permit()
    with ptx.if_(tid == COPIES):
        for ring in (k_filled, k_freed, v_filled, v_freed, q_filled, scored, added):
            ring.init_all(1)
        weighed.init_all(4)                             # warps of a tile
        ptx.fence.mbarrier_init()
    ptx.tcgen05.fence_before_thread_sync()
    ptx.bar.sync(0)
    ptx.tcgen05.fence_after_thread_sync()
    memory = smem.load(b32, slot)
    of_keys, of_values = ptx.pipeline(STAGES), ptx.pipeline(STAGES)

    with ptx.if_(tid == COPIES):
        q_filled[0].arrive_expect_tx(TILES * q_bytes)
        for tile in range(TILES):
            for d in range(0, D, BOX):
                ptx.cp.async_bulk.tensor_4d(dst=q_start + (tile * q_bytes + d * ROWS * 2), src=q.tma_desc(),
                                            coord=(d, row + tile * ROWS, head, batch), mbar=q_filled[0])
        for block in ptx.range_(0, blocks):
            stage, phase = of_keys.advance()
            for tensor, start, filled, freed in ((k, k_start, k_filled, k_freed), (v, v_start, v_filled, v_freed)):
                freed.at(stage).wait(phase ^ 1)         # passes at once in the first round
                ready = filled.at(stage)
                ready.arrive_expect_tx(block_bytes)
                for d in range(0, D, BOX):
                    ptx.cp.async_bulk.tensor_4d(dst=start + stage * block_bytes + d * BN * 2, mbar=ready,
                                                src=tensor.tma_desc(), coord=(d, block * BN, head, batch))

    with ptx.if_(tid == MULTIPLIES):
        kinds = [reg.scalar(b32, ptx.tcgen05.make_instr_desc_f16bf16_f32(m=ROWS, n=n, ab_dtype=q.dtype, b_major=major))
                 for n, major in ((BN, "K"), (D, "MN"))]
        from_q, from_k = (ptx.tcgen05.descriptor(start, stride_bytes=1024) for start in (q_start, k_start))
        from_v = ptx.tcgen05.descriptor(v_start, stride_bytes=1024, leading_bytes=BN * LINE)

        def next_keys() -> Reg:
            """Wait for the next block of keys; its stage."""
            stage, phase = of_keys.advance()
            k_filled.at(stage).wait(phase)
            ptx.tcgen05.fence_after_thread_sync()
            return stage

        def start_scores(tile: int, stage: Reg) -> None:
            this_k = from_k + stage * (block_bytes // 16)
            for d in range(0, D, MMA_K):
                q_offset, k_offset = (d // BOX * rows * LINE + d % BOX * 2 for rows in (ROWS, BN))
                ptx.tcgen05.mma(memory + tile * of_tile, from_q + (tile * q_bytes + q_offset) // 16,
                                this_k + k_offset // 16, kinds[0], pred_operand=d > 0)
            ptx.tcgen05.commit(scored[tile])

        q_filled[0].wait(0)
        stage = next_keys()
        for tile in range(TILES):
            start_scores(tile, stage)
        ptx.tcgen05.commit(k_freed.at(stage))
        for block in ptx.range_(0, blocks):
            v_stage, phase = of_values.advance()
            v_filled.at(v_stage).wait(phase)
            this_v = from_v + v_stage * (block_bytes // 16)
            goes_on = block < blocks - 1
            for tile in range(TILES):
                weighed[tile].wait(block & 1)
                ptx.tcgen05.fence_after_thread_sync()
                for key in range(0, BN, MMA_K):
                    ptx.tcgen05.mma(memory + (TILES * of_tile + tile * D), memory + (tile * of_tile + BN + key // 2),
                                    this_v + key * LINE // 16, kinds[1], a_is_tmem=True,
                                    pred_operand=True if key else block != 0)
                ptx.tcgen05.commit(added[tile])
                with ptx.if_(goes_on):
                    if tile == 0:
                        ptx.inst.mov.u32(stage, next_keys())
                    start_scores(tile, stage)
            ptx.tcgen05.commit(v_freed.at(v_stage))
            with ptx.if_(goes_on):
                ptx.tcgen05.commit(k_freed.at(stage))

    with ptx.if_(warp < 8):
        tile = tid >> 7
        lanes = memory + ((warp & 3) << 21)             # the lane is in the upper half of an address
        scores_at = lanes + tile * of_tile
        results_at = lanes + tile * D + TILES * of_tile
        own_row = row + reg.from_(tid, s32)
        last = visible(own_row, T, CAUSAL)
        largest, total = reg.scalar(f32, -math.inf), reg.scalar(f32, 0.0)
        words, scores = reg.array(b32, BN), [reg.scalar(f32) for _ in range(BN)]
        parts = reg.array(b32, 32)

        def visit(block: Reg, masked: bool) -> None:
            """Turn the scores of a block into weights."""
            scored.at(tile).wait(block & 1)
            ptx.tcgen05.fence_after_thread_sync()
            ptx.tcgen05.ld(words, scores_at, shape="32x32b", count=BN)
            ptx.tcgen05.wait_ld()
            for score, word in zip(scores, words, strict=True):
                ptx.inst.mov.b32(score, word)
            if masked:
                room = last - block * BN
                for i, score in enumerate(scores):
                    ptx.inst.selp.f32(score, score, -math.inf, room >= i)
            shrinks = softmax_step(scores, largest, total, scale, lanes=1)

            with ptx.if_(block > 0):
                added.at(tile).wait((block & 1) ^ 1)    # the last weights were read, and their results are there
                ptx.tcgen05.fence_after_thread_sync()
                anyone = reg.scalar(pred)
                ptx.inst.vote.sync.any.pred(anyone, shrinks != 1.0, -1)
                with ptx.if_(anyone):
                    for d in range(0, D, 32):
                        ptx.tcgen05.ld(parts, results_at + d, shape="32x32b", count=32)
                        ptx.tcgen05.wait_ld()
                        for part in parts:
                            value = reg.from_(part, f32)
                            ptx.inst.mul.f32(value, value, shrinks)
                            ptx.inst.mov.b32(part, value)
                        ptx.tcgen05.st(results_at + d, parts, shape="32x32b", count=32)
            ptx.tcgen05.st(scores_at + BN, rounded(scores, q.dtype), shape="32x32b", count=BN // 2)
            ptx.tcgen05.wait_st()
            ptx.tcgen05.fence_before_thread_sync()
            ptx.inst.bar.warp.sync(-1)
            weighed.at(tile).arrive(pred=lane == 0)

        whole = reg.scalar(s32, T // BN)                # blocks that need no mask
        if CAUSAL:
            whole = ((row + reg.from_(tile << 7, s32)) // BN).min(whole)
        for block in ptx.range_(0, whole):
            visit(block, masked=False)
        if CAUSAL or T % BN:
            for block in ptx.range_(whole, blocks):
                visit(block, masked=True)

        # Divide by the sums and write through this warp's rows of Q, which nobody reads any more.
        added.at(tile).wait((blocks - 1) & 1)
        ptx.tcgen05.fence_after_thread_sync()
        ptx.inst.rcp.approx.f32(total, total)
        own = q_start + tile * q_bytes + ((warp & 3) << 12)             # 32 rows of 128 bytes
        own_line = own + smem.apply_swizzle(lane * LINE, "128B")
        for d in range(0, D, 32):
            ptx.tcgen05.ld(parts, results_at + d, shape="32x32b", count=32)
            ptx.tcgen05.wait_ld()
            values = [reg.from_(part, f32) for part in parts]
            for value in values:
                ptx.inst.mul.f32(value, value, total)
            out = rounded(values, o.dtype)
            for i in range(0, len(out), 4):             # 16 bytes, where the swizzle has them
                target = own_line ^ (d % BOX * 2 + i * 4)
                ptx.inst.st.shared.v4.b32(ptx.addr(target, d // BOX * ROWS * LINE), out[i:i + 4])
        ptx.fence.proxy_async_shared_cta()
        ptx.inst.bar.warp.sync(-1)
        with ptx.if_(lane == 0):
            for d in range(0, D, BOX):
                ptx.cp.async_bulk.tensor_4d.store(dst=o.tma_desc(), src=own + d * ROWS * 2,
                                                  coord=(d, row + reg.from_(warp << 5, s32), head, batch))
            ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0, read=True)      # the memory must outlive the stores that read it

    ptx.tcgen05.fence_before_thread_sync()
    ptx.bar.sync(0)
    ptx.tcgen05.fence_after_thread_sync()
    with ptx.if_(warp == 0):
        ptx.tcgen05.dealloc(memory, COLUMNS)


def check_sizes(S: int, T: int, D: int, BN: int, STAGES: int, causal: bool) -> None:
    """Raise ValueError for sizes that the tiling does not take."""
    check_heads("attention", S, T, D, causal)
    if BN not in (32, 64):                              # a thread has a row of scores in registers
        raise ValueError(f"attention: BN={BN}; expected 32 or 64")
    check_memory("attention", STAGES, BM * D * 2 + STAGES * 2 * BN * D * 2, MOST_BYTES, least=1)


def attention_of(dtype: PtxType) -> Kernel:
    """The kernel for arrays of `dtype` (bf16 or f16)."""
    def tile(length: str, rows: int | str) -> Tile:
        return Tile("B", "H", length, "D", dtype, Layout.TMA_128B, tma_box=(1, 1, rows, BOX), tma_whole=True)
    return kernel(forward, name="attention", arch="sm_100a",
                  in_specs=[tile("S", ROWS), tile("T", "BN"), tile("T", "BN")], out_specs=[tile("S", 32)],
                  grid=lambda B, H, S: (-(-S // BM), H, B), block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))


attention = attention_of(bf16)


def main() -> None:
    compare_attention(attention_of(f16))


if __name__ == "__main__":
    main()
