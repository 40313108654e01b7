"""C = A x B for Hopper (sm_90a): TMA into a ring of stages guarded by mbarriers, wgmma, specialised warpgroups.

A (M, K) and B transposed (N, K) are bf16 with tensor maps, C (M, N) is bf16. A CTA computes 128 x 256 of C: warpgroup 0
copies, warpgroups 1 and 2 multiply 64 rows each. M is a multiple of 128, N of 256, K of 64. Shared memory: 192 KiB.
"""

from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, f32, u32, u64

BM, BN, BK, STAGES = 128, 256, 64, 4
THREADS = 384
A_BYTES, B_BYTES = BM * BK * 2, BN * BK * 2  # of one stage
CONSUMER_WARPS = 8
ADDRESS = 0x3FFF0  # of a descriptor: the default mask would cut steps within 128 bytes


@kernel(
    arch="sm_90a",
    in_specs=[
        Tile("M", "K", bf16, Layout.TMA_128B, tma_box=(BM, BK)),
        Tile("N", "K", bf16, Layout.TMA_128B, tma_box=(BN, BK)),
    ],
    out_specs=[Tile("M", "N", bf16)],
    grid=lambda M, N: (N // BN, M // BM),
    block=(THREADS, 1, 1),
    reqntid=(THREADS, 1, 1),
)
def hopper_gemm(a, b, c):
    k, n = a.shape[1], c.shape[1]
    tile_a = smem.alloc(bf16, (STAGES, BM, BK), swizzle="128B", align=1024)
    tile_b = smem.alloc(bf16, (STAGES, BN, BK), swizzle="128B", align=1024)
    full, empty = smem.mbarrier(STAGES), smem.mbarrier(STAGES)
    tid = reg.from_(ptx.special.tid.x(), u32)
    row, column = reg.from_(ptx.ctaid_y(), u32) * BM, reg.from_(ptx.ctaid_x(), u32) * BN

    with ptx.if_(tid == 0):
        for stage in range(STAGES):
            ptx.mbarrier.init(full[stage], 1)  # the producer, and the bytes of both tiles
            ptx.mbarrier.init(empty[stage], CONSUMER_WARPS)
        ptx.fence.mbarrier_init()
        ptx.fence.proxy_async()
    ptx.bar.sync()

    filled = ptx.mbarrier.array(reg.from_(full.name, u32), 0, STAGES)
    freed = ptx.mbarrier.array(reg.from_(empty.name, u32), 0, STAGES)
    ring = ptx.pipeline(STAGES)
    with ptx.if_(tid < 128):
        ptx.setmaxnreg_dec(40)
        with ptx.if_(tid == 0):
            for step in ptx.range_(0, k // BK):
                stage, phase = ring.advance()
                ready = filled.at(stage)
                freed.at(stage).wait(phase ^ 1)  # passes at once in the first round
                ready.arrive_expect_tx(A_BYTES + B_BYTES)
                first = step * BK
                ptx.cp.async_bulk.tensor_2d(dst=tile_a[stage], src=a.tma_desc(), coord=(first, row), mbar=ready)
                ptx.cp.async_bulk.tensor_2d(dst=tile_b[stage], src=b.tma_desc(), coord=(first, column), mbar=ready)
    with ptx.else_():
        ptx.setmaxnreg_inc(232)
        consumer = (tid >> 7) - 1
        start_a = reg.from_(tile_a.name, u32) + consumer * (A_BYTES // 2)
        start_b = reg.from_(tile_b.name, u32)
        leads = (tid & 31) == 0  # one lane of every warp frees the stage
        acc = reg.wgmma_frag(m=64, n=BN, dtype=f32)
        for register in acc:
            ptx.inst.mov.f32(register, 0.0)
        for _ in ptx.range_(0, k // BK):
            stage, phase = ring.advance()
            filled.at(stage).wait(phase)
            this_a, this_b = start_a + stage * A_BYTES, start_b + stage * B_BYTES
            ptx.wgmma.fence()
            for inner in range(0, BK * 2, 32):  # bytes: 16 of K
                ptx.wgmma.mma_async(
                    shape=(64, BN, 16),
                    dtype_d=f32,
                    dtype_a=bf16,
                    dtype_b=bf16,
                    d=acc,
                    a=ptx.wgmma.masked_descriptor(this_a, byte_offset=inner, mask=ADDRESS),
                    b=ptx.wgmma.masked_descriptor(this_b, byte_offset=inner, mask=ADDRESS),
                    scale_d=True,
                )
            ptx.wgmma.commit_group()
            ptx.wgmma.wait_group(0)
            freed.at(stage).arrive(pred=leads)
        store(acc, c, tid - 128, row, column, n)


def store(acc, c, thread, row, column, n):
    """Round a warpgroup's 64 x BN tile to bf16 and write it; `thread` counts from the first consumer."""
    (to_c,) = ptx.global_ptrs(c)
    row = row + ((thread >> 5) << 4) + ((thread & 31) >> 2)  # 16 rows a warp
    column = column + ((thread & 3) << 1)
    offset, pair = reg.scalar(u64), reg.scalar(b32)
    ptx.inst.mul.wide.u32(offset, row, n * 2)
    to_c += offset
    ptx.inst.mul.wide.u32(offset, column, 2)
    to_c += offset
    for i in range(0, len(acc), 2):
        ptx.inst.cvt.rn.bf16x2.f32(pair, acc[i + 1], acc[i])
        ptx.inst.st.global_.b32(ptx.addr(to_c, (i // 2 % 2 * 8 * n + i // 4 * 8) * 2), pair)
