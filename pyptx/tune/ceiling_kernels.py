"""Microbenchmark kernels that each reach one roofline ceiling, for `measure_ceilings`.

Techniques: 16-byte reads per thread that cannot be elided or served by L1 (relaxed loads at GPU scope come from L2), and
independent chains of operations, enough of them to hide their latency (PTX ISA, "Memory Consistency Model"; CUDA C++
Best Practices Guide, "Arithmetic Instructions").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyptx import ptx, reg, smem
from pyptx.jit import JitKernel
from pyptx.jit.declaration import Declaration
from pyptx.reg import Reg, RegArray
from pyptx.specs import Tile
from pyptx.types import b8, b32, bf16, f32, pred, u32, u64

__all__ = ["KERNELS", "LOADS", "THREADS", "CeilingKernel"]

THREADS = 256  # per block
LOADS = 8  # loads in flight per thread
_CHAINS = 16  # chains of FMAs per thread
_PRODUCTS = 8  # independent matrix products per warp
_UNROLLED = 8


@dataclass(frozen=True)
class CeilingKernel:
    """A microbenchmark.

    Attributes:
        name: the ceiling: "dram", "l2", "shared", "core.f32", "mma.f16", "wgmma.f16".
        kernel: takes N words of 32 bits and writes one word. Matrix products read 64 KiB of bf16 numbers.
        amount: (total threads, words of the input, steps) -> operations or bytes of one launch.
        needs: minimum compute capability; with `only`, the exact one.
        only: see `needs`.
    """

    name: str
    kernel: JitKernel
    amount: Callable[[int, int, int], int]
    needs: int
    only: bool = False

    def suits(self, capability: int) -> bool:
        """Return True when a GPU of this capability (90 for sm_90a) can run the kernel."""
        return capability == self.needs if self.only else capability >= self.needs


@contextmanager
def _repeated(steps: int) -> Iterator[None]:
    """Emit a loop that ptxas does not unroll: unrolled wgmma takes it many seconds."""
    step, more = reg.scalar(u32, 0), reg.scalar(pred)
    with ptx.loop("steps", pred=more):
        ptx.pragma("nounroll")
        yield
        ptx.inst.add.u32(step, step, 1)
        ptx.inst.setp.lt.u32(more, step, steps)


def _thread(blocks: int) -> Reg:
    return reg.from_(ptx.special.ctaid.x(), u32) * THREADS + reg.from_(ptx.special.tid.x(), u32)


def _words(x, count: int, at: Reg, offset: int = 0) -> RegArray:
    """Load `count` words of x for this thread: values with the power draw of real products."""
    (first,) = ptx.global_ptrs(x)
    values = reg.array(b32, count)
    place = reg.scalar(u64)
    ptx.inst.mad.wide.u32(place, at, 4 * count, first)
    getattr(ptx.inst.ld.global_, f"v{count}").b32(values, ptx.addr(place, offset))
    return values


def _keep(y, value: Reg) -> None:
    """Keep a value alive with a conditional store that never executes."""
    (to,) = ptx.global_ptrs(y)
    ptx.inst.st.global_.u32(ptx.addr(to), value, pred=value == 0x7F123457)


def _read(x, y, *, BLOCKS=1, STEPS=1):
    """Read all of x STEPS times, coalesced, from L2 or DRAM."""
    (N,) = x.shape
    total = BLOCKS * THREADS
    (first,) = ptx.global_ptrs(x)
    at, total_of = reg.scalar(u64), reg.scalar(u32, 0)
    ptx.inst.mad.wide.u32(first, _thread(BLOCKS), 16, first)
    values = [reg.array(b32, 4) for _ in range(LOADS)]
    with _repeated(STEPS):
        ptx.inst.mov.u64(at, first)
        for _ in ptx.range_(0, N // (total * 4 * LOADS)):
            for i, four in enumerate(values):
                ptx.inst.ld.relaxed.gpu.global_.v4.b32(four, ptx.addr(at, i * total * 16))
            for four in values:
                for value in four:
                    ptx.inst.xor.b32(total_of, total_of, value)
            ptx.inst.add.u64(at, at, LOADS * total * 16)
    _keep(y, total_of)


def _shared(x, y, *, BLOCKS=1, STEPS=1):
    """Read 16 bytes of shared memory per thread, LOADS times per step, without bank conflicts."""
    memory = smem.alloc(b32, (THREADS * 4 * 2,))
    start = reg.from_(memory.name, u32)
    tid = reg.from_(ptx.special.tid.x(), u32)
    for half in range(2):
        ptx.inst.st.shared.v4.b32(ptx.addr(start + (tid << 4), half * THREADS * 16), [tid, tid, tid, tid])
    ptx.bar.sync(0)
    total_of, at = reg.scalar(u32, 0), start + (tid << 4)
    values = [reg.array(b32, 4) for _ in range(LOADS)]
    with _repeated(STEPS):
        for i, four in enumerate(values):
            ptx.inst.ld.volatile.shared.v4.b32(four, ptx.addr(at, i % 2 * THREADS * 16))
        for four in values:
            for value in four:
                ptx.inst.xor.b32(total_of, total_of, value)
    _keep(y, total_of)


def _fma(x, y, *, BLOCKS=1, STEPS=1):
    """Execute _CHAINS independent chains of _UNROLLED FMAs per step."""
    tid = reg.from_(ptx.special.tid.x(), u32)
    factor, chains = reg.scalar(f32), [reg.scalar(f32) for _ in range(_CHAINS)]
    ptx.inst.cvt.rn.f32.u32(factor, tid)
    for i, chain in enumerate(chains):
        ptx.inst.add.f32(chain, factor, float(i))
    with _repeated(STEPS):
        for _ in range(_UNROLLED):
            for chain in chains:
                ptx.inst.fma.rn.f32(chain, chain, factor, chain)
    first, *rest = chains
    for chain in rest:
        ptx.inst.add.f32(first, first, chain)
    bits = reg.scalar(u32)
    ptx.inst.mov.b32(bits, first)
    _keep(y, bits)


def _mma(x, y, *, BLOCKS=1, STEPS=1):
    """Execute _PRODUCTS independent m16n8k16 products per warp and step on the numbers in x."""
    tid = reg.from_(ptx.special.tid.x(), u32)
    left, right = _words(x, 4, tid), _words(x, 2, tid, THREADS * 16)
    sums = [reg.array(f32, 4) for _ in range(_PRODUCTS)]
    for value in (value for part in sums for value in part):
        ptx.inst.mov.f32(value, 0.0)
    with _repeated(STEPS):
        for part in sums:
            ptx.mma.sync(
                shape=(16, 8, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, dtype_c=f32, d=part, a=left, b=right, c=part
            )
    _keep_sums(y, [value for part in sums for value in part])


def _wgmma(x, y, *, BLOCKS=1, STEPS=1):
    """Execute four m64n256k16 products per warpgroup and step on numbers of x in shared memory."""
    bytes_of = 64 * 128 + 256 * 128  # tiles of 64 columns of A and B
    memory = smem.alloc(b8, (bytes_of,), align=1024)
    start, tid = reg.from_(memory.name, u32), reg.from_(ptx.special.tid.x(), u32)
    for at in range(0, bytes_of, THREADS * 16):
        ptx.inst.st.shared.v4.b32(ptx.addr(start + (tid << 4), at), _words(x, 4, tid, at))
    ptx.fence.proxy_async_shared_cta()
    ptx.bar.sync(0)
    options = {"leading_byte_offset": 16, "stride_byte_offset": 1024, "swizzle": ptx.wgmma.SWIZZLE_128B}
    left = ptx.wgmma.make_descriptor(start, **options)
    right = ptx.wgmma.make_descriptor(start + 64 * 128, **options)
    sums = reg.wgmma_frag(m=64, n=256, dtype=f32)
    for value in sums:
        ptx.inst.mov.f32(value, 0.0)
    with _repeated(STEPS):
        ptx.wgmma.fence()
        for k in range(4):
            ptx.wgmma.mma_async(
                shape=(64, 256, 16),
                dtype_d=f32,
                dtype_a=bf16,
                dtype_b=bf16,
                d=sums,
                a=left + 2 * k,
                b=right + 2 * k,
                scale_d=True,
            )
        ptx.wgmma.commit_group()
        ptx.wgmma.wait_group(0)
    _keep_sums(y, list(sums))


def _keep_sums(y, values: list[Reg]) -> None:
    first, *rest = values
    for value in rest:
        ptx.inst.add.f32(first, first, value)
    bits = reg.scalar(u32)
    ptx.inst.mov.b32(bits, first)
    _keep(y, bits)


def _kernel_of(body: Callable, arch: str) -> JitKernel:
    return JitKernel(
        Declaration.of(
            body,
            name=body.__name__.strip("_"),
            arch=arch,
            in_specs=[Tile("N", u32)],
            out_specs=[Tile(1, u32)],
            grid=lambda N, BLOCKS: BLOCKS,
            block=THREADS,
        )
    )


KERNELS = (
    CeilingKernel("dram", _kernel_of(_read, "sm_75"), lambda threads, words, steps: 4 * words * steps, 75),
    CeilingKernel("l2", _kernel_of(_read, "sm_75"), lambda threads, words, steps: 4 * words * steps, 75),
    CeilingKernel(
        "shared", _kernel_of(_shared, "sm_75"), lambda threads, words, steps: threads * 16 * LOADS * steps, 75
    ),
    CeilingKernel(
        "core.f32",
        _kernel_of(_fma, "sm_75"),
        lambda threads, words, steps: threads * 2 * _CHAINS * _UNROLLED * steps,
        75,
    ),
    CeilingKernel(
        "mma.f16",
        _kernel_of(_mma, "sm_80"),
        lambda threads, words, steps: threads // 32 * 2 * 16 * 8 * 16 * _PRODUCTS * steps,
        80,
    ),
    CeilingKernel(
        "wgmma.f16",
        _kernel_of(_wgmma, "sm_90a"),
        lambda threads, words, steps: threads // 128 * 2 * 64 * 256 * 64 * steps,
        90,
        only=True,
    ),
)
