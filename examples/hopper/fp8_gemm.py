"""Matrix product of 8-bit floats for Hopper, with a scale per 128 elements of A and per 128 x 128 of B.

    python examples/hopper/fp8_gemm.py
    pyptx view examples/hopper/fp8_gemm.py:fp8_gemm -p M=512 N=512 K=256 -o gemm.html

Read persistent_gemm.py first: the same producer, clusters, order of tiles and stores. New techniques and their sources:

- e4m3 has three bits after the point and ends at 448: scales of blocks keep its numbers in range (DeepSeek-AI,
  "DeepSeek-V3 Technical Report", 3.3.2 "Fine-grained quantization").
- The tensor cores keep about 14 bits of a sum of 8-bit products: after each block of 128 of K the sums are scaled and
  added to others in f32 registers (the same, "Increasing accumulation precision"). While one consumer does that the
  other one's product runs.
- A consumer has 64 rows and up to 256 columns: 128 registers of sums, and 64 more for the product of 128 columns at a
  time, which is what a scale of B is for. The larger the tile, the less of it crosses L2 and shared memory again.
- Both operands are read along K, as wgmma reads 8-bit numbers; B is N x K, as the weights of a linear layer are.
- A consumer's rows of A go to registers by ldmatrix, once for all columns. Were A read by wgmma too, products and
  copies would need shared memory for 112 cycles of every 100 that the tensor cores need; like this it is 100.
- The scales of a tile's rows come with its stage, by TMA. Those of B for 32 steps are in the lanes of a warp, which
  hands one out a step by shfl; the next 32 are on their way meanwhile.

Cost: 168 registers per thread at launch, then 40 and 232; 227 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from examples.hopper.tiles import LINE, MOST_BYTES, WGMMA_ROWS, meet, place, set_registers
from examples.products import check_choices, check_lines, check_memory
from pyptx import Layout, Tile, kernel, lib, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, b32, bf16, e4m3, f32, u32

CONSUMERS = 2  # consumer warpgroups, 64 rows each
THREADS = 128 * (1 + CONSUMERS)
BM = CONSUMERS * WGMMA_ROWS
BLOCK = 128  # numbers with a scale of their own; as many bytes: a row of a box, and a stage's K
WGMMA_K = 32  # of one wgmma with 8-bit operands
B_ROWS = 64  # of a box of B
LANES = 32  # of a warp: scales of B that are read at once
SPACE = {"BN": (64, 128, 256), "STAGES": (2, 3, 4, 5, 6), "CLUSTER": (1, 2), "GROUP": (1, 4, 8, 16)}


def product(a, b, a_scales, b_scales, c, *, BN=256, STAGES=4, CLUSTER=2, GROUP=8, CTAS=132):
    """Compute C (M x N) = (A * scales) @ (B * scales)^T, A (M x K) and B (N x K) e4m3, sums in f32.

    a_scales (K/128 x M, f32) has one scale per 128 elements of a row, b_scales (N/128 x K/128, f32) one per 128 x 128
    elements; partial blocks have scales too. See check_sizes for supported sizes.
    """
    (M, K), N = a.shape, b.shape[0]
    check_sizes(M, N, K, BN, STAGES, CLUSTER)
    a_bytes = BM * BLOCK
    steps, tiles_down, tiles_across = -(-K // BLOCK), -(-M // (BM * CLUSTER)), -(-N // BN)
    clusters = grid(M, N, BN, CLUSTER, CTAS) // CLUSTER

    tiles = {"a": a_bytes, "b": lib.WgmmaTile(BN, BLOCK, b.dtype, "K")}
    ring = lib.TmaRing(STAGES, tiles, readers=CONSUMERS * 4, cluster=CLUSTER, reads="async")  # of other CTAs only B
    boxes = lib.StoreBoxes(CONSUMERS * 4, c.dtype, first_warp=4)
    row_scales = reg.from_(smem.alloc(f32, (STAGES, BM), align=128).name, u32)
    tid = reg.from_(ptx.special.tid.x(), u32)
    first_tile = reg.from_(ptx.special.ctaid.x(), u32) >> (CLUSTER.bit_length() - 1)
    rank = reg.from_(ptx.special.cluster_ctarank(), u32) if CLUSTER > 1 else 0

    ring.set_up(tid)

    def own_part(tile: Reg) -> tuple[Reg, Reg]:
        return place(tile, tiles_down, tiles_across, GROUP, BM, BN, CLUSTER, rank)

    width = min(BN, BLOCK)  # columns that have one scale
    values = (BN + width) // 2  # of a consumer's thread: sums, and what one product gives
    with ptx.if_(tid < 128):
        set_registers(40, values)
        with ptx.if_(tid == 0):
            for tile in ptx.range_(first_tile, tiles_down * tiles_across, clusters):
                row, column = own_part(tile)
                for step in ptx.range_(0, steps):
                    stage = ring.acquire(ring.stage_bytes + BM * 4)
                    stage.load("a", a, (step * BLOCK, row))
                    ptx.cp.async_bulk.tensor_2d(
                        dst=row_scales + stage.index * (BM * 4), src=a_scales, coord=(row, step), mbar=stage.full
                    )
                    own = rank * (BN // CLUSTER)  # first of the rows of B that this CTA reads, for all
                    to_b = stage.address("b") + own * BLOCK
                    for j in range(0, BN // CLUSTER, B_ROWS):
                        ptx.cp.async_bulk.tensor_2d(
                            dst=to_b + j * BLOCK,
                            src=b.tma_desc(),
                            mbar=stage.full,
                            coord=(step * BLOCK, column + own + j),
                            multicast_mask=(1 << CLUSTER) - 1 if CLUSTER > 1 else None,
                        )
    with ptx.else_():
        set_registers(232, values)
        consumer, warp, lane = (tid >> 7) - 1, (tid >> 5) - 4, tid & 31
        part = reg.wgmma_frag(m=WGMMA_ROWS, n=width, dtype=f32)
        result = lib.WgmmaFragment(BN, tid)
        sums = [result.sums[i : i + len(part)] for i in range(0, BN // 2, len(part))]
        rows = [reg.array(b32, 4) for _ in range(BLOCK // WGMMA_K)]
        own_row = smem.apply_swizzle(((lane & 15) << 7) + ((lane >> 4) << 4), "128B")  # of the first matrices
        from_a = ring.start + warp * (16 * LINE) + own_row
        from_b = ring.descriptor("b")
        own_scales = row_scales + (warp * 16 + (lane >> 2)) * 4  # of this lane's rows: this one and eight below

        for tile in ptx.range_(first_tile, tiles_down * tiles_across, clusters):
            row, column = own_part(tile)
            column_scales = [
                ColumnScales(b_scales, (column >> (BLOCK.bit_length() - 1)) + i, lane) for i in range(len(sums))
            ]
            for value in (value for half in sums for value in half):
                ptx.inst.mov.f32(value, 0.0)
            for step in ptx.range_(0, steps):
                for scales in column_scales:
                    scales.go_to(step)
                stage = ring.wait()
                this_b = stage.descriptor(from_b)
                for i, part_of_a in enumerate(rows):
                    ptx.ldmatrix(dst=part_of_a, src=ptx.addr((from_a ^ (i * WGMMA_K)) + stage.index * ring.stage_bytes))
                of_rows = [reg.scalar(f32) for _ in range(2)]
                for i, scale in enumerate(of_rows):
                    ptx.inst.ld.shared.f32(scale, ptx.addr(own_scales + stage.index * (BM * 4), 8 * 4 * i))
                for i, (half, of_columns) in enumerate(zip(sums, column_scales, strict=True)):
                    ptx.wgmma.fence()
                    for k in range(0, BLOCK, WGMMA_K):
                        ptx.wgmma.mma_async(
                            shape=(WGMMA_ROWS, width, WGMMA_K),
                            dtype_d=f32,
                            dtype_a=a.dtype,
                            dtype_b=b.dtype,
                            d=part,
                            a=rows[k // WGMMA_K],
                            b=this_b + (i * width * BLOCK + k) // 16,
                            scale_d=k > 0,
                        )
                    ptx.wgmma.commit_group()
                    scales = [of_columns.value * scale for scale in of_rows]
                    ptx.wgmma.wait_group(0)
                    if half is sums[-1]:
                        ring.release(stage, lane)
                    for j, (value, total) in enumerate(zip(part, half, strict=True)):
                        ptx.inst.fma.rn.f32(total, value, scales[j // 2 % 2], total)
            result.store_tma(c, row + consumer * WGMMA_ROWS, column, boxes)
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it

    if CLUSTER > 1:
        meet(CLUSTER)  # and the CTA must outlive remote writes and arrivals


class ColumnScales:
    """Scales of a row of b_scales (N/128 x K/128), one per step; each lane holds one of LANES steps."""

    def __init__(self, scales, row: Reg, lane: Reg):
        self.steps, self.lane = scales.shape[1], lane
        (self.place,) = ptx.global_ptrs(scales)
        ptx.inst.mad.wide.u32(self.place, row * self.steps + lane, 4, self.place)
        self.inside = reg.scalar(u32)  # steps, or none where there is no such row
        ptx.inst.selp.u32(self.inside, self.steps, 0, row < scales.shape[0])
        self.value, self.these, self.following = (reg.scalar(f32, 0.0) for _ in range(3))
        self.load(lane)

    def load(self, step: Reg) -> None:
        """Start loading the scale of this lane's step."""
        ptx.inst.ld.global_.nc.f32(self.following, ptx.addr(self.place), pred=step < self.inside)
        ptx.inst.add.s64(self.place, self.place, LANES * 4)

    def go_to(self, step: Reg) -> None:
        """Set `value` to the scale of a step; steps must come in order."""
        turn = step & (LANES - 1)
        with ptx.if_(turn == 0):
            ptx.inst.mov.f32(self.these, self.following)
            self.load(step + self.lane + LANES)
        ptx.inst.shfl.sync.idx.b32(self.value, self.these, turn, LANES - 1, -1)


def grid(M: int, N: int, BN: int, CLUSTER: int, CTAS: int) -> int:
    """Return the number of CTAs: as many as the GPU holds or the tiles need, in whole clusters."""
    return CLUSTER * min(max(1, CTAS // CLUSTER), -(-M // (BM * CLUSTER)) * -(-N // BN))


def check_sizes(M: int, N: int, K: int, BN: int, STAGES: int, CLUSTER: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support: rows start at multiples of 16 bytes, also those
    of the scales of A."""
    check_lines("fp8_gemm", {"M": M}, 4)
    check_lines("fp8_gemm", {"N": N}, 8)
    check_lines("fp8_gemm", {"K": K}, 16)
    check_choices("fp8_gemm", BN=(BN, (64, 128, 256)), CLUSTER=(CLUSTER, (1, 2)))
    if BN % (CLUSTER * B_ROWS):
        raise ValueError(f"fp8_gemm: {CLUSTER} CTAs cannot share {BN} rows of B in boxes of {B_ROWS}")
    needed = STAGES * ((BM + BN) * BLOCK + BM * 4) + lib.StoreBoxes.bytes_of(CONSUMERS * 4)
    check_memory("fp8_gemm", STAGES, needed, MOST_BYTES)


def fp8_gemm_of(out: PtxType) -> Kernel:
    """Return the kernel for C of `out` (f32 or bf16)."""
    return kernel(
        product,
        name="fp8_gemm",
        arch="sm_90a",
        in_specs=[
            Tile("M", "K", e4m3, Layout.TMA_128B, tma_box=(BM, BLOCK), tma_whole=True),
            Tile("N", "K", e4m3, Layout.TMA_128B, tma_box=(B_ROWS, BLOCK), tma_whole=True),
            Tile("KB", "M", f32, tma_box=(1, BM), tma_whole=True),
            Tile("NB", "KB", f32),
        ],
        out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of(out), tma_whole=True)],
        grid=grid,
        cluster=lambda CLUSTER: CLUSTER,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


fp8_gemm = fp8_gemm_of(bf16)


def quantized(x: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Quantize x (f32) to e4m3 with one scale per block of `rows` x 128 elements; x is approximately their product."""
    down, across = -(-x.shape[0] // rows), -(-x.shape[1] // BLOCK)
    padded = np.zeros((down * rows, across * BLOCK), np.float32)
    padded[: x.shape[0], : x.shape[1]] = x
    blocks = padded.reshape(down, rows, across, BLOCK)
    scales = np.maximum(np.abs(blocks).max(axis=(1, 3)), 1e-12) / 448
    small = (blocks / scales[:, None, :, None]).reshape(padded.shape)[: x.shape[0], : x.shape[1]]
    return np.ascontiguousarray(small).astype(ml_dtypes.float8_e4m3fn), scales.astype(np.float32)


def inputs(x: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """Return the kernel's inputs for x (M x K) and weights (N x K) in f32."""
    (a, a_scales), (b, b_scales) = quantized(x, 1), quantized(weights, BLOCK)
    return [a, b, a_scales.T.copy(), b_scales]


def reference(a: np.ndarray, b: np.ndarray, a_scales: np.ndarray, b_scales: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    of_a = np.repeat(a_scales.T, BLOCK, axis=1)[:, : a.shape[1]]
    of_b = np.repeat(np.repeat(b_scales, BLOCK, axis=0), BLOCK, axis=1)[: b.shape[0], : b.shape[1]]
    return (a.astype(np.float32) * of_a) @ (b.astype(np.float32) * of_b).T


def main() -> None:
    random = np.random.default_rng(0)
    arrays = inputs(*(random.standard_normal(shape, dtype=np.float32) for shape in ((300, 400), (328, 400))))
    compare(fp8_gemm_of(f32), arrays, reference(*arrays), rtol=1e-4, atol=1e-3, CTAS=4)


if __name__ == "__main__":
    main()
