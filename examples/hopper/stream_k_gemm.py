"""Stream-K matrix product for Hopper: the steps along K of all tiles, divided evenly over the CTAs.

    python examples/hopper/stream_k_gemm.py
    pyptx view examples/hopper/stream_k_gemm.py:stream_k_gemm -p M=512 N=512 K=1024 CTAS=6

Read persistent_gemm.py first. Where the tiles do not fill the SMs evenly, as 17 tiles do not fill 16 SMs, whole tiles leave most SMs idle
in the last round. Here every CTA gets the same number of steps (`lib.StreamK`). Techniques and their sources:

- A tile that several CTAs share is stored by the one that has its first steps; the others write their sums, in f32, to a workspace
  (Osama et al., "Stream-K: Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication").
- A CTA computes its part of a shared tile before it waits for others, so that none waits for one that waits. All CTAs must run at the same
  time: CTAS is at most the number of SMs.
- A flag per CTA, set with release and read with acquire semantics at the scope of the GPU, orders the workspace (PTX ISA, "Memory
  Consistency Model"). The results do not depend on which CTA is first.

Cost: 168 registers per thread at launch, then 40 and 232; 225 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

from typing import Any

from examples.hopper.tiles import BOX, MOST_BYTES, WGMMA_ROWS, Product, set_registers
from examples.products import check_choices, check_lines, check_memory, reference
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg, RegArray
from pyptx.testing import compare
from pyptx.types import PtxType, b32, bf16, f16, f32, pred, u32

CONSUMERS = 2  # consumer warpgroups
THREADS = 128 * (1 + CONSUMERS)
BM = CONSUMERS * WGMMA_ROWS
SPACE = {"BN": (64, 128, 256), "BK": (64, 128), "STAGES": (2, 3, 4, 5, 6), "GROUP": (1, 4, 8, 16)}


def product(a, b, c, workspace, flags, *, BN=256, BK=64, STAGES=4, GROUP=8):
    """Compute C (M x N) = A (M x K) @ B (K x N), all row-major; sums in f32. See check_sizes for supported sizes.

    workspace is CTAS x (128 * BN) f32, flags is CTAS x 1 u32, zero before and after.
    """
    (M, K), N, CTAS = a.shape, b.shape[1], flags.shape[0]
    check_sizes(N, K, BN, BK, STAGES, workspace.shape[1])
    order, steps = lib.TileOrder(-(-M // BM), -(-N // BN), group=GROUP), -(-K // BK)
    plan = lib.StreamK(order, steps, CTAS)
    tiles = {"a": lib.WgmmaTile(BM, BK, a.dtype, "K"), "b": lib.WgmmaTile(BK, BN, b.dtype, "MN")}
    ring = lib.TmaRing(STAGES, tiles, readers=CONSUMERS * 4)
    boxes = lib.StoreBoxes(CONSUMERS * 4, c.dtype, first_warp=4)
    tid, cta = reg.from_(ptx.tid.x, u32), reg.from_(ptx.ctaid.x, u32)
    ring.set_up(tid)
    with ptx.if_(tid < 128):
        set_registers(40, BN // 2)
        with ptx.if_(tid == 0):
            for share in plan.shares(cta):
                for step in ptx.range_(share.first, share.end):
                    stage = ring.acquire()
                    stage.load("a", a, (step * BK, share.row * BM))
                    stage.load("b", b, (share.column * BN, step * BK))
    with ptx.else_():
        set_registers(232, BN // 2)
        consumer, lane = (tid >> 7) - 1, tid & 31
        parts, thread = Product(ring, consumer, WGMMA_ROWS, tid), tid - 128
        for share in plan.shares(cta):
            (part,) = parts.of_steps(share.end - share.first, lane)
            with ptx.if_(share.starts):
                for other in plan.followers(share, cta):
                    take(part.sums, workspace, flags, other, thread)
                part.store_tma(c, share.row * BM + consumer * WGMMA_ROWS, share.column * BN, boxes)
            with ptx.else_():
                give(part.sums, workspace, flags, cta, thread)
            ptx.inst.bar.warp.sync(-1)  # lanes may have seen a flag at different times
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it


def give(sums: RegArray, workspace: Any, flags: Any, cta: Reg, thread: Reg) -> None:
    """Write the sums of the consumers to this CTA's workspace, and set its flag."""
    for i in range(0, len(sums), 4):
        workspace.store(cta, thread * 4, ptx.vector(sums[i : i + 4]), offset=(0, i * 128 * CONSUMERS), cache="cg")
    ptx.bar.sync(1, 128 * CONSUMERS)  # all have written
    at = flags.pointer(cta, 0)
    ptx.inst.st.release.gpu.global_.u32(ptx.addr(at), 1, pred=thread == 0)


def take(sums: RegArray, workspace: Any, flags: Any, other: Reg, thread: Reg) -> None:
    """Wait for the sums of another CTA, add them, and reset its flag for the next launch."""
    at, found, waits = flags.pointer(other, 0), reg.scalar(b32), reg.scalar(pred)
    with ptx.scope(), ptx.loop("not_yet", pred=waits):
        ptx.inst.ld.acquire.gpu.global_.b32(found, ptx.addr(at))
        ptx.inst.setp.eq.u32(waits, found, 0)
    for i in range(0, len(sums), 4):
        part = workspace.load(other, thread * 4, vec=4, offset=(0, i * 128 * CONSUMERS), cache="cg")
        for total, value in zip(sums[i : i + 4], part, strict=True):
            ptx.inst.add.f32(total, total, value)
    ptx.bar.sync(1, 128 * CONSUMERS)  # all have seen the flag
    ptx.inst.st.global_.u32(ptx.addr(at), 0, pred=thread == 0)


def check_sizes(N: int, K: int, BN: int, BK: int, STAGES: int, elements: int) -> None:
    """Raise ValueError for sizes that TMA or the tiling does not support: N and K are multiples of 8, M is anything."""
    check_lines("stream_k_gemm", {"N": N, "K": K}, 8)
    check_choices("stream_k_gemm", BN=(BN, (64, 128, 256)), BK=(BK, (64, 128)), W=(elements, (BM * BN,)))
    needed = STAGES * (BM + BN) * BK * 2 + lib.StoreBoxes.bytes_of(CONSUMERS * 4)
    check_memory("stream_k_gemm", STAGES, needed, MOST_BYTES)


def stream_k_gemm_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for A and B of `dtype` (bf16 or f16) and C of `out` (f32, bf16 or f16).

    Its outputs are C, the workspace (W = 128 * BN, to pass) and the flags (CTAS, to pass); pass them as `out=` again, without a memset.
    """
    return kernel(
        product,
        name="stream_k_gemm",
        arch="sm_90a",
        in_specs=[
            Tile("M", "K", dtype, Layout.TMA_128B, tma_box=(BM, BOX), tma_whole=True),
            Tile("K", "N", dtype, Layout.TMA_128B, tma_box=("BK", BOX), tma_whole=True),
        ],
        out_specs=[
            Tile("M", "N", out, Layout.TMA_128B, tma_box=lib.StoreBoxes.box_of(out), tma_whole=True),
            Tile("CTAS", "W", f32, align=16, zeroed=True),
            Tile("CTAS", 1, u32, zeroed=True),
        ],
        grid=lambda CTAS: CTAS,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
        tensor_maps="value",
    )


stream_k_gemm = stream_k_gemm_of(bf16, bf16)


def multiply(a: Any, b: Any, *, ctas: int = 132, BN: int = 256, function: Kernel = stream_k_gemm, **params: Any) -> Any:
    """Return C = A @ B; arrays of any supported package. `ctas` is at most the number of SMs."""
    return function(a, b, CTAS=ctas, W=BM * BN, BN=BN, **params)[0]


def main() -> None:
    import numpy as np

    random, gemm = np.random.default_rng(0), stream_k_gemm_of(f16, f32)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((200, 392), (392, 264)))
    compare(
        gemm, [a, b], reference(a, b), rtol=1e-3, atol=1e-3,
        call=lambda a, b: multiply(a, b, ctas=4, BN=128, function=gemm),
    )  # fmt: skip


if __name__ == "__main__":
    main()
