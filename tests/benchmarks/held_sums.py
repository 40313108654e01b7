"""Held-out ladders of sums and prefix sums; their rule is that of `held_ladders.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from rungs import Ladder, Launches, Rung, data_of, zeros


def held(name: str, data: Mapping[str, Any], rungs: Sequence[Rung | Launches]) -> Ladder:
    """Return a held-out ladder of a source on the GPU of its rungs."""
    on = rungs[0].gpu
    url = data["url"] if isinstance(data["url"], str) else data["url"][on]
    return Ladder(f"{name}, {on}", f"{url} ({data['source']})", tuple(rungs), held=True)


def tree_sums() -> Iterator[Ladder]:
    """Sums of 2^29 f32: GB/s of kernels, and of one of them by elements of a thread."""
    data, count, threads, file = data_of("fresh_tree_sums"), 1 << 29, 128, "fresh_tree_sums.ptx"

    def rung(name: str, entry: str, block: int, each: int, rate: float) -> Rung:
        grid, of = count // (block * each), block * each

        def args() -> Sequence[Any]:
            return [np.zeros(grid, np.float32), np.zeros(count, np.float32), of]

        return Rung(name, data["gpu"], 4 * count / (rate * 1e9), file, entry, (grid,), (block,), args)

    steps, values = [], data["values"]
    for entry, rate in values["steps"].items():
        block = int(entry.rpartition("_")[2]) if entry.startswith("remainder") else threads
        steps.append(rung(entry, entry, block, 32 if entry in ("shuffles", "vectors") else 1, rate))
    yield held("trees of sums", data, steps)
    by = [rung(each, "several", threads, int(each), rate) for each, rate in values["several"].items()]
    more = [rung(name, name, threads, each, values[name]) for name, each in (("pairs", 2), ("neighbors", 32))]
    yield held("sums by elements of a thread", data, [*by, *more])


def lecture_sums() -> Iterator[Ladder]:
    """Sums of 2^22 s32; ms."""
    data, count, threads, rungs = data_of("fresh_lecture_sums"), 1 << 22, 256, []
    for entry, ms in data["values"].items():
        grid = count // (threads * (2 if entry.startswith(("first", "unrolled")) else 1))
        args, file = zeros(count, grid, dtype="int32"), "fresh_lecture_sums.ptx"
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, file, entry, (grid,), (threads,), args, 4 * threads))
    yield held("sums of a lecture", data, rungs)


def atomic_sums() -> Iterator[Ladder]:
    """Sums of 2^26 words to one; ms. The last kernel has six CTAs on each of 128 SMs."""
    data, count, threads, rungs = data_of("fresh_atomic_sums"), 1 << 26, 256, []
    for entry, ms in data["values"].items():

        def args(dtype: str = "float32" if entry.startswith("float") else "int32") -> Sequence[Any]:
            return [np.zeros(count, dtype), np.zeros(1, dtype), count]

        grid = 768 if entry == "strided_atomics" else count // threads
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, "fresh_atomic_sums.ptx", entry, (grid,), (threads,), args))
    yield held("sums with atomics", data, rungs)


def scan_parts(on: str, power: int, threads: int) -> Iterator[Rung]:
    """Yield the launches of a prefix sum: a pass for each power of two below the count, and a shift."""
    count, grid, block = 1 << power, ((1 << power) // threads,), (threads,)

    def one(entry: str, *sizes: int) -> Rung:
        def args() -> Sequence[Any]:
            return [*sizes, *zeros(count, count, dtype="int32")()]

        return Rung(entry, on, 0, "fresh_scan.ptx", entry, grid, block, args, repeated=True)

    near = [one("pass", count, 1 << of) for of in range(4)]
    yield from near
    yield from [near[-1]] * (power - 6)  # as long as the one of 8 elements: loads are of whole sectors
    yield from (one("pass", count, count // of) for of in (4, 2))
    yield one("shift", count)


def scans() -> Iterator[Ladder]:
    """Prefix sums of 2^23 and 2^24 s32 by passes over all elements; ms."""
    data, rungs = data_of("fresh_scan"), []
    for name, ms in data["values"].items():
        parts = scan_parts(data["gpu"], *map(int, name.split()))
        rungs.append(Launches(name, data["gpu"], ms / 1e3, tuple(parts)))
    yield held("prefix sums", data, rungs)


def sums_and_scans() -> Iterator[Ladder]:
    """Yield the held-out ladders of sums and prefix sums."""
    yield from chain(tree_sums(), lecture_sums(), atomic_sums(), scans())
