"""Kernels of other authors with published times: what the model is developed on, and what it is only reported on.

`model_report.py` prints how the model does on them. foreign/*.cu are written for this repository after the published
descriptions of the measured kernels (tiles, block sizes, elements per thread; nothing is copied), foreign/*.ptx is what
nvcc makes of them (`build_foreign.py`). The times are those that the named sources publish; few state clocks, so the
model's are those of the GPU table. Rungs whose structure the source leaves open are left out.

This file has the first ladders; `product_ladders.py`, `memory_ladders.py`, `unit_ladders.py` and `row_ladders.py` have
later ones; half of these, and those of `step_ladders.py` and `pattern_ladders.py`, were held out until 2026-11-23, those of
`vector_ladders.py`, `tile_ladders.py`, `sum_ladders.py`, `shape_ladders.py`, `stage_ladders.py` and `norm_ladders.py` until 2026-11-24,
those of `training_ladders.py`, `forward_ladders.py`, `query_ladders.py` and `move_ladders.py` until 2026-11-29, when they were opened; the model is developed on all of them since. `held_ladders.py` has
those that are held out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent)]

import forward_ladders  # noqa: E402
import held_ladders  # noqa: E402
import memory_ladders  # noqa: E402
import move_ladders  # noqa: E402
import norm_ladders  # noqa: E402
import product_ladders  # noqa: E402
import query_ladders  # noqa: E402
import row_ladders  # noqa: E402
import shape_ladders  # noqa: E402
import stage_ladders  # noqa: E402
import step_ladders  # noqa: E402
import sum_ladders  # noqa: E402
import tile_ladders  # noqa: E402
import training_ladders  # noqa: E402
import unit_ladders  # noqa: E402
import vector_ladders  # noqa: E402
from rungs import Ladder, Rung, zeros  # noqa: E402

SGEMM_A6000 = "README of github.com/siboehm/SGEMM_CUDA (50 launches in a loop)"
SGEMM_3090 = "README of github.com/leimao/CUDA-GEMM-Optimization (fp32, integers 0..5, CUDA 12.2)"
STREAMS = "github.com/RRZE-HPC/gpu-benches, gpu-stream (two CTAs of the given size on each SM)"
COPIES = "github.com/yencal/gpu-bandwidth-benchmark (1 GiB arrays, blocks of 1024; read off a plot)"
TRANSPOSES = "github.com/yencal/gpu-matrix-transpose (32768 x 32768 f32)"
LATTICES = "README of github.com/ProjectPhysX/FluidX3D (D3Q19, f32; 153 bytes a cell, largest cubic box)"
PIECES = "github.com/Dao-AILab/quack, AI/global_memory_coalescing_notes.md (528 blocks of 256, 16 bytes a lane)"
HISTOGRAMS = "github.com/yencal/gpu-histogram-optimization (2^30 random bytes, blocks of 512; grid not stated)"


def sgemms() -> Iterator[Ladder]:
    size = 4096
    shapes = {  # entry: (grid, block)
        "naive": ((128, 128), (32, 32)),
        "coalesced": ((128, 128), (1024,)),
        "shared_tile": ((128, 128), (1024,)),
        "thread_column": ((64, 64), (512,)),
        "thread_tile": ((32, 32), (256,)),
        "vectorized": ((32, 32), (256,)),
        "vectorized_16": ((32, 32), (256,)),
        "warp_tile": ((32, 32), (128,)),
    }

    def args() -> Sequence[Any]:
        a, b, c = (np.zeros((size, size), np.float32) for _ in range(3))
        return [size, size, size, 0.5, a, b, 3.0, c]

    def ladder(name: str, on: str, source: str, rates: dict[str, float]) -> Ladder:
        rungs = (
            Rung(entry, on, 2 * size**3 / (rate * 1e12), "sgemm.ptx", entry, *shapes[entry], args)
            for entry, rate in rates.items()
        )
        return Ladder(name, source, tuple(rungs))

    a6000 = (0.309, 1.9865, 2.9803, 8.4747, 15.9717, 18.2373, 19.721, 21.7793)
    yield ladder("SGEMM, RTX A6000", "RTX A6000", SGEMM_A6000, dict(zip(shapes, a6000, strict=True)))
    r3090 = {"naive": 0.278, "coalesced": 1.722, "shared_tile": 2.662, "thread_column": 8.913, "thread_tile": 13.025}
    r3090 |= {"vectorized_16": 19.669, "warp_tile": 20.165}
    yield ladder("SGEMM, RTX 3090", "RTX 3090", SGEMM_3090, r3090)


def copies() -> Iterator[Ladder]:
    measured = {  # GB/s by bytes of an element
        "A100 SXM 40GB": (475, 833, 1326, 1385, 1393),
        "H100 SXM": (683, 1188, 2025, 2737, 3055),
        "H200 SXM": (722, 1275, 2220, 3470, 4110),
    }
    for on, rates in measured.items():
        rungs = []
        for width, rate in zip((1, 2, 4, 8, 16), rates, strict=True):
            grid = (1 << 30) // width // 1024
            args = zeros(1 << 30, 1 << 30, dtype="uint8")
            rungs.append(
                Rung(f"{width} B", on, 2 * 2**30 / (rate * 1e9), "memory.ptx", f"copy_{width}", (grid,), (1024,), args)
            )
        yield Ladder(f"copy by element, {on}", COPIES, tuple(rungs))


def streams() -> Iterator[Ladder]:
    size = 2**26  # elements, a quarter of the measured arrays
    kernels = {"read": 1, "scale": 2, "triad": 4}  # arrays that count
    measured = {  # GPU: (shared memory of an SM in KiB, {threads of a CTA: GB/s of read, scale, triad})
        "A100 SXM 80GB": (
            164,
            {128: (323, 579, 993), 256: (615, 1025, 1571), 512: (1119, 1577, 1697), 1024: (1776, 1737, 1794)},
        ),
        "A40": (100, {96: (233, 408, 610), 192: (436, 614, 670), 384: (677, 658, 670), 768: (680, 653, 670)}),
        "L40": (100, {96: (470, 719, 826), 192: (824, 773, 831), 384: (845, 797, 830), 768: (845, 776, 830)}),
    }
    for on, (kib, rates) in measured.items():
        rungs = []
        for block, row in rates.items():
            for (kernel, arrays), rate in zip(kernels.items(), row, strict=True):
                seconds, grid = arrays * 8 * size / (rate * 1e9), size // block
                args = zeros(*[size] * 4, dtype="float64")
                smem = (kib // 2 - 1) * 1024 * 99 // 100 // 16 * 16
                rungs.append(
                    Rung(
                        f"{kernel} {block}",
                        on,
                        seconds,
                        "memory.ptx",
                        f"stream_{kernel}",
                        (grid,),
                        (block,),
                        args,
                        smem,
                    )
                )
        yield Ladder(f"streams by occupancy, {on}", STREAMS, tuple(rungs))


def transposes() -> Iterator[Ladder]:
    measured = {
        "naive": (32, 18.0645),
        "tiled": (32, 8.6235),
        "padded": (32, 5.0724),
        "coarsen_2": (16, 3.6014),
        "coarsen_4": (8, 3.0984),
        "coarsen_8": (4, 3.0951),
    }

    def args() -> Sequence[Any]:
        return [np.zeros((32768, 32768), np.float32), np.zeros((32768, 32768), np.float32), 32768]

    rungs = (
        Rung(name, "H100 SXM", ms / 1e3, "memory.ptx", f"transpose_{name}", (1024, 1024), (32, rows), args)
        for name, (rows, ms) in measured.items()
    )
    yield Ladder("transpose, H100 SXM", TRANSPOSES, tuple(rungs))


def lattices() -> Iterator[Ladder]:
    rates = {
        "T4": 1356,
        "A40 with ECC": 3378,
        "RTX 3090": 5418,
        "A100 SXM 80GB": 10228,
        "H100 SXM": 17602,
        "RTX 5090": 9522,
    }  # MLUP/s
    later = {
        "RTX A6000": 4421,
        "L40 with ECC": 3870,
        "RTX 4090": 5624,
        "A100 SXM 40GB": 8522,
        "RTX PRO 6000": 10349,
        "H100 PCIe": 11128,
        "H200 SXM": 23056,
        "B200 SXM": 42152,
    }
    cells = 256**3

    def args() -> Sequence[Any]:
        return [np.zeros(19 * cells, np.float32), np.zeros(19 * cells, np.float32), np.zeros(cells, np.uint8)]

    for name, own in (("six", rates), ("eight other", later)):
        rungs = (
            Rung(on, on, cells / (rate * 1e6), "memory.ptx", "lattice", (cells // 64,), (64,), args)
            for on, rate in own.items()
        )
        yield Ladder(f"lattice stencil on {name} GPUs", LATTICES, tuple(rungs))


def pieces() -> Iterator[Ladder]:
    measured = 8192  # iterations

    def rungs(kind: str, times: Mapping[int, float]) -> Iterator[Rung]:
        for size, ms in times.items():
            iterations = 128 if size < 64 else 512  # small pieces are alone in 64 bytes
            count = 528 * 256 * iterations * max(1, 64 // size)  # vectors of 16 bytes

            def args(count: int = count, iterations: int = iterations) -> Sequence[Any]:
                target = [np.zeros(1, np.float32)] if kind == "read" else []
                return [np.zeros(4 * count, np.float32), *target, iterations]

            seconds, entry = ms / 1e3 * iterations / measured, f"{kind}_{size}"
            yield Rung(f"{size} B", "H100 SXM", seconds, "memory.ptx", entry, (528,), (256,), args)

    reads = {512: 6.122, 256: 6.211, 128: 6.614, 32: 12.084, 16: 32.184}
    writes = {512: 5.581, 256: 5.637, 128: 5.959, 32: 17.595}
    yield Ladder("reads in pieces, H100 SXM", PIECES, tuple(rungs("read", reads)))
    yield Ladder("writes in pieces, H100 SXM", PIECES, tuple(rungs("write", writes)))


def histograms() -> Iterator[Ladder]:
    count = 1 << 26  # a sixteenth of the measured bytes

    def args() -> Sequence[Any]:
        part = np.random.default_rng(0).integers(0, 256, 1 << 20, np.uint8)
        return [np.tile(part, count >> 20), np.zeros(256, np.uint32), count]

    rungs = (
        Rung(name, "H100 SXM", ms / 16e3, "memory.ptx", f"histogram_{name}", (grid,), (512,), args)
        for name, grid, ms in (("global", count // 512, 276.13), ("shared", 528, 1.53), ("vector", 528, 0.47))
    )
    yield Ladder("histogram, H100 SXM", HISTOGRAMS, tuple(rungs))


def ladders() -> list[Ladder]:
    """Return all ladders."""
    first = chain(sgemms(), copies(), streams(), transposes(), lattices(), pieces(), histograms())
    modules = (product_ladders, memory_ladders, unit_ladders, row_ladders, step_ladders, vector_ladders, tile_ladders)
    later = (sum_ladders, shape_ladders, stage_ladders, norm_ladders, training_ladders, forward_ladders)
    last = (query_ladders, move_ladders, held_ladders)
    return list(chain(first, *(module.ladders() for module in (*modules, *later, *last))))
