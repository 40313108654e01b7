"""Matrix product for Blackwell by pairs of SMs: C = A @ B by tcgen05 with cta_group::2, double-buffered.

    python examples/blackwell/pair_gemm.py
    pyptx view examples/blackwell/pair_gemm.py:pair_gemm -p M=512 N=512 K=256 -o gemm.html

Read gemm.py first, which has the same roles in one CTA. Here the two CTAs of a cluster compute 2 BM x BN of C
together. Techniques and their sources:

- One product of 256 rows is started by one thread of the first CTA, the leader, and runs on the tensor cores of both:
  each CTA holds its 128 rows of A and of the sums, and half of the columns of B, which both read (PTX ISA, "tcgen05:
  CTA Pair"). So B takes half the shared memory and half the copies. With BM = 256 a CTA has two such blocks of rows.
- Both producers copy into their own CTA, and the bytes are counted by the leader's mbarrier (PTX ISA,
  "cp.async.bulk.tensor": .cta_group::2).
- tcgen05.commit signals both CTAs that a stage is free, and that a tile is complete (.multicast::cluster); the writers
  of both signal the leader that they have read it (mbarrier.arrive at a shared::cluster address).
- Two accumulators in tensor memory, as in gemm.py: one is stored while the other accumulates.

Cost: 89 registers per thread, 225 KiB of shared memory, all of tensor memory: one CTA per SM.
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

PAIR = 2  # CTAs that work together
SPACE = {"BM": (128, 256), "BN": (128, 256), "BK": (64, 128), "STAGES": (2, 3, 4, 5, 6), "GROUP": (1, 4, 8, 16)}


def product(a, b, c, *, BM=256, BN=256, BK=64, STAGES=4, GROUP=8, CTAS=148):
    """Compute C (M x N) = A (M x K) @ B (K x N), all row-major; sums in f32. See check_sizes for supported sizes."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(N, K, BM, BN, BK, STAGES)
    steps, tiles_down, tiles_across = -(-K // BK), -(-M // (PAIR * BM)), -(-N // BN)
    tiles, pairs = tiles_down * tiles_across, grid(M, N, BM, BN, CTAS) // PAIR
    first_tile = reg.from_(ptx.special.ctaid.x(), u32) >> 1
    roles = Roles(STAGES, BM, BN, BK, a.dtype, c.dtype, PAIR)
    roles.begin()

    def own_part(tile: Reg) -> tuple[Reg, Reg]:
        return place(tile, tiles_down, tiles_across, GROUP, BM, BN, PAIR, roles.ring.rank)

    with ptx.if_(roles.tid == COPIES):
        for tile in ptx.range_(first_tile, tiles, pairs):
            row, column = own_part(tile)
            column += roles.ring.rank * (BN // PAIR)
            for step in ptx.range_(0, steps):
                roles.copy(a, b, row, column, step * BK)
        roles.ring.finish()

    with ptx.if_(roles.ring.rank == 0), ptx.if_(roles.tid == MULTIPLIES):  # the thread that starts products
        products = lib.TensorProduct(roles.ring)
        for _ in ptx.range_(first_tile, tiles, pairs):
            roles.multiply(steps, products)

    with ptx.if_(roles.warp < WRITERS):
        for tile in ptx.range_(first_tile, tiles, pairs):
            roles.write(c, *own_part(tile))
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it
    roles.end()  # and the CTA must outlive reads by its peer


def grid(M: int, N: int, BM: int, BN: int, CTAS: int) -> int:
    """Return the number of CTAs: as many as the GPU holds or the tiles need, in whole pairs."""
    return PAIR * min(max(1, CTAS // PAIR), -(-M // (PAIR * BM)) * -(-N // BN))


def check_sizes(N: int, K: int, BM: int, BN: int, BK: int, STAGES: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support: N and K are multiples of 8, M is anything."""
    check_lines("pair_gemm", {"N": N, "K": K}, 8)
    check_choices("pair_gemm", BM=(BM, (ROWS, 2 * ROWS)), BN=(BN, (128, 256)), BK=(BK, (64, 128)))
    check_memory("pair_gemm", STAGES, Roles.bytes_of(STAGES, BM, BN, BK, PAIR), MOST_BYTES, least=1)


def pair_gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(
        product,
        name="pair_gemm",
        arch="sm_100a",
        in_specs=[
            Tile("M", "K", dtype, Layout.TMA_128B, tma_box=("BM", BOX), tma_whole=True),
            Tile("K", "N", dtype, Layout.TMA_128B, tma_box=("BK", BOX), tma_whole=True),
        ],
        out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of(out, 32), tma_whole=True)],
        grid=grid,
        cluster=PAIR,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


pair_gemm = pair_gemm_of(bf16, bf16)


def main() -> None:
    compare_product(pair_gemm_of(f16, f32), 600, 328, 264, CTAS=4)


if __name__ == "__main__":
    main()
