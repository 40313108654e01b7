"""Published times of stencils, softmax, products, attention and transposes: ladders held out until 2026-11-24.

They were opened on that day, with those of sums and prefix sums in `sum_ladders.py`; the model is developed on them since. Their
rule, which was written after the ladders of `vector_ladders.py` were opened:

1. Sources: public repositories, reports and logs with times or rates of hand-written CUDA kernels in text, whose code or text says
   GPU, sizes, tiles, threads and launches, by authors of none of the development ladders, found by searching for kinds of
   kernels: attention, scans, sums, products in f32, f16, bf16 and int8, transposes, softmax and norms, stencils, sparse matrices,
   sorts, histograms, N-body and convolutions.
2. Of a source all rows of own kernels, a ladder for each GPU, or for each operation where one table has several.
3. Left out, for reasons that do not depend on the model:
   - libraries, and numbers that are published in pictures only;
   - sources that leave the threads of a CTA or the tiles open: products of the sources of vector sums, transposes on an RTX
     3060 Ti, products with mma on H100, f32 steps on RTX 5070 Ti and RTX 5090, norms on an RTX 4070 Ti SUPER, the last steps of
     the products on RTX 4070 and RTX 5080, prefix sums with trees on an RTX 4080 SUPER, sorts on them;
   - sources that leave the GPU open (LSDRadixSort, GEMM_MMA, flash-attn-one-cuda, N-body and Laplace of courses) or its memory
     and clock (transposes on a GTX 1650 of 16 SMs), GPUs whose target the table lacks (V100, TITAN V);
   - sources that contradict themselves: attention at lubits.ch, whose rates do not fit the operations it counts, products on an
     RTX 5090 whose README and code have different sizes, fp8 products whose rates have no sizes;
   - kernels of development ladders measured on other GPUs, such as the followers of github.com/siboehm/SGEMM_CUDA, the f32 steps
     of Kapil Sharma among them;
   - products with wmma smaller than their tiles, and of attention with mma the versions whose code is not at hand;
   - sums with volatile words and without barriers on RTX 5070 Ti, which their author calls obsolete, and the last sum on T4,
     whose grid is not said; the product with copies of libcu++, whose code depends on the version of the toolkit;
   - softmax of rows of more than 8192 in registers: how 512 values of a thread are spilled depends on the assembler;
   - steps of heat that take 27 to 29 us whatever the size, and prefix sums of less than 2^23 elements, of which launches are a
     large part;
   - steps of N bodies in a README that does not say of how many steps its times are.

The kernels are written for this repository after the descriptions (nothing is copied); ladder_data/fresh_*.json has the times,
with source, author, date and method. Registers are those that the sources state, where they state them: 32, 44 and 41 of the
products (here 32 and twice 46, with which as many CTAs fit), 167 of the tiles of warps (168 here), 40 of attention without mma, 18
and 16 of softmax by CTAs (16 and 17); and the sums with atomics have the machine code that their source shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Rung, data_of, source_ladder, zeros

BF16 = np.dtype(ml_dtypes.bfloat16)


def jacobi() -> Iterator[Ladder]:
    """Steps of Jacobi and the copies after them, on 8192 x 8192 points with CTAs of 32 x 8; ns."""
    data, side = data_of("fresh_jacobi"), 8192
    for on, kernels in data["values"].items():
        rungs = []
        for kind, times in kernels.items():
            words = {"f32": 1, "f16": 1, "f32x4": 4, "f16x2": 2}[kind]

            def args(dtype: str = "float16" if kind.startswith("f16") else "float32") -> Sequence[Any]:
                return [np.zeros((side, side), dtype), np.zeros((side, side), dtype), side - 2, side - 2]

            for entry, ns in zip((f"jacobi_{kind}", f"copy_{kind}"), times, strict=True):
                grid = (side // words // 32, side // 8)
                rungs.append(Rung(entry, on, ns / 1e9, "fresh_stencils.ptx", entry, grid, (32, 8), args))
        yield source_ladder("steps of Jacobi", data, rungs)


def heat() -> Iterator[Ladder]:
    """Steps of heat on squares by square CTAs; us. A step's data of a square of 1024 is in L2 from the step before."""
    data, rungs = data_of("fresh_heat"), []
    for name, us in data["values"].items():
        entry, side, points = name.split()[0], *map(int, name.split()[1:])
        grid, smem = -(-(points - 2) // side), 4 * (side + 2) ** 2 if entry == "heat_tile" else 0

        def args(points: int = points) -> Sequence[Any]:
            return [*zeros(points * points, points * points)(), points, 0.24]

        file, square = "fresh_stencils.ptx", (grid, grid)
        rungs.append(Rung(name, data["gpu"], us / 1e6, file, entry, square, (side, side), args, smem, repeated=True))
    yield source_ladder("steps of heat", data, rungs)


def softmax() -> Iterator[Ladder]:
    """Softmax of 2048 rows of f32 by columns; GB/s."""
    data, rows, rungs = data_of("fresh_softmax"), 2048, []
    for kernel, rates in data["values"].items():
        for columns, rate in zip(data["columns"], rates, strict=False):  # of rows kept in registers there are fewer
            warps = kernel == "kept"

            def args(columns: int = columns, warps: bool = warps) -> Sequence[Any]:
                both = zeros((rows, columns), (rows, columns))()
                return both if warps else [*both, columns]

            name, seconds = f"{kernel} {columns}", 8 * rows * columns / (rate * 1e9)
            entry, grid, block = (f"kept_{columns}", rows // 4, (32, 4)) if warps else (kernel, rows, (256,))
            smem, file = 1024 if kernel == "passes" else 0, "fresh_softmax.ptx"
            rungs.append(Rung(name, data["gpu"], seconds, file, entry, (grid,), block, args, smem, isolated=True))
    yield source_ladder("softmax of rows", data, rungs)


# tile, and threads of a CTA
TILES: dict[str, tuple[int, tuple[int, ...]]] = {
    "rows": (32, (32, 32)),
    "columns": (32, (32, 32)),
    "tile": (32, (32, 32)),
    "column_tile": (64, (512,)),
    "square_tile": (128, (256,)),
    "staged": (64, (64,)),
    "vector_tile": (64, (256,)),
    "warp_tiles": (128, (128,)),
}


def sgemm_log() -> Iterator[Ladder]:
    """Steps of a product; ms."""
    data, rungs = data_of("fresh_sgemm_log"), []
    for entry, ms in data["values"].items():
        size, (tile, block) = 4092 if entry in ("rows", "columns") else 4096, TILES[entry]
        side = -(-size // tile)

        def args(size: int = size) -> Sequence[Any]:
            a, b, c = zeros(*[(size, size)] * 3)()
            return [size, size, size, 1.0, a, b, 0.0, c]

        grid = (side * side,) if entry == "warp_tiles" else (side, side)
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, "fresh_products.ptx", entry, grid, block, args))
    yield source_ladder("log of products", data, rungs)


def square_products() -> Iterator[Ladder]:
    """Products of square matrices, launched again and again on the same: GFLOP/s by size, and ms of 4096."""
    data = data_of("fresh_products")
    blocks = {"element": (16, 16), "shared_32": (32, 32), "coarse": (32, 16)}  # tile, and side of a CTA

    def rung(entry: str, on: str, size: int, seconds: float) -> Rung:
        tile, side = blocks[entry]
        grid, block = (size // tile, size // tile), (side, side)

        def args() -> Sequence[Any]:
            return [*zeros(*[(size, size)] * 3)(), size]

        name, file = f"{entry} {size}", "fresh_products.ptx"
        return Rung(name, on, seconds, file, entry, grid, block, args, repeated=True)

    on, rungs = "RTX 4070", []
    for entry, rates in data["values"][on].items():
        for size, rate in zip(data["sizes"], rates, strict=True):
            rungs.append(rung(entry, on, size, 2 * size**3 / (rate * 1e9)))
    yield source_ladder("square products", data, rungs)
    on = "RTX 5080"
    yield source_ladder(
        "square products", data, [rung(one, on, 4096, ms / 1e3) for one, ms in data["values"][on].items()]
    )


def attention() -> Iterator[Ladder]:
    """Attention of 32 heads of 128 f16 by tokens; ms."""
    data, heads, width, rungs = data_of("fresh_attention"), 32, 128, []
    for entry, times in data["values"].items():
        for tokens, ms in zip(data["tokens"], times, strict=True):

            def args(tokens: int = tokens, rows: bool = entry == "by_rows") -> Sequence[Any]:
                own = zeros(*[(heads, tokens, width)] * 4, dtype="float16")()
                return [*own, *(zeros((heads, tokens, tokens))() if rows else ()), tokens, width**-0.5]

            own, threads, smem = (256, 256, 0) if entry == "by_rows" else (64, 128, 98816)
            grid, name, file = (tokens // own, heads), f"{entry} {tokens}", "fresh_attention.ptx"
            rungs.append(Rung(name, data["gpu"], ms / 1e3, file, entry, grid, (threads,), args, smem))
    yield source_ladder("attention without mma", data, rungs)


def flash() -> Iterator[Ladder]:
    """Causal attention of 12 heads of 64 f16 by batches and tokens; TFLOP/s, as if no key were masked."""
    data, heads, width, rungs = data_of("fresh_flash"), 12, 64, []
    for kernel, rates in data["values"].items():
        for sizes, rate in rates.items():
            batches, tokens = map(int, sizes.split())
            small = kernel == "async" and batches * heads * tokens // 64 < 2 * 84  # too few CTAs for two on each SM
            entry, own = (f"async_{32 if small else 64}", 32 if small else 64) if kernel == "async" else (kernel, 64)
            smem = 2 * (width + 8) * (own + 128 + (0 if kernel == "async" else own)) + 16 * own
            seconds = 4 * batches * heads * tokens**2 * width / (rate * 1e12)

            def args(rows: int = batches * heads, tokens: int = tokens) -> Sequence[Any]:
                own = zeros(*[(rows, tokens, width)] * 4, dtype="float16")()
                return [*own, *zeros((rows, tokens))(), tokens, width**-0.5]

            grid, block, file = (tokens // own, batches * heads), (32, own // 8), "fresh_flash.ptx"
            name = f"{kernel} {sizes}"
            rungs.append(Rung(name, data["gpu"], seconds, file, entry, grid, block, args, smem, repeated=True))
    yield source_ladder("attention with mma", data, rungs)


def wmma_products() -> Iterator[Ladder]:
    """Products of 16-bit matrices with wmma by size, tiles of 256 x 128; TFLOP/s."""
    data, rungs = data_of("fresh_wmma"), []
    for entry, rates in data["values"].items():
        for name, rate in rates.items():
            size, of = int(name), np.dtype("float16") if entry.endswith("_f16") else BF16

            def args(size: int = size, of: np.dtype = of) -> Sequence[Any]:
                a, b = zeros(*[(size, size)] * 2, dtype=of)()
                return [size, size, 1.0, a, b, 0.0, *zeros((size, size))()]

            grid, seconds, file = (size // 128, size // 256), 2 * size**3 / (rate * 1e12), "fresh_wmma.ptx"
            rungs.append(Rung(f"{entry} {size}", data["gpu"], seconds, file, entry, grid, (512,), args, repeated=True))
    yield source_ladder("products with wmma", data, rungs)


def moves() -> Iterator[Ladder]:
    """Sums of vectors by threads of a CTA, and transposes of 2^24 f32 through tiles; the data is larger than L2."""
    data, file = data_of("fresh_add"), "fresh_moves.ptx"
    for on, values in data["values"].items():
        count, rungs = 1 << (30 if on == "H100 SXM" else 26), []
        for threads, value in values.items():

            def args(count: int = count) -> Sequence[Any]:
                return [*zeros(count, count, count)(), count]

            seconds = value / 1e3 if on == "H100 SXM" else 12 * count / (value * 2**30)
            grid, block = (count // int(threads),), (int(threads),)
            rungs.append(Rung(f"add, {threads} threads", on, seconds, file, "add", grid, block, args, repeated=True))
        yield source_ladder("vectors by threads", data, rungs)
    data, rungs = data_of("fresh_transposes"), []
    for sizes, values in data["values"].items():
        rows, columns = map(int, sizes.split())
        for entry, ms in values.items():
            side = 16 if entry == "plain" else int(entry.rpartition("_")[2])

            def args(rows: int = rows, columns: int = columns) -> Sequence[Any]:
                return [*zeros((rows, columns), (columns, rows))(), rows, columns]

            name, grid, block = f"{entry} {sizes}", (columns // side, rows // side), (side, side)
            rungs.append(Rung(name, data["gpu"], ms / 1e3, file, entry, grid, block, args, repeated=True))
    yield source_ladder("transposes", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    products = (sgemm_log(), square_products(), wmma_products(), attention(), flash())
    yield from chain(jacobi(), heat(), softmax(), *products, moves())
