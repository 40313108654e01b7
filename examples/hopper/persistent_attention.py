"""Persistent causal attention for Hopper, forward, with grouped queries (GQA): O = softmax(scale * Q K^T) V.

    python examples/hopper/persistent_attention.py
    pyptx view examples/hopper/persistent_attention.py:persistent_attention -p B=1 H=4 HK=2 S=512 D=128 CTAS=2

Read attention.py first; the arithmetic is the same, on the parts of `pyptx.lib`. A CTA computes one tile of 128 queries of a head after another,
each in two consumers of 64. Techniques and their sources:

- As many CTAs as SMs. Causal masks make the last queries of a sequence the most work: their tiles come first, those of all heads, so that
  short tiles fill the gaps at the end (`lib.TileOrder`; Shah et al., "FlashAttention-3").
- The producer runs ahead into the next tile: its queries and first keys arrive while consumers finish the last one. Results leave by TMA from
  boxes of their own (`lib.StoreBoxes`), so that the next tile can begin.
- H heads of queries share HK heads of keys and values (Ainslie et al., "GQA"): the tensor map of the keys has HK heads, and heads of a group
  run at the same time, so that they find their keys in L2.
- Scores of a block start before the product of the last block's weights, and consumers take turns ("FlashAttention-3", 3.1 and 3.2). Turns go on
  across tiles.

Cost with D = 128: 168 registers per thread at launch, then 24 and 240; 227 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pyptx
from examples.hopper.attention_backward import attention_backward_of
from examples.hopper.attention_rows import rounded_of, row_products_of
from examples.hopper.tiles import BOX, MOST_BYTES, WGMMA_K, WGMMA_ROWS
from examples.products import check_memory
from examples.scores import LOG2_E, check_heads, hide, scale_of
from examples.scores import reference as attention_reference
from examples.vectors import round_pair
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, b32, bf16, f16, f32, pred, s32, u32

CONSUMERS = 2  # consumer warpgroups, 64 queries each
THREADS = 128 * (1 + CONSUMERS)
BM = CONSUMERS * WGMMA_ROWS
SLACK = 8.0  # powers of two by which a weight can exceed 1 before sums are rescaled
TURN = 4  # named barrier of the first consumer's turn
SPACE = {"BN": (64, 128), "STAGES": (2, 3), "Q_STAGES": (1, 2), "PINGPONG": (True, False)}  # tuning space


def forward(q, k, v, o, *, BN=128, STAGES=2, Q_STAGES=2, CTAS=132, SCALE=None, PINGPONG=True):
    """Compute attention; see `body`."""
    body(q, k, v, o, None, BN, STAGES, Q_STAGES, CTAS, SCALE, PINGPONG)


def forward_with_sums(q, k, v, o, sums, *, BN=128, STAGES=2, Q_STAGES=2, CTAS=132, SCALE=None, PINGPONG=True):
    """Compute attention, and the sums that attention_backward.py needs; see `body`.

    sums (B x H x SP, f32, SP the next multiple of 128 of S) holds the log2 of each query's sum of exponentials, 0 from S on.
    """
    body(q, k, v, o, sums, BN, STAGES, Q_STAGES, CTAS, SCALE, PINGPONG)


def body(q, k, v, o, sums, BN: int, STAGES: int, Q_STAGES: int, CTAS: int, SCALE: float | None, PINGPONG: bool) -> None:
    """Compute O (B x H x S x D) from queries (B x H x S x D), keys and values (B x HK x S x D); D is 64 or 128.

    Query i attends to keys 0 to i; head h to the keys of head h * HK / H. SCALE defaults to 1 / sqrt(D).
    """
    (B, H, S, D), HK = q.shape, k.shape[1]
    check_sizes(H, HK, S, D, BN, STAGES, Q_STAGES)
    scale, tid = LOG2_E * scale_of("persistent_attention", D, SCALE), reg.from_(ptx.tid.x, u32)
    order = lib.TileOrder(-(-S // BM), B * H, group=1)

    q_tile, k_tile = lib.WgmmaTile(BM, D, q.dtype, "K"), lib.WgmmaTile(BN, D, k.dtype, "K")
    queries = lib.TmaRing(Q_STAGES, {"q": q_tile}, readers=CONSUMERS * 4)
    keys = lib.TmaRing(STAGES, {"k": k_tile}, readers=CONSUMERS * 4)
    values = lib.TmaRing(STAGES, {"v": lib.WgmmaTile(BN, D, v.dtype, "MN")}, readers=CONSUMERS * 4)
    boxes = lib.StoreBoxes(CONSUMERS * 4, o.dtype, first_warp=4)
    rings = (queries, keys, values)
    with ptx.if_(tid == 0):
        for ring in rings:
            ring.init()
    ptx.bar.sync(0)
    ptx.inst.bar.warp.sync(-1)
    for ring in rings:
        ring.begin()

    def tiles():
        """Loop over the tiles of this CTA: number, first query, end of its blocks of keys, head and batch."""
        for number in ptx.range_(ptx.ctaid.x + 0, order.count, CTAS):
            from_last, column = order.place(number)
            row = (order.down - 1 - from_last) * BM  # the most work first
            batch, head = lib.divided(column, H)
            blocks = ((row + (BM + BN - 1)) // BN).min(-(-S // BN))
            yield number, row, blocks, head, batch

    roles = lib.roles(consumers=CONSUMERS, registers=(24, 240), tid=tid)
    with roles.producer():
        for _, row, blocks, head, batch in tiles():
            queries.acquire().load("q", q, (0, row, head, batch))
            of_group = head // (H // HK)
            for block in ptx.range_(0, blocks):
                keys.acquire().load("k", k, (0, block * BN, of_group, batch))
                values.acquire().load("v", v, (0, block * BN, of_group, batch))
    with roles.consumer() as consumer:
        lane = tid & 31
        scores, result = lib.WgmmaFragment(BN, tid), lib.WgmmaFragment(D, tid)
        weights = reg.array(b32, BN // 4).regs()
        from_q, from_k, from_v = (
            queries.descriptor("q", consumer * WGMMA_ROWS),
            keys.descriptor("k"),
            values.descriptor("v"),
        )
        own_turn, next_turn = TURN + consumer, (TURN + 1) - consumer
        if PINGPONG:
            ptx.bar.arrive(TURN, 2 * 128, pred=consumer == 1)  # the first turn is the first consumer's

        def start_scores(this_q: Reg) -> lib.Stage:
            """Start the product of the queries and the next block of keys; return its stage."""
            stage = keys.wait()
            this_k = stage.descriptor(from_k)
            ptx.wgmma.fence()
            for d in range(0, D, WGMMA_K):
                ptx.wgmma.mma_async(
                    shape=(WGMMA_ROWS, BN, WGMMA_K), dtype_d=f32, dtype_a=q.dtype, dtype_b=k.dtype, d=scores.sums,
                    a=this_q + q_tile.offset(d), b=this_k + k_tile.offset(d), scale_d=d > 0,
                )  # fmt: skip
            ptx.wgmma.commit_group()
            return stage

        def start_result() -> lib.Stage:
            """Start accumulating the product of the weights and the next block of values; return its stage."""
            stage = values.wait()
            this_v = stage.descriptor(from_v)
            ptx.wgmma.fence()
            for key in range(0, BN, WGMMA_K):
                ptx.wgmma.mma_async(
                    shape=(WGMMA_ROWS, D, WGMMA_K), dtype_d=f32, dtype_a=q.dtype, dtype_b=v.dtype, d=result.sums,
                    a=weights[key // 4 : key // 4 + 4], b=this_v + values.operands["v"].offset(key), trans_b=1, scale_d=True,
                )  # fmt: skip
            ptx.wgmma.commit_group()
            return stage

        def softmax(block: int | Reg, masked: bool) -> list[Reg]:
            """Replace the scores of a block by unrounded weights; return the rescaling factor of each row."""
            rows = [[value for value, i, _ in scores.coords() if i == below] for below in scores.rows()]
            if masked:
                for own, below in zip(rows, scores.rows(), strict=True):
                    hide(own, own_query + below - block * BN)
            factors = [running.raise_largest(r, own) for r, own in enumerate(rows)]
            for r, own in enumerate(rows):
                running.weigh(r, own, factors[r])
            return factors

        def round_weights() -> None:
            for i, pair in enumerate(weights):
                round_pair(pair, scores.sums[2 * i], scores.sums[2 * i + 1], q.dtype)

        def take_turn() -> None:
            if PINGPONG:
                ptx.bar.sync(own_turn, 2 * 128)

        def pass_turn(block: int | Reg) -> None:
            """Let the other consumer start its products; the second one passes no turn at the end of its work."""
            if PINGPONG:
                left = reg.scalar(s32)  # blocks after this one, of this tile or later ones
                ptx.inst.selp.s32(left, 1, blocks - 1 - block, more)
                ptx.inst.selp.s32(left, 1, left, consumer == 0)
                ptx.bar.arrive(next_turn, 2 * 128, pred=left > 0)

        def visit(block: Reg, masked: bool) -> None:
            """Process a block of keys, and the block of values before it."""
            take_turn()
            k_stage, v_stage = start_scores(this_q), start_result()
            pass_turn(block)
            ptx.wgmma.wait_group(1)  # the scores are complete
            keys.release(k_stage, lane)
            factors, shrinks = softmax(block, masked), reg.scalar(pred)
            ptx.inst.setp.lt.f32(shrinks, factors[0], 1.0)
            ptx.inst.setp.lt.or_.f32(shrinks, factors[1], 1.0, shrinks)
            ptx.inst.vote.sync.any.pred(shrinks, shrinks, -1)
            with ptx.if_(shrinks):  # rare; and ptxas does not move waits across a branch
                ptx.wgmma.wait_group(0)
                for i, value in enumerate(result.sums):
                    ptx.inst.mul.f32(value, value, factors[i // 2 % 2])
            ptx.wgmma.wait_group(0)
            values.release(v_stage, lane)
            round_weights()

        for number, row, blocks, head, batch in tiles():
            more = number + CTAS < order.count
            own_query = (row + consumer * WGMMA_ROWS + scores.row - scores.column).to(s32)  # less the first column
            whole = ((row + 1) // BN).max(1)
            running = lib.OnlineSoftmax(2, scale, slack=SLACK)
            for value in result.sums:
                ptx.inst.mov.f32(value, 0.0)
            q_stage = queries.wait()
            this_q = q_stage.descriptor(from_q)
            take_turn()
            k_stage = start_scores(this_q)
            pass_turn(0)
            ptx.wgmma.wait_group(0)
            keys.release(k_stage, lane)
            softmax(0, masked=True)
            round_weights()
            for block in ptx.range_(1, whole):
                visit(block, masked=False)
            for block in ptx.range_(whole, blocks):
                visit(block, masked=True)
            queries.release(q_stage, lane)
            v_stage = start_result()
            ptx.wgmma.wait_group(0)
            values.release(v_stage, lane)
            totals = [running.finish(r) for r in range(2)]
            if sums is not None:
                for total, largest, below in zip(totals, running.largest, scores.rows(), strict=True):
                    query, number = row + consumer * WGMMA_ROWS + scores.row + below, ptx.log2(total)
                    number = ptx.select(query < S, ptx.fma(largest, scale, number), 0.0)
                    sums.store(batch, head, query, number, pred=scores.column == 0)
            inverse = [ptx.rcp(total) for total in totals]
            for i, value in enumerate(result.sums):
                ptx.inst.mul.f32(value, value, inverse[i // 2 % 2])
            result.store_tma(o, row + consumer * WGMMA_ROWS, 0, boxes, outer=(batch, head))
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it


def check_sizes(H: int, HK: int, S: int, D: int, BN: int, STAGES: int, Q_STAGES: int) -> None:
    """Raise ValueError for sizes the tiling does not support."""
    check_heads("persistent_attention", S, S, D, True)
    if HK < 1 or H % HK:
        raise ValueError(f"persistent_attention: {H} heads cannot share {HK} heads of keys; expected a divisor of {H}")
    if BN not in (64, 128):
        raise ValueError(f"persistent_attention: BN={BN}; expected 64 or 128")
    needed = (Q_STAGES * BM + STAGES * 2 * BN) * D * 2 + lib.StoreBoxes.bytes_of(CONSUMERS * 4)
    check_memory("persistent_attention", STAGES, needed, MOST_BYTES)


def persistent_attention_of(dtype: PtxType, *, with_sums: bool = False) -> Kernel:
    """Return the kernel for arrays of `dtype` (bf16 or f16); with_sums: the one that gives O and sums, SP (to pass) long."""

    def tile(heads: str, rows: int | str) -> Tile:
        return Tile("B", heads, "S", "D", dtype, Layout.TMA_128B, tma_box=(1, 1, rows, BOX), tma_whole=True)

    return kernel(
        forward_with_sums if with_sums else forward,
        name="persistent_attention",
        arch="sm_90a",
        in_specs=[tile("H", BM), tile("HK", "BN"), tile("HK", "BN")],
        out_specs=[tile("H", 16), *([Tile("B", "H", "SP", f32)] if with_sums else [])],
        grid=lambda B, H, S, CTAS: min(CTAS, B * H * -(-S // BM)),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
        tensor_maps="value",
    )


persistent_attention = persistent_attention_of(bf16)


def with_gradients(dtype: PtxType = bf16):
    """Return causal attention for torch tensors, o = f(q, k, v), with support for torch.autograd and torch.compile.

    The backward pass is that of attention_backward.py, on keys and values repeated for the heads of a group, whose gradients are
    added.
    """
    first, products = persistent_attention_of(dtype, with_sums=True), attention_backward_of(dtype)
    delta_of, round_queries = row_products_of(dtype), rounded_of(dtype)

    def run(q, k, v, **params):
        return first(q, k, v, SP=-(-q.shape[2] // BM) * BM, **params)

    def gradients(q, k, v, o, sums, d_o, _, **params):
        (B, HK, S, D), group = k.shape, q.shape[1] // k.shape[1]
        repeated = [x.repeat_interleave(group, 1) for x in (k, v)]
        scaling = {"SCALE": params.get("SCALE")}
        delta = delta_of(o, d_o, SP=sums.shape[2])
        d_k, d_v, d_q = products(q, *repeated, d_o, sums, delta, CAUSAL=True, **scaling)
        added = [x.reshape(B, HK, group, S, D).float().sum(2).to(x.dtype) for x in (d_k, d_v)]
        return round_queries(d_q, **scaling), *added

    attention = pyptx.differentiable_kernel(
        run, gradients, save_for_backward=lambda inputs, outputs: (*inputs, *outputs)
    )
    return lambda *inputs, **params: attention(*inputs, **params)[0]


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return causal attention with grouped queries in NumPy, in f32."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    return attention_reference(q, k, v, causal=True)


def main() -> None:
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((1, heads, 300, 64)).astype(np.float16) for heads in (4, 2, 2))
    attention: Any = persistent_attention_of(f16)
    compare(attention, [q, k, v], reference(q, k, v), rtol=5e-3, atol=5e-3, CTAS=3)


if __name__ == "__main__":
    main()
