"""Published times of histograms, convolutions, elementwise kernels and scans: NVBench logs of GeForce GPUs.

Times are those of a batch of launches; scans are published without, and without the time to allocate, so what a doubling of
the words adds to a launch by itself is taken: it is the time of half of them. All arrays are zero, as measured: the words of a
histogram fall into one bin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rungs import Ladder, Launches, Rung

LOGS = "github.com/R100001/Programming-Massively-Parallel-Processors, NVBench logs"
FILE = "patterns.ptx"
WIDTHS = (3, 7, 11)  # of masks: the least, the middle and the greatest of five
THREADS = (32, 64, 128, 256, 512, 1024)  # of a CTA
GPUS = ("GTX 1650", "RTX 3080")


def histograms() -> Iterator[Ladder]:
    """Milliseconds of 2^26 words and 512 bins: in global memory by CTAs of 512, in shared memory by threads of a CTA.

    Each rung is a sixteenth of that: all CTAs do the same work.
    """
    count, part = 1 << 22, 1 / 16e3
    times = {
        "GTX 1650": (35.654792, 23.12513, 11.677793, 8.301626, 7.325302, 6.843666, 7.234767),
        "RTX 3080": (36.155323, 22.606635, 11.307008, 5.667681, 2.841141, 1.429856, 0.730847),
    }

    def args() -> Sequence[Any]:
        return [np.zeros(count, np.uint32), np.zeros(512, np.uint32), count, 512]

    for on, (first, *others) in times.items():
        rungs = [Rung("global 512", on, first * part, FILE, "bins_global", (count // 512,), (512,), args)]
        for threads, ms in zip(THREADS, others, strict=True):
            grid, entry = (count // threads,), "bins_shared"
            rungs.append(Rung(f"shared {threads}", on, ms * part, FILE, entry, grid, (threads,), args, 2048))
        yield Ladder(f"histogram by threads, {on}", f"{LOGS} (2^26 words, 512 bins)", tuple(rungs))


def line(on: str, kind: str, width: int, threads: int, ms: float) -> Rung:
    """A convolution of 2^26 f32 with a mask in global memory, in constant memory, and with a tile in shared memory."""
    count = 1 << 26

    def args() -> Sequence[Any]:
        masks = [np.zeros(width, np.float32)] if kind == "global" else []
        return [np.zeros(count, np.float32), *masks, np.zeros(count, np.float32), width, count]

    smem = {"tiled": threads + width - 1, "cached": threads}.get(kind, 0) * 4
    name, grid = f"{kind}, {width} wide, {threads} threads", (count // threads,)
    return Rung(name, on, ms / 1e3, FILE, f"line_{kind}", grid, (threads,), args, smem)


def lines() -> Iterator[Ladder]:
    by_width: Mapping[str, Mapping[str, Sequence[float]]] = {
        "GTX 1650": {
            "global": (7.328031, 7.922316, 7.73376),
            "constant": (7.275027, 7.891317, 8.158108),
            "tiled": (7.746942, 8.238746, 8.633605),
            "cached": (7.075234, 8.938107, 10.477404),
        },
        "RTX 3080": {
            "global": (1.148222, 1.183728, 1.264608),
            "constant": (1.147203, 1.171563, 1.239982),
            "tiled": (1.213869, 1.259439, 1.324461),
            "cached": (1.309842, 1.43867, 1.522816),
        },
    }
    by_threads: Mapping[str, Mapping[str, Sequence[float]]] = {
        "GTX 1650": {
            "tiled": (12.480496, 6.582796, 6.588571, 7.225533, 8.053317, 11.248035),
            "cached": (12.753619, 7.350176, 6.885904, 7.76592, 7.707624, 10.450585),
        },
        "RTX 3080": {
            "tiled": (2.337915, 1.25128, 1.150098, 1.20328, 1.240701, 2.325653),
            "cached": (2.388779, 1.279997, 1.256877, 1.341341, 1.41671, 2.140645),
        },
    }
    for on in GPUS:
        kinds = by_width[on].items()
        rungs = [line(on, kind, w, 512, ms) for kind, row in kinds for w, ms in zip(WIDTHS, row, strict=True)]
        yield Ladder(f"convolutions in a line by mask, {on}", f"{LOGS} (2^26 f32, CTAs of 512)", tuple(rungs))
        kinds = by_threads[on].items()
        rungs = [line(on, kind, 5, t, ms) for kind, row in kinds for t, ms in zip(THREADS, row, strict=True)]
        yield Ladder(f"convolutions in a line by threads, {on}", f"{LOGS} (2^26 f32, mask of 5)", tuple(rungs))


def plane(on: str, kind: str, width: int, edge: int, ms: float) -> Rung:
    """A convolution of 8192 x 8192 f32 by CTAs of edge x edge."""
    size = 8192

    def args() -> Sequence[Any]:
        masks = [np.zeros(width * width, np.float32)] if kind == "global" else []
        return [np.zeros((size, size), np.float32), *masks, np.zeros((size, size), np.float32), width, size, size, 1]

    own = edge - width + 1 if kind == "tiled" else edge  # outputs of a CTA in a row
    grid, smem = (-(-size // own),) * 2, edge * edge * 4 if kind == "tiled" else 0
    name = f"{kind}, {width} wide, {edge} x {edge}"
    return Rung(name, on, ms / 1e3, FILE, f"plane_{kind}", grid, (edge, edge), args, smem)


def planes() -> Iterator[Ladder]:
    by_width: Mapping[str, Mapping[str, Sequence[float]]] = {
        "GTX 1650": {
            "global": (10.076081, 26.997342, 60.706846),
            "constant": (9.708053, 24.083352, 47.781499),
            "tiled": (8.978608, 26.006086, 92.832909),
        },
        "RTX 3080": {
            "global": (1.569857, 4.727126, 10.129087),
            "constant": (1.653298, 4.333551, 9.338222),
            "tiled": (1.748958, 4.502881, 15.254829),
        },
    }
    by_edge = {"GTX 1650": {8: 27.435527, 32: 17.867707}, "RTX 3080": {8: 6.437513, 32: 3.749203}}
    for on in GPUS:
        kinds = by_width[on].items()
        rungs = [plane(on, kind, w, 16, ms) for kind, row in kinds for w, ms in zip(WIDTHS, row, strict=True)]
        rungs += [plane(on, "tiled", 5, edge, ms) for edge, ms in by_edge[on].items()]
        yield Ladder(f"convolutions in a plane, {on}", f"{LOGS} (8192 x 8192 f32)", tuple(rungs))


def elementwise() -> Iterator[Ladder]:
    """Sums of two arrays and gray of three colors by the edge of a square; CTAs of 16 x 16."""
    times: Mapping[str, Mapping[str, Mapping[int, float]]] = {
        "GTX 1650": {
            "add_rows": {2048: 0.493147, 4096: 1.960534, 8192: 12.093726},
            "add_columns": {2048: 0.301279, 4096: 1.203745, 8192: 4.849678},
            "gray": {2048: 0.183395, 4096: 0.726372, 8192: 2.91913},
        },
        "RTX 3080": {
            "add_rows": {2048: 0.120443, 8192: 2.130075},
            "add_columns": {2048: 0.074666, 8192: 1.149927},
            "gray": {2048: 0.031033, 4096: 0.118641, 8192: 0.465317},
        },
    }
    for on, by_kind in times.items():
        rungs = []
        for entry, by_size in by_kind.items():
            for size, ms in by_size.items():

                def args(size: int = size, entry: str = entry) -> Sequence[Any]:
                    if entry == "gray":
                        return [np.zeros((size, size, 3), np.uint8), np.zeros((size, size), np.uint8), size, size]
                    return [*(np.zeros((size, size), np.float32) for _ in range(3)), size, size]

                grid = (size // 16, size // 16)
                rungs.append(Rung(f"{entry} {size}", on, ms / 1e3, FILE, entry, grid, (16, 16), args))
        yield Ladder(f"elementwise by size, {on}", f"{LOGS} (f32 and bytes)", tuple(rungs))


def scans() -> Iterator[Ladder]:
    """Scans of 2^25 words: of sections of CTAs, and the sums of the sections before each."""
    count = 1 << 25
    times = {  # milliseconds; of the RTX 3080 two thirds of the difference between 2^26 and 2^24 words
        ("GTX 1650", "parts"): 12.627568 - 6.35065,
        ("RTX 3060", "parts"): 4.698925 - 2.54897,
        ("RTX 3060 Laptop", "parts"): 5.064456 - 2.597605,
        ("RTX 3060 Laptop", "tree"): 7.528987 - 3.923115,
        ("RTX 3060 Ti", "parts"): 3.671018 - 2.015726,
        ("RTX 3070 Ti", "parts"): 3.044265 - 1.6417,
        ("RTX 3080", "parts"): (2.040581 - 0.580802) * 2 / 3,
    }
    rungs = []
    for (on, kind), ms in times.items():
        length = 4096 if kind == "parts" else 1024
        grid, lengths = count // length, [length] if kind == "parts" else []

        def scan(grid: int = grid, lengths: Sequence[int] = lengths) -> Sequence[Any]:
            words = (np.zeros(count, np.uint32) for _ in range(2))
            return [*words, count, *lengths, np.zeros(grid, np.uint32)]

        def add(grid: int = grid, length: int = length) -> Sequence[Any]:
            return [np.zeros(count, np.uint32), count - length, np.zeros(grid, np.uint32), length]

        parts = (
            Rung("scan", on, 0, FILE, f"scan_{kind}", (grid,), (512,), scan, length * 4),
            Rung("add", on, 0, FILE, "scan_add", (grid - 1,), (512,), add),
        )
        rungs.append(Launches(f"{kind}, {on}", on, ms / 1e3, parts))
    yield Ladder("scans on six GPUs", f"{LOGS} (u32, CTAs of 512)", tuple(rungs))


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    for of in (histograms, lines, planes, elementwise, scans):
        yield from of()
