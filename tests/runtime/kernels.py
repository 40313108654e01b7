"""Kernels for the tests of the runtimes."""

from pyptx import Tile, kernel, ptx, reg
from pyptx.types import bf16, f32, u32

__all__ = ["counts", "double_bf16", "past_the_end", "product", "scale"]


@kernel(
    arch="sm_80",
    in_specs=[Tile("N", f32)],
    out_specs=[Tile("N", f32)],
    raw_params=[("f32", "factor"), ("u32", "N")],
    grid=lambda N: -(-N // 64),
    block=(64, 1, 1),
)
def scale(x, y):
    """y = factor * x, any N."""
    source, target = ptx.global_ptrs(x, y)
    factor, size = ptx.param(f32, "factor"), ptx.param(u32, "N")
    i = _thread(64)
    with ptx.if_(i < size):
        for pointer in (source, target):
            ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(source))
        ptx.inst.mul.rn.f32(value, value, factor)
        ptx.inst.st.global_.f32(ptx.addr(target), value)


@kernel(
    arch="sm_80",
    in_specs=[Tile("M", "N", f32), Tile("M", "N", f32)],
    out_specs=[Tile("M", "N", f32), Tile("M", "N", f32)],
    grid=lambda M, N: M,
    block=(128, 1, 1),
)
def product(a, b, both, sum_):
    """a * b and a + b; a row for each CTA, at most 128 columns."""
    n = a.shape[1]
    pointers = ptx.global_ptrs(a, b, both, sum_)
    column = reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(column < n):
        i = reg.from_(ptx.special.ctaid.x(), u32) * n + column
        for pointer in pointers:
            ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
        x, y = reg.scalar(f32), reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(pointers[0]))
        ptx.inst.ld.global_.f32(y, ptx.addr(pointers[1]))
        ptx.inst.st.global_.f32(ptx.addr(pointers[2]), x * y)
        ptx.inst.st.global_.f32(ptx.addr(pointers[3]), x + y)


@kernel(arch="sm_90a", in_specs=[Tile("N", bf16)], out_specs=[Tile("N", bf16)], grid=lambda N: -(-N // 32), block=32)
def double_bf16(x, y):
    """2 * x in bf16; N a multiple of 32."""
    source, target = ptx.global_ptrs(x, y)
    i = _thread(32)
    for pointer in (source, target):
        ptx.inst.mad.wide.u32(pointer, i, 2, pointer)
    value = reg.scalar(bf16)
    ptx.inst.ld.global_.b16(value, ptx.addr(source))
    ptx.inst.add.rn.bf16(value, value, value)
    ptx.inst.st.global_.b16(ptx.addr(target), value)


@kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=1, block=1)
def past_the_end(x, y):
    """Reads where there is nothing."""
    source, _ = ptx.global_ptrs(x, y)
    ptx.inst.ld.global_.f32(reg.scalar(f32), ptx.addr(source, 4096))


def _thread(block: int):
    """The number of the thread in the grid."""
    return reg.from_(ptx.special.ctaid.x(), u32) * block + reg.from_(ptx.special.tid.x(), u32)


@kernel(
    arch="sm_80",
    in_specs=[Tile("N", u32)],
    out_specs=[Tile(8, u32, zeroed=True)],
    grid=lambda N, PER: -(-N // (64 * PER)),
    block=64,
)
def counts(x, out, *, PER=1):
    """How often each number below 8 occurs in x; PER numbers a thread."""
    source, target = ptx.global_ptrs(x, out)
    for k in range(PER):
        i = _thread(64 * PER) + k * 64
        with ptx.if_(i < x.shape[0]):
            number = ptx.inst.ld.global_.u32(reg.scalar(u32), ptx.addr(source + i * 4))
            ptx.inst.red.global_.add.u32(ptx.addr(target + number * 4), 1)
