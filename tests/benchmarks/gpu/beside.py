"""What runs beside matrix products on a Hopper GPU:  PYTHONPATH=. python tests/benchmarks/gpu/beside.py

One warpgroup of a CTA starts wgmma, the next one does arithmetic in registers: exponentials, multiply-adds, maxima,
roundings to pairs, or what a softmax does with a score. Each counts the cycles of its own loop, alone and with the
other one, so that clocks and launches play no part.

In the model each is as fast beside the other as alone, but for the slots in which instructions are issued, and so it
has attention on Hopper at 1.24 (D 128) to 1.42 (D 64) of what FlashAttention-3 was measured at. The measurements are
what comes out where products and exponentials take turns: at 1.83 GHz an SM's 4,096 operations and 16 exponentials a
clock, one after the other, come to 495, 659 and 791 TFLOP/s for D = 64, 128 and 256, and 497, 648 and 756 were
measured. A quotient near 1 here says that its schedule is what costs, one near 2 that the units do not run together.

Needs a GPU of target sm_90a; --sim runs it small on the simulator, whose cycles mean nothing.
"""

from __future__ import annotations

import sys

import numpy as np

from pyptx import Tile, kernel, ptx, reg, smem, use
from pyptx.reg import Reg
from pyptx.types import b8, b32, bf16, f32, u32, u64

CTAS, GROUP, K = 132, 128, 64  # one on an SM; threads; columns of the operands
CHAINS = 16  # independent values of a thread
KINDS = {"exponentials": 1, "multiply-adds": 8, "maxima": 4, "roundings": 4, "softmax": 1}  # of a value in a turn
PRODUCTS = 4  # wgmma of a turn: 64 x 128 x 16
LINES = 64 + 128  # of both operands, 128 bytes each


def work(data, cycles, sink, *, TURNS, OTHERS, KIND):
    """cycles (CTAS x 2, u64): of TURNS turns of products, and of OTHERS turns of KIND; 0 turns: that one rests."""
    memory = smem.alloc(b8, LINES * 128, align=1024)
    start, tid = reg.from_(memory.name, u32), reg.from_(ptx.special.tid.x(), u32)
    cta = reg.from_(ptx.special.ctaid.x(), u32)
    (numbers, to_cycles, to_sink) = ptx.global_ptrs(data, cycles, sink)
    for i in range(0, LINES * 128, 2 * GROUP * 16):  # operands of both signs: zeros would take less power
        words, offset = reg.array(b32, 4), tid * 16 + i
        ptx.inst.mad.wide.u32(place := reg.scalar(u64), offset, 1, numbers)
        ptx.inst.ld.global_.v4.b32(words, ptx.addr(place))
        ptx.inst.st.shared.v4.b32(ptx.addr(start + offset), words)
    values = [reg.scalar(f32, 0.25 + i) for i in range(CHAINS)]
    sums = reg.wgmma_frag(m=64, n=128, dtype=f32)
    for value in sums:
        ptx.inst.mov.f32(value, 0.0)
    ptx.fence.proxy_async_shared_cta()
    ptx.bar.sync(0)

    first, last = reg.scalar(u64), reg.scalar(u64)
    ptx.inst.mov.u64(first, ptx.special.clock64())
    with ptx.if_(tid < GROUP):
        a, b = (
            ptx.wgmma.make_descriptor(
                start + line * 128, leading_byte_offset=16, stride_byte_offset=1024, swizzle=ptx.wgmma.SWIZZLE_128B
            )
            for line in (0, 64)
        )
        for _ in ptx.range_(0, TURNS):
            ptx.wgmma.fence()
            for k in range(PRODUCTS):
                ptx.wgmma.mma_async(
                    shape=(64, 128, 16),
                    dtype_d=f32,
                    dtype_a=bf16,
                    dtype_b=bf16,
                    d=sums,
                    a=a + k * 2,
                    b=b + k * 2,
                    scale_d=True,
                )
            ptx.wgmma.commit_group()
            ptx.wgmma.wait_group(1)
        ptx.wgmma.wait_group(0)
    with ptx.else_():
        for _ in ptx.range_(0, OTHERS):
            turn(KIND, values)
    ptx.inst.mov.u64(last, ptx.special.clock64())
    ptx.inst.sub.u64(last, last, first)
    ptx.inst.mad.wide.u32(to_cycles, cta * 2 + (tid >> 7), 8, to_cycles)
    ptx.inst.st.global_.u64(ptx.addr(to_cycles), last, pred=(tid & (GROUP - 1)) == 0)
    for value in (*values[1:], *sums):  # so that nothing of it is left out
        ptx.inst.add.f32(values[0], values[0], value)
    ptx.inst.mad.wide.u32(to_sink, cta * (2 * GROUP) + tid, 4, to_sink)
    ptx.inst.st.global_.f32(ptx.addr(to_sink), values[0])


def turn(kind: str, values: list[Reg]) -> None:
    """One turn of arithmetic, as often for each value as KINDS says."""
    for _ in range(KINDS[kind]):
        for i, value in enumerate(values):
            other = values[i - CHAINS // 2]  # of long before: nothing waits for results
            if kind == "maxima":
                ptx.inst.max.f32(value, value, other)
            if kind in ("multiply-adds", "softmax"):
                ptx.inst.fma.rn.f32(value, value, 0.5, -1.0)
            if kind in ("exponentials", "softmax"):
                ptx.inst.ex2.approx.ftz.f32(value, value)
            if kind == "roundings" or (kind == "softmax" and i % 2):
                pair = reg.scalar(b32)
                ptx.inst.cvt.rn.bf16x2.f32(pair, value, other)
                ptx.inst.mov.b32(value, pair)
            if kind == "softmax":
                ptx.inst.max.f32(value, value, other)
                ptx.inst.add.f32(value, value, other)


beside = kernel(
    work,
    name="beside",
    arch="sm_90a",
    in_specs=[Tile("N", bf16, align=16)],
    out_specs=[Tile("CTAS", 2, u64), Tile("CTAS", 2 * GROUP, f32)],
    grid=lambda CTAS: (CTAS, 1, 1),
    block=(2 * GROUP, 1, 1),
    reqntid=(2 * GROUP, 1, 1),
)


def cycles_of(data: object, ctas: int, turns: int, others: int, kind: str) -> tuple[float, float]:
    """Median cycles of the products and of the rest, over the CTAs."""
    found, _ = beside(data, CTAS=ctas, TURNS=turns, OTHERS=others, KIND=kind)
    products, rest = np.median(found.cpu().numpy() if hasattr(found, "cpu") else found, axis=0)
    return float(products), float(rest)


def rows(data: object, ctas: int = CTAS, turns: int = 4096) -> dict[str, dict[str, float]]:
    """Of each kind: cycles of a turn of products and of arithmetic alone, and of both together over the longer one."""
    found = {}
    alone = cycles_of(data, ctas, turns, 0, "softmax")[0]
    for kind in KINDS:
        rest = cycles_of(data, ctas, 0, turns, kind)[1] / turns
        others = max(1, round(alone / rest))  # both take as long alone
        both = cycles_of(data, ctas, turns, others, kind)
        found[kind] = {"products": alone / turns, "alone": rest, "together": max(both) / max(alone, rest * others)}
    return found


def main(arguments: list[str]) -> int:
    data = np.random.default_rng(0).standard_normal(LINES * 64, np.float32)
    if "--sim" in arguments:
        import ml_dtypes

        with use("sim"):
            found = rows(data.astype(ml_dtypes.bfloat16), ctas=1, turns=2)
    else:
        import torch

        array = torch.from_numpy(data).to("cuda", torch.bfloat16)
        rows(array, turns=64)  # everything is loaded, and clocks are up
        found = rows(array)
    print(f"{'beside products':16} {'cycles a turn':>14} {'products':>9} {'together':>9}")
    for kind, row in found.items():
        print(f"{kind:16} {row['alone']:14.1f} {row['products']:9.1f} {row['together']:9.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
