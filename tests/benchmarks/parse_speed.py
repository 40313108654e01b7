"""How fast PTX is read, printed and transpiled: MB/s for the largest files of the corpus, and for one kernel grown.

    python tests/benchmarks/parse_speed.py [--transpile]

The large texts are the kernels of tests/corpus/nvcc_sm90a.ptx over and over; MB/s should not fall with their size:
reading, printing and transpiling are linear. Transpiling includes the proof: the Python is executed, traced, compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyptx.codegen import ptx_to_python
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


def transpiled(megabytes: float, sugar: bool) -> str:
    """MB/s for one kernel whose body is repeated, registers and all."""
    text = (CORPUS / "ptx/nvcc/attention.sm_80.ptx").read_text()
    start, end = text.index("\n{\n", text.index(".entry attention")), text.index("\n}\n")
    body = text[start + 3 : end]
    first = body.index("ld.param")  # behind the declarations
    again = body[first:].replace("$L__", "$M__")
    body += "".join("\n" + again.replace("$M__", f"$L{i}_") for i in range(round(megabytes * 1e6 / len(again)) - 1))
    grown_text = text[: start + 3] + body + "\n}\n"
    seconds = least(lambda: ptx_to_python(grown_text, sugar=sugar), 1)
    size = len(grown_text) / 1e6
    return f"{size:8.3f} MB {size / seconds:8.2f} MB/s transpiled{' with sugar' * sugar}"


def main() -> None:
    for path in sorted(CORPUS.rglob("*.ptx"), key=lambda p: -p.stat().st_size)[:12]:
        report(path.name, path.read_bytes().decode())
    text = (CORPUS / "nvcc_sm90a.ptx").read_text()
    for megabytes in SIZES_MB:
        report(f"nvcc_sm90a, {megabytes} MB", grown(text, megabytes))
    if "--transpile" in sys.argv:
        for sugar in (False, True):
            for megabytes in (0.1, 0.4, 1.6):
                print(transpiled(megabytes, sugar))


if __name__ == "__main__":
    main()
