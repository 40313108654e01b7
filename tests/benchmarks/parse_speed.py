"""How fast PTX is read and printed: MB/s for every file of the corpus, and for one kernel grown to several megabytes.

    python tests/benchmarks/parse_speed.py

The large texts are the kernels of tests/corpus/nvcc_sm90a.ptx over and over; MB/s should not fall with their size:
reading and printing are linear.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from pyptx.emitter import emit
from pyptx.parser import parse

CORPUS = Path(__file__).parents[1] / "corpus"
SIZES_MB = (0.5, 2, 8)
REPEATS = 5


def least(function: Callable[[], object], repeats: int = REPEATS) -> float:
    """Least processor seconds of several runs: what else the machine does should not count."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def report(name: str, text: str) -> None:
    module = parse(text)
    assert emit(module) == text
    size = len(text) / 1e6
    reading, printing = least(lambda: parse(text)), least(lambda: emit(module))
    print(f"{name:24} {size:8.3f} MB {size / reading:8.2f} MB/s read {size / printing:8.2f} MB/s printed")


def grown(text: str, megabytes: float) -> str:
    """The kernels of a module, again and again."""
    start = text.index(".visible .entry")
    return text[:start] + text[start:] * round(megabytes * 1e6 / (len(text) - start))


def main() -> None:
    for path in sorted(CORPUS.glob("*.ptx")):
        report(path.name, path.read_bytes().decode())
    text = (CORPUS / "nvcc_sm90a.ptx").read_text()
    for megabytes in SIZES_MB:
        report(f"nvcc_sm90a, {megabytes} MB", grown(text, megabytes))


if __name__ == "__main__":
    main()
