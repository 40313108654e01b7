"""Published times of sums and prefix sums: ladders held out until 2026-11-24; their rule is in `tile_ladders.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from rungs import Ladder, Launches, Rung, data_of, source_ladder, zeros


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
    yield source_ladder("trees of sums", data, steps)
    by = [rung(each, "several", threads, int(each), rate) for each, rate in values["several"].items()]
    more = [rung(name, name, threads, each, values[name]) for name, each in (("pairs", 2), ("neighbors", 32))]
    yield source_ladder("sums by elements of a thread", data, [*by, *more])


def lecture_sums() -> Iterator[Ladder]:
    """Sums of 2^22 s32; ms."""
    data, count, threads, rungs = data_of("fresh_lecture_sums"), 1 << 22, 256, []
    for entry, ms in data["values"].items():
        grid = count // (threads * (2 if entry.startswith(("first", "unrolled")) else 1))
        args, file = zeros(count, grid, dtype="int32"), "fresh_lecture_sums.ptx"
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, file, entry, (grid,), (threads,), args, 4 * threads))
    yield source_ladder("sums of a lecture", data, rungs)


def atomic_sums() -> Iterator[Ladder]:
    """Sums of 2^26 words to one; ms. The last kernel has six CTAs on each of 128 SMs."""
    data, count, threads, rungs = data_of("fresh_atomic_sums"), 1 << 26, 256, []
    for entry, ms in data["values"].items():

        def args(dtype: str = "float32" if entry.startswith("float") else "int32") -> Sequence[Any]:
            return [np.zeros(count, dtype), np.zeros(1, dtype), count]

        grid = 768 if entry == "strided_atomics" else count // threads
        rungs.append(Rung(entry, data["gpu"], ms / 1e3, "fresh_atomic_sums.ptx", entry, (grid,), (threads,), args))
    yield source_ladder("sums with atomics", data, rungs)


def scan_rung(on: str, entry: str, ctas: int, threads: int, smem: int, *args: int | tuple[int]) -> Rung:
    """Return a launch of a prefix sum; an argument in a tuple is an array of that many elements."""

    def made() -> Sequence[Any]:
        return [np.zeros(one[0], np.int32) if isinstance(one, tuple) else one for one in args]

    return Rung(entry, on, 0, "fresh_scan.ptx", entry, (ctas,), (threads,), made, smem, repeated=True)


def passes(on: str, power: int, threads: int) -> Iterator[Rung]:
    """Yield a pass for each power of two below the count; those of the same loads are one rung."""
    count = 1 << power

    def one(offset: int) -> Rung:
        return scan_rung(on, "pass", count // threads, threads, 0, count, offset, (count,), (count,))

    yield from [one(1)] * 3  # of 1, 2 and 4 elements: loads of parts of sectors
    yield from [one(8)] * (power - 5)
    yield from (one(count // of) for of in (4, 2))


def tree(on: str, power: int, threads: int, every: bool) -> Iterator[Rung]:
    """Yield the levels of a tree up and down, by all threads or by those with work.

    The last levels, which are as long as one of them, have less work than threads, or less than one thread of a CTA with work.
    """
    count, own = 1 << power, 6 if every else 8
    near = max(own, threads.bit_length() - 1) if every else own

    def one(entry: str, level: int) -> Rung:
        ctas = count // threads if every else max(1, (count >> (level + 1)) // threads)
        return scan_rung(on, f"{entry}_all" if every else entry, ctas, threads, 0, count, level, (count,))

    for entry in ("up", "down"):
        yield from (one(entry, level) for level in range(near))
        yield from [one(entry, near + 2)] * (power - near)


def in_ctas(on: str, power: int, threads: int) -> Iterator[Rung]:
    """Yield scans of CTAs, then of their sums, until there is one, and the launches that add these."""
    counts = [1 << power]
    while counts[-1] > 2 * threads:
        counts.append(counts[-1] // (2 * threads))
    smem = 4 * (2 * threads + 2 * threads // 32)
    for count in counts:
        ctas = -(-count // (2 * threads))
        yield scan_rung(on, "block_scan", ctas, threads, smem, count, (count,), (count,), (ctas,))
    for count, ctas in reversed(list(pairwise(counts))):
        yield scan_rung(on, "add_sums", ctas, threads, 0, count, (count,), (ctas,))


def scans() -> Iterator[Ladder]:
    """Prefix sums of 2^23, 2^24 and 2^26 s32, by kernels and threads of a CTA; ms."""
    data = data_of("fresh_scan")
    for on, kernels in data["values"].items():
        rungs = []
        for kernel, times in kernels.items():
            for name, ms in times.items():
                power, threads = map(int, name.split())
                if kernel.endswith("passes"):
                    parts = list(passes(on, power, threads))
                    if kernel.startswith("shifted"):
                        count = 1 << power
                        parts.append(scan_rung(on, "shift", count // threads, threads, 0, count, (count,), (count,)))
                elif kernel == "in CTAs":
                    parts = list(in_ctas(on, power, threads))
                else:
                    parts = list(tree(on, power, threads, kernel == "tree of all"))
                rungs.append(Launches(f"{kernel}, {name}", on, ms / 1e3, tuple(parts)))
        yield source_ladder("prefix sums", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of sums and prefix sums."""
    yield from chain(tree_sums(), lecture_sums(), atomic_sums(), scans())
