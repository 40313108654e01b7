"""Attention for Hopper, forward: O = softmax(scale * Q K^T) V without materializing the scores, causal or full.

    python examples/hopper/attention.py
    pyptx view examples/hopper/attention.py:attention -p B=1 H=1 S=512 T=512 D=128 -o attention.html

A CTA of four warpgroups computes 128 rows of O of one head where D is 128, 192 where it is 64. One thread of the first
warpgroup, the producer, copies blocks of BN keys and values into a ring of STAGES stages; two or three others, the
consumers, have 64 queries each. Techniques and their sources:

- Online softmax, block by block: a new maximum rescales the sums and results so far (Milakov and Gimelshein, "Online
  normalizer calculation for softmax"; Dao et al., "FlashAttention"). Only where a score is eight
  powers of two above the running maximum, which is rare (Dao et al., "FlashAttention-4").
- Scores stay in registers: the accumulator of the first product is, rounded, the A operand of the second (Shah et al.,
  "FlashAttention-3"; PTX ISA, "Register Fragments for wgmma.mma_async").
- exp(x) as 2**(x * log2(e)), one FMA and one ex2 per score.
- Masks only in the blocks that need one; with causal masks the longest rows of blocks start first.
- The scores of a block are started before the product of the last block's weights with its values: a consumer computes
  its softmax meanwhile ("FlashAttention-3", 3.2 "Intra-warpgroup overlapping GEMMs and softmax"). ptxas moves a wait
  up before arithmetic that does not need it; it does not move it over a branch.
- Consumers take turns to start products, synchronized by named barriers, so that one computes its softmax while the
  products of the others run (the same, 3.1 "Pingpong scheduling"; PINGPONG=False leaves the order open).
- With D = 64, exponentials take as long as products: a third consumer works while two wait, and every sixth exponential
  is computed by FMAs (exponentials.py, "FlashAttention-4").
- Tensor maps, mbarriers for a ring of stages, registers given to the consumers: as in gemm.py.

A block of 64 x 128 scores costs a warp, where D is 128, 16 wgmma, 66 ex2, 66 fma, 68 max, 64 additions and 32 roundings
to pairs; all in all 424 instructions.

Cost with D = 128: 128 registers per thread at launch, then 24 and 232; 162 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

from examples.hopper.tiles import BOX, MOST_BYTES, WGMMA_K, WGMMA_ROWS
from examples.products import check_memory
from examples.scores import LOG2_E, check_heads, compare_attention, hide, scale_of, some_by_fma, visible
from examples.scores import reference as reference  # used by pyptx tune --reference
from examples.vectors import both, round_pair
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, b32, bf16, f16, f32, pred, s32, u32

CONSUMERS = {64: 3, 128: 2}  # consumer warpgroups, of each head dimension
REGISTERS = {64: (32, 160), 128: (24, 232)}  # of a thread that does not multiply, and of one that does
MOST_KEYS = {64: 128, 128: 176}  # of a block: a thread has scores, weights and results in registers
MULTIPLIED = {64: 6, 128: 0}  # one of this many exponentials is computed by FMAs; 0: none
THREADS = 128 * 4
AT_LAUNCH = 65536 // THREADS  # registers per thread; setmaxnreg requires a known count
ROWS = WGMMA_ROWS  # queries of a consumer
TURN = 4  # the first consumer's named barrier for its turn; 1, 2, ... are for the way out
SPACE = {
    "BN": (64, 80, 96, 128, 176),
    "STAGES": (1, 2, 3, 4),
    "PINGPONG": (True, False),
    "EVERY": (0, 4, 6, 8),
}  # tuning space


def forward(q, k, v, o, *, BN=128, STAGES=2, CAUSAL=False, SCALE=None, PINGPONG=True, EVERY=None, SLACK=8.0):
    """Compute attention; see `body`."""
    body(q, k, v, o, None, BN, STAGES, CAUSAL, SCALE, PINGPONG, EVERY, SLACK)


def forward_with_sums(
    q, k, v, o, sums, *, BN=128, STAGES=2, CAUSAL=False, SCALE=None, PINGPONG=True, EVERY=None, SLACK=8.0
):
    """Compute attention, and the sums the backward pass needs; see `body`.

    sums (B x H x SP, f32) holds the log2 of each query's sum of exponentials, 0 from S on.
    """
    body(q, k, v, o, sums, BN, STAGES, CAUSAL, SCALE, PINGPONG, EVERY, SLACK)


def body(
    q,
    k,
    v,
    o,
    sums,
    BN: int,
    STAGES: int,
    CAUSAL: bool,
    SCALE: float | None,
    PINGPONG: bool,
    EVERY: int | None,
    SLACK: float,
) -> None:
    """Compute O (B x H x S x D) from queries (B x H x S x D), keys and values (B x H x T x D); D is 64 or 128.

    SCALE defaults to 1 / sqrt(D). With CAUSAL, query i attends to keys 0 to i, and T equals S. One of EVERY exponentials
    is computed by FMAs (0: none; default: every sixth for D = 64). Results are rescaled when a weight exceeds 2**SLACK
    (0: with every block, without a branch).
    """
    (S, D), T = q.shape[2:], k.shape[2]
    check_sizes(S, T, D, BN, STAGES, CAUSAL)
    scale = LOG2_E * scale_of("attention", D, SCALE)
    every = MULTIPLIED[D] if EVERY is None else EVERY
    consumers, BM = CONSUMERS[D], CONSUMERS[D] * ROWS  # queries of a CTA
    length = S if sums is None else sums.shape[2]  # queries with results
    q_tile, k_tile, v_tile = (lib.WgmmaTile(n, D, q.dtype, major) for n, major in ((ROWS, "K"), (BN, "K"), (BN, "MN")))

    queries = lib.TmaRing(
        1, {f"q{i}": q_tile for i in range(consumers)}, readers=consumers * 4
    )  # a tile for each consumer
    keys, values = (
        lib.TmaRing(STAGES, {name: tile}, readers=consumers * 4) for name, tile in (("k", k_tile), ("v", v_tile))
    )
    tid = reg.from_(ptx.special.tid.x(), u32)
    head, batch = reg.from_(ptx.special.ctaid.y(), u32), reg.from_(ptx.special.ctaid.z(), u32)
    row = (-(-length // BM) - 1 - reg.from_(ptx.special.ctaid.x(), s32)) * BM  # longest rows first
    blocks, whole = -(-T // BN), max(1, T // BN)  # blocks of keys; those that need no mask, and the first one
    if CAUSAL:
        whole = ((row + 1) // BN).max(1)
        blocks = ((row + (BM + BN - 1)) // BN).min(blocks)

    rings = queries, keys, values
    with ptx.if_(tid == 0):
        for ring in rings:
            ring.init()
    ptx.bar.sync(0)

    consumer = (tid >> 7) - 1  # none for the first warpgroup, nor for a fourth where D is 128
    with ptx.if_(consumer >= consumers):
        ptx.setmaxnreg_dec(REGISTERS[D][0])
        with ptx.if_(tid == 0):
            for ring in rings:
                ring.begin()
            first = queries.acquire()
            for i in range(consumers):
                first.load(f"q{i}", q, (0, row + i * ROWS, head, batch))
            for block in ptx.range_(0, blocks):
                keys.acquire().load("k", k, (0, block * BN, head, batch))
                values.acquire().load("v", v, (0, block * BN, head, batch))
    with ptx.else_():
        ptx.setmaxnreg_inc(REGISTERS[D][1])
        thread = tid & 127
        leads = thread & 31 == 0
        for ring in rings:  # here, not before the branches: a role has registers for its positions only
            ring.begin()
        own = queries.start + consumer * q_tile.bytes  # this consumer's queries, and later its results
        from_q, from_k, from_v = q_tile.descriptor(own), keys.descriptor("k"), values.descriptor("v")

        # A thread has two rows, eight apart. Of an accumulator, registers 4i and 4i + 1 belong to the first of them.
        scores, result = lib.WgmmaFragment(BN, tid), lib.WgmmaFragment(D, tid)
        for value in result.sums:
            ptx.inst.mov.f32(value, 0.0)
        weights = reg.array(b32, BN // 4).regs()
        running = lib.OnlineSoftmax(2, scale, slack=SLACK)
        own_query = row + (consumer * ROWS + scores.row)
        last = [visible(own_query + below, T, CAUSAL) for below in scores.rows()]
        shift = scores.column.to(s32)

        own_turn, next_turn = TURN + consumer, reg.scalar(u32)
        ptx.inst.selp.u32(next_turn, TURN, own_turn + 1, consumer == consumers - 1)
        if PINGPONG:  # the first turn is the first consumer's
            ptx.bar.arrive(TURN, 2 * 128, pred=both(consumer == consumers - 1, blocks > 1))

        def start_scores() -> lib.Stage:
            """Start the product of the queries and the next block of keys; return its stage."""
            stage = keys.wait()
            this_k = stage.descriptor(from_k)
            ptx.wgmma.fence()
            for d in range(0, D, WGMMA_K):
                ptx.wgmma.mma_async(
                    shape=(ROWS, BN, WGMMA_K),
                    dtype_d=f32,
                    dtype_a=q.dtype,
                    dtype_b=k.dtype,
                    d=scores.sums,
                    a=from_q + q_tile.offset(d),
                    b=this_k + k_tile.offset(d),
                    scale_d=d > 0,
                )
            ptx.wgmma.commit_group()
            return stage

        def start_result() -> lib.Stage:
            """Start accumulating the product of the weights and the next block of values; return its stage."""
            stage = values.wait()
            this_v = stage.descriptor(from_v)
            ptx.wgmma.fence()
            for key in range(0, BN, WGMMA_K):
                ptx.wgmma.mma_async(
                    shape=(ROWS, D, WGMMA_K),
                    dtype_d=f32,
                    dtype_a=q.dtype,
                    dtype_b=v.dtype,
                    d=result.sums,
                    a=weights[key // 4 : key // 4 + 4],
                    b=this_v + v_tile.offset(key),
                    trans_b=1,
                    scale_d=True,
                )
            ptx.wgmma.commit_group()
            return stage

        def softmax(block: int | Reg, masked: bool) -> list[Reg]:
            """Replace the scores of a block by unrounded weights; return the rescaling factor of each row."""
            rows = [[value for value, i, _ in scores.coords() if i == below] for below in scores.rows()]
            if masked:
                for r in range(2):
                    hide(rows[r], last[r] - block * BN - shift)
            factors = [running.raise_largest(r, rows[r]) for r in range(2)]
            for r in range(2):
                # Masked scores need a weight of exactly 0, which the polynomial does not give.
                running.weigh(r, rows[r], factors[r], some_by_fma(0 if masked else every))
            return factors

        def round_weights() -> None:
            for i, pair in enumerate(weights):
                round_pair(pair, scores.sums[2 * i], scores.sums[2 * i + 1], q.dtype)

        def rescale(factors: list[Reg]) -> None:
            for i, value in enumerate(result.sums):
                ptx.inst.mul.f32(value, value, factors[i // 2 % 2])

        def visit(block: Reg, masked: bool) -> None:
            """Process a block of keys, and the block of values before it."""
            if PINGPONG:
                ptx.bar.sync(own_turn, 2 * 128)
            k_stage, v_stage = start_scores(), start_result()
            if PINGPONG:  # every turn must be taken
                goes_on = reg.scalar(s32)
                ptx.inst.selp.s32(goes_on, blocks, blocks - 1, consumer < consumers - 1)
                ptx.bar.arrive(next_turn, 2 * 128, pred=block < goes_on)
            ptx.wgmma.wait_group(1)  # the scores are complete
            keys.release(k_stage, leads)
            factors = softmax(block, masked)
            if SLACK:
                shrinks = reg.scalar(pred)
                ptx.inst.setp.lt.f32(shrinks, factors[0], 1.0)
                ptx.inst.setp.lt.or_.f32(shrinks, factors[1], 1.0, shrinks)
                ptx.inst.vote.sync.any.pred(shrinks, shrinks, -1)
                with ptx.if_(shrinks):  # rare; and ptxas does not move waits across a branch
                    ptx.wgmma.wait_group(0)
                    rescale(factors)
            ptx.wgmma.wait_group(0)
            if not SLACK:
                rescale(factors)
            values.release(v_stage, leads)
            round_weights()

        queries.wait()
        stage = start_scores()
        ptx.wgmma.wait_group(0)
        keys.release(stage, leads)
        softmax(0, masked=CAUSAL or T < BN)
        round_weights()
        for block in ptx.range_(1, whole):
            visit(block, masked=False)
        if CAUSAL or T % BN:
            for block in ptx.range_(whole, blocks):
                visit(block, masked=True)
        start_result()
        ptx.wgmma.wait_group(0)

        # Divide by the sums and store through this consumer's rows of Q, which are no longer read.
        for r, total in enumerate(running.total):
            running.finish(r)
            if sums is not None:
                query = own_query + 8 * r
                (place,), number = ptx.global_ptrs(sums), reg.scalar(f32)
                ptx.inst.lg2.approx.f32(number, total)
                ptx.inst.fma.rn.f32(number, running.largest[r], scale, number)
                ptx.inst.selp.f32(number, number, 0.0, query < S)
                ptx.inst.mad.wide.u32(place, batch * q.shape[1] + head, length * 4, place)
                ptx.inst.mad.wide.u32(place, query, 4, place)
                ptx.inst.st.global_.f32(ptx.addr(place), number, pred=both((thread & 3) == 0, query < length))
            ptx.inst.rcp.approx.f32(total, total)
        for i, value in enumerate(result.sums):
            ptx.inst.mul.f32(value, value, running.total[i // 2 % 2])
        result.stage(own, o.dtype, rows=ROWS)
        ptx.fence.proxy_async_shared_cta()
        ptx.bar.sync(consumer + 1, 128)
        with ptx.if_(thread == 0):
            for d in range(0, D, BOX):
                ptx.cp.async_bulk.tensor_4d.store(
                    dst=o.tma_desc(), src=own + d * ROWS * 2, coord=(d, row + consumer * ROWS, head, batch)
                )
            ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it


def check_sizes(S: int, T: int, D: int, BN: int, STAGES: int, causal: bool) -> None:
    """Raise ValueError for sizes the tiling does not support."""
    check_heads("attention", S, T, D, causal)
    if BN % 16 or not 0 < BN <= MOST_KEYS[D]:
        raise ValueError(f"attention: BN={BN}; expected a multiple of 16 up to {MOST_KEYS[D]}")
    check_memory("attention", STAGES, CONSUMERS[D] * ROWS * D * 2 + STAGES * 2 * BN * D * 2, MOST_BYTES, least=1)


def attention_of(dtype: PtxType, *, with_sums: bool = False) -> Kernel:
    """Return the kernel for arrays of `dtype` (bf16 or f16); with_sums: the one that gives O and sums, SP (to pass) long."""

    def tile(length: str, rows: int | str) -> Tile:
        return Tile("B", "H", length, "D", dtype, Layout.TMA_128B, tma_box=(1, 1, rows, BOX), tma_whole=True)

    return kernel(
        forward_with_sums if with_sums else forward,
        name="attention",
        arch="sm_90a",
        in_specs=[tile("S", ROWS), tile("T", "BN"), tile("T", "BN")],
        out_specs=[tile("S", ROWS), *([Tile("B", "H", "SP", f32)] if with_sums else [])],
        grid=lambda B, H, S, D, SP=0: (-(-max(S, SP) // (ROWS * CONSUMERS.get(D, 2))), H, B),
        block=(THREADS, 1, 1),
        raw_directives=[("reqntid", (THREADS, 1, 1)), ("maxnreg", (AT_LAUNCH,))],
    )


attention = attention_of(bf16)


def main() -> None:
    compare_attention(attention_of(f16))


if __name__ == "__main__":
    main()
