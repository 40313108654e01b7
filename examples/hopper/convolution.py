"""Convolution for Hopper, as an implicit GEMM: TMA gathers the pixels of each filter tap.

    python examples/hopper/convolution.py
    pyptx view examples/hopper/convolution.py:convolution -p N=1 H=8 W=8 C=64 R=3 S=3 F=64 P=8 Q=8 PAD=1 -o conv.html

Read persistent_gemm.py first, whose consumers, ring and epilogue it shares. Images are NHWC, filters RSCF (height,
width, channels, filters), as JAX has them; the result is NPQF. New techniques and their sources:

- Convolution as a matrix product: one row per output pixel, one column per filter, sums over R * S * C
  (Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning").
- A tensor map in im2col mode: a copy loads 64 channels of the BM pixels that a filter tap reads, from row to row and
  from image to image, with zeros for the padding and steps for the stride. The coordinates say where the first pixel's
  window begins, the offsets which tap it is (PTX ISA, "Tensors": im2col; CUDA Driver API, cuTensorMapEncodeIm2col).
- Tensor maps that a box does not describe: a Tile's `tensor_map` makes them from the array and the parameters.
- CLUSTER CTAs process consecutive pixels and share the filters, as those of persistent_gemm.py share B.

Cost: 168 registers per thread at launch, then 40 of the producer's and 232 of a consumer's; 225 KiB of shared memory: one
CTA per SM.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from examples.hopper.tiles import BOX, LINE, MOST_BYTES, WGMMA_ROWS, Product, meet, place, set_registers
from examples.products import check_choices, check_lines, check_memory
from pyptx import TensorMap, Tile, kernel, lib, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, bf16, f16, f32, u16, u32

CONSUMERS = 2  # consumer warpgroups
THREADS = 128 * (1 + CONSUMERS)
SPACE = {"BM": (128, 256), "BN": (64, 128, 256), "STAGES": (3, 4, 5, 6), "CLUSTER": (1, 2), "GROUP": (4, 8, 16)}


def product(x, w, y, *, STRIDE=1, PAD=0, DILATION=1, BM=128, BN=256, STAGES=4, CLUSTER=2, GROUP=8, CTAS=132):
    """Compute y[n, p, q] = sum over r, s of x[n, p * STRIDE + r * DILATION - PAD, q * STRIDE + s * DILATION - PAD] @ w[r, s]

    x is zero outside; sums in f32. See check_sizes for supported sizes.
    """
    (N, H, W, C), (R, S, _, F) = x.shape, w.shape
    P, Q = y.shape[1:3]
    check_sizes(H, W, C, R, S, F, P, Q, STRIDE, PAD, DILATION, BM, BN, STAGES, CLUSTER)
    tiles_down, tiles_across = -(-N * P * Q // (BM * CLUSTER)), -(-F // BN)

    operands = {"a": lib.WgmmaTile(BM, BOX, x.dtype, "K"), "b": lib.WgmmaTile(BOX, BN, w.dtype, "MN")}
    ring = lib.TmaRing(STAGES, operands, readers=CONSUMERS * 4, cluster=CLUSTER)
    boxes = lib.StoreBoxes(CONSUMERS * 4, y.dtype, first_warp=4)
    tid = reg.from_(ptx.special.tid.x(), u32)
    first_tile = reg.from_(ptx.special.ctaid.x(), u32) >> (CLUSTER.bit_length() - 1)
    rank = reg.from_(ptx.special.cluster_ctarank(), u32) if CLUSTER > 1 else 0
    tiles = first_tile, tiles_down * tiles_across, grid(N, P, Q, F, BM, BN, CLUSTER, CTAS) // CLUSTER
    shared = {"share": (rank, CLUSTER), "multicast_mask": (1 << CLUSTER) - 1} if CLUSTER > 1 else {}
    ring.set_up(tid)

    def own_part(tile: Reg) -> tuple[Reg, Reg]:
        return place(tile, tiles_down, tiles_across, GROUP, BM, BN, CLUSTER, rank)

    sums = BM * BN // (128 * CONSUMERS)  # of a consumer's thread
    with ptx.if_(tid < 128):
        set_registers(40, sums)
        with ptx.if_(tid == 0):
            for tile in ptx.range_(*tiles):
                pixel, column = own_part(tile)
                line, q = lib.divided(pixel, Q)
                image, p = lib.divided(line, P)
                top, left = p * STRIDE - PAD, q * STRIDE - PAD
                for r in ptx.range_(0, R):
                    down = ptx.inst.cvt.u16.u32(reg.scalar(u16), r * DILATION)
                    for s in ptx.range_(0, S):
                        right = ptx.inst.cvt.u16.u32(reg.scalar(u16), s * DILATION)
                        for c in ptx.range_(0, C, BOX):
                            stage = ring.acquire()
                            ptx.cp.async_bulk.tensor.im2col_4d(
                                dst=stage.address("a"),
                                src=x.tma_desc(),
                                mbar=stage.full,
                                coord=(c, left, top, image),
                                offsets=(right, down),
                            )
                            stage.load("b", w, (column, c, r * S + s), **shared)  # each CTA copies a part for all
    with ptx.else_():
        set_registers(232, sums)
        consumer, lane = (tid >> 7) - 1, tid & 31
        rows = BM // CONSUMERS  # of this consumer
        parts = Product(ring, consumer, rows, tid)
        for tile in ptx.range_(*tiles):
            pixel, column = own_part(tile)
            for i, part in enumerate(parts.of_steps(R * S * -(-C // BOX), lane)):
                part.store_tma(y, pixel + consumer * rows + i * WGMMA_ROWS, column, boxes)
        ptx.cp.async_bulk.wait_group(0, read=True)  # shared memory must outlive the stores that read it

    if CLUSTER > 1:
        meet(CLUSTER)  # and the CTA must outlive remote writes and arrivals


def grid(N: int, P: int, Q: int, F: int, BM: int, BN: int, CLUSTER: int, CTAS: int) -> int:
    """Return the number of CTAs: as many as the GPU holds or the tiles need, in whole clusters."""
    return CLUSTER * min(max(1, CTAS // CLUSTER), -(-N * P * Q // (BM * CLUSTER)) * -(-F // BN))


def pixels_map(x: Any, R: int, S: int, STRIDE: int, PAD: int, DILATION: int, BM: int) -> TensorMap:
    """Return the tensor map of the images; the bounding box holds the first pixel of each window."""
    upper = PAD - (R - 1) * DILATION, PAD - (S - 1) * DILATION
    return TensorMap(x, (BM, BOX), im2col=((-PAD, -PAD), upper), element_strides=(1, STRIDE, STRIDE, 1), swizzle="128B")


def filters_map(w: Any) -> TensorMap:
    """Return the tensor map of the filters: one matrix of channels x filters per tap, so that missing channels read as zero."""
    R, S, C, F = w.shape
    return TensorMap(w, (1, BOX, BOX), shape=(R * S, C, F), strides=(C * F * 2, F * 2), swizzle="128B")


def result_map(y: Any) -> TensorMap:
    """Return the tensor map of the result: one row per pixel."""
    N, P, Q, F = y.shape
    item = y.dtype.itemsize
    box = lib.StoreBoxes.box_of(f32 if item == 4 else bf16)
    return TensorMap(y, box, shape=(N * P * Q, F), strides=(F * item,), swizzle="128B")


def check_sizes(
    H: int,
    W: int,
    C: int,
    R: int,
    S: int,
    F: int,
    P: int,
    Q: int,
    STRIDE: int,
    PAD: int,
    DILATION: int,
    BM: int,
    BN: int,
    STAGES: int,
    CLUSTER: int,
) -> None:
    """Raise ValueError for sizes that do not fit each other, or that TMA or the tiling does not take: C and F are
    multiples of 8, STRIDE is 1 to 8, anything else is free within the 128 pixels that a window's corner may lie away.
    """
    wanted = result_size(H, R, STRIDE, PAD, DILATION), result_size(W, S, STRIDE, PAD, DILATION)
    if (P, Q) != wanted:
        raise ValueError(
            f"convolution: the result is {P} x {Q}; of {H} x {W} with filters of {R} x {S}, "
            f"STRIDE={STRIDE}, PAD={PAD}, DILATION={DILATION} it is P={wanted[0]}, Q={wanted[1]}"
        )
    check_lines("convolution", {"C": C, "F": F}, 8)
    check_choices(
        "convolution",
        BM=(BM, (128, 256)),
        BN=(BN, (64, 128, 192, 256)),
        STRIDE=(STRIDE, tuple(range(1, 9))),
        CLUSTER=(CLUSTER, (1, 2)),
    )
    if BN % (CLUSTER * BOX):
        raise ValueError(f"convolution: {CLUSTER} CTAs cannot share {BN} filters in boxes of {BOX}")
    if BM * BN > 128 * 256:
        raise ValueError(
            f"convolution: a tile of {BM} x {BN} has more sums than the consumers have registers for; "
            "BM * BN is at most 128 * 256"
        )
    check_memory("convolution", STAGES, STAGES * (BM + BN) * LINE + lib.StoreBoxes.bytes_of(CONSUMERS * 4), MOST_BYTES)


def result_size(size: int, taps: int, STRIDE: int, PAD: int, DILATION: int) -> int:
    """Return the height or width of the result.

    Raises:
        ValueError: the filters do not fit into the images.
    """
    room = size + 2 * PAD - (taps - 1) * DILATION
    if room < 1:
        raise ValueError(
            f"convolution: {taps} taps with DILATION={DILATION} do not fit into {size} pixels with PAD={PAD}"
        )
    return (room - 1) // STRIDE + 1


def convolution_of(dtype: PtxType, out: PtxType) -> Kernel:
    """Return the kernel for images and filters of `dtype` (bf16 or f16) and results of `out` (f32, bf16 or f16)."""
    return kernel(
        product,
        name="convolution",
        arch="sm_90a",
        in_specs=[
            Tile("N", "H", "W", "C", dtype, tensor_map=pixels_map),
            Tile("R", "S", "C", "F", dtype, tensor_map=filters_map),
        ],
        out_specs=[Tile("N", "P", "Q", "F", out, tensor_map=result_map)],
        grid=grid,
        cluster=lambda CLUSTER: CLUSTER,
        block=(THREADS, 1, 1),
        reqntid=(THREADS, 1, 1),
    )


convolution = convolution_of(bf16, bf16)


def convolve(
    x: Any, w: Any, *, of: Kernel = convolution, STRIDE: int = 1, PAD: int = 0, DILATION: int = 1, **params: Any
) -> Any:
    """Convolve NHWC images with RSCF filters; chooses the result's size and the tiles."""
    P, Q = (result_size(x.shape[1 + i], w.shape[i], STRIDE, PAD, DILATION) for i in (0, 1))
    if not {"BM", "BN", "STAGES", "CLUSTER"} & params.keys():
        params |= tiling(x.shape[0] * P * Q, w.shape[3], **{k: v for k, v in params.items() if k == "CTAS"})
    return of(x, w, P=P, Q=Q, STRIDE=STRIDE, PAD=PAD, DILATION=DILATION, **params)


def tiling(pixels: int, F: int, CTAS: int = 132) -> dict[str, int]:
    """Return the tile sizes with the fewest steps, the largest among equals."""

    def steps(tile: tuple[int, int, int]) -> int:
        BM, BN, _ = tile
        return -(-(-(-pixels // (2 * BM)) * -(-F // BN)) // (CTAS // 2)) * BM * BN

    return dict(zip(("BM", "BN", "STAGES"), min(((128, 256, 4), (256, 128, 4), (128, 128, 6)), key=steps), strict=True))


def reference(x: np.ndarray, w: np.ndarray, STRIDE: int = 1, PAD: int = 0, DILATION: int = 1) -> np.ndarray:
    """Return the reference result in NumPy, in f32: one matrix product per tap."""
    R, S = w.shape[:2]
    P, Q = (result_size(x.shape[1 + i], w.shape[i], STRIDE, PAD, DILATION) for i in (0, 1))
    padded = np.pad(x.astype(np.float32), ((0, 0), (PAD, PAD), (PAD, PAD), (0, 0)))
    down, across = (slice(0, (count - 1) * STRIDE + 1, STRIDE) for count in (P, Q))
    taps = (
        padded[:, r * DILATION :, s * DILATION :][:, down, across] @ w[r, s].astype(np.float32)
        for r, s in np.ndindex(R, S)
    )
    return reduce(np.add, taps)


def main() -> None:
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape).astype(np.float16) for shape in ((2, 14, 15, 72), (3, 3, 72, 136)))
    kernel_ = convolution_of(f16, f32)
    for choice in ({"PAD": 1}, {"STRIDE": 2, "PAD": 1}, {"DILATION": 2}):
        compare(
            kernel_,
            [x, w],
            reference(x, w, **choice),
            rtol=1e-3,
            atol=1e-2,
            of=kernel_,
            call=convolve,
            CTAS=4,
            **choice,
        )


if __name__ == "__main__":
    main()
