"""Published ladders on which the model is only reported: chosen by a rule, before any of them was modeled.

The rule, of 2026-11-24, after the former held-out ladders were opened:

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

The kernels are written for this repository after the descriptions (nothing is copied); ladder_data/*.json has the times, with
source, author, date and method.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Launches, Rung, device, zeros

DATA = Path(__file__).parent / "ladder_data"
BF16 = np.dtype(ml_dtypes.bfloat16)


def data_of(name: str) -> dict[str, Any]:
    """Return the published times of a source."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


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
        yield Ladder(f"five streams, {on}", f"{data['url'][on]} ({data['source']})", tuple(rungs), held=True)


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
    yield Ladder(f"sums in batches, {on}", f"{data['url']} ({data['source']})", tuple(rungs), held=True)


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
        yield Ladder(f"{name}, {on}", source, rungs, held=True)


def products() -> Iterator[Ladder]:
    """Products of 4096 in f32 (GFLOP/s), and in f16 with f32 sums (microseconds)."""
    size, tiles = 4096, data_of("register_tiles")

    def of_floats() -> Sequence[Any]:
        return [*(np.zeros((size, size), np.float32) for _ in range(3)), size, size, size, 1.0, 0.0]

    rungs = []
    for entry, rate in tiles["values"].items():
        wide, high = {"tile_naive": (16, 16), "tile_shared": (16, 16), "tile_flat": (128, 64)}.get(entry, (128, 128))
        block = (16, 8) if entry == "tile_flat" else (16, 16)
        grid, seconds = (size // wide, size // high), 2 * size**3 / (rate * 1e9)
        rungs.append(Rung(entry, tiles["gpu"], seconds, "register_tiles.ptx", entry, grid, block, of_floats))
    name = f"products by registers, {tiles['gpu']}"
    yield Ladder(name, f"{tiles['url']} ({tiles['source']})", tuple(rungs), held=True)

    halves = data_of("half_products")

    def of_halves() -> Sequence[Any]:
        a, b = (np.zeros((size, size), np.float16) for _ in range(2))
        return [a, b, np.zeros((size, size), np.float32), size, size, size]

    rungs = []
    for entry, us in halves["values"].items():
        edge = {"half_values": 32, "half_stages_tiled": 128}.get(entry, 64)
        grid = (size // edge, size // edge)
        rungs.append(Rung(entry, halves["gpu"], us / 1e6, "half_products.ptx", entry, grid, (16, 16), of_halves))
    name = f"f16 products in steps, {halves['gpu']}"
    yield Ladder(name, f"{halves['url']} ({halves['source']})", tuple(rungs), held=True)


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
        yield Ladder(f"RMS norm with residual, {on}", f"{data['url']} ({data['source']})", tuple(rungs), held=True)


def ladders() -> Iterator[Ladder]:
    """Yield the held-out ladders."""
    yield from chain(streams(), sums(), llamas(), products(), norms())
