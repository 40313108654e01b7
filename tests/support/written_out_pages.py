"""The kernels of the pages "Tiled GEMM in 25 lines" and "A Hopper GEMM in 60", with one call for each instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyptx import ptx, reg, smem
from pyptx.reg import Reg
from pyptx.types import PtxType, b8, b32, bf16, f32, pred, s32, u32, u64

__all__ = ["hopper", "tiled"]


def new(instruction: Callable[..., Any], dtype: PtxType, *operands: Any) -> Reg:
    """Emit an instruction that writes a new register; return it."""
    return instruction(reg.scalar(dtype), *operands)


def tiled(a, b, c):
    """Compute C = A @ B as docs/tutorials/tiled-gemm.md does."""
    K, N = b.shape
    a_start, b_start, c_start = ptx.global_ptrs(a, b, c)
    x, y = new(ptx.inst.mov.u32, u32, "%tid.x"), new(ptx.inst.mov.u32, u32, "%tid.y")
    thread = new(ptx.inst.mad.lo.u32, u32, y, 16, x)
    top = new(ptx.inst.mul.lo.u32, u32, new(ptx.inst.mov.u32, u32, "%ctaid.y"), 64)
    left = new(ptx.inst.mul.lo.u32, u32, new(ptx.inst.mov.u32, u32, "%ctaid.x"), 64)
    line = new(ptx.inst.shr.u32, u32, thread, 2)  # of A that the thread loads
    within = new(ptx.inst.shl.b32, u32, new(ptx.inst.and_.b32, u32, thread, 3), 2)
    a_tile, b_tile = smem.alloc(f32, (16, 68)), smem.alloc(f32, (16, 64))
    sums = [reg.scalar(f32) for _ in range(16)]
    for value in sums:
        ptx.inst.mov.f32(value, 0.0)
    for k in ptx.range_(0, K, 16):
        row = new(ptx.inst.add.u32, u32, top, line)
        column = new(ptx.inst.add.s32, s32, k, within)
        at = new(ptx.inst.mad.wide.s32, u64, new(ptx.inst.mad.lo.s32, s32, row, K, column), 4, a_start)
        values = [reg.scalar(f32) for _ in range(4)]
        ptx.inst.ld.global_.v4.f32(values, ptx.addr(at))
        to_a = new(ptx.inst.mov.u32, u32, a_tile.name)
        place = new(ptx.inst.mad.lo.u32, u32, within, 68 * 4, new(ptx.inst.mad.lo.u32, u32, line, 4, to_a))
        for i, value in enumerate(values):
            ptx.inst.st.shared.f32(ptx.addr(place, 68 * 4 * i), value)
        across = new(ptx.inst.shl.b32, u32, x, 2)
        column = new(ptx.inst.add.u32, u32, left, new(ptx.inst.shl.b32, u32, x, 2))
        row = new(ptx.inst.add.s32, s32, k, y)
        at = new(ptx.inst.mad.wide.s32, u64, new(ptx.inst.mad.lo.s32, s32, row, N, column), 4, b_start)
        values = [reg.scalar(f32) for _ in range(4)]
        ptx.inst.ld.global_.v4.f32(values, ptx.addr(at))
        to_b = new(ptx.inst.mov.u32, u32, b_tile.name)
        place = new(ptx.inst.mad.lo.u32, u32, y, 64 * 4, new(ptx.inst.mad.lo.u32, u32, across, 4, to_b))
        ptx.inst.st.shared.v4.f32(ptx.addr(place), values)
        ptx.inst.bar.sync(0)
        from_a = new(
            ptx.inst.mad.lo.u32, u32, new(ptx.inst.shl.b32, u32, y, 2), 4, new(ptx.inst.mov.u32, u32, a_tile.name)
        )
        from_b = new(
            ptx.inst.mad.lo.u32, u32, new(ptx.inst.shl.b32, u32, x, 2), 4, new(ptx.inst.mov.u32, u32, b_tile.name)
        )
        for i in range(16):
            of_a, of_b = ([reg.scalar(f32) for _ in range(4)] for _ in range(2))
            ptx.inst.ld.shared.v4.f32(of_a, ptx.addr(from_a, 68 * 4 * i))
            ptx.inst.ld.shared.v4.f32(of_b, ptx.addr(from_b, 64 * 4 * i))
            for j, factor in enumerate(of_a):
                for n, value in enumerate(of_b):
                    ptx.inst.fma.rn.f32(sums[4 * j + n], value, factor, sums[4 * j + n])
        ptx.inst.bar.sync(0)
    row = new(ptx.inst.add.u32, u32, top, new(ptx.inst.shl.b32, u32, y, 2))
    column = new(ptx.inst.add.u32, u32, left, new(ptx.inst.shl.b32, u32, x, 2))
    at = new(ptx.inst.mad.wide.u32, u64, new(ptx.inst.mad.lo.u32, u32, row, N, column), 4, c_start)
    for j in range(4):
        ptx.inst.st.global_.v4.f32(ptx.addr(at, 4 * N * j), sums[4 * j : 4 * j + 4])


BM, BN, BK = 128, 128, 64
STAGE, A_BYTES, LINE = (BM + BN) * BK * 2, BM * BK * 2, 128


def hopper(a, b, bias, c, *, STAGES=4):
    """Compute relu(A @ B + bias) as docs/tutorials/tma-pipeline.md does."""
    steps = -(-a.shape[1] // BK)
    tid = new(ptx.inst.mov.u32, u32, "%tid.x")
    row = new(ptx.inst.shl.b32, u32, new(ptx.inst.mov.u32, u32, "%ctaid.y"), 7)
    column = new(ptx.inst.shl.b32, u32, new(ptx.inst.mov.u32, u32, "%ctaid.x"), 7)
    memory = smem.alloc(b8, (STAGES, STAGE), align=1024)
    full, empty = smem.mbarrier(STAGES), smem.mbarrier(STAGES)
    start, filled, freed = (new(ptx.inst.mov.u32, u32, one.name) for one in (memory, full, empty))
    with ptx.if_(new(ptx.inst.setp.eq.u32, pred, tid, 0)):
        for stages, arrivals in ((filled, 1), (freed, 8)):
            for i in range(STAGES):
                ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(stages, 8 * i), arrivals)
        ptx.inst.fence.mbarrier_init.release.cluster()
    ptx.inst.bar.sync(0)
    ptx.inst.bar.warp.sync(-1)
    cursor, phase = reg.scalar(u32), reg.scalar(u32)
    ptx.inst.mov.u32(cursor, 0)
    ptx.inst.mov.u32(phase, 0)

    def advance() -> Reg:
        """Advance to the next stage; return its index."""
        wraps = new(ptx.inst.setp.eq.u32, pred, cursor, STAGES)
        ptx.inst.xor.b32(phase, phase, new(ptx.inst.selp.u32, u32, 1, 0, wraps))
        stage = new(ptx.inst.selp.u32, u32, 0, cursor, wraps)
        ptx.inst.add.u32(cursor, stage, 1)
        return stage

    def wait(barriers: Reg, stage: Reg, parity: Reg, label: str) -> Reg:
        """Wait for the phase of a stage's mbarrier; return its address."""
        at, over = new(ptx.inst.mad.lo.u32, u32, stage, 8, barriers), reg.scalar(pred)
        ptx.label(label)
        ptx.inst.mbarrier.try_wait.parity.shared.b64(over, ptx.addr(at), parity)
        ptx.bra(label, pred=~over)
        return at

    with ptx.if_(new(ptx.inst.setp.lt.u32, pred, tid, 128)):
        ptx.inst.setmaxnreg.dec.sync.aligned.u32(40)
        with ptx.if_(new(ptx.inst.setp.eq.u32, pred, tid, 0)):
            a_map, b_map = a.tma_desc(), b.tma_desc()
            for step in ptx.range_(0, steps):
                stage = advance()
                wait(freed, stage, new(ptx.inst.xor.b32, u32, phase, 1), "free")
                ready = new(ptx.inst.mad.lo.u32, u32, stage, 8, filled)
                ptx.inst.mbarrier.arrive.expect_tx.shared__cta.b64(reg.scalar(u64), ptx.addr(ready), STAGE)
                k = new(ptx.inst.shl.b32, s32, step, 6)
                to_a = new(ptx.inst.mad.lo.u32, u32, stage, STAGE, start)
                to_b = new(ptx.inst.add.u32, u32, to_a, A_BYTES)
                further, right = new(ptx.inst.add.u32, u32, to_b, BK * LINE), new(ptx.inst.add.u32, u32, column, 64)
                for to, of, at in ((to_a, a_map, (k, row)), (to_b, b_map, (column, k)), (further, b_map, (right, k))):
                    ptx.cp.async_bulk.tensor_2d(dst=to, src=of, coord=at, mbar=ready)
    with ptx.else_():
        ptx.inst.setmaxnreg.inc.sync.aligned.u32(232)
        consumer = new(ptx.inst.sub.u32, u32, new(ptx.inst.shr.u32, u32, tid, 7), 1)
        sums = reg.wgmma_frag(m=64, n=BN, dtype=f32)
        warp = new(ptx.inst.and_.b32, u32, new(ptx.inst.shr.u32, u32, tid, 5), 3)
        group = new(ptx.inst.and_.b32, u32, new(ptx.inst.shr.u32, u32, tid, 2), 7)
        own_row = new(ptx.inst.mad.lo.u32, u32, warp, 16, group)
        own_column = new(ptx.inst.shl.b32, u32, new(ptx.inst.and_.b32, u32, tid, 3), 1)
        own_a = new(ptx.inst.mad.lo.u32, u32, consumer, 64 * LINE, start)
        own_b = new(ptx.inst.add.u32, u32, start, A_BYTES)
        layout = {"stride_byte_offset": 8 * LINE, "swizzle": ptx.wgmma.SWIZZLE_128B}
        from_a = ptx.wgmma.make_descriptor(own_a, leading_byte_offset=16, **layout)
        from_b = ptx.wgmma.make_descriptor(own_b, leading_byte_offset=BK * LINE, **layout)
        for value in sums:
            ptx.inst.mov.f32(value, 0.0)
        for _ in ptx.range_(0, steps):
            stage = advance()
            wait(filled, stage, phase, "full")
            this_a, this_b = (one + new(ptx.inst.mul.lo.u32, u32, stage, STAGE // 16) for one in (from_a, from_b))
            ptx.inst.wgmma.fence.sync.aligned()
            for k in range(0, BK, 16):
                ptx.wgmma.mma_async(
                    shape=(64, BN, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=sums, scale_d=True, trans_b=1,
                    a=this_a + k * 2 // 16, b=this_b + k * LINE // 16,
                )  # fmt: skip
            ptx.inst.wgmma.commit_group.sync.aligned()
            ptx.inst.wgmma.wait_group.sync.aligned(0)
            lane = new(ptx.inst.mov.u32, u32, "%laneid")
            free = new(ptx.inst.mad.lo.u32, u32, stage, 8, freed)
            leads = new(ptx.inst.setp.eq.u32, pred, lane, 0)
            ptx.inst.mbarrier.arrive.shared__cta.b64(reg.scalar(u64), ptx.addr(free), pred=leads)
        bias_at, c_at = ptx.global_ptrs(bias, c)
        first = new(ptx.inst.add.u32, u32, own_column, column)
        bias_at = new(ptx.inst.mad.wide.u32, u64, first, 4, bias_at)
        added = [reg.scalar(f32) for _ in range(BN // 4)]
        for j in range(0, BN // 4, 2):
            ptx.inst.ld.global_.v2.f32(added[j : j + 2], ptx.addr(bias_at, 16 * j))
        for i, value in enumerate(sums):
            ptx.inst.add.f32(value, value, added[i // 4 * 2 + i % 2])
            ptx.inst.max.f32(value, value, 0.0)
        line = new(ptx.inst.add.u32, u32, own_row, new(ptx.inst.mad.lo.u32, u32, consumer, 64, row))
        N = c.shape[1]
        for below in (0, 8):
            at = new(ptx.inst.mad.wide.u32, u64, new(ptx.inst.mad.lo.u32, u32, line, N, first), 2, c_at)
            for j in range(0, BN // 8):
                pair = new(ptx.inst.cvt.rn.bf16x2.f32, b32, sums[4 * j + below // 4 + 1], sums[4 * j + below // 4])
                ptx.inst.st.global_.b32(ptx.addr(at, (below * N + 8 * j) * 2), pair)
