"""Mixture of experts for Hopper, backward: the gradients of tokens, logits and the matrices of the experts.

    python examples/hopper/moe_backward.py
    pyptx view examples/hopper/moe_backward.py:expert_gradients -p R=512 D=512 N=512 G=4 GP=5

Read ../moe_routing.py and grouped_gemm.py first. The gradient of a row of a product is that of its token times its weight, the gradient of
the weight their inner product (`combine_backward`). The gradient of the rows is a grouped product again, with transposed matrices, and
`combine_rows` adds it up for each token. The gradient of the matrix of an expert is the product of its rows, transposed, and the gradients
of their results: `expert_gradients`. New techniques and their sources:

- The sum runs along the rows of a group, whose number is known on the GPU only: CTAs of a tile loop from `ends[g]` to `ends[g + 1]`.
- Both operands are MN-major: wgmma reads them transposed, as TMA wrote them (PTX ISA, "Strides", of wgmma).
- The last stage of a group holds rows of the next one: its consumers overwrite them by zeros, and `fence.proxy.async` makes that visible
  to wgmma. A multiplication by zero would not do: rows of another expert may be infinite.

Cost of expert_gradients: 90 registers per thread; 128 KiB of shared memory: one CTA per SM.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import pyptx
from examples.hopper.grouped_gemm import grouped_gemm_of
from examples.hopper.tiles import BOX, LINE, WGMMA_K
from examples.moe_routing import moe_routing, row_kernels_of, sort_by_expert
from examples.products import check_lines
from examples.vectors import widest
from pyptx import Layout, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.testing import compare
from pyptx.types import PtxType, bf16, f16, f32, s32, u32

BM, BN, BK = 128, 128, 64
CONSUMERS = 2  # consumer warpgroups, 64 rows of a tile each
THREADS = 128 * (1 + CONSUMERS)
ROW_THREADS = 256  # of combine_backward
SPACE = {"STAGES": (2, 3, 4, 6)}  # tuning space of expert_gradients


def expert_products(rows, d_products, ends, d_experts, *, STAGES=4):
    """Compute d_experts (G x D x N): the product of the rows (R x D) of each group, transposed, and their d_products (R x N).

    Rows `ends[g]` to `ends[g + 1] - 1` are those of group g; without rows the gradient is 0.
    """
    G, D, N = d_experts.shape
    if ends.shape[0] != G + 1:
        raise ValueError(f"expert_gradients: ends has {ends.shape[0]} numbers for {G} groups; expected {G + 1}")
    check_lines("expert_gradients", {"D": D, "N": N}, 8)
    tid, group = reg.from_(ptx.tid.x, u32), ptx.ctaid.z + 0
    row, column = ptx.ctaid.y * BM, ptx.ctaid.x * BN
    tile_a, tile_b = lib.WgmmaTile(BK, BM, rows.dtype, "MN"), lib.WgmmaTile(BK, BN, rows.dtype, "MN")
    ring = lib.TmaRing(STAGES, {"a": tile_a, "b": tile_b}, readers=CONSUMERS * 4)
    ring.set_up(tid)
    first, end = ends[group], ends.load(group, offset=1)
    roles = lib.roles(consumers=CONSUMERS, tid=tid)
    with roles.producer():
        for at in ptx.range_(first, end, BK):
            stage = ring.acquire()
            stage.load("a", rows, (row, at))
            stage.load("b", d_products, (column, at))
    with roles.consumer() as consumer:
        frag = lib.WgmmaFragment(BN, tid)
        for value in frag.sums:
            ptx.inst.mov.f32(value, 0.0)
        boxes = consumer * (BK * LINE)  # this consumer's 64 columns of both tiles
        from_a, from_b = ring.descriptor("a"), ring.descriptor("b")
        for at in ptx.range_(first, end, BK):
            stage, rest = ring.wait(), end - at
            with ptx.if_(rest < BK):
                for name in ("a", "b"):
                    clear_rows(stage.address(name) + boxes, rest, tid & 127)
                ptx.fence.proxy_async_shared_cta()
                ptx.bar.sync(1, CONSUMERS * 128)
            ptx.inst.bar.warp.sync(-1)
            this_a, this_b = stage.descriptor(from_a), stage.descriptor(from_b)
            this_a += (boxes >> 4).to(this_a.dtype)
            ptx.wgmma.fence()
            for k in range(0, BK, WGMMA_K):
                ptx.wgmma.mma_async(
                    shape=(64, BN, WGMMA_K), dtype_d=f32, dtype_a=rows.dtype, dtype_b=rows.dtype, d=frag.sums, scale_d=True,
                    a=this_a + tile_a.offset(k), b=this_b + tile_b.offset(k), trans_a=1, trans_b=1,
                )  # fmt: skip
            ptx.wgmma.commit_group()
            ptx.wgmma.wait_group(0)
            ring.release(stage, ptx.laneid)
        frag.store(d_experts.row(group), row + consumer * 64, column, end=(D, N))


def clear_rows(box, first, thread):
    """Store zeros to the rows of a box of BK rows from `first` on; 128 threads, eight to a row."""
    for i in range(0, BK, 16):
        at = (thread >> 3) + i
        ptx.inst.st.shared.v4.b32(ptx.addr(box + at * LINE + (thread & 7) * 16), [0, 0, 0, 0], pred=at >= first.to(u32))


def of_combined(d_y, products, weights, order, d_products, d_weights):
    """Compute d_products (R x N) and d_weights (R) of y = combine_rows(products, weights, places), one CTA for each row.

    order (R) lists the choices by expert; choice i is of token i / TOP of weights (M x TOP).
    """
    TOP, N = weights.shape[1], products.shape[1]
    each, row = widest(N, products.dtype), ptx.ctaid.x + 0
    choice = order[row].to(u32)
    token = choice // TOP
    weight, dot = weights[token, choice % TOP], reg.scalar(f32, 0.0)
    gradients, results = d_y.row(token), products.row(row)
    for column in ptx.range_(ptx.tid.x * each, N, ROW_THREADS * each):
        if each > 1:
            gradient, result = (one.load(column, vec=each).to(f32) for one in (gradients, results))
            for g, r in zip(gradient, result, strict=True):
                ptx.inst.fma.rn.f32(dot, g, r, dot)
        else:
            gradient, result = gradients[column].to(f32), results[column].to(f32)
            ptx.inst.fma.rn.f32(dot, gradient, result, dot)
        d_products.store(row, column, (gradient * weight).to(products.dtype))
    total = ptx.block_reduce(dot, threads=ROW_THREADS, once=True)
    d_weights.store(choice, total, pred=ptx.tid.x == 0)


def kernels_of(dtype: PtxType) -> tuple[Kernel, Kernel]:
    """Return `expert_gradients` and `combine_backward` for arrays of `dtype` (bf16 or f16)."""
    box = {"tma_box": (BK, BOX), "tma_whole": True}
    of_experts = kernel(
        expert_products,
        name="expert_gradients",
        arch="sm_90a",
        in_specs=[
            Tile("R", "D", dtype, Layout.TMA_128B, **box),
            Tile("R", "N", dtype, Layout.TMA_128B, **box),
            Tile("GP", s32),
        ],
        out_specs=[Tile("G", "D", "N", f32, align=16)],
        grid=lambda D, N, G: (-(-N // BN), -(-D // BM), G),
        tensor_maps="value",
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )
    of_rows = kernel(
        of_combined,
        name="combine_backward",
        arch="sm_80",
        in_specs=[
            Tile("M", "N", dtype, align=16),
            Tile("R", "N", dtype, align=16),
            Tile("M", "TOP", f32),
            Tile("R", s32),
        ],
        out_specs=[Tile("R", "N", dtype, align=16), Tile("R", f32)],
        grid=lambda R: R,
        block=(ROW_THREADS, 1, 1),
        reqntid=(ROW_THREADS, 1, 1),
    )
    return of_experts, of_rows


expert_gradients, combine_backward = kernels_of(bf16)


def with_gradients(dtype: PtxType = bf16, *, top: int, **tiling: int):
    """Return a layer for torch tensors, y = f(x, logits, experts), with support for torch.autograd and torch.compile.

    x (M x D) and experts (G x D x N) are of `dtype`, logits (M x G) f32. The choice of experts has no gradient; the softmax over the
    chosen ones has.

    Args:
        top: experts of a token.
        tiling: parameters of grouped_gemm, such as CTAS.
    """
    product, (gather_rows, combine_rows) = grouped_gemm_of(dtype, dtype), row_kernels_of(dtype)
    of_experts, of_rows = kernels_of(dtype)

    def run(x, logits, experts):
        weights, chosen = moe_routing(logits, TOP=top)
        order, places, ends = sort_by_expert(chosen.reshape(-1), E1=experts.shape[0] + 1)
        rows = gather_rows(x, order, TOP=top)
        products = product(rows, experts, ends, **tiling)
        return combine_rows(products, weights, places), weights, chosen, order, places, ends, rows, products

    def gradients(logits, experts, weights, chosen, order, places, ends, rows, products, d_y, *_: Any):
        import torch

        d_products, d_weights = of_rows(d_y.contiguous(), products, weights, order)
        d_rows = product(d_products, experts.transpose(1, 2).contiguous(), ends, **tiling)
        d_x = combine_rows(d_rows, torch.ones_like(weights), places)
        d_weights = d_weights.reshape(weights.shape)
        d_chosen = weights * (d_weights - (weights * d_weights).sum(1, keepdim=True))  # of the softmax
        d_logits = torch.zeros_like(logits).scatter(1, chosen.long(), d_chosen)
        d_experts = of_experts(rows, d_products, ends, G=experts.shape[0])
        return d_x, d_logits, d_experts.to(experts.dtype)

    layer = pyptx.differentiable_kernel(
        run, gradients, save_for_backward=lambda inputs, outputs: (*inputs[1:], *outputs[1:])
    )
    return lambda *inputs: layer(*inputs)[0]


def reference(rows: np.ndarray, d_products: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the gradients of the matrices in NumPy, in f32."""
    rows, d_products = rows.astype(np.float32), d_products.astype(np.float32)
    return np.stack([rows[first:end].T @ d_products[first:end] for first, end in pairwise(ends)])


def main() -> None:
    random = np.random.default_rng(0)
    rows, d_products = (random.standard_normal(shape).astype(np.float16) for shape in ((300, 136), (300, 264)))
    ends = np.array([0, 70, 70, 203, 300], np.int32)
    compare(
        kernels_of(f16)[0], [rows, d_products, ends], reference(rows, d_products, ends), rtol=1e-3, atol=1e-3, G=4
    )  # fmt: skip


if __name__ == "__main__":
    main()
