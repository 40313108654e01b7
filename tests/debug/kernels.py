"""Small kernels with one mistake each, to debug."""

from __future__ import annotations

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32


@kernel(arch="sm_90a", in_specs=[Tile(128, f32)], out_specs=[Tile(128, f32)], grid=(1, 1), block=(128, 1, 1))
def stuck(x, y):
    """Wait for two arrivals, of which only one occurs."""
    bar = smem.mbarrier(1)
    full = ptx.mbarrier.array(reg.from_(bar.name, u32), 0, 1)
    tid = reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(tid == 0):
        full.init_all(2)
        ptx.fence.mbarrier_init()
    ptx.bar.sync(0)
    with ptx.if_(tid == 0):
        full[0].arrive()
    full[0].wait(0)


@kernel(
    arch="sm_90a",
    in_specs=[Tile("N", f32)],
    out_specs=[Tile("N", f32)],
    grid=lambda N: (-(-N // 64),),
    block=(64, 1, 1),
)
def scale(x, y, *, FACTOR=2.0):
    """Access elements past the end in the last, partial CTA."""
    i = reg.from_(ptx.special.ctaid.x(), u32) * 64 + reg.from_(ptx.special.tid.x(), u32)
    px, py = ptx.global_ptrs(x, y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(px + i * 4))
    scaled = value * FACTOR
    ptx.inst.st.global_.f32(ptx.addr(py + i * 4), scaled)


@kernel(arch="sm_90a", in_specs=[Tile(64, f32)], out_specs=[Tile(64, f32)], grid=(1, 1), block=(64, 1, 1))
def racy(x, y):
    """Reverse an array through shared memory without a barrier."""
    tile = smem.alloc(f32, 64)
    start = reg.from_(tile.name, u32)
    tid = reg.from_(ptx.special.tid.x(), u32)
    px, py = ptx.global_ptrs(x, y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(px + tid * 4))
    ptx.inst.st.shared.f32(ptx.addr(start + tid * 4), value)
    other = reg.scalar(f32)
    ptx.inst.ld.shared.f32(other, ptx.addr(start + (63 - tid) * 4))
    ptx.inst.st.global_.f32(ptx.addr(py + tid * 4), other)


@kernel(arch="sm_90a", in_specs=[Tile(32, u32)], out_specs=[Tile(32, u32)], grid=(1, 1), block=(32, 1, 1))
def split(x, y):
    """Diverging lanes, a loop, and a helper function."""
    lane = reg.from_(ptx.special.tid.x(), u32)
    total = reg.scalar(u32, 0)
    for k in ptx.range_(0, 5):
        with ptx.if_((lane & 1) == 0):
            add(total, 2)
        with ptx.else_():
            add(total, 1)
            add(total, k)
    _, py = ptx.global_ptrs(x, y)
    ptx.inst.st.global_.u32(ptx.addr(py + lane * 4), total)


def add(total, what):
    """total += what"""
    twice = what * 2 if isinstance(what, int) else what
    ptx.inst.add.u32(total, total, twice)


_COUNT = iter(range(1000))


@kernel(arch="sm_90a", in_specs=[Tile(32, u32)], out_specs=[Tile(32, u32)], grid=(1, 1), block=(32, 1, 1))
def fickle(x, y):
    """Another number each time it is traced."""
    number = reg.scalar(u32, next(_COUNT))
    _, py = ptx.global_ptrs(x, y)
    ptx.inst.st.global_.u32(ptx.addr(py), number)


@kernel(arch="sm_90a", in_specs=[Tile(32, u32)], out_specs=[Tile(32, u32)], grid=(1, 1), block=(32, 1, 1))
def unrolled(x, y):
    """A line of several instructions, and one that Python comes to three times."""
    total = reg.scalar(u32, 0)
    place = (reg.from_(ptx.special.tid.x(), u32) + 3) * 5 + 7
    for k in range(3):
        add(total, place * (2 * k + 3))
    _, py = ptx.global_ptrs(x, y)
    ptx.inst.st.global_.u32(ptx.addr(py), total)
