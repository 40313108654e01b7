"""Published times of attention: held out until 2026-11-29; `forward_ladders.py` has the rule they were chosen by, and what is inferred."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import e, log2
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Launches, Rung, data_of, source_ladder, zeros

BF16 = np.dtype(ml_dtypes.bfloat16)
HEAD = 128  # numbers of a head of `prefill` and `decode`
SCALE, SCALE2 = HEAD**-0.5, HEAD**-0.5 * log2(e)


def prefill() -> Ladder:
    """Attention of all tokens, unfused and in four fused kernels, without a mask and causal; ms."""
    data, rungs, file = data_of("hidden_prefill"), [], "hidden_prefill.ptx"
    on, batch, length, heads = data["gpu"], 4, 4096, 32
    rows, tokens = batch * heads * length, (batch, length, heads, HEAD)
    squares, logs, count = (batch * heads, length, length), (batch, heads, length), batch * heads * length**2

    def scores() -> Sequence[Any]:
        return [*zeros(tokens, tokens, squares)(), heads, length]

    def softmax() -> Sequence[Any]:
        return [*zeros(squares, logs)(), length]

    def weighted() -> Sequence[Any]:
        return [*zeros(squares, tokens, tokens)(), heads, length]

    def unfused(name: str, causal: int) -> tuple[Rung, ...]:
        def mask() -> Sequence[Any]:
            return [*zeros(squares)(), count, length, SCALE, causal]

        tiles, down, block = length // 16, batch * heads, (16, 16)
        return (
            Rung(name, on, 0, file, "plain_scores", (tiles, tiles, down), block, scores, isolated=True, repeated=True),
            Rung(name, on, 0, file, "plain_mask", (count // 256,), (256,), mask, repeated=True),
            Rung(name, on, 0, file, "plain_softmax", (rows,), (256,), softmax, repeated=True),
            Rung(name, on, 0, file, "plain_values", (HEAD // 16, tiles, down), block, weighted, repeated=True),
        )

    launches = {  # queries of a CTA, its threads, bytes of shared memory and the type of the numbers
        "fused_scores": (32, 256, 0, np.float32),
        "fused_patches": (64, 128, 4 * (3 * 64 * (HEAD + 4) + 4 * 16 * 72), np.float32),
        "mma_tiles": (64, 128, 0, BF16),
        "mma_stages": (64, 128, 2 * 4 * 64 * (HEAD + 8), BF16),
    }
    for entry, times in data["values"].items():
        for causal, ms in enumerate(times):
            named = f"{entry} {'causal' if causal else 'without a mask'}"
            if entry == "plain":
                rungs.append(Launches(named, on, ms / 1e3, unfused(named, causal)))
                continue
            tile, threads, shared, of = launches[entry]
            scales = (SCALE,) if entry == "fused_scores" else (SCALE, SCALE2)

            def args(of: Any = of, last: tuple[float, ...] = (*scales, causal)) -> Sequence[Any]:
                arrays = [*zeros(tokens, tokens, tokens, tokens, dtype=of)(), np.zeros(logs, np.float32)]
                return [*arrays, heads, length, *last]

            grid, seconds = (length // tile, batch * heads), ms / 1e3
            both = {"isolated": True, "repeated": True}
            rungs.append(Rung(named, on, seconds, file, entry, grid, (threads,), args, shared, **both))
    return source_ladder("attention of all tokens", data, rungs)


def decode() -> Ladder:
    """Attention of one query to a cache, by the parts of it that CTAs divide, and a launch that combines them; GB/s."""
    data, rungs, file, on = data_of("hidden_decode"), [], "hidden_decode.ptx", "H100 SXM"
    batch, heads, capacity = 8, 32, 32768
    query, cache = (batch, heads, HEAD), (batch, capacity, heads, HEAD)
    moved = 2 * 2 * batch * heads * HEAD * (capacity + 1)
    for name, rate in data["values"].items():

        def part(parts: int = int(name)) -> Sequence[Any]:
            arrays = [*zeros(query, cache, cache, dtype=BF16)(), np.full(batch, capacity, np.int32)]
            found = [
                np.zeros(query, BF16),
                *zeros((batch, heads), (batch, heads, parts, HEAD), (batch, heads, parts, 2))(),
            ]
            return [*arrays, *found, heads, capacity, parts, SCALE2]

        def merge(parts: int = int(name)) -> Sequence[Any]:
            partial, largest, logs = zeros((batch, heads, parts, HEAD), (batch, heads, parts, 2), (batch, heads))()
            return [partial, largest, np.zeros(query, BF16), logs, heads, parts]

        named, seconds, grid, block = f"decode {name}", moved / rate / 1e9, (batch * heads, int(name)), (HEAD,)
        if name == "1":
            rungs.append(Rung(named, on, seconds, file, "decode_part", grid, block, part, isolated=True))
            continue
        parts = (
            Rung(named, on, 0, file, "decode_part", grid, block, part, isolated=True),
            Rung(named, on, 0, file, "decode_merge", (batch * heads,), block, merge),
        )
        rungs.append(Launches(named, on, seconds, parts))
    return source_ladder("attention of a query by parts", data, rungs)


def by_length(entry: str, length: int) -> tuple[Callable[[], Sequence[Any]], int, int]:
    """Return a maker of the arguments of a kernel by tiles, the threads of a CTA and the bytes of its shared memory."""
    of, width = np.float16 if entry == "tile_wmma" else np.float32, 64
    threads, shared = {
        "tile_threads": (32, 4 * (3 * 32 * width + 32 * 32)),
        "tile_teams": (256, 4 * (2 * 32 * width + 32 * 32)),
        "tile_wmma": (128, 2 * (3 * 32 * width + 32 * 32) + 4 * (32 * 32 + 3 * 32 + 32 * width)),
    }[entry]

    def args() -> Sequence[Any]:
        shape, last = (4, 8, length, width), (length, width) if entry == "tile_threads" else (length,)
        arrays = [*zeros(shape, shape, shape, shape, dtype=of)(), np.zeros(shape[:3], np.float32)]
        return [*arrays, *last, width**-0.5]

    return args, threads, shared


def lengths() -> Iterator[Ladder]:
    """Causal attention in steps by the length of the sequences on two GPUs; ms."""
    data, file, heads, width = data_of("hidden_flash"), "hidden_flash.ptx", 4 * 8, 64
    for on, values in data["values"].items():
        rungs = []
        for entry, times in values.items():
            for name, ms in times.items():
                length, named, seconds = int(name), f"{entry} {name}", ms / 1e3
                if entry != "row_scores":
                    args, threads, shared = by_length(entry, length)
                    grid, both = (4, 8, length // 32), {"isolated": True, "repeated": True}
                    rungs.append(Rung(named, on, seconds, file, entry, grid, (threads,), args, shared, **both))
                    continue
                tokens, squares = (heads, length, width), (heads, length, length)

                def scores(tokens: Any = tokens, squares: Any = squares, length: int = length) -> Sequence[Any]:
                    return [*zeros(tokens, tokens, squares)(), length, width, 1 / width]

                def softmax(squares: Any = squares, length: int = length) -> Sequence[Any]:
                    return [*zeros(squares)(), length]

                def weighted(tokens: Any = tokens, squares: Any = squares, length: int = length) -> Sequence[Any]:
                    return [*zeros(squares, tokens, tokens)(), length, width]

                grid, block = (heads,), (length,)
                first = Rung(named, on, 0, file, entry, grid, block, scores, isolated=True, repeated=True)
                second = Rung(named, on, 0, file, "row_softmax", grid, block, softmax, repeated=True)
                third = Rung(named, on, 0, file, "row_values", grid, block, weighted, repeated=True)
                rungs.append(Launches(named, on, seconds, (first, second, third)))
        yield source_ladder("attention by length", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield these ladders."""
    yield prefill()
    yield decode()
    yield from lengths()
