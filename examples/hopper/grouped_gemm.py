"""Grouped GEMM for Hopper: rows of A belong to groups with a separate B each, as in mixtures of experts.

    python examples/hopper/grouped_gemm.py
    pyptx view examples/hopper/grouped_gemm.py:grouped_gemm -p M=512 G=4 GP=5 N=512 K=256 -o gemm.html

Read persistent_gemm.py first. Rows `ends[g]` to `ends[g + 1] - 1` of A are group g's; groups may be of any length, 0
too, and `ends` is read by the kernel, so that the lengths can be what another kernel found out. New techniques and their sources:

- Tiles never mix groups: each group has as many rows of tiles as it needs. Every role walks through the groups to find
  the one that its next tile lies in (CUTLASS calls the scheme a "grouped GEMM" with a tile scheduler on the device).
- All groups' B are one array of rank 3 with one tensor map (PTX ISA, "Tensors"). CLUSTER CTAs have tiles above each
  other of one group and share its columns, as in persistent_gemm.py; a short group leaves the lower one without rows.
- The last tile of a group may hang over into the next one's rows: what is read too much is not written. Boxes of 16
  rows leave by TMA where all their rows are the group's, else row by row.
- Groups of equal length: see `uniform`.

Cost: 168 registers per thread at launch, then 40 and 232; 225 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from examples.hopper.tiles import BOX, MOST_BYTES, WGMMA_ROWS, Product, meet, set_registers
from examples.products import check_choices, check_lines, check_memory
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare, of_package
from pyptx.types import PtxType, bf16, f16, f32, pred, s32, u32

CONSUMERS = 2  # consumer warpgroups, 64 rows each
THREADS = 128 * (1 + CONSUMERS)
BM = CONSUMERS * WGMMA_ROWS
SPACE = {"BN": (64, 128, 256), "BK": (64, 128), "STAGES": (2, 3, 4, 5, 6), "CLUSTER": (1, 2)}


def product(a, b, ends, c, *, BN=256, BK=64, STAGES=4, CLUSTER=2, CTAS=132):
    """Compute C (M x N): each row of A (M x K) times the matrix of its group in B (G x K x N); sums in f32.

    ends (G + 1, s32) starts with 0, is nondecreasing, and ends with at most M; rows from there on are not written. See
    check_sizes for supported sizes.
    """
    G, K, N = b.shape
    check_sizes(N, K, G, ends.shape[0], BN, BK, STAGES, CLUSTER)
    steps, tiles_across, clusters = -(-K // BK), -(-N // BN), grid(a.shape[0], N, G, BN, CLUSTER, CTAS) // CLUSTER

    operands = {"a": lib.WgmmaTile(BM, BK, a.dtype, "K"), "b": lib.WgmmaTile(BK, BN, b.dtype, "MN")}
    ring = lib.TmaRing(STAGES, operands, readers=CONSUMERS * 4, cluster=CLUSTER)
    boxes = lib.StoreBoxes(CONSUMERS * 4, c.dtype, first_warp=4)
    tid = reg.from_(ptx.special.tid.x(), u32)
    first_tile = reg.from_(ptx.special.ctaid.x(), u32) >> (CLUSTER.bit_length() - 1)
    rank = reg.from_(ptx.special.cluster_ctarank(), u32) if CLUSTER > 1 else 0
    shared = {"share": (rank, CLUSTER), "multicast_mask": (1 << CLUSTER) - 1} if CLUSTER > 1 else {}
    ring.set_up(tid)

    groups = Groups(*ptx.global_ptrs(ends), G, BM * CLUSTER, tiles_across)
    tiles = groups.tiles()

    def own_part(tile: Reg) -> tuple[Reg, Reg]:
        down, across = groups.find(tile)
        return groups.first + (down * CLUSTER + rank) * BM, across * BN

    with ptx.if_(tid < 128):
        set_registers(40, BN // 2)
        with ptx.if_(tid == 0):
            for tile in ptx.range_(first_tile, tiles, clusters):
                row, column = own_part(tile)
                for step in ptx.range_(0, steps):
                    stage, k = ring.acquire(), step * BK
                    stage.load("a", a, (k, row))
                    stage.load("b", b, (column, k, groups.group), **shared)  # each CTA copies a part for all
    with ptx.else_():
        set_registers(232, BN // 2)  # sums of a thread
        consumer, lane = (tid >> 7) - 1, tid & 31
        parts = Product(ring, consumer, WGMMA_ROWS, tid)
        for tile in ptx.range_(first_tile, tiles, clusters):
            row, column = own_part(tile)
            (sums,) = parts.of_steps(steps, lane)
            sums.store_tma(c, row + consumer * WGMMA_ROWS, column, boxes, end=groups.end)
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it

    if CLUSTER > 1:
        meet(CLUSTER)  # and the CTA must outlive remote writes and arrivals


class Groups:
    """Iterator over the groups that finds the one a tile of `rows` rows belongs to, for increasing tile numbers."""

    def __init__(self, ends: Reg, count: int, rows: int, tiles_across: int):
        self.ends, self.count, self.rows, self.tiles_across = ends, count, rows, tiles_across
        self.group = reg.scalar(u32, 0)
        self.first, self.end = reg.scalar(u32, 0), self.load(0)  # rows of the group
        self.before, self.after = reg.scalar(u32, 0), reg.scalar(u32)  # tiles up to its first one, and to its last
        ptx.inst.mov.u32(self.after, self.tiles_of(self.first, self.end))

    def load(self, group: int | Reg) -> Reg:
        """Load the end of the rows of a group."""
        place, end = reg.from_(self.ends, self.ends.dtype), reg.scalar(u32)
        if isinstance(group, Reg):
            ptx.inst.mad.wide.u32(place, group, 4, place)
        ptx.inst.ld.global_.nc.u32(end, ptx.addr(place, 4))
        return end

    def tiles_of(self, first: Reg, end: Reg) -> Reg:
        """Return the number of tiles for the rows from `first` to `end`."""
        return (end - first + (self.rows - 1) >> (self.rows.bit_length() - 1)) * self.tiles_across

    def tiles(self) -> Reg:
        """Return the total number of tiles."""
        total, first = reg.from_(self.after, u32), reg.from_(self.end, u32)
        for group in ptx.range_(1, self.count):
            end = self.load(group)
            total += self.tiles_of(first, end)
            ptx.inst.mov.u32(first, end)
        return total

    def find(self, tile: Reg) -> tuple[Reg, Reg]:
        """Advance to the group of a tile; return the tile's row and column in it."""
        further = reg.scalar(pred)
        ptx.inst.setp.ge.u32(further, tile, self.after)
        with ptx.if_(further), ptx.scope(), ptx.loop("next_group", pred=further):
            self.group += 1
            ptx.inst.mov.u32(self.first, self.end)
            ptx.inst.mov.u32(self.before, self.after)
            ptx.inst.mov.u32(self.end, self.load(self.group))
            self.after += self.tiles_of(self.first, self.end)
            ptx.inst.setp.ge.u32(further, tile, self.after)
        return lib.divided(tile - self.before, self.tiles_across)


def grid(M: int, N: int, G: int, BN: int, CLUSTER: int, CTAS: int) -> int:
    """Return the number of CTAs: as many as the GPU holds or there can be tiles, in whole clusters."""
    return CLUSTER * max(1, min(CTAS // CLUSTER, (-(-M // (BM * CLUSTER)) + G) * -(-N // BN)))


def check_sizes(N: int, K: int, G: int, GP: int, BN: int, BK: int, STAGES: int, CLUSTER: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support; see persistent_gemm.py."""
    if GP != G + 1:
        raise ValueError(f"grouped_gemm: ends has {GP} numbers for {G} groups; expected {G + 1}")
    check_lines("grouped_gemm", {"N": N, "K": K}, 8)
    check_choices("grouped_gemm", BN=(BN, (64, 128, 192, 256)), BK=(BK, (64, 128)), CLUSTER=(CLUSTER, (1, 2)))
    if BN % (CLUSTER * BOX):
        raise ValueError(f"grouped_gemm: {CLUSTER} CTAs cannot share {BN} columns of B in boxes of {BOX}")
    check_memory(
        "grouped_gemm", STAGES, STAGES * (BM + BN) * BK * 2 + lib.StoreBoxes.bytes_of(CONSUMERS * 4), MOST_BYTES
    )


def grouped_gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(
        product,
        name="grouped_gemm",
        arch="sm_90a",
        in_specs=[
            Tile("M", "K", dtype, Layout.TMA_128B, tma_box=(BM, BOX), tma_whole=True),
            Tile("G", "K", "N", dtype, Layout.TMA_128B, tma_box=(1, "BK", BOX), tma_whole=True),
            Tile("GP", s32),
        ],
        out_specs=[Tile("M", "N", out, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of(out), tma_whole=True)],
        grid=grid,
        cluster=lambda CLUSTER: CLUSTER,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


grouped_gemm = grouped_gemm_of(bf16, bf16)


def uniform(a, b, function: Kernel = grouped_gemm, **params):
    """Compute a batched product C (G x M x N) = A (G x M x K) @ B (G x K x N), arrays of one library."""
    groups, rows, depth = a.shape
    package = type(a).__module__.partition(".")[0].removesuffix("lib")
    ends = of_package(package, np.arange(0, (groups + 1) * rows, rows, dtype=np.int32))
    if package == "torch":
        ends = ends.to(a.device)
    c = function(a.reshape(groups * rows, depth), b, ends, **params)
    return c.reshape(groups, rows, b.shape[2])


def reference(a: np.ndarray, b: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, in f32; rows without a group are 0."""
    c = np.zeros((a.shape[0], b.shape[2]), np.float32)
    for group, (first, end) in enumerate(pairwise(ends)):
        c[first:end] = a[first:end].astype(np.float32) @ b[group].astype(np.float32)
    return c


def main() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((500, 136), (4, 136, 264)))
    ends = np.array([0, 130, 130, 333, 500], np.int32)
    compare(grouped_gemm_of(f16, f32), [a, b, ends], reference(a, b, ends), rtol=1e-3, atol=1e-3, BN=128, CTAS=4)


if __name__ == "__main__":
    main()
