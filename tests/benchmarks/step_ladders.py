"""Published steps of products and attention, transposes with vectors, lattices and gradients: ladders held out on 2026-11-23.

They were opened in the evening of that day; the model is developed on them since. Their rule left out libraries and compilers,
kernels whose tiles an unpublished search has chosen, sources that do not say threads and grid, kernels with a race, kernels
that wait for other CTAs or need clusters, an RTX 2060 whose DRAM reaches 60 % of its rate, and the measurements of a later
setup of the attention ladder, whose author says that its steps do not survive it. The kernels are written for this repository
after the descriptions (nothing is copied). `pattern_ladders.py` has histograms, convolutions, scans and elementwise kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
import pattern_ladders
from rungs import Ladder, Rung

SGEMM = "github.com/gau-nernst/learn-cuda, 2a_matmul_simt (4096, duration of a profiler)"
PRODUCTS = "github.com/gau-nernst/learn-cuda, 02b_matmul_sm80 (bf16, both operands along K, 400 W)"
ATTENTION = "github.com/gau-nernst/learn-cuda, 07_attention (bf16, 4 x 8 heads of 128, 4096 queries, 8192 keys, 400 W)"
FLASH = "github.com/yencal/flash-attention-from-scratch (f16, 16 x 16 heads of 128, CUDA events)"
TRANSPOSES = "github.com/yencal/gpu-matrix-transpose (32768 x 32768 f32, vectors; mean of launches)"
LATTICES = "README of github.com/ProjectPhysX/FluidX3D (D3Q19, 16 bits that software converts; largest cubic box)"
GRADIENTS = (
    "github.com/Dao-AILab/quack, benchmarks/sm120_cluster_benchmark.md (cross entropy backward, 4096 rows, do_bench)"
)
BF16 = np.dtype(ml_dtypes.bfloat16)


def sgemms() -> Iterator[Ladder]:
    size = 4096
    milliseconds = {  # entry: (grid, block, ms)
        "ada_dot": ((128, 128), (32, 32), 56.21),
        "ada_block": ((128, 128), (32, 32), 48.14),
        "ada_coarse": ((1024,), (256,), 39.03),
        "ada_thread": ((1024,), (256,), 8.92),
        "ada_warp": ((2048,), (256,), 8.75),
        "ada_vector": ((2048,), (256,), 5.72),
        "ada_turned": ((1024,), (256,), 5.16),
    }

    def args() -> Sequence[Any]:
        return [*(np.zeros((size, size), np.float32) for _ in range(3)), size, size, size]

    rungs = (
        Rung(entry, "RTX 4070 Ti SUPER", ms / 1e3, "float_steps.ptx", entry, grid, block, args)
        for entry, (grid, block, ms) in milliseconds.items()
    )
    yield Ladder("SGEMM in steps, RTX 4070 Ti SUPER", SGEMM, tuple(rungs))


def products() -> Iterator[Ladder]:
    rates = {  # entry: (columns of a tile, bytes of shared memory, {size: TFLOP/s})
        "bf16_vector": (128, 32768, {4096: 128.07}),
        "bf16_async": (128, 32768, {4096: 139.59}),
        "bf16_padded": (128, 36864, {4096: 152.18}),
        "bf16_swizzled": (128, 32768, {4096: 165.18}),
        "bf16_wide": (64, 24576, {4096: 170.76}),
        "bf16_stages": (64, 49152, {4096: 169.33}),
        "bf16_peeled": (64, 49152, {2048: 133.15, 4096: 174.54, 8192: 162.81}),
    }
    rungs = []
    for entry, (columns, smem, by_size) in rates.items():
        for size, rate in by_size.items():

            def args(size: int = size) -> Sequence[Any]:
                return [*(np.zeros((size, size), BF16) for _ in range(3)), size, size, size]

            grid, seconds = (size // 128 * (size // columns),), 2 * size**3 / (rate * 1e12)
            name = f"{entry} {size}"
            rungs.append(Rung(name, "RTX 5090, 400 W", seconds, "bf16_steps.ptx", entry, grid, (128,), args, smem))
    yield Ladder("bf16 products in steps, RTX 5090", PRODUCTS, tuple(rungs))


def attentions() -> Iterator[Ladder]:
    heads, queries, keys, width = 32, 4096, 8192, 128
    rates = {
        1: (128, 142.87),
        2: (128, 181.11),
        3: (128, 189.84),
        4: (128, 194.33),
        5: (192, 197.74),
    }  # rows kept, TFLOP/s

    def args() -> Sequence[Any]:
        return [*(np.zeros((heads, n, width), BF16) for n in (queries, keys, keys, queries)), queries, keys]

    rungs = []
    for step, (kept, rate) in rates.items():
        seconds = 4 * heads * queries * keys * width / (rate * 1e12)
        grid = (heads * queries // (128 if step == 1 else 64),)
        entry, smem = f"attend_{step}", kept * width * 2
        rungs.append(Rung(entry, "RTX 5090, 400 W", seconds, "attention_bf16.ptx", entry, grid, (128,), args, smem))
    yield Ladder("attention in steps, RTX 5090", ATTENTION, tuple(rungs))


def flashes() -> Iterator[Ladder]:
    batch, heads, width = 16, 16, 128
    tiles = {1: (64, 32, 2), 2: (64, 128, 4), 3: (64, 128, 4), 4: (64, 128, 4), 5: (64, 128, 4)}
    tiles |= {6: (128, 64, 4), 7: (128, 64, 4)}  # rows of Q, of K, warps
    by_length = {  # TFLOP/s by step
        1024: (28.3, 153.6, 170.0, 170.8, 174.2, 166.1, 165.1),
        4096: (29.4, 162.6, 173.4, 174.6, 178.8, 186.0, 185.5),
        8192: (29.5, 165.0, 175.1, 175.7, 181.1, 187.3, 186.4),
    }
    rungs = []
    for length, row in by_length.items():

        def of_length(length: int = length) -> Sequence[Any]:
            return [*(np.zeros((batch, heads, length, width), np.float16) for _ in range(4)), length]

        for (step, (rows, columns, warps)), rate in zip(tiles.items(), row, strict=True):
            seconds, smem = 4 * batch * heads * length**2 * width / (rate * 1e12), (rows + 2 * columns) * width * 2
            grid, block, entry = (length // rows, heads, batch), (warps * 32,), f"flash_{step}"
            name, file = f"{entry}, {length}", "attention_f16.ptx"
            rungs.append(Rung(name, "A100 SXM 80GB", seconds, file, entry, grid, block, of_length, smem))
    yield Ladder("attention in steps, A100 SXM 80GB", FLASH, tuple(rungs))


def transposes() -> Iterator[Ladder]:
    milliseconds = {  # elements of an access, edge of a tile, rows of a CTA
        (2, 32, 32): 3.6041,
        (2, 32, 16): 3.0983,
        (2, 32, 8): 3.0953,
        (4, 32, 32): 3.0997,
        (4, 32, 8): 3.096,
        (2, 64, 32): 2.991,
        (2, 64, 16): 2.922,
        (4, 64, 8): 2.9213,
    }
    size = 32768

    def args() -> Sequence[Any]:
        return [np.zeros((size, size), np.float32), np.zeros((size, size), np.float32), size]

    rungs = []
    for (width, tile, rows), ms in milliseconds.items():
        entry, grid, block = f"turn_float{width}_{tile}_{rows}", (size // tile, size // tile), (tile // width, rows)
        rungs.append(Rung(entry, "H100 SXM", ms / 1e3, "vectors.ptx", entry, grid, block, args))
    yield Ladder("transposes with vectors, H100 SXM", TRANSPOSES, tuple(rungs))


def lattices() -> Iterator[Ladder]:
    rates = {"T4": 2887, "RTX 2080 Ti": 6853, "A40 with ECC": 6622, "RTX A6000": 8533, "RTX 3090": 10215}  # MLUP/s
    rates |= {"A100 SXM 40GB": 11251, "A100 SXM 80GB": 11197, "L40 with ECC": 7945, "L40S": 7617, "RTX 4090": 11496}
    rates |= {"H100 PCIe": 13862, "H100 SXM": 20227, "H200 SXM": 20291, "GH200": 19407, "RTX 5090": 19141}
    rates |= {"RTX 5080": 10304, "RTX PRO 6000": 20841, "B200 SXM": 22695, "B300": 23191}
    cells = 256**3

    def args() -> Sequence[Any]:
        return [np.zeros(19 * cells, np.uint16), np.zeros(19 * cells, np.uint16), np.zeros(cells, np.uint8)]

    rungs = (
        Rung(on, on, cells / (rate * 1e6), "vectors.ptx", "lattice_converted", (cells // 64,), (64,), args)
        for on, rate in rates.items()
    )
    yield Ladder("lattices converted by software, 19 GPUs", LATTICES, tuple(rungs))


def gradients() -> Iterator[Ladder]:
    m = 4096
    rates = {  # GB/s of one read and one write by columns
        "bf16": (BF16, {4096: 1485, 16384: 1495, 65536: 1487, 131072: 1497}),
        "f32": (np.dtype(np.float32), {4096: 1471, 16384: 1517, 65536: 1504, 131072: 1512}),
    }
    rungs = []
    for name, (dtype, by_columns) in rates.items():
        for n, rate in by_columns.items():

            def args(dtype: np.dtype = dtype, n: int = n) -> Sequence[Any]:
                of_rows = np.zeros(m, np.int32), np.zeros(m, np.float32), np.zeros(m, np.float32)
                return [np.zeros((m, n), dtype), *of_rows, np.zeros((m, n), dtype), n]

            seconds, grid = 2 * m * n * dtype.itemsize / (rate * 1e9), (-(-n * dtype.itemsize // 16 // 1024), m)
            entry = f"gradient_{name}"
            rung = Rung(f"{entry} {n}", "RTX 5090", seconds, "gradients.ptx", entry, grid, (256,), args, isolated=True)
            rungs.append(rung)
    yield Ladder("gradients of cross entropy, RTX 5090", GRADIENTS, tuple(rungs))


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file and of `pattern_ladders.py`."""
    yield from chain(sgemms(), products(), attentions(), flashes(), transposes(), lattices(), gradients())
    yield from pattern_ladders.ladders()
