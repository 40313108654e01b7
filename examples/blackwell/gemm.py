"""Matrix product for Blackwell: C = A @ B by TMA and tcgen05, double-buffered in tensor memory.

    python examples/blackwell/gemm.py
    pyptx view examples/blackwell/gemm.py:gemm -p M=512 N=512 K=256 -o gemm.html

Each CTA computes tiles of BM x BN of C, one after the other. Of its six warps the first four store results, one thread
of the fifth copies and one thread of the sixth starts the products; `Roles` in tiles.py synchronizes them. Techniques and their sources:

- tcgen05.mma, started by one thread: operands in shared memory, sums in tensor memory (PTX ISA, "TensorCore 5th
  Generation Family Instructions").
- Two accumulators in tensor memory: one is stored while the other accumulates. Two mbarriers each signal when it is
  full and when it has been read (CUTLASS calls the scheme a "persistent, warp-specialized" kernel).
- With BM = 256 both are of one tile, whose B is read by two blocks of rows, so that a third less has to come from L2
  than for two tiles. At both ends of a tile the first block is a stage ahead of the second one: the tensor cores have
  work while either set is read.
- A ring of STAGES stages of A and B filled by TMA; tcgen05.commit frees a stage when the products that read it have
  completed.
- As many CTAs as there are multiprocessors (CTAS); they take tiles in groups of GROUP rows of tiles, so that concurrent
  tiles share rows of A and columns of B in L2 (Tillet et al., "Triton").
- Out-of-bounds elements are read as zero and not written, so that no size has to be a multiple of a tile (CUDA
  Driver API, "Tensor Map Object Management").
- Results are stored by TMA through swizzled lines (PTX ISA, "Swizzling Modes").

Cost: 88 registers per thread, 225 KiB of shared memory, all of tensor memory: one CTA per SM.
"""

from __future__ import annotations

from examples.blackwell.tiles import BOX, COPIES, MOST_BYTES, MULTIPLIES, ROWS, THREADS, WRITERS, Roles
from examples.hopper.tiles import place
from examples.products import check_choices, check_lines, check_memory, compare_product
from examples.products import reference as reference  # used by pyptx tune --reference
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, bf16, f16, f32, u32

SPACE = {"BM": (128, 256), "BN": (64, 128, 256), "BK": (64, 128), "STAGES": (2, 3, 4, 5, 6), "GROUP": (1, 4, 8, 16)}


def product(a, b, c, *, BM=256, BN=256, BK=64, STAGES=3, GROUP=8, CTAS=148):
    """Compute C (M x N) = A (M x K) @ B (K x N), all row-major; sums in f32. See check_sizes for supported sizes."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(N, K, BM, BN, BK, STAGES)
    steps, tiles_down, tiles_across = -(-K // BK), -(-M // BM), -(-N // BN)
    tiles = tiles_down * tiles_across
    first_tile = reg.from_(ptx.special.ctaid.x(), u32)
    roles = Roles(STAGES, BM, BN, BK, a.dtype, c.dtype)
    roles.begin()

    def own_part(tile: Reg) -> tuple[Reg, Reg]:
        return place(tile, tiles_down, tiles_across, GROUP, BM, BN)

    with ptx.if_(roles.tid == COPIES):
        for tile in ptx.range_(first_tile, tiles, CTAS):
            row, column = own_part(tile)
            for step in ptx.range_(0, steps):
                roles.copy(a, b, row, column, step * BK)
        roles.ring.finish()

    with ptx.if_(roles.tid == MULTIPLIES):
        products = lib.TensorProduct(roles.ring)
        for _ in ptx.range_(first_tile, tiles, CTAS):
            roles.multiply(steps, products)

    with ptx.if_(roles.warp < WRITERS):
        for tile in ptx.range_(first_tile, tiles, CTAS):
            roles.write(c, *own_part(tile))
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it
    roles.end()


def check_sizes(N: int, K: int, BM: int, BN: int, BK: int, STAGES: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support: N and K are multiples of 8, M is anything."""
    check_lines("gemm", {"N": N, "K": K}, 8)
    check_choices("gemm", BM=(BM, (ROWS, 2 * ROWS)), BN=(BN, (64, 128, 256)), BK=(BK, (64, 128)))
    check_memory("gemm", STAGES, Roles.bytes_of(STAGES, BM, BN, BK), MOST_BYTES, least=1)


def gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(
        product,
        name="gemm",
        arch="sm_100a",
        in_specs=[
            Tile("M", "K", dtype, Layout.TMA_128B, tma_box=("BM", BOX), tma_whole=True),
            Tile("K", "N", dtype, Layout.TMA_128B, tma_box=("BK", BOX), tma_whole=True),
        ],
        out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of(out, 32), tma_whole=True)],
        grid=lambda M, N, BM, BN, CTAS: min(CTAS, -(-M // BM) * -(-N // BN)),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


gemm = gemm_of(bf16, bf16)


def main() -> None:
    compare_product(gemm_of(f16, f32), 200, 328, 264)


if __name__ == "__main__":
    main()
