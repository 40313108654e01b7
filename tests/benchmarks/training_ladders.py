"""Published times of lessons, kernels of training, bodies, attention, a sparse matrix and products by tiles: held out until 2026-11-29.

They were chosen by a rule, before any of them was modeled.

The rule is that of `held_ladders.py`; it dates from 2026-11-24, after the ladders of `stage_ladders.py` were opened and before a source was looked for.

What that came to, with what had to be made more exact: a source is a repository or a pull request, and its rows are counted over all
of its tables. Of the lessons, a size of each kernel on each of two GPUs of the table, the largest, without two of vectors that are
like others (saxpy, and reads by indices that are all zero); of the products by tiles the largest square size of the sweep that was at
hand to the end, and the largest rows of a tile, which are 24 of 144. Of the kernels of training GPT-2 those whose code is at hand: not
the second residual, whose grid is stated as one of two, nor the third gradient of a bias.

Left out are also: of the lessons those that take less than 10 us, atomics on one counter whose times differ by a third, and a Titan V
and a Titan X; products on an RTX 4060 Ti, which follow SGEMM_CUDA; forces between bodies of one author on a T4, where a step takes less
than the forces that are a part of it; scans on an H100 without a method; quantization on H100 and H20, whose times include a copy by a
library; dequantization of which the tables were not at hand; products by tensor maps on an RTX 5090, whose tiles a search chose for each size;
norms on an RTX 3070 Laptop and an RTX 5060 Laptop; operations of a transformer whose GPU only one of the articles names; kernels of
training without a GPU, or that exceed DRAM; and products with a vector and softmax on a GTX 1050 Ti. No source on sm_90 had all.

Inferred: that the A100 80 GB of the layer norms is an SXM one; that the launches of embeddings and residual are timed as the later ones
of the same file, each between events after a write of L2, and the earlier sums of columns in a series; the clearing of a buffer of
12 KB before the gradients of a bias is not counted; that the A100 80 GB of the attention is an SXM one; that the places of the bodies are
spread evenly, on which no time depends; that tokens are spread evenly; grids of sums and copies by the code, which the tables
state twice and eight times as large; and that rows at the edge of the sparse matrix, 1 of 2500, have no entries.

They were opened on 2026-11-29 with version 14 of the model. Before that, one kernel was changed: the second sums of the gradients of
a bias, which a part of the lanes of a single warp shuffled with a membermask of all, which is undefined, are shuffled by all lanes.

The kernels are written for this repository after the code or the descriptions (nothing is copied); ladder_data/unopened_*.json has the
times, with source, author, date and method. Registers are those that the sources state: of the lessons the same on sm_89 of all twelve
(8 to 40), of the products by tiles the same of 17, within 2 of 4 more, and 7 to 16 apart of three (40 to 168).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Launches, Rung, data_of, source_ladder, zeros

BF16 = np.dtype(ml_dtypes.bfloat16)
ROWS, WIDTH, WIDE, WORDS = (
    8192,
    768,
    3072,
    50257,
)  # tokens, channels of one and of a hidden layer, and words that there are


def lesson(entry: str, size: int) -> tuple[Callable[[], Sequence[Any]], tuple[int, ...], tuple[int, ...], int]:
    """Return a maker of the arguments of a lesson, its grid, its CTA and the bytes of shared memory that it is given."""
    image, tiles = (size, size), (size // 16, size // 16)
    if entry.startswith("add"):
        return lambda: [*zeros(size, size, size)(), size], (size // 256,), (256,), 0
    if entry == "copy_eighths":
        return lambda: [*zeros(size, size)(), size], (size // 2048,), (256,), 0
    if entry.startswith("transpose"):
        grid, block = (tiles, (16, 16)) if entry == "transpose_each" else ((size // 32, size // 32), (32, 32))
        return lambda: [*zeros(image, image)(), size, size], grid, block, 0
    if entry.startswith("product"):
        grid, block = (tiles, (16, 16)) if entry == "product_each" else ((size // 32, size // 32), (32, 32))
        return lambda: [*zeros(image, image, image)(), size], grid, block, 0
    if entry == "sum_tree":
        return lambda: [*zeros(size, size // 512)(), size], (size // 512,), (256,), 1024
    if entry == "dot_tree":
        return lambda: [*zeros(size, size, size // 512)(), size], (size // 512,), (256,), 1024
    if entry == "histogram":
        return lambda: [np.zeros(size, "uint32"), size, np.zeros(256, "uint32")], (size // 256,), (256,), 1024
    weights = int(entry[-1]) ** 2
    return lambda: [*zeros(image, weights, image)(), size, size], tiles, (16, 16), 0


def lessons() -> Iterator[Ladder]:
    """Lessons of CUDA in f32 on two GPUs; ms."""
    data = data_of("unopened_lessons")
    for on, values in data["values"].items():
        rungs = []
        for entry, (size, ms) in values.items():
            args, grid, block, shared = lesson(entry, size)
            file, named = "unopened_lessons.ptx", f"{entry} {size}"
            rungs.append(Rung(named, on, ms / 1e3, file, entry, grid, block, args, shared, repeated=True))
        yield source_ladder("lessons of CUDA", data, rungs)


def by_threads(name: str, data: Mapping[str, Any], rung: Callable[[str, int, float], Rung | Launches]) -> Ladder:
    """Return a ladder of kernels by the threads of their CTAs."""
    values = data["values"].items()
    rungs = [rung(entry, int(threads), ms / 1e3) for entry, one in values for threads, ms in one.items()]
    return source_ladder(name, data, rungs)


def embedded() -> Sequence[Any]:
    """Return the arguments of embeddings: result, tokens, rows of words and of places, and sizes."""
    tokens = np.random.default_rng(0).integers(0, WORDS, ROWS).astype(np.int32)
    out, words, places = zeros((ROWS, WIDTH), (WORDS, WIDTH), (1024, WIDTH))()
    return [out, tokens, words, places, 8, 1024, WIDTH]


def added() -> Sequence[Any]:
    """Return the arguments of a residual: result, two arrays and their length."""
    count = ROWS * WIDTH
    return [*zeros(count, count, count)(), count]


def summed() -> Sequence[Any]:
    """Return the arguments of sums of columns: bias, gradients and sizes."""
    return [*zeros(WIDE, (ROWS, WIDE))(), 8, 1024, WIDE]


def normed() -> Sequence[Any]:
    """Return the arguments of layer norms: result, means, inverse deviations, rows, weights, biases and sizes."""
    return [*zeros((ROWS, WIDTH), ROWS, ROWS, (ROWS, WIDTH), WIDTH, WIDTH)(), ROWS, WIDTH]


def training() -> Iterator[Ladder]:
    """Kernels of training GPT-2 in f32 by the threads of their CTAs; ms."""
    file = "unopened_training.ptx"

    def embed(entry: str, threads: int, seconds: float) -> Rung:
        grid, named = (ROWS * WIDTH // (threads * (4 if entry == "embed_fours" else 1)),), f"{entry} {threads}"
        return Rung(named, "RTX 3070", seconds, file, entry, grid, (threads,), embedded, isolated=True)

    def residual(entry: str, threads: int, seconds: float) -> Rung:
        named, grid = f"{entry} {threads}", (ROWS * WIDTH // threads,)
        return Rung(named, "RTX 3070", seconds, file, entry, grid, (threads,), added, isolated=True)

    def column_sums(entry: str, threads: int, seconds: float) -> Rung:
        warps, named, on = entry == "bias_warps", f"{entry} {threads}", "RTX 2070 SUPER"
        grid, shared = (WIDE * 32 // threads if warps else WIDE // 32,), 0 if warps else 4 * threads
        return Rung(named, on, seconds, file, entry, grid, (threads,), summed, shared, repeated=True)

    def norm(entry: str, threads: int, seconds: float) -> Rung:
        down, named = threads // 32, f"{entry} {threads}"
        grid, shared = (ROWS // down,), (2 + down) * WIDTH * 4
        return Rung(named, "A100 SXM 80GB", seconds, file, entry, grid, (32, down), normed, shared, isolated=True)

    yield by_threads("embeddings by threads", data_of("unopened_embeddings"), embed)
    yield by_threads("a residual by threads", data_of("unopened_residual"), residual)
    yield by_threads("sums of columns by threads", data_of("unopened_columns"), column_sums)
    yield by_threads("layer norms by threads", data_of("unopened_norms"), norm)


def bias() -> Ladder:
    """Gradients of a bias from bf16 by the threads of a CTA, and a second launch that adds a buffer to the bias; ms."""
    on, file, resident = "RTX 3070", "unopened_bias.ptx", 46 * 1536

    def rung(entry: str, threads: int, seconds: float) -> Launches:
        atomics = entry == "bias_atomics"
        own = max(threads, 256) if atomics else threads
        across = WIDE // (256 if atomics else 64)
        grid, block = (across, max(1, resident // (own * across))), (32, own // 32) if atomics else (4, 8, own // 32)

        def sums() -> Sequence[Any]:
            found = [np.zeros(WIDE, np.float32), np.zeros((ROWS, WIDE), BF16), 8, 1024, WIDE]
            return [*found, own] if atomics else found

        def stored() -> Sequence[Any]:
            return [np.zeros(WIDE, BF16), np.zeros(WIDE, np.float32), WIDE]

        named, shared = f"{entry} {threads}", 1024 if atomics else 0
        first = Rung(named, on, 0, file, entry, grid, block, sums, shared, isolated=True)
        second = Rung(named, on, 0, file, "bias_from_buffer", (WIDE // 256,), (256,), stored)
        return Launches(named, on, seconds, (first, second))

    return by_threads("gradients of a bias by threads", data_of("unopened_bias"), rung)


def bodies() -> Ladder:
    """Steps of bodies that attract each other, by the forces and the places of a step; ms of 100 steps."""
    data, rungs, count, file = data_of("unopened_bodies"), [], 50000, "unopened_bodies.ptx"
    on, grid = data["gpu"], (-(-count // 256),)

    def state() -> np.ndarray:
        found = np.zeros((count, 7), np.float32)
        found[:, :3], found[:, 6] = np.random.default_rng(0).uniform(-1, 1, (count, 3)), 1
        return found

    def arrays() -> list[np.ndarray]:
        found = state()
        return [np.ascontiguousarray(found[:, i]) for i in (0, 1, 2, 6, 3, 4, 5)]

    def moved() -> Sequence[Any]:
        x, y, z, _, *speeds = arrays()
        return [x, y, z, *speeds, count, 0.01]

    args = {
        "each": (lambda: [state(), count, 0.01, 0.1], "move_bodies", lambda: [state(), count, 0.01]),
        "tiles": (lambda: [state(), count, 0.01, 0.1], "move_bodies", lambda: [state(), count, 0.01]),
        "arrays": (lambda: [*arrays(), count, 0.01, 0.1], "move_arrays", moved),
    }
    for name, ms in data["values"].items():
        forces, entry, places = args[name]
        first = Rung(name, on, 0, file, f"forces_{name}", grid, (256,), forces, repeated=True)
        second = Rung(name, on, 0, file, entry, grid, (256,), places, repeated=True)
        rungs.append(Launches(f"forces_{name}", on, ms / 1e5, (first, second)))
    return source_ladder("steps of bodies", data, rungs)


def attention() -> Ladder:
    """Causal attention that keeps all scores, by the threads of the CTAs of its three kernels; ms."""
    data, file, batch, time, heads = data_of("unopened_attention"), "unopened_attention.ptx", 8, 1024, 12
    on, rungs, sizes, every = data["gpu"], [], (batch, time, WIDTH, heads), (batch, heads, time, time)

    def scores() -> Sequence[Any]:
        return [*zeros(every, (batch, time, 3 * WIDTH))(), *sizes]

    def softmax() -> Sequence[Any]:
        return [*zeros(every, every)(), batch, time, heads]

    def weighted() -> Sequence[Any]:
        return [*zeros((batch, time, WIDTH), every, (batch, time, 3 * WIDTH))(), *sizes]

    for name, ms in data["values"].items():
        threads, rows = int(name), batch * heads * time
        parts = (
            Rung(name, on, 0, file, "scores", (rows * time // threads,), (threads,), scores, isolated=True),
            Rung(name, on, 0, file, "softmax", (rows // threads,), (threads,), softmax),
            Rung(name, on, 0, file, "weighted", (rows // threads,), (threads,), weighted),
        )
        rungs.append(Launches(f"attention {name}", on, ms / 1e3, parts))
    return source_ladder("attention by threads", data, rungs)


def matrix() -> Ladder:
    """A sparse matrix of a stencil times a vector, f64, by the side of the grid; ms."""
    data, rungs = data_of("unopened_matrix"), []
    for name, ms in data["values"].items():

        def args(side: int = int(name)) -> Sequence[Any]:
            rows, entries = side**2, 5 * side**2 - 4 * side
            places = np.zeros(rows + 1, np.int32), np.zeros(entries, np.int32)
            return [*places, *zeros(entries, rows, rows, dtype="float64")(), rows, side, 1.0]

        grid, file, entry = (-(-(int(name) ** 2) // 256),), "unopened_matrix.ptx", "stencil_rows"
        rungs.append(Rung(f"{entry} {name}", data["gpu"], ms / 1e3, file, entry, grid, (256,), args, isolated=True))
    return source_ladder("a sparse matrix times a vector", data, rungs)


def tiles() -> Ladder:
    """Products of bf16 matrices by the columns and the depth of a tile of 96 rows; ms."""
    data, rungs = data_of("unopened_tiles"), []
    size, file = data["size"], "unopened_tiles.ptx"

    def args() -> Sequence[Any]:
        return [*zeros((size, size), (size, size), dtype=BF16)(), np.zeros((size, size), np.float32), size, size, size]

    for columns, values in data["values"].items():
        for depth, ms in values.items():
            entry, shared = f"tile_{columns}_{depth}", 2 * int(depth) * (96 + int(columns))
            grid, block = (size // int(columns), size // 96), (128,)
            rungs.append(Rung(entry, data["gpu"], ms / 1e3, file, entry, grid, block, args, shared, isolated=True))
    return source_ladder("products by tiles", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield these ladders."""
    yield from chain(lessons(), training(), [bias(), bodies(), attention(), matrix(), tiles()])
