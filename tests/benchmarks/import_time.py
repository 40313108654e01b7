"""CPU time of `import pyptx`, beside an empty Python and `import numpy`.

    python tests/benchmarks/import_time.py

Each line is the least of several fresh processes; the import's cost is the difference from the empty one. Files are
read once before, so that the disk is not measured.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from checkouts import compiled_once

REPEATS = 15
STATEMENTS = ("pass", "import pyptx", "from pyptx import kernel, reg, smem, ptx", "import numpy")


def seconds(statement: str) -> float:
    """Least CPU time of a process that executes one statement."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    def once() -> float:
        start = used()
        subprocess.run([sys.executable, "-c", statement], check=True, env=compiled_once())
        return used() - start

    once()
    return min(once() for _ in range(REPEATS))


def main() -> None:
    empty = seconds(STATEMENTS[0])
    print(f"{'empty process':45} {empty * 1e3:7.1f} ms")
    for statement in STATEMENTS[1:]:
        print(f"{statement:45} {(seconds(statement) - empty) * 1e3:+7.1f} ms")


if __name__ == "__main__":
    main()
