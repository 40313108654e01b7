"""C = A x B for Blackwell (sm_100a): TMA into a ring of stages, tcgen05.mma into tensor memory, tcgen05.ld out of it.

A (M, K) and B transposed (N, K) are bf16 with tensor maps, C (M, N) is f32. A CTA of 4 warps computes 128 x 256 of C:
one thread copies, one thread multiplies, and then every warp reads 32 rows. M is a multiple of 128, N of 256, K of 64.
"""

from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, f32, u32, u64

BM, BN, BK, STAGES = 128, 256, 64, 4
THREADS = 128
A_BYTES, B_BYTES = BM * BK * 2, BN * BK * 2  # of one stage
COPIES, MULTIPLIES = 0, 32  # the first threads of two warps
BATCH = 32  # columns read at a time


@kernel(
    arch="sm_100a",
    in_specs=[
        Tile("M", "K", bf16, Layout.TMA_128B, tma_box=(BM, BK)),
        Tile("N", "K", bf16, Layout.TMA_128B, tma_box=(BN, BK)),
    ],
    out_specs=[Tile("M", "N", f32)],
    grid=lambda M, N: (N // BN, M // BM),
    block=(THREADS, 1, 1),
    reqntid=(THREADS, 1, 1),
)
def blackwell_gemm(a, b, c):
    steps, n = a.shape[1] // BK, c.shape[1]
    tile_a = smem.alloc(bf16, (STAGES, BM, BK), swizzle="128B", align=1024)
    tile_b = smem.alloc(bf16, (STAGES, BN, BK), swizzle="128B", align=1024)
    full, empty, done = smem.mbarrier(STAGES), smem.mbarrier(STAGES), smem.mbarrier(1)
    slot = smem.alloc(b32, 1, align=16)
    tid = reg.from_(ptx.special.tid.x(), u32)
    row, column = reg.from_(ptx.ctaid_y(), u32) * BM, reg.from_(ptx.ctaid_x(), u32) * BN
    warp = tid >> 5

    with ptx.if_(warp == 0):
        ptx.tcgen05.alloc(slot, BN)
        ptx.tcgen05.relinquish_alloc_permit()
    with ptx.if_(tid == COPIES):
        for stage in range(STAGES):
            ptx.mbarrier.init(full[stage], 1)
            ptx.mbarrier.init(empty[stage], 1)
        ptx.mbarrier.init(done[0], 1)
        ptx.fence.mbarrier_init()
        ptx.fence.proxy_async()
    ptx.tcgen05.fence_before_thread_sync()
    ptx.bar.sync()
    ptx.tcgen05.fence_after_thread_sync()
    sums = smem.load(b32, slot)  # tensor memory: BN columns of 128 lanes

    filled = ptx.mbarrier.array(reg.from_(full.name, u32), 0, STAGES)
    freed = ptx.mbarrier.array(reg.from_(empty.name, u32), 0, STAGES)
    ring = ptx.pipeline(STAGES)
    with ptx.if_(tid == COPIES):
        for step in ptx.range_(0, steps):
            stage, phase = ring.advance()
            ready = filled.at(stage)
            freed.at(stage).wait(phase ^ 1)
            ready.arrive_expect_tx(A_BYTES + B_BYTES)
            first = step * BK
            ptx.cp.async_bulk.tensor_2d(dst=tile_a[stage], src=a.tma_desc(), coord=(first, row), mbar=ready)
            ptx.cp.async_bulk.tensor_2d(dst=tile_b[stage], src=b.tma_desc(), coord=(first, column), mbar=ready)
    with ptx.if_(tid == MULTIPLIES):
        kind = reg.scalar(b32, ptx.tcgen05.make_instr_desc_f16bf16_f32(m=BM, n=BN, ab_dtype="bf16"))
        start_a, start_b = reg.from_(tile_a.name, u32), reg.from_(tile_b.name, u32)
        for step in ptx.range_(0, steps):
            stage, phase = ring.advance()
            filled.at(stage).wait(phase)
            ptx.tcgen05.fence_after_thread_sync()
            this_a, this_b = start_a + stage * A_BYTES, start_b + stage * B_BYTES
            for inner in range(0, BK * 2, 32):  # bytes: 16 of K
                ptx.tcgen05.mma(
                    sums,
                    ptx.tcgen05.masked_descriptor(this_a, byte_offset=inner),
                    ptx.tcgen05.descriptor(this_b, byte_offset=inner, stride_bytes=1024),
                    kind,
                    pred_operand=True if inner else step != 0,
                )
            ptx.tcgen05.commit(freed.at(stage))
        ptx.tcgen05.commit(done[0])
    ptx.mbarrier.wait(done[0], 0)
    ptx.tcgen05.fence_after_thread_sync()

    (to_c,) = ptx.global_ptrs(c)
    offset = reg.scalar(u64)
    ptx.inst.mul.wide.u32(offset, row + tid, n * 4)  # lane of tensor memory = row of the tile
    to_c += offset
    ptx.inst.mul.wide.u32(offset, column, 4)
    to_c += offset
    values = reg.array(b32, BATCH)
    lanes = sums + (warp << 21)  # a warp reads its own 32 lanes, bits 16 to 31
    for first in range(0, BN, BATCH):
        ptx.tcgen05.ld(values, lanes + first, shape="32x32b", count=BATCH)
        ptx.tcgen05.wait_ld()
        for i in range(0, BATCH, 4):
            ptx.inst.st.global_.v4.b32(ptx.addr(to_c, (first + i) * 4), values.regs()[i : i + 4])
    ptx.tcgen05.fence_before_thread_sync()
    ptx.bar.sync()
    with ptx.if_(warp == 0):
        ptx.tcgen05.dealloc(sums, BN)
