"""Published times of norms, softmax, products with a vector, attention of one query and SiLU: held out until 2026-11-24.

`stage_ladders.py` has the rule by which they were chosen, what was left out and what was inferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from rungs import Ladder, Launches, Rung, data_of, source_ladder, zeros

TINY = 1e-5


def of_name(name: str) -> Any:
    """Return the type of the arrays of a kernel."""
    return np.float16 if name.endswith("f16") else np.float32


def residual() -> Iterator[Ladder]:
    """RMS norms of 8192 rows of 768 plus a residual, and gradients of RMS norms; us."""
    data, rows, columns = data_of("sealed_residual"), 8192, 768
    size = (rows, columns)

    def ladder(name: str, values: Mapping[str, Mapping[str, Any]]) -> Ladder:
        rungs = []
        for entry, one in values.items():
            sizes = [rows] if "kept" in entry else [rows, columns]

            def args(entry: str = entry, sizes: list[int] = sizes) -> Sequence[Any]:
                (mean, sums), of = zeros(rows, columns)(), of_name(entry)
                if entry.startswith("norm"):
                    y, z, x, other, w = zeros(*[size] * 4, columns, dtype=of)()
                    return [y, z, mean, x, other, w, *sizes]
                dx, dy, x, w = zeros(*[size] * 3, columns, dtype=of)()
                return [dx, sums, dy, x, w, mean, *sizes]

            grid, file, seconds = (one["ctas"],), "sealed_residual.ptx", one["us"] / 1e6
            rungs.append(Rung(entry, data["gpu"], seconds, file, entry, grid, (256,), args, one["shared"]))
        return source_ladder(name, data, rungs)

    yield ladder("RMS norm plus a residual in steps", data["values"]["norm"])
    yield ladder("gradients of an RMS norm in steps", data["values"]["gradients"])


def steps() -> Iterator[Ladder]:
    """Products with a vector, softmax, RMS norms and SiLU in steps; GB/s of bytes that are read once and written once."""
    data, file = data_of("sealed_steps"), "sealed_rows.ptx"
    on, values = data["gpu"], data["values"]
    m, k, rungs = 32000, 4096, []
    launches = {"vector_threads": (m // 256, 256), "vector_ctas": (m, 256), "vector_unrolled": (m // 4, 128)}
    for entry, rate in values["vector"].items():

        def product() -> Sequence[Any]:
            return [*zeros((m, k), k, m)(), m, k]

        (grid, threads), seconds = launches.get(entry, (m // 8, 256)), 4 * (m * k + k + m) / (rate * 1e9)
        rungs.append(Rung(entry, on, seconds, file, entry, (grid,), (threads,), product, repeated=True))
    yield source_ladder("products with a vector in steps", data, rungs)
    rungs = []
    for name, rates in values["softmax"].items():
        rows, columns = map(int, name.split())
        for entry, rate in rates.items():

            def both(rows: int = rows, columns: int = columns) -> Sequence[Any]:
                return [*zeros((rows, columns), (rows, columns))(), rows, columns]

            grid = {"softmax_threads": -(-rows // 256), "softmax_warps": rows // 8}.get(entry, rows)
            named, seconds = f"{entry} {name}", 8 * rows * columns / (rate * 1e9)
            rungs.append(Rung(named, on, seconds, file, entry, (grid,), (256,), both, repeated=True))
    yield source_ladder("softmax of rows in steps", data, rungs)
    side, rungs = 4096, []
    for entry, rate in values["norm"].items():

        def weighted() -> Sequence[Any]:
            return [*zeros((side, side), side, (side, side))(), side, side, TINY]

        grid, seconds = (side // 256 if entry == "norm_threads" else side,), 8 * side**2 / (rate * 1e9)
        rungs.append(Rung(entry, on, seconds, file, entry, grid, (256,), weighted, repeated=True))
    yield source_ladder("RMS norm in steps", data, rungs)
    count, rungs = 1 << 26, []
    for entry, rate in values["silu"].items():

        def vectors() -> Sequence[Any]:
            return [*zeros(count, count)(), count]

        grid = {"silu_each": count // 256, "silu_strides": 2048, "silu_fours": count // 1024}[entry]
        seconds = 8 * count / (rate * 1e9)
        rungs.append(Rung(entry, on, seconds, file, entry, (grid,), (256,), vectors, repeated=True))
    yield source_ladder("SiLU in steps", data, rungs)
    yield attention(data)


def attention(data: Mapping[str, Any]) -> Ladder:
    """Attention of one query to the keys of 32 heads; GB/s of q, keys, values and result."""
    heads, width, parts, rungs = 32, 128, 8, []
    on, file, scale, threads = data["gpu"], "sealed_decode.ptx", width**-0.5, (width,)
    for name, rates in data["values"]["attention"].items():
        length = int(name)
        shared = {"all_scores": 4 * (length + width + 32), "tiles": 1664}

        def given(length: int = length) -> Sequence[Any]:
            return zeros((heads, width), *[(heads, length, width)] * 2)()

        def whole(length: int = length) -> Sequence[Any]:
            return [*given(length), np.zeros((heads, width), np.float32), heads, length, width, scale]

        def parted(length: int = length) -> Sequence[Any]:
            sums = zeros((heads, parts), (heads, parts), (heads, parts, width))()
            return [*given(length), *sums, heads, length, width, scale, parts]

        def merged() -> Sequence[Any]:
            sums = zeros((heads, parts), (heads, parts), (heads, parts, width))()
            return [*sums, np.zeros((heads, width), np.float32), heads, width, parts]

        for entry, rate in rates.items():
            seconds, named = 8 * heads * width * (length + 1) / (rate * 1e9), f"{entry} {name}"
            if entry == "parts":
                both = []
                for kernel, grid, args in (
                    ("tiles_in_parts", (heads, parts), parted),
                    ("merge_parts", (heads,), merged),
                ):
                    smem = 1664 if kernel == "tiles_in_parts" else 0
                    both.append(Rung(kernel, on, 0, file, kernel, grid, threads, args, smem, repeated=True))
                rungs.append(Launches(named, on, seconds, tuple(both)))
                continue
            rungs.append(Rung(named, on, seconds, file, entry, (heads,), threads, whole, shared[entry], repeated=True))
    return source_ladder("attention of one query in steps", data, rungs)


# threads of a CTA along and across the rows, and CTAs
SHAPES = {2048: ((32, 32), 64), 4096: ((256, 1), 4096), 8192: ((256, 4), 2048), 16384: ((512, 2), 8192)}


def vectors() -> Iterator[Ladder]:
    """Products of square matrices of f16 and of integers with a vector; ns."""
    data, rungs = data_of("sealed_vectors"), []
    for name, times in data["values"].items():
        for size, ns in times.items():
            n = int(size)
            block, ctas = SHAPES[n]

            def args(name: str = name, n: int = n, each: int = n // block[0]) -> Sequence[Any]:
                vector, out = zeros(n, n, dtype="float16")()
                if name == "f16":
                    return [np.zeros((n, n), np.float16), vector, out, n, each]
                matrix = np.zeros((n, n), np.int8) if name == "8_bits" else np.zeros((n, n // 2), np.uint8)
                scale, zero = (np.float16(number).tobytes() for number in (0.01, 1))
                return [matrix, vector, out, n, scale, zero, each]

            file, entry, grid = "sealed_vectors.ptx", f"of_{name}", (1, ctas)
            rungs.append(Rung(f"{name} {n}", data["gpu"], ns / 1e9, file, entry, grid, block, args, repeated=True))
    yield source_ladder("products of f16 and integers with a vector", data, rungs)


def quarters() -> Iterator[Ladder]:
    """RMS norms of rows by 16 bytes; ms."""
    data, rungs = data_of("sealed_quarters"), []
    for name, times in data["values"].items():
        rows, columns = map(int, name.split())
        for of, ms in times.items():

            def args(rows: int = rows, columns: int = columns, of: str = of) -> Sequence[Any]:
                return [*zeros((rows, columns), columns, (rows, columns), dtype=of_name(of))(), columns, TINY]

            file, entry = "sealed_norms.ptx", f"quarters_{of}"
            named, seconds = f"{name} {of}", ms / 1e3
            rungs.append(Rung(named, data["gpu"], seconds, file, entry, (rows,), (256,), args, repeated=True))
    yield source_ladder("RMS norm by size and type", data, rungs)


def norms() -> Iterator[Ladder]:
    """RMS norms of 4096 rows by two kernels and by one, and by threads; ms. Each launch was timed by itself, on the same data."""
    data, rows, file, rungs = data_of("sealed_norms"), 4096, "sealed_norms.ptx", []
    on = data["gpu"]

    def in_one(name: str, entry: str, columns: int, threads: int, ms: float) -> Rung:
        wide = {"in_one": [], "in_one_fours": [columns // 4], "in_one_f16": [columns // 2]}[entry]

        def args() -> Sequence[Any]:
            size = (rows, columns)
            return [*zeros(size, columns, size, dtype=of_name(entry))(), *wide, columns, TINY]

        grid, block = (rows,), (threads,)
        return Rung(name, on, ms / 1e3, file, entry, grid, block, args, isolated=True, repeated=True)

    def two(name: str, columns: int, ms: float) -> Launches:
        def scales() -> Sequence[Any]:
            return [*zeros((rows, columns), rows)(), columns, TINY]

        def scaled() -> Sequence[Any]:
            return [*zeros((rows, columns), columns, rows, (rows, columns))(), rows * columns, columns]

        grid = (rows * columns // 128,)
        first = Rung(name, on, 0, file, "row_scales", (rows,), (128,), scales, isolated=True, repeated=True)
        second = Rung(name, on, 0, file, "scaled", grid, (128,), scaled, repeated=True)
        return Launches(name, on, ms / 1e3, (first, second))

    for size, times in data["values"]["steps"].items():
        for entry, ms in times.items():
            name, columns = f"{entry} {size}", int(size)
            found = two(name, columns, ms) if entry == "two" else in_one(name, entry, columns, 128, ms)
            rungs.append(found)
    yield source_ladder("RMS norm by kernels and size", data, rungs)
    by_threads = data["values"]["threads"].items()
    rungs = [in_one(f"{threads} threads", "in_one_f16", 4096, int(threads), ms) for threads, ms in by_threads]
    yield source_ladder("RMS norm in f16 by threads", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    yield from chain(residual(), steps(), vectors(), quarters(), norms())
