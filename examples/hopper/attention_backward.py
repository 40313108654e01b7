"""Attention for Hopper, backward: the gradients of queries, keys and values, causal or not, with no atomics.

    python examples/hopper/attention_backward.py
    pyptx view examples/hopper/attention_backward.py:attention_backward -p B=1 H=1 S=512 T=512 SP=512 D=128 -o dq.html

To read after attention.py. With P = exp2(S - sums) the weights again, S = scale * Q K^T, and delta = rowsum(dO * O):

    dS = P * (dO V^T - delta)     dQ = scale * dS K     dK = scale * dS^T Q     dV = P^T dO

Two kernels of one form, and one for delta; what they share is `body`. A CTA keeps 128 rows of two arrays in shared
memory and streams blocks of BN rows of two others past them, by a producer, for two consumers of 64 rows each:

    of dQ          keeps Q and dO, streams K and V         scores have a row for each query
    of dK and dV   keeps K and V, streams Q and dO         scores have a row for each key: they are transposed

So no sum leaves a CTA before it is done and each gradient is the same bits every time, for two of seven products more
than with atomics for dQ. Techniques, and where they are described:

- Weights are computed again from the sums of the forward pass (Dao et al., "FlashAttention", B.4).
- delta ahead, in a pass of its own (Dao, "FlashAttention-2", 3.1.2).
- Weights and their gradients stay in registers: an accumulator is, rounded, the A operand of the next product (Shah et
  al., "FlashAttention-3"; PTX ISA, "Register Fragments for wgmma.mma_async").
- While one consumer takes exponentials, the other one's products run; the weights are taken while dO V^T still runs.

Cost with D = 128: 168 registers a thread at launch, then 24 and 240; 130 KiB of shared memory: one CTA on an SM.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from hopper_tiles import BOX, LINE, MOST_BYTES, WGMMA_K, Ring, meet, wide
from score_rows import round_pair

from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.cli.kernels import load_module
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, b8, b32, bf16, f16, f32, pred, s32, u32

FORWARD = load_module(str(Path(__file__).with_name("attention.py")))    # other folders have an attention.py too
CONSUMERS, ROWS = 2, 64         # warpgroups that multiply, and the rows that each has
BM = CONSUMERS * ROWS           # rows of a CTA
THREADS = 128 * (1 + CONSUMERS)
LOG2_E = math.log2(math.e)
SPACE = {"BN": (32, 64, 128), "STAGES": (1, 2, 3)}      # values worth trying


def of_queries(q, k, v, d_o, sums, delta, d_q, *, BN=64, STAGES=2, CAUSAL=False, SCALE=None):
    """dQ; see body."""
    body((q, d_o), (k, v), sums, delta, (d_q,), BN, STAGES, CAUSAL, SCALE)


def of_keys(q, k, v, d_o, sums, delta, d_k, d_v, *, BN=64, STAGES=2, CAUSAL=False, SCALE=None):
    """dK and dV; see body."""
    body((k, v), (q, d_o), sums, delta, (d_k, d_v), BN, STAGES, CAUSAL, SCALE)


def body(kept, streamed, sums, delta, gradients, BN: int, STAGES: int, CAUSAL: bool, SCALE: float | None) -> None:
    """Gradients from queries and dO (B x H x S x D), keys and values (B x H x T x D), sums and delta (B x H x SP, f32).

    `kept` and `streamed` are (Q, dO) and (K, V), or the other way round; D is 64 or 128, S and T at least BN, SP the
    next multiple of 128 of S. SCALE is 1 / sqrt(D) unless given. With CAUSAL, query i sees keys 0 to i, and T is S.
    """
    (H, length, D), limit = kept[0].shape[1:], streamed[0].shape[2]
    transposed = len(gradients) == 2                    # scores have a row for each key
    check_sizes(length, limit, D, sums.shape[2], BN, STAGES, CAUSAL)
    factor = 1 / math.sqrt(D) if SCALE is None else SCALE
    tile_bytes, block_bytes = BM * D * 2, BN * D * 2

    tiles = smem.alloc(b8, (2, tile_bytes), align=1024)
    ring = Ring(STAGES, stage_bytes(BN, D), CONSUMERS * 4)
    tile_start = reg.from_(tiles.name, u32)
    tiles_there = ptx.mbarrier.array(reg.from_(smem.mbarrier(1).name, u32), 0, 1)
    tid = reg.from_(ptx.special.tid.x(), u32)
    head, batch = reg.from_(ptx.special.ctaid.y(), u32), reg.from_(ptx.special.ctaid.z(), u32)
    row = reg.from_(ptx.special.ctaid.x(), s32) * BM
    if CAUSAL and not transposed:
        row = (-(-length // BM) - 1) * BM - row         # the longest first
    first, last = 0, -(-limit // BN)                    # blocks
    if CAUSAL and transposed:
        first = row // BN
    elif CAUSAL:
        last = ((row + (BM + BN - 1)) // BN).min(last)

    with ptx.if_(tid == 0):
        ring.set_up()
        tiles_there.init_all(1)
        ptx.fence.mbarrier_init()
    meet()

    gives = D > 64                                      # registers; narrower heads do with what a thread starts with
    with ptx.if_(tid < 128):
        if gives:
            ptx.setmaxnreg_dec(24)
        with ptx.if_(tid == 0):
            tiles_there[0].arrive_expect_tx(2 * min(BM, length) * D * 2)
            for i, tensor in enumerate(kept):
                for d in range(0, D, BOX):
                    ptx.cp.async_bulk.tensor_4d(dst=tile_start + (i * tile_bytes + d * BM * 2), src=tensor.tma_desc(),
                                                coord=(d, row, head, batch), mbar=tiles_there[0])
            for block in ptx.range_(first, last):
                to, ready = ring.to_fill(2 * block_bytes + (2 * BN * 4 if transposed else 0))
                at = block * BN
                for i, tensor in enumerate(streamed):
                    for d in range(0, D, BOX):
                        ptx.cp.async_bulk.tensor_4d(dst=to + (i * block_bytes + d * BN * 2), src=tensor.tma_desc(),
                                                    coord=(d, at, head, batch), mbar=ready)
                if transposed:                          # numbers of queries are numbers of columns
                    for i, tensor in enumerate((sums, delta)):
                        ptx.cp.async_bulk.tensor_3d(dst=to + (2 * block_bytes + i * 512), src=tensor.tma_desc(),
                                                    coord=(at, head, batch), mbar=ready)
    with ptx.else_():
        if gives:
            ptx.setmaxnreg_inc(240)
        consumer, thread = (tid >> 7) - 1, tid & 127
        lane, warp = thread & 31, thread >> 5
        own = tile_start + consumer * (ROWS * LINE)     # this consumer's rows of the first box of the first tile
        lines = {"stride_byte_offset": 1024, "swizzle": ptx.wgmma.SWIZZLE_128B}
        from_tile = ptx.wgmma.make_descriptor(own, leading_byte_offset=16, **lines)
        from_rows = ptx.wgmma.make_descriptor(ring.start, leading_byte_offset=16, **lines)             # along D
        from_columns = ptx.wgmma.make_descriptor(ring.start, leading_byte_offset=BN * LINE, **lines)   # along rows

        # A thread has two rows, eight apart. Of an accumulator, registers 4i and 4i + 1 belong to the first of them.
        scores, changes = (reg.wgmma_frag(m=ROWS, n=BN, dtype=f32) for _ in range(2))
        results = [reg.wgmma_frag(m=ROWS, n=D, dtype=f32) for _ in gradients]
        for value in (value for result in results for value in result):
            ptx.inst.mov.f32(value, 0.0)
        weights, of_scores = (reg.array(b32, BN // 4).regs() for _ in range(2))
        own_row = row + (consumer * ROWS + warp * 16 + (lane >> 2))
        shift = reg.from_((lane & 3) << 1, s32)         # of this thread's first column
        of_row = []
        if not transposed:
            for tensor in (sums, delta):
                (place,) = ptx.global_ptrs(tensor)
                place += wide(batch * H + head, sums.shape[2] * 4) + wide(own_row, 4)
                pair = [reg.scalar(f32) for _ in range(2)]
                for r, number in enumerate(pair):       # there are SP of them: a multiple of 128
                    ptx.inst.ld.global_.f32(number, ptx.addr(place, 8 * 4 * r))
                of_row.append(pair)

        def multiply(into: object, a: list | Reg, b: Reg, *, along_rows: bool, fresh: bool) -> None:
            """Start a product with a streamed block: along D of it, or along its rows with A in registers."""
            for k in range(0, BN if along_rows else D, WGMMA_K):
                if along_rows:
                    part, other = a[k // 4:k // 4 + 4], b + k * LINE // 16
                else:
                    part, other = (start + (k // BOX * rows * LINE + k % BOX * 2) // 16
                                   for start, rows in ((a, BM), (b, BN)))
                ptx.wgmma.mma_async(shape=(ROWS, D if along_rows else BN, WGMMA_K), dtype_d=f32, dtype_a=kept[0].dtype,
                                    dtype_b=kept[0].dtype, d=into, a=part, b=other, trans_b=int(along_rows),
                                    scale_d=not (fresh and k == 0))
            ptx.wgmma.commit_group()

        def of_column(stage: Reg, i: int) -> list[Reg]:
            """sums (i = 0) or delta (i = 1) of two columns beside each other, for every eighth: of those who ask."""
            numbers, start = [], ring.start + stage * ring.stage_bytes + (shift << 2)
            for column in range(0, BN, 8):
                pair = [reg.scalar(f32) for _ in range(2)]
                ptx.inst.ld.shared.v2.f32(pair, ptx.addr(start, 2 * block_bytes + i * 512 + column * 4))
                numbers += pair
            return numbers

        def number_of(i: int, numbers: list[Reg]) -> Reg:
            """The one of sums or delta that register i of the scores needs."""
            return numbers[i // 4 * 2 + i % 2] if transposed else numbers[i // 2 % 2]

        def visit(block: Reg, masked: bool) -> None:
            """Take in the next block of what is streamed."""
            stage = ring.to_read()
            rows_of, columns_of = ring.at(from_rows, stage), ring.at(from_columns, stage)
            ptx.wgmma.fence()
            multiply(scores, from_tile, rows_of, along_rows=False, fresh=True)
            multiply(changes, from_tile + tile_bytes // 16, rows_of + block_bytes // 16, along_rows=False, fresh=True)
            numbers = of_column(stage, 0) if transposed else of_row[0]
            negative = [-number for number in numbers]
            ptx.wgmma.wait_group(1)                     # the scores are there
            for i, score in enumerate(scores):
                ptx.inst.fma.rn.f32(score, score, factor * LOG2_E, number_of(i, negative))
                ptx.inst.ex2.approx.ftz.f32(score, score)
                if masked:
                    ptx.inst.selp.f32(score, score, 0.0, seen(i, block))
            if transposed:
                for i, pair in enumerate(weights):
                    round_pair(pair, scores[2 * i], scores[2 * i + 1], kept[0].dtype)
            numbers = of_column(stage, 1) if transposed else of_row[1]
            ptx.wgmma.wait_group(0)
            for i, (change, weight) in enumerate(zip(changes, scores, strict=True)):
                ptx.inst.sub.f32(change, change, number_of(i, numbers))
                ptx.inst.mul.f32(change, change, weight)
            for i, pair in enumerate(of_scores):
                round_pair(pair, changes[2 * i], changes[2 * i + 1], kept[0].dtype)
            ptx.wgmma.fence()
            multiply(results[0], of_scores, columns_of, along_rows=True, fresh=False)
            if transposed:
                multiply(results[1], weights, columns_of + block_bytes // 16, along_rows=True, fresh=False)
            ptx.wgmma.wait_group(0)
            ring.give_back(stage, lane)

        def seen(i: int, block: Reg) -> Reg:
            """Whether a query sees a key: those of register i of the scores."""
            column = block * BN + shift + (i // 4 * 8 + i % 2)
            if transposed:
                return column >= own_row + i // 2 % 2 * 8
            inside = reg.scalar(pred)
            ptx.inst.setp.lt.s32(inside, column, limit)
            if CAUSAL:
                ptx.inst.setp.le.and_.s32(inside, column, own_row + i // 2 % 2 * 8, inside)
            return inside

        tiles_there[0].wait(0)
        middle = last                                   # where masks begin, or end
        if CAUSAL:
            middle = (first + BM // BN).min(last) if transposed else row // BN
        elif not transposed:
            middle = limit // BN
        for begin, end, masked in ((first, middle, CAUSAL and transposed), (middle, last, not transposed)):
            if begin is not end:
                for block in ptx.range_(begin, end):
                    visit(block, masked)

        # The gradients leave through this consumer's rows of the tiles, which nobody else reads.
        place = own + smem.apply_swizzle((warp * 16 + (lane & 15)) * LINE + ((lane >> 4) << 4), "128B")
        for number, (result, scaled) in enumerate(zip(results, (True, False), strict=False)):
            pairs = reg.array(b32, D // 4).regs()
            for i, pair in enumerate(pairs):
                if scaled:
                    for value in result[2 * i:2 * i + 2]:
                        ptx.inst.mul.f32(value, value, factor)
                round_pair(pair, result[2 * i], result[2 * i + 1], kept[0].dtype)
            for i in range(0, D, 16):
                ptx.stmatrix(smem=(place ^ (i % BOX * 2)) + (number * tile_bytes + i // BOX * BM * LINE),
                             regs=pairs[i // 4:i // 4 + 4])
        ptx.fence.proxy_async_shared_cta()
        ptx.bar.sync(consumer + 1, 128)
        with ptx.if_(thread == 0):
            for number, tensor in enumerate(gradients):
                for d in range(0, D, BOX):
                    box = own + (number * tile_bytes + d * BM * 2)
                    ptx.cp.async_bulk.tensor_4d.store(dst=tensor.tma_desc(), src=box,
                                                      coord=(d, row + consumer * ROWS, head, batch))
            ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0, read=True)      # the memory must outlive the stores that read it


def row_products(o, d_o, delta):
    """delta (B x H x SP, f32): of each query the sum of O * dO, both B x H x S x D; 0 from S on. A warp a row."""
    (H, S, D), SP = o.shape[1:], delta.shape[2]
    tid = reg.from_(ptx.special.tid.x(), u32)
    row, lane = reg.from_(ptx.special.ctaid.x(), u32) * (128 // 32) + (tid >> 5), tid & 31
    head = reg.from_(ptx.special.ctaid.z(), u32) * H + reg.from_(ptx.special.ctaid.y(), u32)
    from_o, from_d, to = ptx.global_ptrs(o, d_o, delta)
    count = D // 64                                     # registers, of two numbers, of a lane
    halves = []
    for pointer in (from_o, from_d):
        pointer += wide(head, S * D * 2) + wide(row, D * 2) + wide(lane, count * 4)
        words = [reg.scalar(b32, 0) for _ in range(count)]
        read = ptx.inst.ld.global_.b32 if count == 1 else ptx.inst.ld.global_.v2.b32
        read(words[0] if count == 1 else words, ptx.addr(pointer), pred=row < S)
        halves.append([number for word in words for number in floats(word, o.dtype)])
    total = reg.scalar(f32, 0.0)
    for left, right in zip(*halves, strict=True):
        ptx.inst.fma.rn.f32(total, left, right, total)
    ptx.warp.reduce_sum(total)
    to += wide(head, SP * 4) + wide(row, 4)
    ptx.inst.st.global_.f32(ptx.addr(to), total, pred=lane == 0)


def floats(word: Reg, dtype: PtxType) -> list[Reg]:
    """The two 16-bit numbers of a word as f32."""
    results = [reg.scalar(f32) for _ in range(2)]
    if dtype == bf16:                                   # the upper half of f32
        ptx.inst.shl.b32(results[0], word, 16)
        ptx.inst.and_.b32(results[1], word, 0xFFFF0000)
        return results
    halves = [reg.scalar(f16) for _ in range(2)]
    ptx.inst.mov.b32(halves, word)
    for result, half in zip(results, halves, strict=True):
        ptx.inst.cvt.f32.f16(result, half)
    return results


def stage_bytes(BN: int, D: int) -> int:
    """Of two blocks, and of sums and delta where those are streamed."""
    return 2 * BN * D * 2 + 1024


def check_sizes(length: int, limit: int, D: int, SP: int, BN: int, STAGES: int, causal: bool) -> None:
    """Raise ValueError for sizes that the tiling does not take."""
    if D not in (64, 128):
        raise ValueError(f"attention_backward: head dimension D={D}; expected 64 or 128")
    if BN not in (32, 64, 128) or (BN == 128 and D == 128):
        raise ValueError(f"attention_backward: BN={BN}; expected 32 or 64, or 128 where D is 64")
    if min(length, limit) < BN:
        raise ValueError(f"attention_backward: {min(length, limit)} rows are less than a block of BN={BN}")
    if causal and length != limit:
        raise ValueError("attention_backward: causal masks need as many keys as queries")
    if SP % BM:
        raise ValueError(f"attention_backward: SP={SP}; expected the next multiple of {BM} of the number of queries")
    needed = 2 * BM * D * 2 + STAGES * stage_bytes(BN, D)
    if STAGES < 1 or needed >= MOST_BYTES:
        raise ValueError(f"attention_backward: {STAGES} stages need {needed} bytes of shared memory; there are "
                         f"{MOST_BYTES}")


def kernels_of(dtype: PtxType) -> tuple[Kernel, Kernel, Kernel]:
    """The kernels of delta, of dQ, and of dK and dV, for arrays of `dtype` (bf16 or f16)."""
    def tile(length: str, rows: int | str) -> Tile:
        return Tile("B", "H", length, "D", dtype, Layout.TMA_128B, tma_box=(1, 1, rows, BOX))
    whole, numbers = Tile("B", "H", "S", "D", dtype), Tile("B", "H", "SP", f32, tma_box=(1, 1, "BN"))
    shape = {"arch": "sm_90a", "block": (THREADS, 1, 1), "reqntid": (THREADS, 1, 1)}
    return (kernel(row_products, arch="sm_80", in_specs=[whole, whole], out_specs=[Tile("B", "H", "SP", f32)],
                   grid=lambda B, H, SP: (SP // 4, H, B), block=(128, 1, 1), reqntid=(128, 1, 1)),
            kernel(of_queries, name="attention_backward", out_specs=[tile("S", ROWS)],
                   in_specs=[tile("S", BM), tile("T", "BN"), tile("T", "BN"), tile("S", BM), numbers, numbers],
                   grid=lambda B, H, S: (-(-S // BM), H, B), **shape),
            kernel(of_keys, name="attention_backward_keys", out_specs=[tile("T", ROWS)] * 2,
                   in_specs=[tile("S", "BN"), tile("T", BM), tile("T", BM), tile("S", "BN"), numbers, numbers],
                   grid=lambda B, H, T: (-(-T // BM), H, B), **shape))


delta_of, attention_backward, attention_backward_keys = kernels_of(bf16)


def gradients_of(dtype: PtxType):
    """A function from q, k, v and d_o to o, d_q, d_k and d_v, arrays of one package."""
    forward, (delta_kernel, of_q, of_k) = FORWARD.attention_of(dtype, with_sums=True), kernels_of(dtype)

    def gradients(q, k, v, d_o, **params):
        SP = -(-q.shape[2] // BM) * BM
        o, sums = forward(q, k, v, SP=SP, CAUSAL=params.get("CAUSAL", False), BN=min(64, k.shape[2] // 16 * 16))
        delta = delta_kernel(o, d_o, SP=SP)
        return (o, of_q(q, k, v, d_o, sums, delta, **params), *of_k(q, k, v, d_o, sums, delta, **params))
    return gradients, of_q


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, d_o: np.ndarray, causal: bool = False) -> list[np.ndarray]:
    """o, d_q, d_k and d_v in NumPy, in f32."""
    o = FORWARD.reference(q, k, v, causal)
    q, k, v, d_o = (x.astype(np.float32) for x in (q, k, v, d_o))
    scale = np.float32(1 / math.sqrt(q.shape[3]))
    scores = q @ k.swapaxes(2, 3) * scale
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    weights /= weights.sum(axis=3, keepdims=True)
    changes = weights * (d_o @ v.swapaxes(2, 3) - (o * d_o).sum(axis=3, keepdims=True)) * scale
    return [o, changes @ k, changes.swapaxes(2, 3) @ q, weights.swapaxes(2, 3) @ d_o]


def main() -> None:
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((1, 2, 200, 64)).astype(np.float16) for _ in range(4)]
    gradients, of_q = gradients_of(f16)
    compare(of_q, arrays, reference(*arrays, causal=True), rtol=5e-3, atol=1e-2, call=gradients, CAUSAL=True)


if __name__ == "__main__":
    main()
