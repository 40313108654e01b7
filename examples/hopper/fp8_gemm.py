"""Matrix product of 8-bit floats for Hopper, with a scale for every 128 numbers of A and every 128 x 128 of B.

    python examples/hopper/fp8_gemm.py
    pyptx view examples/hopper/fp8_gemm.py:fp8_gemm -p M=512 N=512 K=256 -o gemm.html

To read after persistent_gemm.py: the same producer, clusters, order of tiles and stores. What is new, and where
described:

- e4m3 has three bits after the point and ends at 448: scales of blocks keep its numbers in range (DeepSeek-AI,
  "DeepSeek-V3 Technical Report", 3.3.2 "Fine-grained quantization").
- The tensor cores keep about 14 bits of a sum of 8-bit products: after each block of 128 of K the sums are scaled and
  added to others in f32 registers (the same, "Increasing accumulation precision"). While one consumer does that the
  other one's product runs.
- Both operands are read along K, as wgmma reads 8-bit numbers; B is N x K, as the weights of a linear layer are.
- The scales of a tile's rows come with its stage, by TMA; that of B is read a step ahead.

Cost: 168 registers a thread at launch, then 40 and 232; 198 KiB of shared memory: one CTA on an SM.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from examples.hopper.boxes import Boxes
from examples.hopper.tiles import LINE, MOST_BYTES, SWIZZLED, WGMMA_BYTES, WGMMA_ROWS, Ring, meet, place
from examples.products import check_choices, check_lines, check_memory
from pyptx import Layout, Tile, kernel, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, bf16, e4m3, f32, u32

CONSUMERS = 2                   # warpgroups that multiply, 64 rows each
THREADS = 128 * (1 + CONSUMERS)
BM = CONSUMERS * WGMMA_ROWS
BLOCK = 128                     # numbers with a scale of their own; as many bytes: a row of a box, and a stage's K
WGMMA_K = 32                    # of one wgmma with 8-bit operands
B_ROWS = 64                     # of a box of B
SPACE = {"BN": (64, 128), "STAGES": (2, 3, 4, 5, 6), "CLUSTER": (1, 2), "GROUP": (1, 4, 8, 16)}


def product(a, b, a_scales, b_scales, c, *, BN=128, STAGES=5, CLUSTER=2, GROUP=8, CTAS=132):
    """C (M x N) = (A * scales) @ (B * scales)^T, A (M x K) and B (N x K) e4m3, sums in f32.

    a_scales (K/128 x M, f32) has the scale of 128 numbers of each row, b_scales (N/128 x K/128, f32) that of 128 x 128
    numbers; what is left of K or N has scales too. See check_sizes for the sizes that are taken.
    """
    (M, K), N = a.shape, b.shape[0]
    check_sizes(M, N, K, BN, STAGES, CLUSTER)
    a_bytes, b_bytes = BM * BLOCK, BN * BLOCK
    steps, tiles_down, tiles_across = -(-K // BLOCK), -(-M // (BM * CLUSTER)), -(-N // BN)
    clusters = grid(M, N, BN, CLUSTER, CTAS) // CLUSTER

    ring, boxes = Ring(STAGES, stage_bytes(BN), CONSUMERS * 4, CLUSTER), Boxes(CONSUMERS * 4, c.dtype)
    tid = reg.from_(ptx.special.tid.x(), u32)
    first_tile = reg.from_(ptx.special.ctaid.x(), u32) >> (CLUSTER.bit_length() - 1)
    rank = reg.from_(ptx.special.cluster_ctarank(), u32) if CLUSTER > 1 else 0

    with ptx.if_(tid == 0):
        ring.set_up()
        ptx.fence.mbarrier_init()
    meet(CLUSTER)

    def own_part(tile: Reg) -> tuple[Reg, Reg]:
        return place(tile, tiles_down, tiles_across, GROUP, CLUSTER, rank, BM, BN)

    with ptx.if_(tid < 128):
        ptx.setmaxnreg_dec(40)
        with ptx.if_(tid == 0):
            for tile in ptx.range_(first_tile, tiles_down * tiles_across, clusters):
                row, column = own_part(tile)
                for step in ptx.range_(0, steps):
                    to_a, ready = ring.to_fill(a_bytes + b_bytes + BM * 4)
                    ptx.cp.async_bulk.tensor_2d(dst=to_a, src=a.tma_desc(), coord=(step * BLOCK, row), mbar=ready)
                    ptx.cp.async_bulk.tensor_2d(dst=to_a + (a_bytes + b_bytes), src=a_scales.tma_desc(),
                                                coord=(row, step), mbar=ready)
                    own = rank * (BN // CLUSTER)        # first of the rows of B that this CTA reads, for all
                    to_b = to_a + (own * BLOCK + a_bytes)
                    for j in range(0, BN // CLUSTER, B_ROWS):
                        ptx.cp.async_bulk.tensor_2d(dst=to_b + j * BLOCK, src=b.tma_desc(), mbar=ready,
                                                    coord=(step * BLOCK, column + own + j),
                                                    multicast_mask=(1 << CLUSTER) - 1 if CLUSTER > 1 else None)
    with ptx.else_():
        ptx.setmaxnreg_inc(232)
        consumer, warp, lane = (tid >> 7) - 1, (tid >> 5) - 4, tid & 31
        part, sums = (reg.wgmma_frag(m=WGMMA_ROWS, n=BN, dtype=f32) for _ in range(2))
        from_a, from_b = (ptx.wgmma.make_descriptor(start, leading_byte_offset=16, **SWIZZLED)
                          for start in (ring.start + consumer * WGMMA_BYTES, ring.start + a_bytes))
        scales_at = ring.start + (warp * 16 + (lane >> 2)) * 4          # of this lane's rows: this one and eight below
        (b_scales_at,) = ptx.global_ptrs(b_scales)

        for tile in ptx.range_(first_tile, tiles_down * tiles_across, clusters):
            row, column = own_part(tile)
            of_b, scale_of_b, next_scale = reg.scalar(b_scales_at.dtype), reg.scalar(f32), reg.scalar(f32)
            ptx.inst.mad.wide.u32(of_b, column >> (BLOCK.bit_length() - 1), steps * 4, b_scales_at)
            ptx.inst.ld.global_.nc.f32(next_scale, ptx.addr(of_b))
            for value in sums:
                ptx.inst.mov.f32(value, 0.0)
            for step in ptx.range_(0, steps):
                ptx.inst.mov.f32(scale_of_b, next_scale)
                ptx.inst.add.s64(of_b, of_b, 4)
                ptx.inst.ld.global_.nc.f32(next_scale, ptx.addr(of_b), pred=step < steps - 1)
                stage = ring.to_read()
                this_a, this_b = ring.at(from_a, stage), ring.at(from_b, stage)
                ptx.wgmma.fence()
                for k in range(0, BLOCK, WGMMA_K):
                    ptx.wgmma.mma_async(shape=(WGMMA_ROWS, BN, WGMMA_K), dtype_d=f32, dtype_a=a.dtype, dtype_b=b.dtype,
                                        d=part, a=this_a + k // 16, b=this_b + k // 16, scale_d=k > 0)
                ptx.wgmma.commit_group()
                scales = [reg.scalar(f32) for _ in range(2)]
                from_scales = scales_at + stage * stage_bytes(BN)
                for i, scale in enumerate(scales):
                    ptx.inst.ld.shared.f32(scale, ptx.addr(from_scales, a_bytes + b_bytes + 8 * 4 * i))
                    ptx.inst.mul.f32(scale, scale, scale_of_b)
                ptx.wgmma.wait_group(0)
                ring.give_back(stage, lane)
                for i, (value, total) in enumerate(zip(part, sums, strict=True)):
                    ptx.inst.fma.rn.f32(total, value, scales[i // 2 % 2], total)
            boxes.write(sums, c, row + consumer * WGMMA_ROWS, column, warp, lane)
        ptx.cp.async_bulk.wait_group(0, read=True)      # the memory must outlive the stores that read it

    if CLUSTER > 1:
        meet(CLUSTER)                                   # and the CTA what others write to it and arrive at


def stage_bytes(BN: int) -> int:
    """Of A, B and the scales of A; the next stage begins at a multiple of 1024, as swizzled boxes must."""
    return (BM + BN) * BLOCK + 1024


def grid(M: int, N: int, BN: int, CLUSTER: int, CTAS: int) -> int:
    """How many CTAs: all that the GPU holds, or enough for the tiles; whole clusters."""
    return CLUSTER * min(CTAS // CLUSTER, -(-M // (BM * CLUSTER)) * -(-N // BN))


def check_sizes(M: int, N: int, K: int, BN: int, STAGES: int, CLUSTER: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not take: rows start at multiples of 16 bytes, also those
    of the scales of A."""
    check_lines("fp8_gemm", {"M": M}, 4)
    check_lines("fp8_gemm", {"N": N}, 8)
    check_lines("fp8_gemm", {"K": K}, 16)
    check_choices("fp8_gemm", BN=(BN, (64, 128)), CLUSTER=(CLUSTER, (1, 2)))
    if BN % (CLUSTER * B_ROWS):
        raise ValueError(f"fp8_gemm: {CLUSTER} CTAs cannot share {BN} rows of B in boxes of {B_ROWS}")
    check_memory("fp8_gemm", STAGES, STAGES * stage_bytes(BN) + Boxes.bytes_of(CONSUMERS * 4), MOST_BYTES)


def fp8_gemm_of(out: PtxType) -> Kernel:
    """The kernel for C of `out` (f32 or bf16)."""
    return kernel(product, name="fp8_gemm", arch="sm_90a",
                  in_specs=[Tile("M", "K", e4m3, Layout.TMA_128B, tma_box=(BM, BLOCK), tma_whole=True),
                            Tile("N", "K", e4m3, Layout.TMA_128B, tma_box=(B_ROWS, BLOCK), tma_whole=True),
                            Tile("KB", "M", f32, tma_box=(1, BM), tma_whole=True), Tile("NB", "KB", f32)],
                  out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=(Boxes.ROWS, LINE * 8 // out.bits),
                                  tma_whole=True)],
                  grid=grid, cluster=lambda CLUSTER: CLUSTER, block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))


fp8_gemm = fp8_gemm_of(bf16)


def quantised(x: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """x (f32) as e4m3 and the scales of its blocks of `rows` x 128 numbers: x is about the product of the two."""
    down, across = -(-x.shape[0] // rows), -(-x.shape[1] // BLOCK)
    padded = np.zeros((down * rows, across * BLOCK), np.float32)
    padded[:x.shape[0], :x.shape[1]] = x
    blocks = padded.reshape(down, rows, across, BLOCK)
    scales = np.maximum(np.abs(blocks).max(axis=(1, 3)), 1e-12) / 448
    small = (blocks / scales[:, None, :, None]).reshape(padded.shape)[:x.shape[0], :x.shape[1]]
    return np.ascontiguousarray(small).astype(ml_dtypes.float8_e4m3fn), scales.astype(np.float32)


def inputs(x: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """What the kernel takes for x (M x K) and weights (N x K) in f32."""
    (a, a_scales), (b, b_scales) = quantised(x, 1), quantised(weights, BLOCK)
    return [a, b, a_scales.T.copy(), b_scales]


def reference(a: np.ndarray, b: np.ndarray, a_scales: np.ndarray, b_scales: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    of_a = np.repeat(a_scales.T, BLOCK, axis=1)[:, :a.shape[1]]
    of_b = np.repeat(np.repeat(b_scales, BLOCK, axis=0), BLOCK, axis=1)[:b.shape[0], :b.shape[1]]
    return (a.astype(np.float32) * of_a) @ (b.astype(np.float32) * of_b).T


def main() -> None:
    random = np.random.default_rng(0)
    arrays = inputs(*(random.standard_normal(shape, dtype=np.float32) for shape in ((300, 400), (328, 400))))
    compare(fp8_gemm_of(f32), arrays, reference(*arrays), rtol=1e-4, atol=1e-3, CTAS=4)


if __name__ == "__main__":
    main()
