"""Small kernels for tuning, with selectable faults."""

from __future__ import annotations

import numpy as np

from pyptx import Layout, Tile, kernel, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.types import f32, u32, u64

THREADS = 64


def body(x, y, *, PER=1, FAULT="none", UNUSED=0):
    """y = 2 x, PER elements a thread, for sizes that are multiples of PER * THREADS; FAULT says what else it does."""
    (N,) = x.shape
    source, target = ptx.global_ptrs(x, y)
    if FAULT == "python":
        raise ValueError(f"PER={PER} does not suit this kernel")
    if FAULT == "shared":
        smem.alloc(f32, 100_000)
    thread = reg.from_(ptx.special.ctaid.x(), u32) * THREADS + reg.from_(ptx.special.tid.x(), u32)
    value, at = reg.scalar(f32), reg.scalar(u64)
    for i in range(PER):
        ptx.inst.mul.wide.u32(at, thread + i * (N // PER), 4)
        ptx.inst.ld.global_.f32(value, ptx.addr(source + at))
        ptx.inst.mul.f32(value, value, 3.0 if FAULT == "wrong" else 2.0)
        ptx.inst.st.global_.f32(ptx.addr(target + at), value)
    if FAULT == "loop":
        with ptx.loop("forever"):
            ptx.inst.st.volatile.global_.f32(ptx.addr(target), value)
    if FAULT == "many":  # values that all live at once
        many = [reg.scalar(f32) for _ in range(48)]
        for one in many:
            ptx.inst.ld.volatile.global_.f32(one, ptx.addr(source))
        for one in reversed(many):
            ptx.inst.st.volatile.global_.f32(ptx.addr(target), one)
        ptx.inst.st.global_.f32(ptx.addr(target + at), value)
    if FAULT == "address":
        ptx.inst.st.global_.f32(ptx.addr(target, 1 << 24), value)
    if FAULT == "ptxas":
        ptx.raw(".shared .align 4 .b8 large[300000];")


def double(**options) -> Kernel:
    return kernel(
        body,
        name="double",
        arch="sm_90a",
        in_specs=[Tile("N", f32)],
        out_specs=[Tile("N", f32)],
        grid=lambda N, PER: -(-N // (PER * THREADS)),
        block=THREADS,
        **options,
    )


def rows(a, b, *, BM=64):
    """Copies BM rows of a to shared memory by TMA; writes a number to b."""
    tile = smem.alloc(f32, (BM, 32), align=128)
    done = smem.mbarrier(1)
    arrived = ptx.mbarrier.array(reg.from_(done.name, u32), 0, 1)[0]
    (to,) = ptx.global_ptrs(b)
    with ptx.if_(reg.from_(ptx.special.tid.x(), u32) == 0):
        arrived.init(1)
        ptx.fence.mbarrier_init()
        arrived.arrive_expect_tx(BM * 128)
        ptx.cp.async_bulk.tensor_2d(dst=reg.from_(tile.name, u32), src=a.tma_desc(), coord=(0, 0), mbar=arrived)
        arrived.wait(0)
        ptx.inst.st.global_.f32(ptx.addr(to), 1.0)


def tiled() -> Kernel:
    return kernel(
        rows,
        arch="sm_90a",
        in_specs=[Tile("M", "K", f32, Layout.TMA_128B, tma_box=("BM", 32))],
        out_specs=[Tile(1, f32)],
        grid=1,
        block=32,
    )


def twice(x: np.ndarray) -> np.ndarray:
    return 2 * x
