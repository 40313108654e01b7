"""Attention for Ampere, forward: O = softmax(scale * Q K^T) V without materializing the scores, causal or full.

    python examples/ampere/attention.py
    pyptx view examples/ampere/attention.py:attention -p B=1 H=1 S=512 T=512 D=128 -o attention.html

A CTA of four warps computes 128 rows of O of one head, 32 per warp. Techniques and their sources:

- Online softmax, block by block: a new maximum rescales the sums and results so far (Milakov and Gimelshein, "Online
  normalizer calculation for softmax"), only where a score is eight powers of two above the running
  maximum (Dao et al., "FlashAttention-4"); each warp owns whole rows, so that warps never wait for each other's
  scores (Dao, "FlashAttention-2", 3.3 "Work partitioning between warps").
- cp.async into a ring of STAGES blocks of keys and values, in XOR-swizzled chunks of 16 bytes, as in gemm.py.
- A warp has two tiles of 16 rows and reads keys and values once for both. With a single tile, shared memory would be as
  busy as the tensor cores of an A100.
- Scores stay in registers: the accumulator of the first product is, rounded, the A operand of the second (PTX ISA,
  "Matrix Fragments for mma.m16n8k16"). For D = 64 the queries do, too; wider ones do not fit.
- exp(x) as 2**(x * log2(e)), one FMA and one ex2 per score; masks only in blocks that need one;
  with causal masks, the longest rows of blocks start first.

Cost with D = 128: 235 registers per thread and 64 KiB of shared memory: two CTAs per SM.
"""

from __future__ import annotations

from examples.ampere.tiles import BOX, LINE, MMA_K, MOST_BYTES, PIECE, multiply
from examples.products import check_memory
from examples.scores import LOG2_E, check_heads, compare_attention, hide, scale_of, visible
from examples.scores import reference as reference  # used by pyptx tune --reference
from examples.vectors import round_pair, wide
from pyptx import Tile, kernel, lib, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b8, b32, bf16, f16, f32, pred, s32, u32

WARPS = 4
THREADS = 32 * WARPS
ROWS, TILES = 16, 2  # rows of one mma, and tiles per warp
OWN = TILES * ROWS  # queries per warp
BM = WARPS * OWN
PASS = THREADS * PIECE // LINE  # rows of a box copied per pass of all threads
MOST_REGISTERS = 255  # per thread; ptxas would spill to stay within 128
SLACK = 8.0  # powers of two by which a weight can exceed 1 before sums are rescaled
SPACE = {"BN": (32, 48, 64), "STAGES": (2, 3, 4)}  # tuning space


def forward(q, k, v, o, *, BN=None, STAGES=2, CAUSAL=False, SCALE=None):
    """Compute O (B x H x S x D) from queries (B x H x S x D), keys and values (B x H x T x D); D is 64 or 128.

    SCALE defaults to 1 / sqrt(D). With CAUSAL, query i attends to keys 0 to i, and T equals S.
    """
    (H, S, D), T = q.shape[1:], k.shape[2]
    BN = 64 * 64 // D if BN is None else BN
    check_sizes(S, T, D, BN, STAGES, CAUSAL)
    scale = LOG2_E * scale_of("attention", D, SCALE)
    q_bytes, block_bytes = BM * D * 2, BN * D * 2

    memory = smem.alloc(b8, q_bytes + STAGES * 2 * block_bytes, align=1024)
    q_start = reg.from_(memory.name, u32)
    ring = q_start + q_bytes  # a stage holds the keys, then the values
    tid = reg.from_(ptx.special.tid.x(), u32)
    lane, warp = tid & 31, tid >> 5
    head = reg.from_(ptx.special.ctaid.z(), u32) * H + reg.from_(ptx.special.ctaid.y(), u32)
    row = (-(-S // BM) - 1 - reg.from_(ptx.special.ctaid.x(), s32)) * BM  # longest rows first
    blocks, whole, end = -(-T // BN), T // BN, T  # blocks of keys; those without a mask; keys to read
    if CAUSAL:
        whole = (row + 1) // BN
        end = (row + BM).min(T)
        blocks = (end + (BN - 1)) // BN

    # This thread copies chunk `tid & 7` of rows tid / 8, tid / 8 + PASS, ... of each box.
    own_row, own_piece = tid >> 3, tid & 7
    from_q, from_k, from_v = ptx.global_ptrs(q, k, v)
    for pointer, length in ((from_q, S), (from_k, T), (from_v, T)):
        pointer += wide(head, length * D * 2)
    for pointer in (from_k, from_v):
        pointer += wide(own_row, D * 2) + wide(own_piece, PIECE)
    put = smem.apply_swizzle(tid * PIECE, "128B")

    def copy_rows(to: Reg, source: Reg, rows: int, first: Reg, limit: int | Reg) -> None:
        """Start the copies of rows of D columns from `first` on, with zeros for rows from `limit` on."""
        for i in range(0, rows, PASS):
            size = reg.scalar(u32)
            ptx.inst.selp.u32(size, PIECE, 0, first + i < limit)
            for box in range(D // BOX):
                ptx.inst.cp.async_.cg.shared.global_(
                    ptx.addr(to, (box * rows + i) * LINE), ptx.addr(source, i * D * 2 + box * LINE), PIECE, size
                )

    def copy_block(stage: int | Reg, block: int | Reg) -> None:
        """Start the copies of a block of keys and values, committed as one group even if empty."""
        into, first = ring + put + stage * (2 * block_bytes), reg.from_(own_row, s32) + block * BN
        copy_rows(into, from_k, BN, first, end)
        copy_rows(into + block_bytes, from_v, BN, first, end)
        ptx.cp.async_.commit_group()
        for pointer in (from_k, from_v):
            ptx.inst.add.s64(pointer, pointer, block_bytes)

    copy_rows(q_start + put, from_q + wide(row + own_row, D * 2) + wide(own_piece, PIECE), BM, row + own_row, S)
    for stage in range(STAGES - 1):
        copy_block(stage, stage)

    # A thread holds two rows of a tile, eight apart: registers 0 and 1 of an accumulator belong to the first.
    scores, result = ([[reg.array(f32, 4) for _ in range(n // 8)] for _ in range(TILES)] for n in (BN, D))
    for value in (value for tile in result for part in tile for value in part):
        ptx.inst.mov.f32(value, 0.0)
    zeros = [reg.scalar(f32, 0.0) for _ in range(4)]
    stay = D == BOX  # queries stay in registers if they fit
    queries = [[reg.array(b32, 4) for _ in range(TILES)] for _ in range(D // MMA_K if stay else 1)]
    rows = range(2 * TILES)  # of a thread
    softmax = lib.OnlineSoftmax(len(rows), scale, slack=SLACK)
    last = [visible(row + (warp * OWN + (lane >> 2)) + 8 * r, T, CAUSAL) for r in rows]
    shift = reg.from_((lane & 3) << 1, s32)  # first column of this thread

    # What this lane's row of the first matrix is: of queries and values rows go first, of keys columns.
    of_rows = smem.apply_swizzle((lane & 15) * LINE + ((lane >> 4) << 4), "128B")
    of_keys = smem.apply_swizzle((((lane >> 4) << 3) + (lane & 7)) * LINE + ((lane >> 3 & 1) << 4), "128B")
    own_queries = q_start + warp * (OWN * LINE)

    def load_queries(d: int) -> list[RegArray]:
        """Load columns 16 d to 16 d + 15 of each tile of queries."""
        parts = queries[d if stay else 0]
        for tile, part in enumerate(parts):
            ptx.ldmatrix(
                dst=part, src=ptx.addr(own_queries + (of_rows ^ (d % 4 * 32)), (d // 4 * BM + tile * ROWS) * LINE)
            )
        return parts

    def of_row(parts: list[list[RegArray]], r: int) -> list[Reg]:
        """Return a thread's values of one of its rows."""
        return [value for part in parts[r // 2] for value in part[r % 2 * 2 : r % 2 * 2 + 2]]

    def visit(block: Reg, masked: bool) -> None:
        """Process the next block of keys and values."""
        ptx.cp.async_.wait_group(STAGES - 2)
        ptx.bar.sync(0)  # the block has arrived, and no thread still reads the one before
        stage, _ = reads.advance()
        base = ring + stage * (2 * block_bytes)
        next_stage, _ = fills.advance()
        copy_block(next_stage, block + (STAGES - 1))

        for d in range(D // MMA_K):
            parts = queries[d] if stay else load_queries(d)
            for i in range(0, BN, 16):
                keys = reg.array(b32, 4)
                ptx.ldmatrix(dst=keys, src=ptx.addr(base + (of_keys ^ (d % 4 * 32)), (d // 4 * BN + i) * LINE))
                for tile, part in enumerate(parts):
                    for j in range(2):
                        sums = scores[tile][i // 8 + j]
                        multiply(sums, part, keys[2 * j : 2 * j + 2], zeros if d == 0 else sums, q.dtype)
        factors, shrinks = [], reg.scalar(pred, False)
        for r in rows:
            if masked:
                hide(of_row(scores, r), last[r] - block * BN - shift)
            factors.append(softmax.raise_largest(r, of_row(scores, r)))
            ptx.inst.setp.lt.or_.f32(shrinks, factors[r], 1.0, shrinks)
            softmax.weigh(r, of_row(scores, r), factors[r])
        ptx.inst.vote.sync.any.pred(shrinks, shrinks, -1)
        with ptx.if_(shrinks):  # rare
            for r in rows:
                for value in of_row(result, r):
                    ptx.inst.mul.f32(value, value, factors[r])
        for i in range(0, BN, 16):
            weights = [reg.array(b32, 4) for _ in range(TILES)]
            for words, tile in zip(weights, scores, strict=True):
                for pair, part, r in zip(
                    words, [tile[i // 8], tile[i // 8], tile[i // 8 + 1], tile[i // 8 + 1]], (0, 1, 0, 1), strict=True
                ):
                    low, high = part[2 * r : 2 * r + 2]
                    round_pair(pair, low, high, q.dtype)
            for d in range(D // 16):
                values = reg.array(b32, 4)
                ptx.ldmatrix(
                    dst=values,
                    trans=True,
                    src=ptx.addr(base + (of_rows ^ (d % 4 * 32)), block_bytes + (d // 4 * BN + i) * LINE),
                )
                for words, sums in zip(weights, result, strict=True):
                    for j in range(2):
                        multiply(sums[2 * d + j], words, values[2 * j : 2 * j + 2], sums[2 * d + j], q.dtype)

    ptx.cp.async_.wait_group(STAGES - 2)
    ptx.bar.sync(0)
    if stay:
        for d in range(D // MMA_K):
            load_queries(d)
    fills, reads = ptx.pipeline(STAGES, cursor=reg.scalar(u32, STAGES - 1)), ptx.pipeline(STAGES)
    for block in ptx.range_(0, whole):
        visit(block, masked=False)
    if CAUSAL or T % BN:
        for block in ptx.range_(whole, blocks):
            visit(block, masked=True)
    ptx.cp.async_.wait_all()

    # Divide by the sums and store through this warp's rows of Q, which are no longer read, in lines of 128 bytes.
    for r in rows:
        total = softmax.finish(r)
        ptx.inst.rcp.approx.f32(total, total)
    within = (lane >> 2 & 7) << 4  # what the swizzle does to a piece of this row
    for r in rows:
        values = of_row(result, r)
        for i, pair in enumerate(zip(values[::2], values[1::2], strict=True)):
            word = reg.scalar(b32)
            for value in pair:
                ptx.inst.mul.f32(value, value, softmax.total[r])
            round_pair(word, *pair, o.dtype)
            target = own_queries + ((lane >> 2) * LINE + ((lane & 3) << 2)) + (within ^ (i % 8 * 16))
            ptx.inst.st.shared.b32(ptx.addr(target, (i // 8 * BM + 8 * r) * LINE), word)
    ptx.inst.bar.warp.sync(-1)
    row += warp * OWN + (lane >> 3)
    (to_o,) = ptx.global_ptrs(o)
    to_o += wide(head, S * D * 2) + wide(row, D * 2) + wide(lane & 7, PIECE)
    for i in range(0, OWN, 4):
        source = own_queries + smem.apply_swizzle((lane << 4) + i * LINE, "128B")
        for box in range(D // BOX):
            words = reg.array(b32, 4)
            ptx.inst.ld.shared.v4.b32(words, ptx.addr(source, box * BM * LINE))
            ptx.inst.st.global_.v4.b32(ptx.addr(to_o, i * D * 2 + box * LINE), words, pred=row + i < S)


def check_sizes(S: int, T: int, D: int, BN: int, STAGES: int, causal: bool) -> None:
    """Raise ValueError for sizes the tiling does not support."""
    check_heads("attention", S, T, D, causal)
    most = 64 * 64 // D  # scores and results are in registers
    if BN % 16 or not 0 < BN <= most:
        raise ValueError(f"attention: BN={BN}; expected a multiple of 16 up to {most}")
    check_memory("attention", STAGES, BM * D * 2 + STAGES * 2 * BN * D * 2, MOST_BYTES)


def attention_of(dtype: PtxType) -> Kernel:
    """Return the kernel for arrays of `dtype` (bf16 or f16)."""

    def tile(length: str) -> Tile:
        return Tile("B", "H", length, "D", dtype)

    return kernel(
        forward,
        name="attention",
        arch="sm_80",
        in_specs=[tile("S"), tile("T"), tile("T")],
        out_specs=[tile("S")],
        grid=lambda B, H, S: (-(-S // BM), H, B),
        block=(THREADS, 1, 1),
        raw_directives=[("reqntid", (THREADS, 1, 1)), ("maxnreg", (MOST_REGISTERS,))],
    )


attention = attention_of(bf16)


def main() -> None:
    compare_attention(attention_of(f16))


if __name__ == "__main__":
    main()
