"""Matrix product of NVFP4 for GeForce Blackwell: C = alpha * A @ B^T, of 4-bit floats with a scale per 16.

    python examples/blackwell/nvfp4_gemm.py
    pyptx view examples/blackwell/nvfp4_gemm.py:nvfp4_gemm -p M=256 N=256 H=256 KB=32 -o gemm.html

For sm_120a (RTX 50, RTX PRO), which has TMA but neither wgmma nor tcgen05. A CTA computes 128 x BN tiles of C, one
after the other: a ninth warp copies 256 of K at a time into a ring of STAGES stages, eight warps, 2 x 4, multiply.
Techniques and their sources:

- NVFP4: numbers of e2m1, two in a byte, a scale of ue4m3 for each 16 along K, and one of f32 for all, alpha (NVIDIA,
  "Introducing NVFP4 for Efficient and Accurate Low-Precision Inference"; e2m1 is OCP Microscaling's).
- mma.m16n8k64 that multiplies the scales in: lane 4g + t holds those of rows g and g + 8 (t = 0, 1) and of column g
  (t = 0), four of K in a register (PTX ISA, "mma", "Block Scaling").
- Bytes are bytes: copies, swizzles and ldmatrix are those of 32 columns of 8 bits.
- The ring of examples/hopper/gemm.py: TMA into swizzled boxes, a `full` and an `empty` mbarrier for each stage.

Cost: 138 registers per thread and 73 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from examples.hopper.tiles import place
from examples.products import check_choices, check_lines, check_memory
from examples.vectors import both, store, wide
from pyptx import Layout, Tile, kernel, lib, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, b32, bf16, f32, u8, u32

WARPS_M, WARPS_N = 2, 4  # that multiply
CONSUMERS = WARPS_M * WARPS_N
THREADS = 32 * (CONSUMERS + 1)
LINE, SCALES = 128, 16  # bytes of a row of a stage: 256 numbers, and their scales
STEP = 32  # bytes of a row that one mma takes: 64 numbers
MOST_BYTES = 98 * 1024  # bytes of shared memory per CTA, less 1 KiB for mbarriers
BM = 128  # rows of a tile
SPACE = {"BN": (64, 128), "STAGES": (2, 3), "GROUP": (4, 8, 16)}  # tuning space


def product(a, b, a_scales, b_scales, c, *, BN=128, STAGES=2, GROUP=8, CTAS=170):
    """Compute C (M x N) = alpha * A (M x K) @ B^T (N x K), row-major, elements times their scales; sums in f32.

    K is a multiple of 256 and N is even; M is anything.
    """
    M, N, K = a.shape[0], b.shape[0], a.shape[1] * 2
    check_sizes(N, K, BN, STAGES)
    tiles_down, tiles_across = -(-M // BM), -(-N // BN)
    ring = lib.TmaRing(STAGES, {"all": stage_bytes(BN)}, readers=CONSUMERS)
    alpha = ptx.param(f32, "alpha")
    (to_c,) = ptx.global_ptrs(c)
    tid = reg.from_(ptx.special.tid.x(), u32)
    first_tile, warp, lane = reg.from_(ptx.special.ctaid.x(), u32), tid >> 5, tid & 31
    ring.set_up(tid)

    def corner(tile: Reg) -> tuple[Reg, Reg]:
        return place(tile, tiles_down, tiles_across, GROUP, BM, BN)

    tiles = first_tile, tiles_down * tiles_across, grid(M, N, BN, CTAS)
    copy = ptx.cp.async_bulk.tensor_2d.shared_cta_global_tile  # into this CTA; .shared::cluster costs a stack
    with ptx.if_(tid >= 32 * CONSUMERS):
        with ptx.if_(tid == 32 * CONSUMERS):  # shows ptxas that this is one thread
            for tile in ptx.range_(*tiles):
                row, column = corner(tile)
                for k in ptx.range_(0, K // 256):
                    stage = ring.acquire()
                    to, ready = stage.address("all"), stage.full
                    for source, first, rows in ((a, row, BM), (b, column, BN)):
                        copy(dst=to, src=source.tma_desc(), coord=(k * LINE, first), mbar=ready)
                        to = to + rows * LINE
                    for scales, first, rows in ((a_scales, row, BM), (b_scales, column, BN)):
                        copy(dst=to, src=scales.tma_desc(), coord=(k * SCALES, first), mbar=ready)
                        to = to + rows * SCALES
    with ptx.else_():
        rows, columns = BM // WARPS_M, BN // WARPS_N  # of a warp
        warp_row, warp_column = (warp & (WARPS_M - 1)) * rows, (warp >> 1) * columns
        g = lane >> 2
        # What this lane reads first: a row of the four matrices that ldmatrix fetches, and its rows of scales.
        get_a = smem.apply_swizzle((warp_row + (lane & 15)) * LINE + ((lane >> 4) << 4), "128B")
        get_b = smem.apply_swizzle((warp_column + (lane & 7) + ((lane >> 4) << 3)) * LINE + ((lane & 8) << 1), "128B")
        a_scale = (warp_row + g + ((lane & 1) << 3)) * SCALES + (BM + BN) * LINE
        b_scale = (warp_column + g) * SCALES + ((BM + BN) * LINE + BM * SCALES)
        sums = [[reg.array(f32, 4) for _ in range(columns // 8)] for _ in range(rows // 16)]

        for tile in ptx.range_(*tiles):
            for value in (value for line in sums for part in line for value in part):
                ptx.inst.mov.f32(value, 0.0)
            for _ in ptx.range_(0, K // 256):
                stage = ring.wait()
                base = stage.address("all")
                of_a = [vector(base + a_scale, i * 16 * SCALES) for i in range(rows // 16)]
                of_b = [vector(base + b_scale, j * 8 * SCALES) for j in range(columns // 8)]
                for k in range(LINE // STEP):
                    this_a, this_b = base + (get_a ^ (k * STEP)), base + (get_b ^ (k * STEP))
                    b_parts = [reg.array(b32, 4) for _ in range(columns // 16)]
                    for j, part in enumerate(b_parts):
                        ptx.ldmatrix(dst=part, src=ptx.addr(this_b, BM * LINE + j * 16 * LINE))
                    for i, line in enumerate(sums):
                        a_part = reg.array(b32, 4)
                        ptx.ldmatrix(dst=a_part, src=ptx.addr(this_a, i * 16 * LINE))
                        for j, total in enumerate(line):
                            half = j % 2 * 2  # two fragments of 8 columns were loaded at once
                            multiply(total, a_part, b_parts[j // 2][half : half + 2], of_a[i][k], of_b[j][k])
                ring.release(stage, lane, sync=True)
            row, column = corner(tile)
            row, column = row + (warp_row + g), column + (warp_column + ((lane & 3) << 1))
            at = to_c + wide(row, N * c.dtype.bits // 8) + wide(column, c.dtype.bits // 8)
            for i, line in enumerate(sums):
                for below in (0, 8):
                    inside_row = row + (i * 16 + below) < M if M % BM else None
                    for j, total in enumerate(line):
                        values = [value * alpha for value in total[below // 4 : below // 4 + 2]]
                        store(
                            at,
                            values,
                            c.dtype,
                            both(inside_row, column + j * 8 < N if N % BN else None),
                            offset=((i * 16 + below) * N + j * 8) * c.dtype.bits // 8,
                        )


def vector(base: Reg, offset: int) -> list[Reg]:
    """Load the 16 scales of a row, one register per 64 elements."""
    words = reg.array(b32, 4)
    ptx.inst.ld.shared.v4.b32(words, ptx.addr(base, offset))
    return list(words)


def multiply(sums: object, a: object, b: object, a_scales: Reg, b_scales: Reg) -> None:
    """Emit sums (16 x 8) += a (16 x 64) @ b (64 x 8), e2m1 elements times their ue4m3 scales."""
    ptx.inst.mma.sync.aligned.m16n8k64.row.col.kind__mxf4nvf4.block_scale.scale_vec__4X.f32.e2m1.e2m1.f32.ue4m3(
        sums, a, b, sums, a_scales, [0, 0], b_scales, [0, 0]
    )


def stage_bytes(BN: int) -> int:
    return (BM + BN) * (LINE + SCALES)


def grid(M: int, N: int, BN: int, CTAS: int) -> int:
    """Return the number of CTAs: as many as the GPU holds or the tiles need."""
    return min(CTAS, -(-M // BM) * -(-N // BN))


def check_sizes(N: int, K: int, BN: int, STAGES: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support."""
    check_lines("nvfp4_gemm", {"K": K}, 256)  # 16 bytes of scales
    if N % 2:
        raise ValueError(f"nvfp4_gemm: N={N} is odd; results are written two at a time")
    check_choices("nvfp4_gemm", BN=(BN, (64, 128)))
    check_memory("nvfp4_gemm", STAGES, STAGES * stage_bytes(BN), MOST_BYTES)


def nvfp4_gemm_of(out: PtxType) -> Kernel:
    """Return the kernel for C of `out` (f32, bf16 or f16); alpha= is given with each call.

    A and B are bytes, M x H and N x H: the lower four bits are the number with the even index. Their scales are M x KB
    and N x KB bytes of ue4m3.
    """
    return kernel(
        product,
        name="nvfp4_gemm",
        arch="sm_120a",
        raw_params=[("f32", "alpha")],
        in_specs=[
            Tile("M", "H", u8, Layout.TMA_128B, tma_box=(BM, LINE), tma_whole=True),
            Tile("N", "H", u8, Layout.TMA_128B, tma_box=("BN", LINE), tma_whole=True),
            Tile("M", "KB", u8, tma_box=(BM, SCALES), tma_whole=True),
            Tile("N", "KB", u8, tma_box=("BN", SCALES), tma_whole=True),
        ],
        out_specs=[Tile("M", "N", out, align=2 * out.bits // 8)],
        grid=grid,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


nvfp4_gemm = nvfp4_gemm_of(bf16)


def quantized(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Quantize x (f32) to packed e2m1 with a scale per 16 elements and one for all; x is approximately their product."""
    whole = max(float(np.abs(x).max()), 1e-12) / (448 * 6)
    blocks = x.reshape(x.shape[0], -1, 16)
    scales = (np.abs(blocks).max(-1) / (6 * whole)).astype(ml_dtypes.float8_e4m3fn)
    divisors = np.maximum(scales.astype(np.float32), 2.0**-9) * whole
    codes = (blocks / divisors[..., None]).astype(ml_dtypes.float4_e2m1fn).reshape(x.shape).view(np.uint8) & 15
    return codes[:, ::2] | codes[:, 1::2] << 4, scales.view(np.uint8), whole


def inputs(x: np.ndarray, weights: np.ndarray) -> tuple[list[np.ndarray], float]:
    """Return the kernel's inputs for x (M x K) and weights (N x K) in f32: arrays, and alpha."""
    (a, a_scales, of_a), (b, b_scales, of_b) = quantized(x), quantized(weights)
    return [a, b, a_scales, b_scales], of_a * of_b


def numbers(packed: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return packed e2m1 times its scales as f32."""
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)
    values = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    return values * np.repeat(scales.view(ml_dtypes.float8_e4m3fn).astype(np.float32), 16, axis=1)


def reference(a: np.ndarray, b: np.ndarray, a_scales: np.ndarray, b_scales: np.ndarray, alpha: float) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    return numbers(a, a_scales) @ numbers(b, b_scales).T * np.float32(alpha)


def main() -> None:
    random = np.random.default_rng(0)
    arrays, alpha = inputs(*(random.standard_normal(shape, dtype=np.float32) for shape in ((200, 512), (136, 512))))
    compare(nvfp4_gemm_of(f32), arrays, reference(*arrays, alpha=alpha), rtol=1e-5, atol=1e-4, alpha=alpha, CTAS=2)


if __name__ == "__main__":
    main()
