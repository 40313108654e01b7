"""Matrix product for Hopper: C = A @ B by TMA and wgmma, warp-specialized.

    python examples/hopper/gemm.py
    pyptx view examples/hopper/gemm.py:gemm -p M=512 N=512 K=256 -o gemm.html

A CTA of three warpgroups computes a BM x BN tile of C. One thread of the first warpgroup, the producer, copies steps of
BK along K into a ring of STAGES stages; the two others, the consumers, multiply BM/2 rows each and accumulate in
registers. Techniques and their sources:

- Tensor maps with 128-byte swizzle; out-of-bounds elements are read as zero and not written, so that no size has to be a
  multiple of a tile (CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensors").
- A `full` and an `empty` mbarrier per stage (pyptx.lib.TmaRing): the first tracks the bytes that arrive, the second counts
  the warps that have read it (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
- Registers move from the producer to the consumers (PTX ISA, "setmaxnreg"; CUTLASS: "warp-specialized" kernels).
- wgmma on shared memory, B read across its rows (an MN-major descriptor); the product of one stage overlaps with the
  start of the next (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
- Results are stored by TMA through the ring's memory, in whole lines (PTX ISA, "stmatrix").

Cost: 168 registers per thread at launch, then 40 and 232; 192 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

from examples.hopper.tiles import BOX, LINE, MOST_BYTES, WGMMA_BYTES, WGMMA_K, WGMMA_ROWS
from examples.products import check_lines, compare_product
from examples.products import reference as reference  # used by pyptx tune --reference
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.types import PtxType, bf16, f16, f32, u32

CONSUMERS = 2  # consumer warpgroups
THREADS = 128 * (1 + CONSUMERS)
SPACE = {"BM": (128, 256), "BN": (64, 128, 192, 256), "BK": (64, 128), "STAGES": (2, 3, 4, 5, 6)}  # tuning space


def product(a, b, c, *, BM=128, BN=256, BK=64, STAGES=4):
    """Compute C (M x N) = A (M x K) @ B (K x N), all row-major; sums in f32. See check_sizes for supported sizes."""
    (M, K), N = a.shape, b.shape[1]
    check_sizes(M, N, K, BM, BN, BK, STAGES, c.dtype)
    steps = -(-K // BK)

    tile_a, tile_b = lib.WgmmaTile(BM, BK, a.dtype, "K"), lib.WgmmaTile(BK, BN, b.dtype, "MN")
    ring = lib.TmaRing(STAGES, {"a": tile_a, "b": tile_b}, readers=CONSUMERS * 4)
    tid = reg.from_(ptx.tid.x, u32)
    row, column = ptx.ctaid.y * BM, ptx.ctaid.x * BN

    ring.set_up(tid)
    gives = BM * BN > 128 * 128  # registers; smaller tiles do with what a thread starts with
    roles = lib.roles(consumers=CONSUMERS, registers=(40, 232) if gives else None, tid=tid)
    with roles.producer():
        for step in ptx.range_(0, steps):
            stage, k = ring.acquire(), step * BK
            stage.load("a", a, (k, row))
            stage.load("b", b, (column, k))
    with roles.consumer() as consumer:
        rows = BM // CONSUMERS  # of this consumer
        lane = tid & 31
        parts = [lib.WgmmaFragment(BN, tid) for _ in range(rows // WGMMA_ROWS)]

        from_a, from_b = ring.descriptor("a", consumer * rows), ring.descriptor("b")

        def multiply(first: bool) -> lib.Stage:
            """Start the product of the next stage once it is filled; return the stage."""
            stage = ring.wait()
            this_a, this_b = (stage.descriptor(descriptor) for descriptor in (from_a, from_b))
            ptx.wgmma.fence()
            for k in range(0, BK, WGMMA_K):
                for i, part in enumerate(parts):
                    ptx.wgmma.mma_async(
                        shape=(WGMMA_ROWS, BN, WGMMA_K),
                        dtype_d=f32,
                        dtype_a=a.dtype,
                        dtype_b=b.dtype,
                        d=part.sums,
                        a=this_a + tile_a.offset(k, i * WGMMA_ROWS),
                        b=this_b + tile_b.offset(k),
                        trans_b=1,
                        scale_d=not (first and k == 0),
                    )
            ptx.wgmma.commit_group()
            return stage

        previous = multiply(first=True)
        for _ in ptx.range_(1, steps):
            stage = multiply(first=False)
            ptx.wgmma.wait_group(1)  # the product of the previous stage has completed
            ring.release(previous, lane)
            previous.become(stage)
        ptx.wgmma.wait_group(0)

        ptx.bar.sync(1, 128 * CONSUMERS)  # the ring is no longer read: it holds C from here on
        thread = tid & 127
        for i, part in enumerate(parts):
            first_row = consumer * rows + i * WGMMA_ROWS
            to_c = ring.start + first_row * (BN * c.dtype.bits // 8)
            part.stage(to_c, c.dtype, rows=WGMMA_ROWS)
            ptx.fence.proxy_async_shared_cta()
            ptx.bar.sync(consumer + 2, 128)
            with ptx.if_(thread == 0):
                per_box = LINE * 8 // c.dtype.bits
                for j in range(0, BN, per_box):
                    ptx.cp.async_bulk.tensor_2d.store(
                        dst=c.tma_desc(), src=to_c + j // per_box * WGMMA_BYTES, coord=(column + j, row + first_row)
                    )
                ptx.cp.async_bulk.commit_group()
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it


def check_sizes(M: int, N: int, K: int, BM: int, BN: int, BK: int, STAGES: int, out: PtxType) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support.

    N and K are multiples of 8 (TMA: rows start at multiples of 16 bytes); M is anything.
    """
    check_lines("gemm", {"N": N, "K": K}, 8)
    for name, tile, step, most in (("BM", BM, CONSUMERS * WGMMA_ROWS, 256), ("BN", BN, BOX, 256), ("BK", BK, BOX, 256)):
        if tile % step or not 0 < tile <= most:
            raise ValueError(f"gemm: {name}={tile}; expected a multiple of {step} up to {most}")
    if BM * BN > 128 * 256:
        raise ValueError(
            f"gemm: a tile of {BM} x {BN} has more sums than the consumers have registers for; "
            "BM * BN is at most 128 * 256"
        )
    ring = STAGES * (BM + BN) * BK * 2
    if not BM * BN * out.bits // 8 <= ring <= MOST_BYTES:
        raise ValueError(
            f"gemm: {STAGES} stages of {BM} x {BK} and {BK} x {BN} take {ring} bytes of shared memory; "
            f"expected {BM * BN * out.bits // 8} (the tile of C) to {MOST_BYTES}"
        )


def gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16)."""
    return kernel(
        product,
        name="gemm",
        arch="sm_90a",
        in_specs=[
            Tile("M", "K", dtype, Layout.TMA_128B, tma_box=("BM", BOX), tma_whole=True),
            Tile("K", "N", dtype, Layout.TMA_128B, tma_box=("BK", BOX), tma_whole=True),
        ],
        out_specs=[
            Tile("M", "N", out, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of(out, WGMMA_ROWS), tma_whole=True)
        ],
        grid=lambda M, N, BM, BN: (-(-N // BN), -(-M // BM)),
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


gemm = gemm_of(bf16, bf16)


def main() -> None:
    compare_product(gemm_of(f16, f32), 200, 328, 264)


if __name__ == "__main__":
    main()
