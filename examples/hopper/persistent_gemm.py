"""Persistent matrix product for Hopper: gemm.py with persistent CTAs, in clusters that share their loads.

    python examples/hopper/persistent_gemm.py
    pyptx view examples/hopper/persistent_gemm.py:persistent_gemm -p M=512 N=512 K=256 -o gemm.html

Read gemm.py first, which has the ring of stages and explains wgmma. New
techniques and their sources:

- As many CTAs as there are SMs (CTAS), each computes tile after tile: the producer loads the next tile while the
  consumers store the last one (CUTLASS calls the scheme a "persistent, warp-specialized, cooperative" kernel).
- Results are stored by TMA through separate memory, two alternating boxes per warp: a store overlaps with filling the
  next box and with the next tile's products (PTX ISA, "cp.async.bulk.tensor": completion by bulk groups).
- CLUSTER vertically adjacent CTAs need the same columns of B: each copies a part of them into the memory of all (PTX ISA,
  "cp.async.bulk.tensor": .multicast::cluster), so that B crosses the L2 once for the cluster. A stage is free when the
  consumers of all CTAs have signaled every CTA (mbarrier.arrive at shared::cluster addresses).
- Tiles are taken in groups of GROUP rows of tiles, column-major in a group: concurrent tiles share rows of A and
  columns of B in L2 (Tillet et al., "Triton"; their matrix product calls it grouped ordering).
- Two registers are packed into one pair of 16-bit elements, and one stmatrix writes 16 columns.

Cost: 168 registers per thread at launch, then 40 of a producer's and 232 of a consumer's; 225 KiB of shared memory: one
CTA per SM.
"""

from __future__ import annotations

from examples.hopper.tiles import BOX, MOST_BYTES, WGMMA_ROWS, Product, meet, place, set_registers
from examples.products import check_choices, check_lines, check_memory, compare_product
from examples.products import reference as reference  # used by pyptx tune --reference
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.types import PtxType, bf16, f16, f32, u32

CONSUMERS = 2  # consumer warpgroups
THREADS = 128 * (1 + CONSUMERS)
SPACE = {
    "BM": (128, 256),
    "BN": (64, 128, 256),
    "BK": (64, 128),
    "STAGES": (2, 3, 4, 5, 6),
    "CLUSTER": (1, 2, 4),
    "GROUP": (1, 4, 8, 16),
    "CTAS": (128, 132),
}  # clusters of 4 find 128 SMs: a GPC has 16 or 18


def product(a, b, c, *, BM=128, BN=256, BK=64, STAGES=4, CLUSTER=2, GROUP=8, CTAS=132):
    """Compute C (M x N) = A (M x K) @ B (K x N), all row-major; sums in f32. See check_sizes for supported sizes."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(N, K, BM, BN, BK, STAGES, CLUSTER)
    steps, tiles_down, tiles_across = -(-K // BK), -(-M // (BM * CLUSTER)), -(-N // BN)
    clusters = grid(M, N, BM, BN, CLUSTER, CTAS) // CLUSTER

    tiles = {"a": lib.WgmmaTile(BM, BK, a.dtype, "K"), "b": lib.WgmmaTile(BK, BN, b.dtype, "MN")}
    ring = lib.TmaRing(STAGES, tiles, readers=CONSUMERS * 4, cluster=CLUSTER)
    boxes = lib.StoreBoxes(CONSUMERS * 4, c.dtype, first_warp=4)
    tid = reg.from_(ptx.special.tid.x(), u32)
    block, rank = reg.from_(ptx.special.ctaid.x(), u32), 0
    if CLUSTER > 1:
        rank = reg.from_(ptx.special.cluster_ctarank(), u32)
    shared = {"share": (rank, CLUSTER), "multicast_mask": (1 << CLUSTER) - 1} if CLUSTER > 1 else {}
    first_tile = block >> (CLUSTER.bit_length() - 1)

    ring.set_up(tid)

    def own_part(tile: Reg) -> tuple[Reg, Reg]:
        return place(tile, tiles_down, tiles_across, GROUP, BM, BN, CLUSTER, rank)

    sums = BM * BN // (128 * CONSUMERS)  # of a consumer's thread
    with ptx.if_(tid < 128):
        set_registers(40, sums)
        with ptx.if_(tid == 0):
            for tile in ptx.range_(first_tile, tiles_down * tiles_across, clusters):
                row, column = own_part(tile)
                for step in ptx.range_(0, steps):
                    stage, k = ring.acquire(), step * BK
                    stage.load("a", a, (k, row))
                    stage.load("b", b, (column, k), **shared)  # each CTA copies a part for all
    with ptx.else_():
        set_registers(232, sums)
        consumer, lane = (tid >> 7) - 1, tid & 31
        rows = BM // CONSUMERS  # of this consumer
        parts = Product(ring, consumer, rows, tid)
        for tile in ptx.range_(first_tile, tiles_down * tiles_across, clusters):
            row, column = own_part(tile)
            for i, part in enumerate(parts.of_steps(steps, lane)):
                part.store_tma(c, row + consumer * rows + i * WGMMA_ROWS, column, boxes)
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it

    if CLUSTER > 1:
        meet(CLUSTER)  # and the CTA must outlive remote writes and arrivals


def grid(M: int, N: int, BM: int, BN: int, CLUSTER: int, CTAS: int) -> int:
    """Return the number of CTAs: as many as the GPU holds or the tiles need, in whole clusters."""
    return CLUSTER * min(max(1, CTAS // CLUSTER), -(-M // (BM * CLUSTER)) * -(-N // BN))


def check_sizes(N: int, K: int, BM: int, BN: int, BK: int, STAGES: int, CLUSTER: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support: N and K are multiples of 8, M is anything."""
    check_lines("persistent_gemm", {"N": N, "K": K}, 8)
    check_choices(
        "persistent_gemm",
        BM=(BM, (128, 256)),
        BN=(BN, (64, 128, 192, 256)),
        BK=(BK, (64, 128)),
        CLUSTER=(CLUSTER, (1, 2, 4)),
    )
    if BM * BN > 128 * 256:
        raise ValueError(
            f"persistent_gemm: a tile of {BM} x {BN} has more sums than the consumers have registers for; "
            "BM * BN is at most 128 * 256"
        )
    if BN % (CLUSTER * BOX):
        raise ValueError(f"persistent_gemm: {CLUSTER} CTAs cannot share {BN} columns of B in boxes of {BOX}")
    check_memory(
        "persistent_gemm", STAGES, STAGES * (BM + BN) * BK * 2 + lib.StoreBoxes.bytes_of(CONSUMERS * 4), MOST_BYTES
    )


def persistent_gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(
        product,
        name="persistent_gemm",
        arch="sm_90a",
        in_specs=[
            Tile("M", "K", dtype, Layout.TMA_128B, tma_box=("BM", BOX), tma_whole=True),
            Tile("K", "N", dtype, Layout.TMA_128B, tma_box=("BK", BOX), tma_whole=True),
        ],
        out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of(out), tma_whole=True)],
        grid=grid,
        cluster=lambda CLUSTER: CLUSTER,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


persistent_gemm = persistent_gemm_of(bf16, bf16)


def main() -> None:
    compare_product(persistent_gemm_of(f16, f32), 500, 328, 264, CTAS=4)


if __name__ == "__main__":
    main()
