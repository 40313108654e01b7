"""Published times of products in steps and by size, and of the lessons of a course: held out until 2026-11-24.

They and those of `norm_ladders.py` were opened on that day with model 13; the model is developed on them since. Their rule, which was
written after the ladders of `shape_ladders.py` were opened and before a source was looked for:

1. Sources: public repositories, articles, reports and logs with times or rates in text of hand-written CUDA kernels, by authors of
   none of the development ladders, found by searching for kinds of kernels: products in f32, f16, bf16 and int8, products with a
   vector, attention, norms, softmax, sums, scans, transposes, stencils, histograms, convolutions, sparse matrices, N-body,
   elementwise kernels and dequantization. Triton kernels count where their source is at hand.
2. A source counts when it has all of these, in itself and not by a guess of ours:
   - the product name of the GPU;
   - the code of the measured kernels, or a description that says tiles, threads, elements and vectors of a thread and shared memory;
   - sizes, types and launches;
   - the method: launches before the timed ones and how many are timed, or the duration that a profiler reports. A single launch
     that only a host clock times does not count;
   - agreement: times and rates fit each other, and no row exceeds the peak of the GPU, or its DRAM where the data exceeds L2.
3. Of a source all rows of own kernels, a ladder for each GPU, or for each operation where one table has several. No ladder has fewer
   than three rungs. Of a source with more than 24 rows, those of the largest sizes, 24 at most, whole sizes, types
   or operations at a time.
4. Left out, for reasons that do not depend on the model:
   - libraries, generated kernels (TVM, TileLang, CUTLASS), and numbers that are published in pictures only;
   - kernels of development ladders measured on other GPUs, such as the followers of github.com/siboehm/SGEMM_CUDA;
   - GPUs whose target the table lacks, or whose clock and memory no data sheet says;
   - launches of less than 10 us, rows of sizes that a kernel refuses or does not cover, wrong results, and times that include
     copies between host and device, or compilation;
   - kernels whose time depends on data that the source does not say.
5. A source that was chosen stays, whatever its times; kernels are compared with it only by what it says of its own (registers,
   shared memory, CTAs of an SM, machine code).

What that came to: of the norms with a residual and the gradients those in f32 and f16, without the plain norms; of the operations of
inference the largest sizes; of the products with a vector those on RTX 3090 that take 10 us or more; of the products by wgmma those
without tensor maps; of the products in steps those whose code is at hand, on three of four GPUs, without those of tables that
are ladders already; of the course the lessons whose kernels and data are all described. Left out are also reductions on an RTX 3070
Ti without launches and norms on an RTX 3060 with a peak that it does not have, N-body on an RTX 4070 and an RTX 3080 that do not say
how they were timed, additions by grids whose times differ by 2 %, sums on an RTX 4090 Laptop that exceed its DRAM, a study on H100
SXM5 whose copies reach 60 % of its memory, products on an RTX 4090 with rounded rates, and stencils, scans, histograms and sparse
products whose texts have no GPU, no method or an example of an output.

Inferred: the clock of the RTX 3060 Laptop and its memory from its profiles, that of the RTX 3500 Ada Laptop from the peak of f32 that
its lessons measure (its memory and L2 are stated), and that A800-SXM4-80GB has what an A100 SXM 80GB has; that four of the seven
products by wgmma follow those whose code was read by the changes that the text names; that the angles of the chains, which lie between
-6 and 6, are spread evenly; and the weights of the convolution, which no time depends on.

The kernels are written for this repository after the descriptions (nothing is copied); ladder_data/sealed_*.json has the times, with
source, author, date and method. Registers are those that the sources state, where they state them, within 2 of most: of the norms
36 to 56 (37 to 55 there) and 24 to 40 in f16, of the gradients 40 to 48 and 128 (38 to 43 and 128), 30, 38 and 114 in f16 (38, 40 and
114), 123 of the products by mma (122), 40 and 39 of the convolutions (the same).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Rung, data_of, source_ladder, zeros

# columns and rows of a CTA's tile, and its threads
TILES = {
    "tiles_64": (64, 64, (16, 8)),
    "vector_tiles_64": (64, 64, (16, 8)),
    "warp_vectors": (128, 64, (128,)),
    "warp_padded": (128, 64, (128,)),
    "two_stages": (128, 128, (128,)),
    "wmma_global": (64, 64, (128, 4)),
    "wmma_shared": (64, 64, (128,)),
    "wmma_stages": (64, 128, (256,)),
    "mma_stages": (128, 128, (256,)),
    "one_buffer": (64, 64, (128,)),
    "two_buffers_64": (64, 64, (128,)),
    "two_buffers_128": (128, 128, (512,)),
    "stages_2": (128, 128, (512,)),
    "stages_4": (128, 128, (512,)),
    "columns_128": (128, 128, (256,)),
    "columns_256": (256, 128, (256,)),
}


def product(on: str, entry: str, size: int, seconds: float, file: str, args: Callable[[], Sequence[Any]]) -> Rung:
    """Return the rung of a product of square matrices."""
    across, down, block = TILES[entry]
    grid, shared = (size // across, size // down), 61440 if entry == "mma_stages" else 0
    return Rung(f"{entry} {size}", on, seconds, file, entry, grid, block, args, shared, repeated=True)


def products() -> Iterator[Ladder]:
    """Products of 4096 x 4096 in steps, f32 and bf16; GFLOP/s. A ladder for each GPU."""
    data, size = data_of("sealed_products"), 4096

    def floats() -> Sequence[Any]:
        a, b, c = zeros(*[(size, size)] * 3)()
        return [size, size, size, 1.0, a, b, 0.0, c]

    def bf16() -> Sequence[Any]:
        a, b = zeros(*[(size, size)] * 2, dtype=np.dtype(ml_dtypes.bfloat16))()
        return [size, size, size, a, b, np.zeros((size, size), np.float32)]

    for on, rates in data["values"].items():
        rungs = []
        for entry, rate in rates.items():
            file, args = ("sealed_wmma.ptx", bf16) if "mma" in entry else ("sealed_products.ptx", floats)
            rungs.append(product(on, entry, size, 2 * size**3 / (rate * 1e9), file, args))
        yield source_ladder("products in steps up to tensor cores", data, rungs)


def wgmma() -> Iterator[Ladder]:
    """Products of f16 matrices by wgmma in steps and by size; TFLOP/s."""
    data, rungs = data_of("sealed_wgmma"), []
    for entry, rates in data["values"].items():
        for name, rate in rates.items():

            def args(size: int = int(name)) -> Sequence[Any]:
                a, b = zeros(*[(size, size)] * 2, dtype="float16")()
                return [a, b, np.zeros((size, size), np.float32), size]

            seconds = 2 * int(name) ** 3 / (rate * 1e12)
            rungs.append(product(data["gpu"], entry, int(name), seconds, "sealed_wgmma.ptx", args))
    yield source_ladder("products by wgmma in steps", data, rungs)


def two_stages() -> Iterator[Ladder]:
    """Products of f32 matrices by size; ms."""
    data, rungs = data_of("sealed_two_stages"), []
    for name, ms in data["values"].items():

        def args(size: int = int(name)) -> Sequence[Any]:
            return [*zeros(*[(size, size)] * 3)(), size, size, size, 1.0, 0.0]

        rungs.append(product(data["gpu"], "two_stages", int(name), ms / 1e3, "sealed_products.ptx", args))
    yield source_ladder("products by size, two stages", data, rungs)


def points() -> Sequence[Any]:
    """Return the places of queries and points, weights and table that the source says, and room for the results."""
    queries, count = 262111, 4093
    i, j = np.arange(queries), np.arange(count)
    asked = np.stack([4 * (i * 7919 % 1013) / 1013, 4 * (i * 6271 % 977) / 977], 1).astype(np.float32)
    places = np.stack([4 * (j * 211 % 499) / 499, 4 * (j * 307 % 443) / 443], 1).astype(np.float32)
    mass, table = 0.01 * (1 + j % 97).astype(np.float32), ((1 - np.arange(33) / 32) ** 2).astype(np.float32)
    return [asked, places, mass, table, np.zeros(queries, np.float32), queries, count]


def lessons() -> Iterator[Ladder]:
    """A convolution by outputs of a thread (GFLOP/s), sums over points, and chains of operations (ms)."""
    data, side, file = data_of("sealed_lessons"), 2048, "sealed_lessons.ptx"
    on, values, rungs = data["gpu"], data["values"], []
    for entry, rate in values["convolution"].items():

        def images() -> Sequence[Any]:
            return zeros((side, side), (side, side))()

        outputs = int(entry.partition("_")[2] or 1)
        grid, seconds = (side // 32, side // (8 * outputs)), 2 * side**2 * 17**2 / (rate * 1e9)
        rungs.append(Rung(entry, on, seconds, file, entry, grid, (32, 8), images, repeated=True))
    yield source_ladder("a convolution of 17 x 17", data, rungs)
    one = Rung("points", on, 0, file, "points", (1024,), (256,), points, repeated=True)
    rungs = [
        replace(one, name=entry, entry=entry, seconds=ms / 1e3, smem_bytes=0 if entry == "points" else 3208)
        for entry, ms in values["points"].items()
    ]
    yield source_ladder("sums over points", data, rungs)
    count, rungs = 1 << 25, []

    def angles() -> Sequence[Any]:
        return [np.linspace(-6, 6, count, dtype=np.float32), np.zeros(count, np.float32), count]

    for kind, times in values["chains"].items():
        for length, ms in times.items():
            entry, file = f"{kind}_{length}", "sealed_chains.ptx"
            rungs.append(Rung(entry, on, ms / 1e3, file, entry, (320,), (256,), angles, repeated=True))
    yield source_ladder("chains of operations", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    return chain(products(), wgmma(), two_stages(), lessons())
