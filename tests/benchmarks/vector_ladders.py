"""Published times of streams, sums, elementwise kernels and norms: ladders held out until 2026-11-24.

They were opened in the night of that day; the model is developed on them since. The products of their half are in
`product_ladders.py`, and ladder_data/*.json has their times, with source, author, date and method. Their rule:

1. Sources: public repositories, reports and logs with times or rates of CUDA kernels in text, whose code or text says GPU, sizes,
   tiles, threads and launches, by authors of none of the development ladders, found by searching for kinds of kernels: steps of
   products, sums, norms, elementwise kernels, streams.
2. Of a source all rows of own kernels, a ladder for each GPU, or for each operation where one table has several.
3. Left out, for reasons that do not depend on the model:
   - libraries, and numbers that are published in pictures only: github.com/alexarmbr/matmul-playground;
   - sources that do not say the threads of a CTA: github.com/MasterSkepticista/parallel_reductions_cuda, products with WMMA;
   - github.com/ReinForce-II/mmapeak, whose rates on H100 and RTX 5090 are above the peak of the units: its two products per
     step are equal, and whether a compiler drops one depends on its version;
   - kernels of development ladders measured on other GPUs (github.com/siboehm/SGEMM_CUDA and its forks);
   - rows of more than 1024 vectors of the norms with residuals, for which their source has a second kernel;
   - https://github.com/1fni/cuda-spmv-benchmark, with three rows, and studies of which only ratios are published.

The kernels are written for this repository after the descriptions (nothing is copied).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Launches, Rung, data_of, device, zeros

BF16 = np.dtype(ml_dtypes.bfloat16)


def streams() -> Iterator[Ladder]:
    """Streams of 2^25 f64 by CTAs of 1024, and a product by four CTAs per SM; GB/s."""
    data, count, threads, file = data_of("babel_streams"), 1 << 25, 1024, "five_streams.ptx"
    arrays = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "dot": 2}
    for on, rates in data["values"].items():
        ctas, rungs = device(on).sms * 4, []
        for (kernel, of), rate in zip(arrays.items(), rates, strict=True):

            def args(of: int = of, kernel: str = kernel, ctas: int = ctas) -> Sequence[Any]:
                own = [np.zeros(count) for _ in range(of)]
                return [*own, np.zeros(ctas), count] if kernel == "dot" else own

            grid, seconds = (ctas if kernel == "dot" else count // threads,), of * 8 * count / (rate * 1e9)
            entry = f"five_{kernel}"
            rungs.append(Rung(kernel, on, seconds, file, entry, grid, (threads,), args, isolated=True))
        yield Ladder(f"five streams, {on}", f"{data['url'][on]} ({data['source']})", tuple(rungs))


def sums() -> Iterator[Ladder]:
    """Sums of 2^30 words by CTAs of 512: GB/s. The first two launch a second kernel of one CTA for the sums of the first."""
    data, count, threads, batch, file = data_of("batch_sums"), 1 << 30, 512, 12, "batch_sums.ptx"
    on, rungs = data["gpu"], []
    for entry, rate in data["values"].items():
        seconds = 4 * count / (rate * 1e9)
        words = batch if entry.endswith(("words", "vectors")) else 1
        grid = -(-count // (threads * words))
        results = grid if entry.startswith("pass") else 1

        def args(results: int = results) -> Sequence[Any]:
            return [np.zeros(count, np.int32), np.zeros(results, np.int32), count]

        def again(results: int = results) -> Sequence[Any]:
            return [np.zeros(results, np.int32), np.zeros(1, np.int32), results]

        first = Rung(entry, on, seconds, file, entry, (grid,), (threads,), args)
        second = Rung(entry, on, 0, file, entry, (1,), (threads,), again)
        rungs.append(Launches(entry, on, seconds, (first, second)) if results > 1 else first)
    yield Ladder(f"sums in batches, {on}", f"{data['url']} ({data['source']})", tuple(rungs))


TOKENS, COLUMNS, HEADS, TIMES = (8, 1024), 768, 2, 4  # of the kernels of a llama


def llama_rung(entry: str, on: str, threads: int, ms: float) -> Rung:
    rows, width = TOKENS[0] * TOKENS[1], COLUMNS // (HEADS * TIMES)
    if entry.startswith("gate"):
        count = rows * COLUMNS
        args = zeros(*[count] * (5 if "back" in entry else 3), dtype=BF16)
        per, operands = threads * (8 if "vectors" in entry else 1), lambda: [*args(), count]
        grid: tuple[int, ...] = (-(-count // per),)
    elif entry.startswith("norm"):
        of_norm = zeros(rows * COLUMNS, rows * COLUMNS, COLUMNS, COLUMNS)
        grid, operands = (
            (-(-rows * (1 if entry == "norm_thread" else 32) // threads),),
            (lambda: [*of_norm(), rows, COLUMNS]),
        )
    else:
        few, many = rows * HEADS * width, rows * HEADS * TIMES * width
        sizes = (many, many, few, few) if entry.startswith("repeat") else (few, few, many, many)
        of_heads, operands = zeros(*sizes), (lambda: [*of_heads(), TOKENS[1], HEADS, TIMES, width])
        grid = (*TOKENS, HEADS if entry.endswith("heads") else -(-(width + threads - 1) // threads))
    name = f"{entry}, {threads} threads"
    return Rung(name, on, ms / 1e3, "gated_rows.ptx", entry, grid, (threads,), operands, isolated=True)


def llamas() -> Iterator[Ladder]:
    data = data_of("gated_rows")
    on, source = data["gpu"], f"{data['url']} ({data['source']})"
    for name, entries in {
        "SwiGLU by threads": ("gate", "gate_vectors"),
        "gradients of SwiGLU by threads": ("gate_back", "gate_back_vectors"),
        "RMS norm by threads": ("norm_thread", "norm_warp"),
        "heads repeated and added up": ("repeat_tokens", "repeat_heads", "add_tokens", "add_heads"),
    }.items():
        rows = [(entry, int(threads), ms) for entry in entries for threads, ms in data["values"][entry].items()]
        rungs = tuple(llama_rung(entry, on, threads, ms) for entry, threads, ms in rows)
        yield Ladder(f"{name}, {on}", source, rungs)


def norms() -> Iterator[Ladder]:
    """RMS norms of 4096 rows plus a residual, as many CTAs as fit: microseconds by columns. Vectors of 32 bytes on B200."""
    data, rows = data_of("residual_norm"), 4096
    for on, by_columns in data["values"].items():
        wide, rungs = on.startswith("B200"), []
        per = 16 if wide else 8  # columns of a vector
        warps_per_sm = 42 if wide else 64  # 48 and 32 registers per thread
        for text, us in by_columns.items():
            columns = int(text)
            vectors = columns // per
            warps = -(-vectors // 32)
            grid = (device(on).sms * min(32, warps_per_sm // warps),)

            def args(columns: int = columns, vectors: int = vectors) -> Sequence[Any]:
                x, residual, out = (np.zeros((rows, columns), BF16) for _ in range(3))
                return [x, np.zeros(columns, BF16), residual, out, rows, vectors, 1e-5]

            entry, smem = "residual_norm_wide" if wide else "residual_norm", columns * 2
            rung = Rung(f"{columns} columns", on, us / 1e6, f"{entry}.ptx", entry, grid, (warps * 32,), args, smem)
            rungs.append(rung)
        yield Ladder(f"RMS norm with residual, {on}", f"{data['url']} ({data['source']})", tuple(rungs))


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    yield from chain(streams(), sums(), llamas(), norms())
