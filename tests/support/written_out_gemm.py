"""The kernel of examples/hopper/gemm.py with the ring, the roles and the staging of results written out."""

from __future__ import annotations

from collections.abc import Sequence

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
            stage_out(part, to_c, thread, c.dtype)
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


def stage_out(sums: RegArray, start: Reg, thread: Reg, dtype: PtxType) -> None:
    """Write a warpgroup's 64 x BN sums as `dtype` to swizzled boxes of 64 rows and 128 bytes from `start` on."""
    lane, warp = thread & 31, thread >> 5
    place = start + (warp << 11) + box_place(lane, dtype)  # a warp has 16 rows
    size = LINE * 8 // dtype.bits // 2  # registers of a box
    for box in range(len(sums) // size):
        fill_box(place, box * WGMMA_BYTES, sums[box * size : (box + 1) * size], lane, dtype)


def box_place(lane: Reg, dtype: PtxType) -> Reg:
    """Return the byte offset at which a lane starts to write a warp's 16 rows of a swizzled box; see `fill_box`."""
    if dtype == f32:
        place = smem.apply_swizzle(((lane >> 2) << 7) + ((lane & 3) << 3), "128B")
        return place ^ ((lane & 4) << 4)  # odd rows begin 64 bytes on
    return smem.apply_swizzle(((lane & 15) << 7) + ((lane >> 4) << 4), "128B")


def fill_box(place: Reg, offset: int, sums: Sequence[Reg], lane: Reg, dtype: PtxType) -> None:
    """Write a warp's 16 rows of a wgmma accumulator as `dtype`, 128 bytes of each, `offset` bytes behind box_place.

    A quarter of the registers fills 32 bytes of a row: 16 columns by stmatrix, or 8 of f32 by vectors of two. With
    those, rows 2i and 2i + 1 would share their banks: so odd rows write their quarters in the order 2, 3, 0, 1.
    """
    size = len(sums) // 4
    quarters = [sums[i * size : (i + 1) * size] for i in range(4)]
    if dtype != f32:
        for i, values in enumerate(quarters):
            ptx.stmatrix(smem=(place ^ (i * 32)) + offset, regs=rounded(values, dtype))
        return
    odd = lane & 4 != 0
    for i, (of_even, of_odd) in enumerate(zip(quarters, quarters[2:] + quarters[:2], strict=True)):
        values = [reg.scalar(f32) for _ in range(size)]
        for value, one, two in zip(values, of_odd, of_even, strict=True):
            ptx.inst.selp.f32(value, one, two, odd)
        target = (place ^ (i * 32)) + offset
        ptx.inst.st.shared.v2.f32(ptx.addr(target), values[:2])
        ptx.inst.st.shared.v2.f32(ptx.addr(target, 8 * LINE), values[2:])
