"""How fast PTX is read, printed and transpiled: MB/s for the largest files of the corpus, and for one kernel grown.

    python tests/benchmarks/parse_speed.py [--transpile] [--memory]

The large texts are the kernels of tests/corpus/nvcc_sm90a.ptx over and over; MB/s should not fall with their size:
reading, printing and transpiling are linear. Transpiling includes the proof: the Python is executed, traced, compared.
`--memory` prints the peak memory of processes that transpile one kernel; it should not exceed 0.14 GB per MB of PTX.
"""

from __future__ import annotations

import subprocess
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


def one_kernel(megabytes: float) -> str:
    """One kernel whose body is repeated, registers and all."""
    text = (CORPUS / "ptx/nvcc/attention.sm_80.ptx").read_text()
    start, end = text.index("\n{\n", text.index(".entry attention")), text.index("\n}\n")
    body = text[start + 3 : end]
    first = body.index("ld.param")  # behind the declarations
    again = body[first:].replace("$L__", "$M__")
    body += "".join("\n" + again.replace("$M__", f"$L{i}_") for i in range(round(megabytes * 1e6 / len(again)) - 1))
    return text[: start + 3] + body + "\n}\n"


def transpiled(megabytes: float, sugar: bool) -> str:
    """MB/s for one kernel."""
    grown_text = one_kernel(megabytes)
    seconds = least(lambda: ptx_to_python(grown_text, sugar=sugar), 1)
    size = len(grown_text) / 1e6
    return f"{size:8.3f} MB {size / seconds:8.2f} MB/s transpiled{' with sugar' * sugar}"


def peak_memory(megabytes: float, sugar: bool) -> str:
    """Peak memory of a process that transpiles one kernel."""
    child = (
        "import resource, parse_speed\n"
        f"parse_speed.ptx_to_python(parse_speed.one_kernel({megabytes}), sugar={sugar})\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"  # KiB on Linux
    )
    run = subprocess.run(
        [sys.executable, "-c", child], cwd=Path(__file__).parent, check=True, capture_output=True, text=True
    )
    return f"{megabytes:8.3f} MB {int(run.stdout) * 1024 / 1e9:8.3f} GB transpiled{' with sugar' * sugar}"


def main() -> None:
    if "--memory" in sys.argv:
        for sugar, sizes in ((False, (2, 6)), (True, (1, 2))):
            for megabytes in sizes:
                print(peak_memory(megabytes, sugar))
        return
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
