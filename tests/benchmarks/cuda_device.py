"""Times of calls, launches and copies of a CUDA C++ program under `pyptx exec`, with and without --check.

python tests/benchmarks/cuda_device.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from support.nvcc import build  # noqa: E402


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder) / "overheads", [TESTS / "cuda_device" / "programs" / "overheads.cu"], "-O2")
        for options in ([], ["--check"]):
            print(" ".join(["pyptx exec", *options]), flush=True)
            subprocess.run([sys.executable, "-m", "pyptx", "exec", *options, str(program)], check=True)


if __name__ == "__main__":
    main()
