"""All litmus programs: the verdicts of `check` beside those of the memory model.

    python tests/check/litmus/compare.py

It takes two minutes on two cores; exit status 1 if a verdict differs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(TESTS.parent), str(TESTS)]

from check.litmus.shapes import FAMILIES  # noqa: E402


def main() -> int:
    count = sum(1 for family in FAMILIES.values() for _ in family())
    command = [sys.executable, "-m", "pytest", "-q", "-m", "slow", "tests/check/test_litmus.py", "-n", "auto"]
    done = subprocess.run(command, cwd=TESTS.parent, env={**os.environ, "PYPTX_LITMUS": "all"}, stdout=sys.stderr)
    if done.returncode == 0:
        print(f"all {count:,} verdicts agree")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
