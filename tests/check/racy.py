"""Small kernels with one mistake each; the line of the mistake ends in a comment that says HERE."""

from __future__ import annotations

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

N = 128


def _indices(*arrays):
    tid = reg.from_(ptx.special.tid.x(), u32)
    pointers = ptx.global_ptrs(*arrays)
    for pointer in pointers:
        ptx.inst.mad.wide.u32(pointer, tid, 4, pointer)
    return tid, pointers


def _swapped(buffer, tid, to):
    """to = what the thread across wrote to the buffer."""
    value = reg.scalar(f32)
    ptx.inst.ld.shared.f32(value, ptx.addr(reg.from_(buffer.name, u32) + (tid ^ 64) * 4))
    ptx.inst.st.global_.f32(ptx.addr(to), value)


@kernel(arch="sm_90a", in_specs=[Tile(N, f32)], out_specs=[Tile(N, f32)], grid=1, block=(N, 1, 1))
def copy_not_waited_for(x, y):
    buffer = smem.alloc(f32, (N,), align=16)
    tid, (source, to) = _indices(x, y)
    ptx.inst.cp.async_.ca.shared.global_(ptx.addr(reg.from_(buffer.name, u32) + tid * 4), ptx.addr(source), 4)  # HERE
    ptx.inst.cp.async_.commit_group()
    ptx.bar.sync()
    _swapped(buffer, tid, to)


@kernel(arch="sm_90a", in_specs=[Tile(N, f32)], out_specs=[Tile(N, f32)], grid=1, block=(N, 1, 1))
def wait_too_weak(x, y):
    buffer = smem.alloc(f32, (N,), align=16)
    tid, (source, to) = _indices(x, y)
    ptx.inst.cp.async_.ca.shared.global_(ptx.addr(reg.from_(buffer.name, u32) + tid * 4), ptx.addr(source), 4)
    ptx.inst.cp.async_.commit_group()
    ptx.inst.cp.async_.wait_group(1)  # HERE
    ptx.bar.sync()
    _swapped(buffer, tid, to)


@kernel(arch="sm_90a", in_specs=[Tile(N, f32)], out_specs=[Tile(N, f32)], grid=1, block=(N, 1, 1))
def barrier_missing(x, y):
    buffer = smem.alloc(f32, (N,), align=16)
    tid, (source, to) = _indices(x, y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(source))
    ptx.inst.st.shared.f32(ptx.addr(reg.from_(buffer.name, u32) + tid * 4), value)
    _swapped(buffer, tid, to)


@kernel(arch="sm_90a", in_specs=[Tile(N, f32)], out_specs=[Tile(1, f32)], grid=1, block=(N, 1, 1))
def sum_by_atomics(x, y):
    _, (source, _) = _indices(x, y)
    (to,) = ptx.global_ptrs(y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(source))
    ptx.inst.red.global_.add.f32(ptx.addr(to), value)


@kernel(arch="sm_90a", in_specs=[Tile(1, u32)], out_specs=[Tile(N, u32)], grid=1, block=(N, 1, 1))
def tickets(count, y):
    _, (_, to) = _indices(count, y)
    (at,) = ptx.global_ptrs(count)
    ticket = reg.scalar(u32)
    ptx.inst.atom.global_.add.u32(ticket, ptx.addr(at), 1)
    ptx.inst.st.global_.u32(ptx.addr(to), ticket)


@kernel(arch="sm_90a", in_specs=[Tile("N", f32)], out_specs=[Tile(N, f32)], grid=1, block=(N, 1, 1))
def too_far(x, y):
    _, (source, to) = _indices(x, y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(source, 4))  # HERE
    ptx.inst.st.global_.f32(ptx.addr(to), value)


@kernel(arch="sm_90a", in_specs=[Tile(N, f32)], out_specs=[Tile(N, f32)], grid=1, block=(N, 1, 1))
def waits_for_nobody(x, y):
    bar = smem.mbarrier(1)
    tid, _ = _indices(x, y)
    with ptx.if_(tid == 0):
        ptx.mbarrier.init(bar[0], 1)
    ptx.bar.sync()
    ptx.mbarrier.wait(bar[0], 0)  # HERE
