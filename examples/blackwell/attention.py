"""Attention for Blackwell, forward: O = softmax(scale * Q K^T) V without materializing the scores, causal or full.

    python examples/blackwell/attention.py
    pyptx view examples/blackwell/attention.py:attention -p B=1 H=1 S=512 T=512 D=128 -o attention.html

A CTA computes 256 rows of O of one head, two tiles of 128. Each tile has four softmax warps; one thread of a
ninth warp copies, one of a tenth starts the products. Techniques and their sources:

- Scores, weights and results are in tensor memory; a thread has a whole row, so that neither maximum nor sum needs
  communication (PTX ISA, "tcgen05.ld", shape .32x32b).
- Weights, rounded, are the A operand of the second product from tensor memory (PTX ISA, "tcgen05.mma").
- A tile's next scores are started as soon as the current ones are in registers: they are ready when the warps need
  them, and the tensor cores alternate between two tiles (Shah et al., "FlashAttention-3", 3.1, for two groups).
- Online softmax, block by block (Dao et al., "FlashAttention"). Results so far are scaled, in tensor memory, only
  where a warp has a row with a score that is eight powers of two above the running maximum, which is rare; and one
  of EVERY pairs of exponentials is computed by FMAs ("FlashAttention-4"; exponentials.py).
- exp(x) as 2**(x * log2(e)); maxima of a row that do not wait for each other; masks only in blocks that need one; the
  longest rows of blocks first.

A block has 128 keys where D is 64, 80 where it is 128. One of 80 scores costs a warp 61 ex2, 40 max of three, 70
multiply-adds and 70 additions of pairs, and 40 roundings to pairs. With D = 128, sums are added while the product of the
weights runs; with D = 64, whose exponentials take longer than its products, between them.

Cost with D = 128: 168 registers per thread at launch, then 56 and 224; 186 KiB of shared memory, all of tensor memory:
one CTA per SM.
"""

from __future__ import annotations

import math
from typing import Any

from examples.blackwell.exponentials import Pairs
from examples.blackwell.tiles import BOX, MMA_K, MOST_BYTES, ROWS, barriers
from examples.products import check_memory
from examples.scores import LOG2_E, check_heads, compare_attention, scale_of, visible
from examples.scores import reference as reference  # used by pyptx tune --reference
from examples.vectors import rounded
from pyptx import Layout, TensorMap, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.ptx.mbarrier import MbarrierRing
from pyptx.reg import Reg
from pyptx.types import PtxType, b32, bf16, f16, f32, pred, s32, u32

TILES = 2  # of a CTA, of ROWS queries each
BM = TILES * ROWS
COPIES, MULTIPLIES = 32 * 8, 32 * 9  # threads with a role of their own
THREADS = 32 * 12  # three warpgroups, for setmaxnreg
AT_LAUNCH, REGISTERS = 168, (56, 224)  # of a thread; of one without a softmax, and of one with
COLUMNS = 512  # of tensor memory
CHAINS = 4  # independent maxima of a row's scores
PART = 32  # columns of results that a thread reads at a time
SLACK = 8.0  # powers of two by which a weight can exceed 1 before sums are rescaled
SPACE = {"BN": (32, 48, 64, 80, 96, 128), "STAGES": (1, 2, 3, 4), "EVERY": (0, 2, 3, 4, 8)}  # tuning space


def forward(q, k, v, o, *, BN=None, STAGES=3, EVERY=4, CAUSAL=False, SCALE=None):
    """Compute O (B x H x S x D) from queries (B x H x S x D), keys and values (B x H x T x D); D is 64 or 128.

    SCALE defaults to 1 / sqrt(D). With CAUSAL, query i attends to keys 0 to i, and T equals S.
    """
    (S, D), T = q.shape[2:], k.shape[2]
    BN = most_keys(D) if BN is None else BN
    check_sizes(S, T, D, BN, STAGES, CAUSAL)
    scale = LOG2_E * scale_of("attention", D, SCALE)
    of_tile = COLUMNS // TILES - D  # columns of its scores, and of its weights, two to a column
    few = math.gcd(BN, PART)
    late = D == 128  # sums are added after the weights are handed on

    q_tile, k_tile, v_tile = (lib.WgmmaTile(n, D, q.dtype, major) for n, major in ((ROWS, "K"), (BN, "K"), (BN, "MN")))
    queries = lib.TmaRing(1, {f"q{tile}": q_tile for tile in range(TILES)}, readers=1)
    keys, values = (lib.TmaRing(STAGES, {name: one}, readers=1) for name, one in (("k", k_tile), ("v", v_tile)))
    tensors = lib.TensorMemory(COLUMNS)
    scored, taken, weighed, added = (barriers(TILES) for _ in range(4))
    tid = reg.from_(ptx.special.tid.x(), u32)
    warp, lane = tid >> 5, tid & 31
    head, batch = reg.from_(ptx.special.ctaid.y(), u32), reg.from_(ptx.special.ctaid.z(), u32)
    row = (-(-S // BM) - 1 - reg.from_(ptx.special.ctaid.x(), s32)) * BM  # longest rows first

    def count_blocks() -> Reg:
        """Return the number of key blocks the last query attends to; each role computes it, as ptxas would spill it."""
        most = -(-T // BN)
        return ((row + (BM + BN - 1)) // BN).min(most) if CAUSAL else reg.scalar(s32, most)

    with ptx.if_(tid == COPIES):
        for ring in (queries, keys, values):
            ring.init()
        for ring in (scored, added):
            ring.init_all(1)
        for ring in (taken, weighed):
            ring.init_all(4)  # warps of a tile
    tensors.set_up(tid)
    memory = tensors.start
    for ring in (queries, keys, values):
        ring.begin()

    with ptx.if_(warp >= 8):
        ptx.setmaxnreg_dec(REGISTERS[0])
        with ptx.if_(tid == COPIES):
            blocks = count_blocks()
            first = queries.acquire()
            for tile in range(TILES):
                first.load(f"q{tile}", q, (0, row + tile * ROWS, head, batch))
            for block in ptx.range_(0, blocks):
                keys.acquire().load("k", k, (0, block * BN, head, batch))
                values.acquire().load("v", v, (0, block * BN, head, batch))

        with ptx.if_(tid == MULTIPLIES):
            blocks = count_blocks()
            kinds = [
                reg.scalar(b32, ptx.tcgen05.make_instr_desc_f16bf16_f32(m=ROWS, n=n, ab_dtype=q.dtype, b_major=major))
                for n, major in ((BN, "K"), (D, "MN"))
            ]
            from_q, from_k, from_v = (
                ring.tensor_descriptor(name) for ring, name in ((queries, "q0"), (keys, "k"), (values, "v"))
            )

            def start_scores(tile: int, stage: lib.Stage) -> None:
                this_k = stage.descriptor(from_k)
                for d in range(0, D, MMA_K):
                    ptx.tcgen05.mma(
                        memory + tile * of_tile,
                        from_q + (tile * q_tile.bytes // 16 + q_tile.offset(d)),
                        this_k + k_tile.offset(d),
                        kinds[0],
                        pred_operand=d > 0,
                    )
                ptx.tcgen05.commit(scored[tile])

            def add(tile: int, block: Reg, this_v: Reg) -> None:
                """Start accumulating the product of a tile's weights, once complete, and a block of values."""
                weighed[tile].wait(block & 1)
                ptx.tcgen05.fence_after_thread_sync()
                for key in range(0, BN, MMA_K):
                    ptx.tcgen05.mma(
                        memory + (TILES * of_tile + tile * D),
                        memory + (tile * of_tile + BN + key // 2),
                        this_v + v_tile.offset(key),
                        kinds[1],
                        a_is_tmem=True,
                        pred_operand=True if key else block != 0,
                    )
                ptx.tcgen05.commit(added[tile])

            queries.wait()
            stage = keys.wait()
            ptx.tcgen05.fence_after_thread_sync()
            for tile in range(TILES):
                start_scores(tile, stage)
            keys.commit(stage)
            for block in ptx.range_(0, blocks - 1):
                stage = keys.wait()
                ptx.tcgen05.fence_after_thread_sync()
                v_stage = values.wait()
                this_v = v_stage.descriptor(from_v)
                for tile in range(TILES):
                    taken[tile].wait(block & 1)  # the next scores, while weights are made of these
                    ptx.tcgen05.fence_after_thread_sync()
                    start_scores(tile, stage)
                    if tile == TILES - 1:
                        keys.commit(stage)
                    add(tile, block, this_v)
                values.commit(v_stage)
            this_v = values.wait().descriptor(from_v)
            for tile in range(TILES):
                add(tile, blocks - 1, this_v)

    with ptx.else_():
        ptx.setmaxnreg_inc(REGISTERS[1])
        blocks = count_blocks()
        tile = tid >> 7
        lanes = memory + ((warp & 3) << 21)  # the lane is in the upper half of an address
        scores_at = lanes + tile * of_tile
        results_at = lanes + tile * D + TILES * of_tile
        own_row = row + reg.from_(tid, s32)
        last = visible(own_row, T, CAUSAL)
        running, pairs = lib.OnlineSoftmax(1, scale, lanes=1, slack=SLACK), Pairs(scale, EVERY)
        scores = [reg.scalar(f32) for _ in range(BN)]
        parts = reg.array(b32, PART)

        def visit(block: Reg, masked: bool) -> None:
            """Replace the scores of a block by weights."""
            scored.at(tile).wait(block & 1)
            ptx.tcgen05.fence_after_thread_sync()
            words = [reg.array(b32, few) for _ in range(0, BN, few)]
            for i, some in enumerate(words):
                ptx.tcgen05.ld(some, scores_at + i * few, shape="32x32b", count=few)
            ptx.tcgen05.wait_ld()
            for score, word in zip(scores, (word for some in words for word in some), strict=True):
                ptx.inst.mov.b32(score, word)
            hand_on(taken)
            if masked:
                room = last - block * BN
                for i, score in enumerate(scores):
                    ptx.inst.selp.f32(score, score, -math.inf, room >= i)
            largest = [reg.from_(score, f32) for score in scores[:CHAINS]]
            for i, score in enumerate(scores[CHAINS:]):
                ptx.inst.max.f32(largest[i % CHAINS], largest[i % CHAINS], score)
            shrinks = running.raise_largest(0, largest)
            pairs.weigh(scores, running.largest[0] * -scale, shrinks, late)

            with ptx.if_(block > 0):
                added.at(tile).wait((block & 1) ^ 1)  # the last weights were read, and their results are there
                ptx.tcgen05.fence_after_thread_sync()
                anyone = reg.scalar(pred)
                ptx.inst.vote.sync.any.pred(anyone, shrinks < 1.0, -1)
                with ptx.if_(anyone):
                    for d in range(0, D, PART):
                        ptx.tcgen05.ld(parts, results_at + d, shape="32x32b", count=PART)
                        ptx.tcgen05.wait_ld()
                        for part in parts:
                            value = reg.from_(part, f32)
                            ptx.inst.mul.f32(value, value, shrinks)
                            ptx.inst.mov.b32(part, value)
                        ptx.tcgen05.st(results_at + d, parts, shape="32x32b", count=PART)
            for i in range(0, BN, 2 * few):
                weights = rounded(scores[i : i + 2 * few], q.dtype)
                ptx.tcgen05.st(scores_at + (BN + i // 2), weights, shape="32x32b", count=len(weights))
            ptx.tcgen05.wait_st()
            hand_on(weighed)
            if late:
                pairs.add(scores)

        def hand_on(to: MbarrierRing) -> None:
            """Signal that this warp has finished with tensor memory."""
            ptx.tcgen05.fence_before_thread_sync()
            ptx.inst.bar.warp.sync(-1)
            to.at(tile).arrive(pred=lane == 0)

        whole = reg.scalar(s32, T // BN)  # blocks that need no mask
        if CAUSAL:
            whole = ((row + reg.from_(tile << 7, s32)) // BN).min(whole)
        for block in ptx.range_(0, whole):
            visit(block, masked=False)
        if CAUSAL or T % BN:
            for block in ptx.range_(whole, blocks):
                visit(block, masked=True)

        # Divide by the sums and store through this warp's rows of Q, which are no longer read.
        added.at(tile).wait((blocks - 1) & 1)
        ptx.tcgen05.fence_after_thread_sync()
        total = pairs.sum()
        ptx.inst.rcp.approx.f32(total, total)
        own = queries.start + tile * q_tile.bytes
        results = lib.TensorFragment(memory + (tile * D + TILES * of_tile), D, tid)
        results.apply(lib.scaled(total)).stage(own, o.dtype, rows=ROWS)
        own = own + ((warp & 3) << 12)  # 32 rows of 128 bytes
        ptx.fence.proxy_async_shared_cta()
        ptx.inst.bar.warp.sync(-1)
        with ptx.if_(lane == 0):
            for d in range(0, D, BOX):
                ptx.cp.async_bulk.tensor_4d.store(
                    dst=o.tma_desc(), src=own + d * ROWS * 2, coord=(d, row + reg.from_(warp << 5, s32), head, batch)
                )
            ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it

    tensors.free(tid)


def most_keys(D: int) -> int:
    """Return the maximum block size: scores and weights share the columns of a tile that results leave."""
    return (COLUMNS // TILES - D) * 2 // 3 // 16 * 16


def keys_map(keys: Any, BN: int | None = None) -> TensorMap:
    """Return the tensor map of keys or values: boxes of a block's rows."""
    return TensorMap(keys, (1, 1, most_keys(keys.shape[3]) if BN is None else BN, BOX), swizzle="128B")


def check_sizes(S: int, T: int, D: int, BN: int, STAGES: int, causal: bool) -> None:
    """Raise ValueError for sizes the tiling does not support."""
    check_heads("attention", S, T, D, causal)
    if BN % 16 or not 0 < BN <= most_keys(D):
        raise ValueError(
            f"attention: BN={BN}; expected a multiple of 16 up to {most_keys(D)}: scores, weights and "
            "results share tensor memory"
        )
    check_memory("attention", STAGES, BM * D * 2 + STAGES * 2 * BN * D * 2, MOST_BYTES, least=1)


def attention_of(dtype: PtxType) -> Kernel:
    """Return the kernel for arrays of `dtype` (bf16 or f16)."""

    def queries(rows: int) -> Tile:
        return Tile("B", "H", "S", "D", dtype, Layout.TMA_128B, tma_box=(1, 1, rows, BOX), tma_whole=True)

    keys = Tile("B", "H", "T", "D", dtype, tensor_map=keys_map)
    return kernel(
        forward,
        name="attention",
        arch="sm_100a",
        in_specs=[queries(ROWS), keys, keys],
        out_specs=[queries(32)],
        grid=lambda B, H, S: (-(-S // BM), H, B),
        block=(THREADS, 1, 1),
        raw_directives=[("reqntid", (THREADS, 1, 1)), ("maxnreg", (AT_LAUNCH,))],
    )


attention = attention_of(bf16)


def main() -> None:
    compare_attention(attention_of(f16))


if __name__ == "__main__":
    main()
