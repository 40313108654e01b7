"""Published steps of matrix products: f32 on A100, H200 and RTX 3070 Ti, f16 with mma.sync, tcgen05 on B300.

Those of f32 on an RTX 3070 Ti and of f16 on an RTX 4090 were held out until 2026-11-24; `vector_ladders.py` has their rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rungs import Ladder, Rung, data_of, device

SGEMM = "github.com/yencal/gpu-gemm (alpha 1, beta 0, CUDA events; read off plots)"
MMA = "github.com/waynehacking8/blackwell-tensorcore-kernels, results/bench.csv (CUDA events)"
TCGEN05 = "github.com/Antoniomv7/gb300-microbench, umma_throughput.csv (one CTA, clock64 around the loop)"

# Left out of SGEMM: cuBLAS and the autotuned step (tiles not published). Of MMA: cuBLAS, CUTLASS, and fp8 and fp4, whose
# loop over fragments is pipelined in another way.
STEPS = {  # entry: (edge of the tile of a CTA, threads)
    "f32_naive": (32, 1024),
    "f32_block": (32, 1024),
    "f32_thread": (64, 64),
    "f32_vector_global": (128, 256),
    "f32_vector_shared": (128, 256),
    "f32_two_tiles": (128, 256),
    "f32_two_fragments": (128, 256),
    "f32_async": (128, 256),
}
SGEMM_RATES: Mapping[str, Mapping[int, tuple[float | None, ...]]] = {  # TFLOP/s in the order of STEPS
    "A100 SXM 40GB": {
        1024: (2.4, 5.0, 7.4, None, 8.5, 8.6, 9.0, 9.1),
        4096: (2.5, 5.4, 14.1, None, 15.8, 16.0, 16.3, 16.4),
    },
    "H200 SXM": {
        1024: (4.5, 9.1, 12.2, 14.3, 13.6, 17.5, 17.6, 18.3),
        4096: (4.3, 8.9, 18.0, 32.8, 34.0, 40.7, 40.9, 42.0),
    },
}


def sgemms() -> Iterator[Ladder]:
    for on, by_size in SGEMM_RATES.items():
        rungs = []
        for size, rates in by_size.items():

            def args(size: int = size) -> Sequence[Any]:
                a, b, c = (np.zeros((size, size), np.float32) for _ in range(3))
                return [size, size, size, 1.0, a, b, 0.0, c]

            for (entry, (tile, threads)), rate in zip(STEPS.items(), rates, strict=True):
                if rate is not None:
                    grid, seconds, name = (size // tile, size // tile), 2 * size**3 / (rate * 1e12), f"{entry} {size}"
                    rung = Rung(name, on, seconds, "products.ptx", entry, grid, (threads,), args, repeated=True)
                    rungs.append(rung)
        yield Ladder(f"SGEMM in steps, {on}", SGEMM, tuple(rungs))


KINDS: Mapping[str, tuple[int, tuple[int, ...], int]] = {  # entry: (edge of a tile, block, bytes of shared memory)
    "scalar_naive": (16, (16, 16), 0),
    "scalar_tiled": (32, (32, 32), 0),
    "wmma_64": (64, (512,), 2 * 8192),
    "wmma_128": (128, (512,), 3 * 16384),
    "mma_base": (128, (512,), 16384),
    "mma_swizzle": (128, (512,), 16384),
    "mma_vector": (128, (512,), 16384),
    "mma_pipeline": (128, (512,), 2 * 16384),
    "mma_warp_tile": (128, (128,), 2 * 16384),
}


def mma_rung(on: str, entry: str, size: int, ms: float) -> Rung:
    dtype = np.float32 if entry.startswith("scalar") else np.float16

    def args() -> Sequence[Any]:
        a, b = (np.zeros((size, size), dtype) for _ in range(2))
        return [a, b, np.zeros((size, size), np.float32), size, size, size]

    tile, block, smem = KINDS[entry]
    grid = (size // tile, size // tile)
    return Rung(f"{entry} {size}", on, ms / 1e3, "mma_products.ptx", entry, grid, block, args, smem, repeated=True)


def mma_products() -> Iterator[Ladder]:
    names = [name for name in KINDS if name != "wmma_64"]
    max_q = {
        4096: (24.039, 16.564, 1.43, 2.168, 1.724, 0.771, 0.754, 0.569),
        8192: (237.279, 157.39, 10.974, 23.214, 18.867, 6.746, 6.268, 4.611),
    }
    on = "RTX PRO 6000 Max-Q"
    rungs = [mma_rung(on, name, n, ms) for n, times in max_q.items() for name, ms in zip(names, times, strict=True)]
    yield Ladder(f"mma products in steps, {on}", MMA, tuple(rungs))
    h100 = {  # of a scalar loop, tiles in shared memory, WMMA
        1024: (0.418, 0.236, 0.081),
        2048: (3.111, 1.849, 0.304),
        4096: (25.535, 15.097, 2.314),
        8192: (213.226, 119.947, 18.045),
    }
    rungs = []
    for size, times in h100.items():
        steps = ("scalar_naive", "scalar_tiled", "wmma_64" if size < 1536 else "wmma_128")
        rungs += [mma_rung("H100 SXM", entry, size, ms) for entry, ms in zip(steps, times, strict=True)]
    yield Ladder("mma products in steps, H100 SXM", MMA, tuple(rungs))


def tcgen05_products() -> Iterator[Ladder]:
    rates = {  # columns: operations per cycle of an SM by the number of instructions before a wait
        64: {4: 2361.3, 16: 3721.4, 64: 4941.7, 256: 5321.4},
        128: {4: 3489.0, 16: 6652.0, 64: 7706.5, 256: 8065.0},
        256: {4: 5599.3, 16: 7007.8, 64: 7840.7, 256: 8101.3},
    }
    on, count = "B300", 1 << 14  # instructions: enough that the rest of the kernel takes less than a hundredth
    rungs = []
    for columns, by_depth in rates.items():
        for depth, rate in by_depth.items():

            def args(depth: int = depth) -> Sequence[Any]:
                return [count // depth, np.zeros(128, np.float32)]

            seconds = 2 * 128 * columns * 16 * count / rate / device(on).tensor_clock_hz  # published in cycles
            entry = f"products_{columns}_{depth}"
            rungs.append(Rung(f"N {columns}, {depth}", on, seconds, "blackwell.ptx", entry, (1,), (128,), args))
    yield Ladder("tcgen05 products by depth, B300", TCGEN05, tuple(rungs))


def register_products() -> Iterator[Ladder]:
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
    yield Ladder(name, f"{tiles['url']} ({tiles['source']})", tuple(rungs))

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
    yield Ladder(name, f"{halves['url']} ({halves['source']})", tuple(rungs))


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    yield from sgemms()
    yield from mma_products()
    yield from tcgen05_products()
    yield from register_products()
