"""Published rates of DRAM, L2 and shared memory: streams, stencils, lattices, L2 by size, copies with bytes in flight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rungs import Ladder, Rung, device, zeros

BENCHES = "github.com/RRZE-HPC/gpu-benches"
LATTICES = "README of github.com/ProjectPhysX/FluidX3D (D3Q19, f16 in memory; 77 bytes a cell, largest cubic box)"
IN_FLIGHT = "github.com/Antoniomv7/gb300-microbench, memory_paths.csv (512 MiB, one CTA of 128 per SM)"


def streams() -> Iterator[Ladder]:
    """Two CTAs of f64 streams per SM, as in `foreign.streams`: GB/s of read, scale and triad by threads of a CTA."""
    size, kernels = 2**26, {"read": 1, "scale": 2, "triad": 4}
    measured: Mapping[str, tuple[int, Mapping[int, Sequence[float]]]] = {
        "A100 SXM 40GB": (
            164,
            {128: (310, 548, 743), 256: (592, 956, 1232), 512: (1064, 1338, 1360), 1024: (1500, 1382, 1358)},
        ),
        "H100 PCIe": (
            228,
            {128: (368, 607, 821), 256: (702, 1037, 1399), 512: (1261, 1583, 1675), 1024: (1942, 1704, 1832)},
        ),
        "GH200": (
            228,
            {128: (486, 854, 1408), 256: (935, 1397, 2367), 512: (1715, 2269, 3338), 1024: (2775, 3174, 3783)},
        ),
    }
    for on, (kib, rates) in measured.items():
        smem = (kib // 2 - 1) * 1024 * 99 // 100 // 16 * 16
        rungs = []
        for block, row in rates.items():
            for (kernel, arrays), rate in zip(kernels.items(), row, strict=True):
                seconds, args = arrays * 8 * size / (rate * 1e9), zeros(*[size] * 4, dtype="float64")
                name, entry, grid = f"{kernel} {block}", f"stream_{kernel}", (size // block,)
                rungs.append(Rung(name, on, seconds, "memory.ptx", entry, grid, (block,), args, smem))
        yield Ladder(f"streams by occupancy, {on}", f"{BENCHES}, gpu-stream", tuple(rungs))


def stencils() -> Iterator[Ladder]:
    """Stencils of three and five points at full occupancy: GB/s of one read and one write; CTAs of half an SM."""
    size = 2**26
    rates = {
        "A100 SXM 40GB": (1024, 1371, 1368),
        "A100 SXM 80GB": (1024, 1702, 1686),
        "A40": (768, 651, 656),
        "L40": (768, 768, 766),
        "H100 PCIe": (1024, 1686, 1683),
        "GH200": (1024, 3138, 3120),
    }

    def args() -> Sequence[Any]:
        return [np.zeros(size), np.zeros(size), size]

    rungs = []
    for on, (block, *row) in rates.items():
        for points, rate in zip((3, 5), row, strict=True):
            seconds, grid = 2 * 8 * size / (rate * 1e9), (-(-size // block),)
            entry = f"stencil_{points}"
            rungs.append(Rung(f"{points} points, {on}", on, seconds, "rates.ptx", entry, grid, (block,), args))
    yield Ladder("stencils in one dimension, six GPUs", f"{BENCHES}, gpu-stream", tuple(rungs))


def lattices() -> Iterator[Ladder]:
    """Lattices stored in f16 that the hardware converts: million updates per second; of some GPUs also in f32.

    The other published format is left out: it is converted by software, whose instructions are not those of a kernel of ours.
    """
    cells = 256**3
    f16 = {
        "Turing": {"T4": 2869, "RTX 2080 Ti": 6700},
        "Ampere": {
            "A100 SXM 40GB": 16013,
            "A100 SXM 80GB": 18448,
            "A40 with ECC": 6605,
            "RTX A6000": 8814,
            "RTX 3090": 10732,
        },
        "Ada": {"RTX 4090": 11091, "L40 with ECC": 7778, "L40S": 7637},
        "Hopper": {"H100 PCIe": 20624, "H100 SXM": 29561, "H200 SXM": 36610, "GH200": 34689},
        "Blackwell": {"RTX 5090": 18459, "RTX 5080": 10252, "RTX PRO 6000": 20511, "B200": 55609, "B300": 57279},
    }
    f32 = {"Turing": {"RTX 2080 Ti": 3194}, "Ada": {"L40S": 3788}, "Hopper": {"GH200": 20595}}
    f32 |= {"Blackwell": {"RTX 5080": 5174, "B300": 42519}}
    for family, rates in f16.items():
        rungs = []
        for file, entry, dtype, own in (
            ("rates.ptx", "lattice_f16", np.float16, rates),
            ("memory.ptx", "lattice", np.float32, f32.get(family, {})),
        ):

            def args(dtype: type = dtype) -> Sequence[Any]:
                return [np.zeros(19 * cells, dtype), np.zeros(19 * cells, dtype), np.zeros(cells, np.uint8)]

            for on, rate in own.items():
                name = f"{np.dtype(dtype).name}, {on}"
                rungs.append(Rung(name, on, cells / (rate * 1e6), file, entry, (cells // 64,), (64,), args))
        yield Ladder(f"lattices in f16, {family}", LATTICES, tuple(rungs))


def l2_reads() -> Iterator[Ladder]:
    """100,000 CTAs read 512 KiB each, the same `distinct` parts over and over: GB/s by the size of all parts."""
    rates = {  # distinct parts: GB/s
        "A100 SXM 80GB": {4: 5482, 17: 5391, 29: 5405, 61: 4000, 123: 1895, 551: 1829, 5385: 1730},
        "H100 PCIe": {8: 7122, 27: 6947, 55: 6947, 113: 2244, 500: 1989, 4895: 1964},
        "GH200": {9: 10545, 29: 9920, 61: 9769, 123: 4464, 551: 3888, 5385: 3889},
        "L40": {9: 5170, 61: 5230, 123: 5278, 260: 851, 1176: 828, 5385: 797},
    }
    for on, by_size in rates.items():
        rungs = []
        for distinct, rate in by_size.items():

            def args(distinct: int = distinct) -> Sequence[Any]:
                return [np.zeros(1024), np.zeros(distinct << 16), distinct]

            seconds, name = 100_000 * 2**19 / (rate * 1e9), f"{distinct / 2:g} MiB"
            rungs.append(Rung(name, on, seconds, "rates.ptx", "l2_read", (100_000,), (1024,), args))
        yield Ladder(f"L2 reads by size, {on}", f"{BENCHES}, gpu-l2-cache", tuple(rungs))


def copies() -> Iterator[Ladder]:
    """Copies to shared memory in stages: GB/s of cp.async and of bulk copies by stages and KiB in flight."""
    rates = {
        (2, 16): (3127.1, 3038.5),
        (2, 32): (5167.6, 5053.0),
        (2, 64): (6949.6, 6956.3),
        (4, 16): (3234.2, 2393.9),
        (4, 32): (5130.6, 4674.2),
        (4, 64): (7023.7, 6961.9),
        (8, 16): (2001.9, 1202.0),
        (8, 32): (3672.5, 2400.7),
        (8, 64): (6698.1, 4799.8),
    }
    on = "B300"
    ctas = device(on).sms
    size = -(-(512 << 20) // (ctas << 15)) * (ctas << 15)  # of whole tiles for each CTA
    rungs = []
    for (stages, kib), row in rates.items():
        for kind, rate in zip(("async", "bulk"), row, strict=True):

            def args(tiles: int = size * stages // (ctas * kib * 1024)) -> Sequence[Any]:
                return [np.zeros(size // 4, np.uint32), np.zeros(ctas * 128, np.uint32), tiles, 0]

            name, entry = f"{kind}, {stages} stages, {kib} KiB", f"{kind}_{stages}_{kib}"
            seconds = size / (rate * 1e9)
            rungs.append(Rung(name, on, seconds, "blackwell.ptx", entry, (ctas,), (128,), args, kib * 1024))
    yield Ladder("copies to shared memory, B300", IN_FLIGHT, tuple(rungs))


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    for of in (streams, stencils, lattices, l2_reads, copies):
        yield from of()
