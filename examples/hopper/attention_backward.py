"""Attention for Hopper, backward: the gradients of queries, keys and values, causal or full, bitwise reproducible.

    python examples/hopper/attention_backward.py
    pyptx view examples/hopper/attention_backward.py:attention_backward -p B=1 H=1 S=512 T=512 SP=512 D=128 -o dkv.html

Read attention.py first. With P = exp2(S - sums) the weights again, S = scale * Q K^T, and delta = rowsum(dO * O):

    dV = P^T dO     dS = P * (dO V^T - delta)     dK = scale * dS^T Q     dQ = scale * dS K

A CTA keeps 128 keys and values in shared memory and streams blocks of queries and dO, 64 rows for D = 128 and 128 for
D = 64. Its two consumers have 64 keys each and compute the products (backward_products.py): scores have one row per key,
so that dK and dV accumulate in registers. The contribution of a block of keys to dQ is added to f32 sums in memory.
Techniques and their sources:

- Five products per pair of blocks, in this loop order; delta in a pass before, rounding of dQ in a pass after (Dao, "FlashAttention-2", 3.1.2 and algorithm 2; attention_rows.py has the two).
- Weights are recomputed from the sums of the forward pass (Dao et al., "FlashAttention", B.4).
- P and dS stay in registers as A operands of dV and dK, and for D = 64 keys and values as those of S and dO V^T:
  shared memory is the bottleneck. dS also goes to shared memory, for dQ, which needs the rows of both consumers. A
  separate warp adds dQ to memory, by TMA (Shah et al., "FlashAttention-3", B.1; PTX ISA, "cp.reduce.async.bulk.tensor").
- One consumer's exponentials overlap with the other's products, and dV with the computation of dS.

The order of additions is fixed: the CTAs of a cluster take the key blocks of one head in turn, and each adds to a block of
queries after its predecessor, which signals an mbarrier of this CTA; the first one writes. The sums need no clearing
pass and are bitwise reproducible. The CTAs of a cluster visit a block shortly after one another, so that the sums stay
in L2.

Cost with D = 128: 168 registers per thread at launch, then 24 and 240; 197 KiB of shared memory: one CTA per SM. A head
has the CTAs of one cluster, at most 8: 16 heads or more fill an H200.
"""

from __future__ import annotations

import numpy as np

from examples.hopper import attention as FORWARD
from examples.hopper.attention_rows import reference, rounded_of, row_products_of
from examples.hopper.backward_products import CONSUMERS, KEYS, QUERIES, ROWS, Buffer, Consumer, Sizes
from examples.hopper.tiles import BOX, LINE, MOST_BYTES, meet
from examples.products import check_choices, check_memory
from examples.scores import check_heads
from pyptx import Layout, Tile, kernel, lib, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.ptx.mbarrier import Slot
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, b8, bf16, f16, f32, pred, s32, u32

THREADS = 128 * (1 + CONSUMERS)
ADDS = 32  # thread that adds to dQ; thread 0 copies
SUM_BOX = LINE // 4  # columns of a box of f32
SPACE = {"STAGES": (1, 2), "CLUSTER": (1, 2, 4, 8)}  # tuning space


def backward(q, k, v, d_o, sums, delta, d_k, d_v, d_q_sums, *, STAGES=2, CLUSTER=8, CAUSAL=False, SCALE=None):
    """Compute the gradients of keys and values (B x H x T x D) and, in f32 and not scaled yet, of queries (B x H x S x D).

    Queries and dO are B x H x S x D, D is 64 or 128; sums and delta are B x H x SP, SP the next multiple of 128 of S.
    SCALE defaults to 1 / sqrt(D). With CAUSAL, query i attends to keys 0 to i, and T equals S.
    """
    S, D = q.shape[2:]
    sizes = Sizes(S, D, k.shape[2], CAUSAL, SCALE)
    check_sizes(sizes, sums.shape[2], STAGES, CLUSTER)
    D, rows, tile_bytes, block_bytes = sizes.D, sizes.rows, sizes.tile_bytes, sizes.block_bytes

    kept = lib.TmaRing(1, {"keys": tile_bytes, "values": tile_bytes}, readers=CONSUMERS * 4)  # one stage
    tiles = {"queries": block_bytes, "d_o": block_bytes, "sums": 512, "delta": 512}
    streamed = lib.TmaRing(STAGES, tiles, readers=CONSUMERS * 4)
    shared = smem.alloc(b8, (2, sizes.ds_bytes), align=1024)  # dS, in turns
    changes = Buffer(rows * D * 4, 1, CONSUMERS * 4)  # of dQ, on their way to memory
    turns, ds_start = Turns(sizes, CLUSTER), reg.from_(shared.name, u32)
    tid, rank = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.ctaid.x(), s32)
    head, batch = reg.from_(ptx.special.ctaid.y(), u32), reg.from_(ptx.special.ctaid.z(), u32)

    with ptx.if_(tid == 0):
        for buffer in (changes, *([turns] if CLUSTER > 1 else [])):
            buffer.set_up()
        streamed.init()
        kept.init()
    meet(CLUSTER)

    with ptx.if_(tid < 128):
        ptx.setmaxnreg_dec(24)
        with ptx.if_(tid == 0):
            for ring in (kept, streamed):  # here, not before the branches: a role has registers for its positions only
                ring.begin()
            for keys in ptx.range_(rank, sizes.key_blocks, CLUSTER):
                copy_boxes(kept.start, (k, v), KEYS, KEYS, keys * KEYS, head, batch, kept.acquire().full)
                for block in ptx.range_(sizes.first(keys), sizes.query_blocks):
                    stage, at = streamed.acquire(2 * block_bytes + 2 * rows * 4), block * rows
                    to = stage.address("queries")
                    copy_boxes(to, (q, d_o), rows, QUERIES, at, head, batch, stage.full)
                    for i, tensor in enumerate((sums, delta)):
                        for j in range(0, rows, QUERIES):
                            ptx.cp.async_bulk.tensor_3d(
                                dst=to + (2 * block_bytes + i * 512 + j * 4),
                                src=tensor.tma_desc(),
                                coord=(at + j, head, batch),
                                mbar=stage.full,
                            )
        with ptx.if_(tid == ADDS):
            visited = reg.scalar(u32, 0)  # blocks of queries so far
            for keys in ptx.range_(rank, sizes.key_blocks, CLUSTER):
                for block in ptx.range_(sizes.first(keys), sizes.query_blocks):
                    changes.to_read(visited)
                    visited += 1
                    if CLUSTER > 1:
                        with ptx.if_(keys > 0):
                            turns.wait(keys, block)
                    for i in range(0, rows * D, QUERIES * SUM_BOX):
                        row, column = divmod(i // QUERIES, D)
                        box = {
                            "dst": d_q_sums.tma_desc(),
                            "src": changes.start + i * 4,
                            "coord": (column, block * rows + row * QUERIES, head, batch),
                        }
                        ptx.cp.async_bulk.tensor_4d.store(**box, pred=keys == 0)
                        ptx.cp.async_bulk.tensor_4d.reduce(**box, pred=keys > 0)
                    ptx.cp.async_bulk.commit_group()
                    ptx.cp.async_bulk.wait_group(0, read=True)
                    changes.give_back(tid & 31)
                    ptx.cp.async_bulk.wait_group(0)  # the sums are there
                    if CLUSTER > 1:
                        turns.pass_on(keys, block, (rank + 1) & (CLUSTER - 1))
    with ptx.else_():
        ptx.setmaxnreg_inc(240)
        for ring in (kept, streamed):
            ring.begin()
        consumer = Consumer(sizes, kept, streamed, changes, ds_start, tid, q.dtype)
        for keys in ptx.range_(rank, sizes.key_blocks, CLUSTER):
            held = kept.wait()
            consumer.begin()
            first, masked_until = sizes.first(keys), sizes.masked_until(keys)
            if masked_until is not None:
                for block in ptx.range_(first, masked_until):
                    consumer.visit(keys, block, masked=True)
            for block in ptx.range_(first if masked_until is None else masked_until, sizes.query_blocks):
                consumer.visit(keys, block, masked=False)
            consumer.write(d_k, d_v, keys, head, batch)
            kept.release(held, consumer.lane)

    if CLUSTER > 1:
        meet(CLUSTER)  # a CTA must outlive remote writes to it


def copy_boxes(
    to: Reg, tensors: tuple, rows: int, box: int, row: Reg, head: Reg, batch: Reg, ready: Slot | Reg
) -> None:
    """Copy `rows` rows of arrays, one after the other, in boxes of 64 columns and `box` rows each."""
    for i, tensor in enumerate(tensors):
        D = tensor.shape[3]
        for d in range(0, D, BOX):
            for j in range(0, rows, box):
                ptx.cp.async_bulk.tensor_4d(
                    dst=to + (i * rows * D * 2 + d * rows * 2 + j * LINE),
                    src=tensor.tma_desc(),
                    coord=(d, row + j, head, batch),
                    mbar=ready,
                )


class Turns:
    """Order in which the CTAs of a cluster add to each block of queries.

    Each CTA has an mbarrier per block, which the CTA with the preceding keys signals when it is done.
    """

    def __init__(self, sizes: Sizes, cluster: int):
        self.sizes, self.cluster = sizes, cluster
        self.barriers = smem.alloc(b8, sizes.query_blocks * 8, align=8)
        self.done = ptx.mbarrier.array(reg.from_(self.barriers.name, u32), 0, sizes.query_blocks)

    def set_up(self) -> None:
        """Initialize the mbarriers; called by one thread before the CTAs synchronize."""
        for block in ptx.range_(0, self.sizes.query_blocks):
            self.done.at(reg.from_(block, u32)).init(1)

    def wait(self, keys: Reg, block: Reg) -> None:
        """Wait for the contribution of the preceding keys to a block."""
        phase, over = (keys - 1 >> self.cluster.bit_length() - 1) & 1, reg.scalar(pred)
        place = self.done.at(reg.from_(block, u32)).address_register()
        with ptx.scope(), ptx.loop("not_yet", pred=~over):
            ptx.inst.mbarrier.try_wait.parity.acquire.cluster.shared__cta.b64(over, ptx.addr(place), phase)
        ptx.fence.proxy_async()  # order the peer's TMA writes before ours

    def pass_on(self, keys: Reg, block: Reg, to: Reg) -> None:
        """Signal CTA `to` that it is its turn, if it has keys the block attends to."""
        place = ptx.cluster.map_shared_u32(self.done.at(reg.from_(block, u32)).address_register(), to)
        until = reg.scalar(s32)
        ptx.inst.selp.s32(until, self.sizes.query_blocks, 0, keys < self.sizes.key_blocks - 1)
        goes_on = block < until
        if self.sizes.causal:
            ptx.inst.setp.ge.and_.s32(goes_on, block, self.sizes.first(keys + 1), goes_on)
        with ptx.if_(goes_on):
            ptx.inst.mbarrier.arrive.release.cluster.shared__cluster.b64("_", ptx.addr(place), 1)


def check_sizes(sizes: Sizes, SP: int, STAGES: int, CLUSTER: int) -> None:
    """Raise ValueError for sizes the tiling does not support."""
    S, D = sizes.S, sizes.D
    check_heads("attention_backward", S, sizes.T, D, sizes.causal)
    check_choices("attention_backward", CLUSTER=(CLUSTER, (1, 2, 4, 8)))
    if SP != -(-S // 128) * 128:
        raise ValueError(f"attention_backward: SP={SP}; expected the next multiple of 128 of S={S}")
    check_memory(
        "attention_backward",
        STAGES,
        2 * sizes.tile_bytes
        + STAGES * (2 * sizes.block_bytes + 1024)
        + 2 * sizes.ds_bytes
        + sizes.rows * D * 4
        + sizes.query_blocks * 8,
        MOST_BYTES,
        least=1,
    )


def attention_backward_of(dtype: PtxType) -> Kernel:
    """Return the kernel for arrays of `dtype` (bf16 or f16)."""

    def tile(length: str, rows: int) -> Tile:
        return Tile("B", "H", length, "D", dtype, Layout.TMA_128B, tma_box=(1, 1, rows, BOX), tma_whole=True)

    numbers = Tile("B", "H", "SP", f32, tma_box=(1, 1, QUERIES))
    return kernel(
        backward,
        name="attention_backward",
        arch="sm_90a",
        in_specs=[tile("S", QUERIES), tile("T", KEYS), tile("T", KEYS), tile("S", QUERIES), numbers, numbers],
        out_specs=[
            tile("T", ROWS),
            tile("T", ROWS),
            Tile("B", "H", "S", "D", f32, Layout.TMA_128B, tma_box=(1, 1, QUERIES, SUM_BOX), tma_whole=True),
        ],
        grid=lambda B, H, CLUSTER: (CLUSTER, H, B),
        cluster=lambda CLUSTER: CLUSTER,
        block=(THREADS, 1, 1),
        raw_directives=[("reqntid", (THREADS, 1, 1)), ("maxnreg", (168,))],
    )


attention_backward = attention_backward_of(bf16)


def gradients_of(dtype: PtxType):
    """Return a function from q, k, v and d_o to o, d_q, d_k and d_v, arrays of one library, and its main kernel."""
    forward, products = FORWARD.attention_of(dtype, with_sums=True), attention_backward_of(dtype)
    delta_of, round_queries = row_products_of(dtype), rounded_of(dtype)

    def gradients(q, k, v, d_o, **params):
        SP = -(-q.shape[2] // 128) * 128
        scaling = {"SCALE": params.get("SCALE")}
        o, sums = forward(q, k, v, SP=SP, CAUSAL=params.get("CAUSAL", False), **scaling)
        d_k, d_v, d_q_sums = products(q, k, v, d_o, sums, delta_of(o, d_o, SP=SP), **params)
        return o, round_queries(d_q_sums, **scaling), d_k, d_v

    return gradients, products


def main() -> None:
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((1, 2, 200, 64)).astype(np.float16) for _ in range(4)]
    gradients, products = gradients_of(f16)
    compare(
        products, arrays, reference(*arrays, causal=True), rtol=5e-3, atol=1e-2, call=gradients, CAUSAL=True, CLUSTER=2
    )


if __name__ == "__main__":
    main()
