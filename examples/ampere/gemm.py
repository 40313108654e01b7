"""Matrix product for Ampere: C = A @ B by cp.async, ldmatrix and mma.

    python examples/ampere/gemm.py
    pyptx view examples/ampere/gemm.py:gemm -p M=512 N=512 K=256 -o gemm.html

A CTA of eight warps computes a BM x BN tile of C in steps of BK along K; the warps form a 2 x 4 grid, each with
BM/2 x BN/4 of the tile. Techniques and their sources:

- cp.async into a ring of STAGES stages: the copies of the next STAGES - 1 steps are in flight during each step. A copy
  that reads fewer bytes than it writes fills the rest with zeros, which handles tails (PTX ISA, "cp.async").
- XOR swizzle of the 16-byte chunks of a row, so that neither the copies nor ldmatrix, which reads a column of chunks,
  have bank conflicts (CUTLASS, "Efficient GEMM in CUDA").
- ldmatrix and mma.m16n8k16; B is transposed by the load (PTX ISA, "Warp-level Matrix Instructions").
- Double-buffered fragments: the next 16 of K are loaded during each multiplication, across steps too.

Runs on later GPUs below their peak: through mma, Hopper's tensor cores reach at most two thirds of their wgmma throughput
(one HMMA.16816 every 6 cycles), so the modeled 39 % of an H200's peak are 58 % of the mma limit.

Cost: 228 registers per thread and 144 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

from examples.ampere.tiles import BOX, LINE, MMA_K, MOST_BYTES, PIECE, multiply
from examples.products import check_choices, check_lines, check_memory, compare_product
from examples.products import reference as reference  # used by pyptx tune --reference
from examples.vectors import both, store, wide
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, b8, b32, bf16, f16, f32, u32

WARPS_M, WARPS_N = 2, 4
THREADS = 32 * WARPS_M * WARPS_N
PASS = THREADS * PIECE  # bytes copied per pass of all threads
SPACE = {"BM": (64, 128, 256), "BN": (64, 128, 256), "BK": (32, 64), "STAGES": (2, 3, 4, 5)}  # tuning space


def product(a, b, c, *, BM=128, BN=256, BK=64, STAGES=3):
    """Compute C (M x N) = A (M x K) @ B (K x N), all row-major, N and K multiples of 8; sums in f32."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(M, N, K, BM, BN, BK, STAGES)
    a_bytes, b_bytes = BM * BK * 2, BK * BN * 2
    stage_bytes = a_bytes + b_bytes
    a_swizzle = f"{BK * 2}B"

    ring = smem.alloc(b8, (STAGES, stage_bytes), align=1024)
    start = reg.from_(ring.name, u32)
    tid = reg.from_(ptx.special.tid.x(), u32)
    lane, warp = tid & 31, tid >> 5
    row = reg.from_(ptx.special.ctaid.y(), u32) * BM
    column = reg.from_(ptx.special.ctaid.x(), u32) * BN
    from_a, from_b, to_c = ptx.global_ptrs(a, b, c)

    # Chunks this thread copies. A: one column, `a_step` rows apart. B: rows of K, 32 apart, then the next box.
    a_pieces = BK * 2 // PIECE  # of a row
    a_step = THREADS // a_pieces
    a_row, a_column = row + (tid >> (a_pieces.bit_length() - 1)), (tid & (a_pieces - 1)) << 3
    b_row, b_column = tid >> 3, column + ((tid & 7) << 3)
    from_a += wide(a_row, K * 2) + wide(a_column, 2)
    from_b += wide(b_row, N * 2) + wide(b_column, 2)
    put_a = start + smem.apply_swizzle(tid * PIECE, a_swizzle)
    put_b = start + smem.apply_swizzle(tid * PIECE, "128B") + a_bytes
    a_sizes = [bytes_if(a_row + i * a_step < M if M % BM else None) for i in range(a_bytes // PASS)]
    b_sizes = [bytes_if(b_column + j * BOX < N if N % BN else None) for j in range(BN // BOX)]

    def copy(stage: int | Reg, k: int | Reg) -> None:
        """Start the copies of BK columns of A and rows of B from `k` on; zeros beyond K."""
        into_a, into_b = put_a + stage * stage_bytes, put_b + stage * stage_bytes
        inside = a_column + k < K
        for i, size in enumerate(a_sizes):
            copy_piece(ptx.addr(into_a, i * PASS), ptx.addr(from_a, i * a_step * K * 2), size, inside)
        for i in range(BK // 32):
            inside = b_row + i * 32 + k < K
            for j, size in enumerate(b_sizes):
                copy_piece(
                    ptx.addr(into_b, (j * BK + i * 32) * LINE),
                    ptx.addr(from_b, (i * 32 * N + j * BOX) * 2),
                    size,
                    inside,
                )
        ptx.cp.async_.commit_group()
        ptx.inst.add.s64(from_a, from_a, BK * 2)
        ptx.inst.add.s64(from_b, from_b, BK * N * 2)

    # Address of this lane's row in the first matrix of a fragment, in A and in B.
    rows, columns = BM // WARPS_M, BN // WARPS_N  # of a warp
    warp_row, warp_column = (warp & (WARPS_M - 1)) * rows, (warp >> 1) * columns
    half = (lane >> 4) << 4
    get_a = smem.apply_swizzle((warp_row + (lane & 15)) * (BK * 2) + half, a_swizzle)
    get_b = (
        smem.apply_swizzle(
            (warp_column >> 6) * (BK * LINE) + ((warp_column & 63) << 1) + (lane & 15) * LINE + half, "128B"
        )
        + a_bytes
    )
    a_parts = [[reg.array(b32, 4) for _ in range(rows // 16)] for _ in range(2)]
    b_parts = [[reg.array(b32, 4) for _ in range(columns // 16)] for _ in range(2)]
    sums = [[reg.array(f32, 4) for _ in range(columns // 8)] for _ in range(rows // 16)]
    for value in (value for line in sums for part in line for value in part):
        ptx.inst.mov.f32(value, 0.0)

    def load(buffer: int, base: Reg, k: int) -> None:
        """Load the fragments of one k16 step from the stage at `base`."""
        this_a = base + (get_a ^ (k * 2))
        for i, part in enumerate(a_parts[buffer]):
            ptx.ldmatrix(dst=part, src=ptx.addr(this_a, i * 16 * BK * 2))
        for j, part in enumerate(b_parts[buffer]):
            ptx.ldmatrix(dst=part, src=ptx.addr(base + (get_b ^ (j * 32)), k * LINE), trans=True)

    def add_products(buffer: int) -> None:
        for part, line in zip(a_parts[buffer], sums, strict=True):
            for j, total in enumerate(line):
                first = j % 2 * 2  # two fragments of 8 columns were loaded at once
                multiply(total, part, b_parts[buffer][j // 2][first : first + 2], total, a.dtype)

    for stage in range(STAGES - 1):
        copy(stage, stage * BK)
    fills = ptx.pipeline(STAGES, cursor=reg.scalar(u32, STAGES - 1))
    reads = ptx.pipeline(STAGES, cursor=reg.scalar(u32, 1))
    base = reg.from_(start, u32)  # of the stage that is read
    ptx.cp.async_.wait_group(STAGES - 2)
    ptx.bar.sync(0)
    load(0, base, 0)
    for k in ptx.range_(0, K, BK):
        for inner in range(0, BK, MMA_K):
            buffer = inner // MMA_K % 2
            if inner + MMA_K == BK:  # the next fragments are in the next stage
                ptx.cp.async_.wait_group(STAGES - 2)
                ptx.bar.sync(0)  # the slice has arrived, and no thread still reads the one before
                stage, _ = reads.advance()
                ptx.inst.mad.lo.u32(base, stage, stage_bytes, start)
            load(1 - buffer, base, (inner + MMA_K) % BK)
            if inner == 0:
                stage, _ = fills.advance()
                copy(stage, k + (STAGES - 1) * BK)
            add_products(buffer)
    ptx.cp.async_.wait_all()

    row += warp_row + (lane >> 2)
    column += warp_column + ((lane & 3) << 1)
    to_c += wide(row, N * c.dtype.bits // 8) + wide(column, c.dtype.bits // 8)
    for i, line in enumerate(sums):
        for below in (0, 8):
            inside_row = row + (i * 16 + below) < M if M % BM else None
            for j, total in enumerate(line):
                inside = both(inside_row, column + j * 8 < N if N % BN else None)
                store(
                    to_c,
                    total[below // 4 : below // 4 + 2],
                    c.dtype,
                    inside,
                    offset=((i * 16 + below) * N + j * 8) * c.dtype.bits // 8,
                )


def bytes_if(inside: Reg | None) -> Reg | int:
    """Return the bytes a copy reads: 16, or 0 where `inside` is false."""
    if inside is None:
        return PIECE
    size = reg.scalar(u32)
    ptx.inst.selp.b32(size, PIECE, 0, inside)
    return size


def copy_piece(to: object, source: object, size: Reg | int, inside: Reg) -> None:
    """Start the copy of a chunk, zeros where `inside` is false."""
    read = reg.scalar(u32)
    ptx.inst.selp.b32(read, size, 0, inside)
    ptx.inst.cp.async_.cg.shared.global_(to, source, PIECE, read)


def check_sizes(M: int, N: int, K: int, BM: int, BN: int, BK: int, STAGES: int) -> None:
    """Raise ValueError for sizes the copies or the tiling do not support."""
    check_lines("gemm", {"N": N, "K": K}, 8)
    check_choices("gemm", BM=(BM, (64, 128, 256)), BN=(BN, (64, 128, 256)), BK=(BK, (32, 64)))
    if BM * BN > 128 * 256:
        raise ValueError(
            f"gemm: a tile of {BM} x {BN} has more sums than there are registers; BM * BN is at most 128 * 256"
        )
    check_memory("gemm", STAGES, STAGES * (BM + BN) * BK * 2, MOST_BYTES)


def gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(
        product,
        name="gemm",
        arch="sm_80",
        in_specs=[Tile("M", "K", dtype, align=PIECE), Tile("K", "N", dtype, align=PIECE)],
        out_specs=[Tile("M", "N", out, align=2 * out.bits // 8)],
        grid=lambda M, N, BM, BN: (-(-N // BN), -(-M // BM)),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


gemm = gemm_of(bf16, f32)


def main() -> None:
    compare_product(gemm_of(f16, f32), 200, 328, 264)


if __name__ == "__main__":
    main()
