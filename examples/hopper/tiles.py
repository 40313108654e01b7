"""Helpers of the persistent Hopper kernels: place of a tile, and the product of a stage."""

from __future__ import annotations

from pyptx import lib, ptx
from pyptx.reg import Reg
from pyptx.types import f32

__all__ = [
    "BOX",
    "LINE",
    "MOST_BYTES",
    "SWIZZLED",
    "WGMMA_BYTES",
    "WGMMA_K",
    "WGMMA_ROWS",
    "Product",
    "meet",
    "place",
    "set_registers",
]

LINE = 128  # bytes of a box row in shared memory, and of the swizzle
BOX = LINE // 2  # columns of a box of 16-bit elements
WGMMA_ROWS, WGMMA_K = 64, 16  # of one wgmma with 16-bit operands
WGMMA_BYTES = WGMMA_ROWS * LINE  # 64 rows of a box
MOST_BYTES = 226 * 1024  # bytes of shared memory per CTA, less 1 KiB for mbarriers
SWIZZLED = {"stride_byte_offset": 8 * LINE, "swizzle": ptx.wgmma.SWIZZLE_128B}  # of descriptors of boxes


def place(
    tile: Reg, down: int, across: int, group: int, rows: int, columns: int, cluster: int = 1, rank: Reg | int = 0
) -> tuple[Reg, Reg]:
    """Return first row and column of a CTA's part of a tile: a cluster's tile has `rows` rows per CTA."""
    row, column = lib.TileOrder(down, across, group=group).place(tile)
    return (row * cluster + rank if cluster > 1 else row) * rows, column * columns


def set_registers(registers: int, sums: int) -> None:
    """Change how many registers the threads of this warpgroup have, where a consumer's has more than 64 sums. For fewer
    the 168 that three warpgroups start with are enough, and ptxas ignores setmaxnreg.
    """
    if sums > 64:
        ptx.setmaxnreg(registers, inc=registers > 168)


def meet(cluster: int = 1) -> None:
    """Synchronize all threads of the cluster."""
    if cluster > 1:
        ptx.cluster.sync()
        ptx.inst.bar.warp.sync(-1)  # reconverge the warp
    else:
        ptx.bar.sync(0)


class Product:
    """A consumer's accumulators of a tile: `rows` rows of tile "a" times tile "b", from the stages of a ring."""

    def __init__(self, ring: lib.TmaRing, consumer: Reg, rows: int, tid: Reg):
        self.ring, self.a, self.b = ring, ring.operands["a"], ring.operands["b"]
        self.fragments = [lib.WgmmaFragment(self.b.columns, tid) for _ in range(rows // WGMMA_ROWS)]
        self.from_a, self.from_b = ring.descriptor("a", consumer * rows), ring.descriptor("b")

    def start(self, first: bool) -> lib.Stage:
        """Start the product of the next stage once it is filled; return the stage."""
        stage = self.ring.wait()
        this_a, this_b = stage.descriptor(self.from_a), stage.descriptor(self.from_b)
        ptx.wgmma.fence()
        for k in range(0, self.a.columns, WGMMA_K):
            for i, part in enumerate(self.fragments):
                ptx.wgmma.mma_async(
                    shape=(WGMMA_ROWS, self.b.columns, WGMMA_K),
                    dtype_d=f32,
                    dtype_a=self.a.dtype,
                    dtype_b=self.b.dtype,
                    d=part.sums,
                    a=this_a + self.a.offset(k, i * WGMMA_ROWS),
                    b=this_b + self.b.offset(k),
                    trans_b=1,
                    scale_d=not (first and k == 0),
                )
        ptx.wgmma.commit_group()
        return stage

    def of_steps(self, steps: int | Reg, lane: Reg) -> list[lib.WgmmaFragment]:
        """Return the sums over a number of stages, at least one."""
        previous = self.start(first=True)
        for _ in ptx.range_(1, steps):
            stage = self.start(first=False)
            ptx.wgmma.wait_group(1)  # the product of the previous stage has completed
            self.ring.release(previous, lane)
            previous.become(stage)
        ptx.wgmma.wait_group(0)
        self.ring.release(previous, lane)
        return self.fragments
