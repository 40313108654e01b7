"""C = A x B for Ampere (sm_80): cp.async into a ring of stages, ldmatrix, mma.sync m16n8k16.

A (M, K) and B (K, N) are bf16 and row-major, C (M, N) is f32. A CTA of 8 warps computes 128 x 128 of C, a warp 64 x 32.
M and N are multiples of 128, K one of 32, and at least 64.
"""

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import b32, bf16, f32, u32, u64

BM, BN, BK, STAGES = 128, 128, 32, 3
THREADS = 256
HALF = BN // 2  # B lies in two halves of 64 columns: rows of 128 bytes
A_BYTES, B_BYTES = BM * BK * 2, BK * BN * 2  # of one stage


@kernel(
    arch="sm_80",
    in_specs=[Tile("M", "K", bf16), Tile("K", "N", bf16)],
    out_specs=[Tile("M", "N", f32)],
    grid=lambda M, N: (N // BN, M // BM),
    block=(THREADS, 1, 1),
    reqntid=(THREADS,),
)
def ampere_gemm(a, b, c):
    k, n = b.shape
    steps = k // BK
    tile_a = smem.alloc(bf16, (STAGES, BM, BK), swizzle="64B", name="tile_a")
    tile_b = smem.alloc(bf16, (STAGES, 2, BK, HALF), swizzle="128B", name="tile_b")
    from_a, from_b, to_c = ptx.global_ptrs(a, b, c)
    at_a, at_b = reg.from_(tile_a.name, u32), reg.from_(tile_b.name, u32)
    tid = reg.from_(ptx.special.tid.x(), u32)
    row, column = reg.from_(ptx.ctaid_y(), u32) * BM, reg.from_(ptx.ctaid_x(), u32) * BN
    lane, warp = tid & 31, tid >> 5

    # every thread copies two pieces of 16 bytes of each operand a stage, the second one 4 KiB further on
    put_a = smem.apply_swizzle(tid << 4, "64B")
    put_b = smem.apply_swizzle(tid << 4, "128B")
    from_a += wide((row + (tid >> 2)) * (k * 2) + ((tid & 3) << 4))
    from_b += wide((tid >> 3) * (n * 2) + (column << 1) + ((tid & 7) << 4))

    def copy(stage):
        """Start the copies of the next step."""
        into_a, into_b = at_a + stage * A_BYTES + put_a, at_b + stage * B_BYTES + put_b
        for i in range(2):
            ptx.cp.async_.cg(ptx.addr(into_a, 4096 * i), ptx.addr(from_a, i * (BM // 2) * k * 2), 16)
            ptx.cp.async_.cg(ptx.addr(into_b, 4096 * i), ptx.addr(from_b, i * HALF * 2), 16)
        ptx.inst.add.s64(from_a, from_a, BK * 2)
        ptx.inst.add.s64(from_b, from_b, BK * n * 2)

    # where this lane's row of the first matrix lies: 64 rows of A and 32 columns of B belong to a warp
    rows, columns = (warp & 1) << 6, (warp >> 1) << 5
    get_a = smem.apply_swizzle(((rows + (lane & 15)) << 6) + ((lane >> 4) << 4), "64B")
    get_b = smem.apply_swizzle(
        ((columns >> 6) << 12) + ((lane & 15) << 7) + ((columns & 32) << 1) + ((lane >> 4) << 4), "128B"
    )
    get_a, get_b = (get_a, get_a ^ 32), (get_b, get_b ^ 32)  # the second 16 columns of each

    acc = reg.array(f32, 64)  # 4 x 4 tiles of 16 x 8
    for register in acc:
        ptx.inst.mov.f32(register, 0.0)
    fragment_a, fragment_b = [reg.array(b32, 4) for _ in range(4)], [reg.array(b32, 4) for _ in range(2)]

    def multiply(stage):
        """acc += the stage's A x B, 16 of K at a time."""
        base_a, base_b = at_a + stage * A_BYTES, at_b + stage * B_BYTES
        for step in range(BK // 16):
            this_a = base_a + get_a[step]
            for i, fragment in enumerate(fragment_a):
                ptx.ldmatrix(dst=fragment, src=ptx.addr(this_a, i * 16 * BK * 2))
            for j, fragment in enumerate(fragment_b):
                ptx.ldmatrix(dst=fragment, src=ptx.addr(base_b + get_b[j], step * 16 * HALF * 2), trans=True)
            for i in range(4):
                for j in range(4):
                    sums = acc.regs()[16 * i + 4 * j : 16 * i + 4 * j + 4]
                    ptx.mma.sync(
                        shape=(16, 8, 16),
                        dtype_d=f32,
                        dtype_a=bf16,
                        dtype_b=bf16,
                        dtype_c=f32,
                        d=sums,
                        a=fragment_a[i],
                        b=fragment_b[j // 2].regs()[j % 2 * 2 : j % 2 * 2 + 2],
                        c=sums,
                    )

    for stage in range(STAGES - 1):
        copy(reg.scalar(u32, stage))
        ptx.cp.async_.commit_group()
    filled = ptx.pipeline(STAGES, cursor=reg.scalar(u32, STAGES - 1))
    used = ptx.pipeline(STAGES)
    for step in ptx.range_(0, steps):
        ptx.cp.async_.wait_group(STAGES - 2)
        ptx.bar.sync()  # the stage is there, and the last one is free
        free, _ = filled.advance()
        with ptx.if_(step < steps - (STAGES - 1)):
            copy(free)
        ptx.cp.async_.commit_group()  # an empty group keeps the count
        stage, _ = used.advance()
        multiply(stage)

    row += rows + (lane >> 2)
    column += columns + ((lane & 3) << 1)
    to_c += wide(row * (n * 4) + (column << 2))
    for i in range(4):
        for j in range(4):
            for half in range(2):
                first = 16 * i + 4 * j + 2 * half
                offset = ((16 * i + 8 * half) * n + 8 * j) * 4
                ptx.inst.st.global_.v2.f32(ptx.addr(to_c, offset), [acc[first], acc[first + 1]])


def wide(offset):
    """A byte offset in 64 bits."""
    result = reg.scalar(u64)
    ptx.inst.cvt.u64.u32(result, offset)
    return result
