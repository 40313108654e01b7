"""The kernel of examples/hopper/gemm.py with the ring, the roles and the staging of results written out."""

from __future__ import annotations

from examples.hopper.gemm import CONSUMERS
from examples.hopper.tiles import BOX, LINE, SWIZZLED, WGMMA_BYTES, WGMMA_K, WGMMA_ROWS
from examples.vectors import rounded
from pyptx import ptx, reg, smem
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b8, f32, u32


def product(a, b, c, *, BM=128, BN=256, BK=64, STAGES=4):
    """Compute C = A @ B as examples/hopper/gemm.py does."""
    K = a.shape[1]
    a_bytes, b_bytes = BM * BK * 2, BK * BN * 2
    stage_bytes = a_bytes + b_bytes
    steps = -(-K // BK)

    ring = smem.alloc(b8, (STAGES, stage_bytes), align=1024)
    full, empty = smem.mbarrier(STAGES), smem.mbarrier(STAGES)
    start = reg.from_(ring.name, u32)
    filled = ptx.mbarrier.array(reg.from_(full.name, u32), 0, STAGES)
    freed = ptx.mbarrier.array(reg.from_(empty.name, u32), 0, STAGES)
    tid = reg.from_(ptx.special.tid.x(), u32)
    row = reg.from_(ptx.special.ctaid.y(), u32) * BM
    column = reg.from_(ptx.special.ctaid.x(), u32) * BN

    with ptx.if_(tid == 0):
        filled.init_all(1)  # the producer, and the bytes it announces
        freed.init_all(CONSUMERS * 4)  # one lane of every consumer warp
        ptx.fence.mbarrier_init()
    ptx.bar.sync(0)
    ptx.inst.bar.warp.sync(-1)

    position = ptx.pipeline(STAGES)
    gives = BM * BN > 128 * 128  # registers; smaller tiles do with what a thread starts with
    with ptx.if_(tid < 128):
        if gives:
            ptx.setmaxnreg_dec(40)
        with ptx.if_(tid == 0):
            for step in ptx.range_(0, steps):
                stage, phase = position.advance()
                freed.at(stage).wait(phase ^ 1)  # returns immediately in the first round
                ready = filled.at(stage)
                ready.arrive_expect_tx(stage_bytes)
                to_a, k = start + stage * stage_bytes, step * BK
                for i in range(0, BK, BOX):
                    ptx.cp.async_bulk.tensor_2d(dst=to_a + i * BM * 2, src=a.tma_desc(), coord=(k + i, row), mbar=ready)
                to_b = to_a + a_bytes
                for j in range(0, BN, BOX):
                    ptx.cp.async_bulk.tensor_2d(
                        dst=to_b + j * BK * 2, src=b.tma_desc(), coord=(column + j, k), mbar=ready
                    )
    with ptx.else_():
        if gives:
            ptx.setmaxnreg_inc(232)
        consumer = (tid >> 7) - 1
        rows = BM // CONSUMERS  # of this consumer
        leads = (tid & 31) == 0
        sums = [reg.wgmma_frag(m=WGMMA_ROWS, n=BN, dtype=f32) for _ in range(rows // WGMMA_ROWS)]

        # Boxes of A: BM rows of 64 columns. Eight rows are 1 KiB; the next columns of a row follow within its line.
        from_a = ptx.wgmma.make_descriptor(start + consumer * (rows * LINE), leading_byte_offset=16, **SWIZZLED)
        # Boxes of B: BK rows of 64 columns. Eight rows of K are 1 KiB; the next columns are in the next box.
        from_b = ptx.wgmma.make_descriptor(start + a_bytes, leading_byte_offset=BK * LINE, **SWIZZLED)

        def multiply(first: bool) -> Reg:
            """Start the product of the next stage once it is filled; return the stage."""
            stage, phase = position.advance()
            filled.at(stage).wait(phase)
            this_a, this_b = (descriptor + stage * (stage_bytes // 16) for descriptor in (from_a, from_b))
            ptx.wgmma.fence()
            for k in range(0, BK, WGMMA_K):
                a_offset = k // BOX * BM * LINE + k % BOX * 2
                for i, part in enumerate(sums):
                    ptx.wgmma.mma_async(
                        shape=(WGMMA_ROWS, BN, WGMMA_K),
                        dtype_d=f32,
                        dtype_a=a.dtype,
                        dtype_b=b.dtype,
                        d=part,
                        a=this_a + (a_offset + i * WGMMA_BYTES) // 16,
                        b=this_b + k * LINE // 16,
                        trans_b=1,
                        scale_d=not (first and k == 0),
                    )
            ptx.wgmma.commit_group()
            return stage

        previous = multiply(first=True)
        for _ in ptx.range_(1, steps):
            stage = multiply(first=False)
            ptx.wgmma.wait_group(1)  # the product of the previous stage has completed
            freed.at(previous).arrive(pred=leads)
            ptx.inst.mov.u32(previous, stage)
        ptx.wgmma.wait_group(0)

        ptx.bar.sync(1, 128 * CONSUMERS)  # the ring is no longer read: it holds C from here on
        thread = tid & 127
        for i, part in enumerate(sums):
            first_row = consumer * rows + i * WGMMA_ROWS
            to_c = start + first_row * (BN * c.dtype.bits // 8)
            stage_out(part, to_c, tid, c.dtype)
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


def stage_out(sums: RegArray, start: Reg, tid: Reg, dtype: PtxType) -> None:
    """Write a warpgroup's 64 x BN sums, rounded to 16 bits, to swizzled boxes of 64 rows and 128 bytes from `start` on."""
    lane, warp = tid & 31, (tid >> 5) & 3
    place = start + (warp << 11) + smem.apply_swizzle(((lane & 15) << 7) + ((lane >> 4) << 4), "128B")
    for box in range(0, len(sums), 32):
        for i in range(0, 32, 8):  # stmatrix: 16 columns of a warp's 16 rows
            to = (place ^ (i * 4)) + box // 32 * WGMMA_BYTES
            ptx.stmatrix(smem=to, regs=rounded(sums[box + i : box + i + 8], dtype))
