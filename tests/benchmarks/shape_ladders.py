"""Published times of products, softmax, transposes, forces and vectors, by steps, sizes and shapes of CTAs: held out until 2026-11-24.

They were opened on that day with model 11; the model is developed on them since. Their rule, which was written after the ladders of
`tile_ladders.py` and `sum_ladders.py` were opened:

1. Sources: public repositories, articles, reports and logs with times or rates of hand-written CUDA kernels in text, whose code or
   text says GPU, sizes, tiles, threads and launches, by authors of none of the development ladders, found by searching for kinds
   of kernels: products in f32, f16 and bf16, attention, softmax and norms, sums and scans, transposes, stencils, histograms,
   convolutions, sparse matrices, N-body, Black-Scholes, dequantization, elementwise kernels and products with a vector.
2. Of a source all rows of own kernels, a ladder for each GPU, or for each operation where one table has several.
3. Left out, for reasons that do not depend on the model:
   - libraries, generated kernels (Triton, TVM, TileLang, CUTLASS), and numbers that are published in pictures only;
   - sources that leave the threads of a CTA, the tiles, the sizes or the GPU open, or that contradict themselves: rates that do
     not fit the operations they count, sizes of the text that are not those of the code;
   - kernels of development ladders measured on other GPUs, such as the followers of github.com/siboehm/SGEMM_CUDA;
   - GPUs whose target the table lacks, or whose clock and memory no data sheet says;
   - launches of less than 10 us of which the time of the host or of the launch is most, and rows of sizes that a kernel refuses;
   - times that include copies between host and device, or compilation.

What that came to: of products by 64 sizes those of powers of two from 2048 on; of the products on T4 those whose tiles their code
fixes, of its other kernels the transposes; of products on an RTX 5090 by orders of the CTAs those in plain order, since the others
leave tiles out; of profiles on H200 the softmax, without a row that is there twice and one whose operations are those of twice its
rows: the rates of its products differ by 40 %, and its sums of vectors are of several kernels. Left out are also the copies and
transposes of a study on H100 SXM5, whose driver reports another L2 and whose copies reach 60 % of the memory that it names,
products on an RTX A4000 whose library exceeds the peak, the elementwise kernels, softmax and norms of
github.com/xlite-dev/LeetCUDA, which do not name the GPU, sums on an RTX 4060 Ti and products on an RTX 4090 without barriers or
without code, and the transposes and sums of single steps on A100.

Inferred: that the A100 of the f16 products is an SXM one with 40 GB (the library reaches 274 TFLOP/s there), the clock of H200 from
the instructions and cycles of its profiles, and the GPU of the tensor that is doubled from the other profiles of its repository.

The kernels are written for this repository after the descriptions (nothing is copied); ladder_data/blind_*.json has the times, with
source, author, date and method. Registers are those that the sources state, where they state them: 34 of the matrix of forces (32
here), 18 of the softmax on H200 (17), 16 of a x + y (12) and about 100 of the products with vectors on T4 (113 and 128).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Rung, data_of, source_ladder, zeros

DTYPES = {"f32": np.dtype("float32"), "f16": np.dtype("float16"), "bf16": np.dtype(ml_dtypes.bfloat16)}


def t4() -> Iterator[Ladder]:
    """Transposes of 4096 x 4096 by 32 x 32 threads, and products by tiles; ms, and GFLOP/s by size."""
    data, side, rungs = data_of("blind_t4_transposes"), 4096, []
    for entry, ms in data["values"].items():

        def args() -> Sequence[Any]:
            return [*zeros((side, side), (side, side))(), side, side]

        grid = (side // 32, side // 32)
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, "blind_moves.ptx", entry, grid, (32, 32), args, repeated=True))
    yield source_ladder("transposes of 4096 x 4096", data, rungs)
    data = data_of("blind_t4_products")
    times = {name: ms / 1e3 for name, ms in data["values"].items()}
    for entry, rates in data["rates"].items():
        times |= {f"{entry} {size}, rate": 2 * int(size) ** 3 / (rate * 1e9) for size, rate in rates.items()}
    rungs = []
    for name, seconds in times.items():
        entry, size = name.split(",")[0].split()
        tile, threads = (64, 512) if entry == "column_tiles" else (128, 256)

        def args(size: int = int(size)) -> Sequence[Any]:
            a, b, c = zeros(*[(size, size)] * 3)()
            return [size, size, size, 1.0, a, b, 0.0, c]

        grid, file = (int(size) // tile, int(size) // tile), "blind_products.ptx"
        rungs.append(Rung(name, data["gpu"], seconds, file, entry, grid, (threads,), args, repeated=True))
    yield source_ladder("products by tiles", data, rungs)


# tile of a CTA (rows, columns, depth), stages and padding of its shared memory
STEPS = {
    "wmma_elements": (128, 128, 32, 1, 0),
    "wmma_vectors": (128, 128, 32, 1, 8),
    "wmma_stages": (256, 128, 32, 3, 8),
    "wmma_two_sets": (256, 128, 32, 3, 8),
    "mma_padded": (128, 128, 64, 1, 8),
    "mma_xor": (128, 128, 64, 1, 0),
    "mma_stages": (256, 128, 32, 3, 0),
    "mma_two_sets_3": (256, 128, 32, 3, 0),
    "mma_two_sets_4": (256, 128, 32, 4, 0),
    "mma_two_sets_5": (256, 128, 32, 5, 0),
    "mma_ordered_32": (256, 128, 32, 4, 0),
    "mma_ordered_64": (256, 128, 64, 3, 0),
}


def f16_launch(entry: str, m: int, n: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return grid, threads and bytes of shared memory of a step of the f16 products."""
    rows, columns, depth, stages, pad = STEPS[entry]
    grid = (m // rows, n // columns)
    if entry.startswith("mma_ordered"):
        grid = (8, m // rows, -(-n // columns // 8))
    simple = entry in ("wmma_elements", "wmma_vectors")
    halves = stages * (rows + columns) * (depth + pad)
    smem = 2 * (halves if simple else max(halves, rows * (columns + 8)))
    return grid, (32, 2, 2) if simple else (rows,), smem


def f16_steps() -> Iterator[Ladder]:
    """Steps of products of f16 matrices; TFLOP/s by size."""
    data = data_of("blind_f16_steps")
    for name, rates in data["values"].items():
        size, rungs = int(name), []
        for entry, rate in rates.items():

            def args(size: int = size) -> Sequence[Any]:
                return [size, size, size, *zeros(*[(size, size)] * 3, dtype="float16")()]

            (grid, block, smem), seconds = f16_launch(entry, size, size), 2 * size**3 / (rate * 1e12)
            timed = {"isolated": True, "repeated": True}
            rungs.append(Rung(entry, data["gpu"], seconds, "blind_mma.ptx", entry, grid, block, args, smem, **timed))
        yield source_ladder(f"f16 products in steps, {size}", data, rungs)


def stages() -> Iterator[Ladder]:
    """Products of f16 matrices by size, tiles of 128 x 128 with three stages; ms."""
    data, rungs = data_of("blind_stages"), []
    for name, ms in data["values"].items():
        size = int(name)

        def args(size: int = size) -> Sequence[Any]:
            return [*zeros(*[(size, size)] * 3, dtype="float16")(), size, size, size]

        grid, file, entry = (size // 128, size // 128), "blind_wmma.ptx", "stages_of_16"
        rungs.append(Rung(name, data["gpu"], ms / 1e3, file, entry, grid, (512,), args, 24576, repeated=True))
    yield source_ladder("f16 products by size", data, rungs)


def bodies() -> Iterator[Ladder]:
    """Forces between bodies, and their sums; us."""
    data, rungs = data_of("blind_bodies"), []
    for entry, times in data["values"].items():
        for name, us in times.items():
            count = int(name)

            def args(count: int = count, entry: str = entry) -> Sequence[Any]:
                matrix = [np.zeros((count, count, 4), np.float32)] if entry != "tiles" else []
                sums = [np.zeros((count, 4), np.float32)] if entry != "force_matrix" else []
                return [*([] if entry == "row_sums" else zeros(*[count] * 7)()), *matrix, *sums, count]

            sides = {"force_matrix": (count // 16, count // 16), "row_sums": (count,), "tiles": (count // 256,)}
            block, smem = (16, 16) if entry == "force_matrix" else (256,), 4096 if entry == "row_sums" else 0
            name, file = f"{entry} {count}", "blind_bodies.ptx"
            rungs.append(Rung(name, data["gpu"], us / 1e6, file, entry, sides[entry], block, args, smem, repeated=True))
    yield source_ladder("forces between bodies", data, rungs)


def row_softmax() -> Iterator[Ladder]:
    """Softmax of rows of a batch, forward and backward; ms."""
    data = data_of("blind_row_softmax")
    for way, times in data["values"].items():
        rungs, arrays = [], 2 if way == "forward" else 3
        for name, ms in times.items():
            *sizes, of = name.split()
            batch, tokens, columns = map(int, sizes)
            rows, threads = batch * tokens, min(1024, columns)

            def args(rows: int = rows, columns: int = columns, of: str = of, arrays: int = arrays) -> Sequence[Any]:
                return [*zeros(*[(rows, columns)] * arrays, dtype=DTYPES[of])(), rows, columns]

            smem, entry, file = (4 if way == "backward" else 8) * threads // 32, f"{way}_{of}", "blind_softmax.ptx"
            rungs.append(Rung(name, data["gpu"], ms / 1e3, file, entry, (rows,), (threads,), args, smem))
        yield source_ladder(f"softmax of a batch, {way}", data, rungs)


def profiled_moves() -> Iterator[Ladder]:
    """Transposes of 9600 x 9600 (ms) and sums of vectors of 2^24 (us)."""
    data, side, count, file, rungs = data_of("blind_9600_transposes"), 9600, 1 << 24, "blind_moves.ptx", []
    for name, ms in data["values"].items():
        entry, x, y = name.split()[0], *map(int, name.split()[1:])
        tile = (int(x), int(y)) if entry in ("scatter", "gather") else (16, 64) if entry == "gather_16_64" else (32, 32)

        def args() -> Sequence[Any]:
            return [*zeros((side, side), (side, side))(), side, side]

        grid = (side // tile[0], side // tile[1])
        rungs.append(Rung(name, data["gpu"], ms / 1e3, file, entry, grid, (x, y), args))
    yield source_ladder("transposes of 9600 x 9600", data, rungs)
    rungs = []
    for entry, us in data["sums"].items():

        def vectors() -> Sequence[Any]:
            return [*zeros(count, count, count)(), count]

        grid = (count // (1024 if entry == "add_vectors" else 256),)
        rungs.append(Rung(entry, data["gpu"], us / 1e6, file, entry, grid, (256,), vectors))
    yield source_ladder("sums of vectors", data, rungs)


def blocks() -> Iterator[Ladder]:
    """A tensor of 19200 x 10800 x 4 doubled, a x + y of 2^28, and a product by elements, by shapes of CTAs; ms.

    The grid of the tensor adds the first side of a CTA, less one, to all of its sides before it divides them by those of the CTA, so
    that most CTAs have nothing to do, or, where the second side is greater, a few rows are left out.
    """
    data, on, sides, rungs = data_of("blind_blocks"), "RTX 3090", (19200, 10800, 4), []
    profiled = f"{on} at 1.39 GHz"
    for name, ms in data["values"]["tensor"].items():
        block = tuple(map(int, name.split()))
        grid = tuple((one + block[0] - 1) // of for one, of in zip(sides, block, strict=True))

        def tensor() -> Sequence[Any]:
            return [np.zeros(sides[::-1], np.float32), *sides]

        file = "blind_moves.ptx"
        rungs.append(Rung(name, on, ms / 1e3, file, "doubled", grid, block, tensor, isolated=True))
    yield source_ladder("a tensor doubled", data, rungs)
    count, rungs = 1 << 28, []
    for name, ms in data["values"]["saxpy"].items():

        def vectors() -> Sequence[Any]:
            return [2.0, *zeros(count, count, count)(), count]

        threads = int(name)
        grid = (-(-count // threads),)
        rungs.append(Rung(name, profiled, ms / 1e3, "blind_moves.ptx", "saxpy", grid, (threads,), vectors))
    yield source_ladder("a x + y by threads", data, rungs)
    m, n, k, rungs = 4000, 3000, 2000, []
    for name, ms in data["values"]["elements"].items():

        def matrices() -> Sequence[Any]:
            return [*zeros((m, k), (k, n), (m, n))(), m, n, k]

        x, y = map(int, name.split())
        grid, file = (-(-n // x), -(-m // y)), "blind_products.ptx"
        rungs.append(Rung(name, profiled, ms / 1e3, file, "elements", grid, (x, y), matrices))
    yield source_ladder("products by elements", data, rungs)


def products_4090() -> Iterator[Ladder]:
    """Products of 4096 x 4096, and softmax of 1024 rows of 65536; ms."""
    data, size, rungs = data_of("blind_4090"), 4096, []
    for entry, ms in data["values"]["products"].items():
        tile = 64 if entry == "square_tiles" else 32
        block = {"shared_tiles": (1024,), "square_tiles": (64,)}.get(entry, (32, 32))

        def matrices() -> Sequence[Any]:
            a, b, c = zeros(*[(size, size)] * 3)()
            return [size, size, size, 0.5, a, b, 3.0, c]

        grid, file = (size // tile, size // tile), "blind_products.ptx"
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, file, entry, grid, block, matrices, isolated=True))
    yield source_ladder("products of 4096 x 4096", data, rungs)
    rows, columns, rungs = 1024, 65536, []
    for entry, ms in data["values"]["softmax"].items():

        def both() -> Sequence[Any]:
            return [*zeros((rows, columns), (rows, columns))(), columns, rows * columns]

        grid, smem = (
            (rows // 256 if entry == "row_threads" else rows,),
            {"row_trees": 2048, "row_shuffles": 64}.get(entry, 0),
        )
        file = "blind_softmax.ptx"
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, file, entry, grid, (256,), both, smem, isolated=True))
    yield source_ladder("softmax of long rows", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    yield from chain(t4(), f16_steps(), stages(), bodies(), row_softmax(), profiled_moves(), blocks(), products_4090())
