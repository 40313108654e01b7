"""Time of Triton kernels on the simulator and in Triton's interpreter, TRITON_INTERPRET=1.

python tests/benchmarks/triton_kernels.py [NAME ...]

Each time is that of the launches of a case, the shortest of three runs after a first one, without the time to compile.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

REPEATS = 3
TESTS = Path(__file__).parents[1]


class Timed:
    """A kernel whose launches add to a total."""

    seconds = 0.0

    def __init__(self, kernel: Any):
        self.kernel = kernel

    def __getitem__(self, grid: Any) -> Any:
        launch = self.kernel[grid]

        def timed(*args: Any, **options: Any) -> None:
            started = time.perf_counter()
            launch(*args, **options)
            Timed.seconds += time.perf_counter() - started

        return timed


class TimedModule:
    """A module whose kernels are timed when they are launched through it."""

    def __init__(self, module: ModuleType):
        self._module = module

    def __getattr__(self, name: str) -> Timed:
        return Timed(getattr(self._module, name))


def measure(names: list[str], interpreted: bool) -> dict[str, float | str]:
    """Return the seconds of the cases, or why one has none."""
    from support.triton_kernels import cases

    import pyptx.triton

    for name in ("attention", "gluon", "pointwise", "products"):
        setattr(cases, name, TimedModule(getattr(cases, name)))
    found: dict[str, float | str] = {}
    for case in cases.CASES:
        if (names and case.name not in names) or (interpreted and not case.interpreted):
            continue
        with nullcontext() if interpreted else pyptx.triton.simulate(case.target):
            times = []
            try:
                for _ in range(1 + REPEATS):
                    Timed.seconds = 0.0
                    cases.compare(case, list(case.run()))
                    times.append(Timed.seconds)
            except Exception as error:
                found[case.name] = type(error).__name__
                continue
            found[case.name] = min(times[1:])
    return found


def worker(names: list[str], interpreted: bool) -> dict[str, float | str]:
    """Run `measure` in a process of its own: Triton reads the variable when it decorates kernels."""
    environment = {
        **os.environ,
        "TRITON_INTERPRET": "1" if interpreted else "0",
        "PYTHONPATH": f"{TESTS}:{TESTS.parent}",
    }
    command = [sys.executable, "-W", "ignore", __file__, "--worker", str(int(interpreted)), *names]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def text(value: float | str | None) -> str:
    return f"{1e3 * value:.1f}" if isinstance(value, float) else value or "-"


def main() -> None:
    names = sys.argv[1:]
    if names[:1] == ["--worker"]:
        print(json.dumps(measure(names[2:], names[1] == "1")))
        return
    simulated, interpreted = worker(names, False), worker(names, True)
    print(f"{'kernel':40} {'simulator ms':>14} {'interpreter ms':>16} {'ratio':>8}")
    ratios, times = [], []
    for name, seconds in simulated.items():
        other = interpreted.get(name)
        ratio = other / seconds if isinstance(seconds, float) and isinstance(other, float) else None
        if ratio is not None:
            ratios.append(ratio)
            times.append(1e3 * seconds)
        print(f"{name:40} {text(seconds):>14} {text(other):>16} {f'{ratio:.1f}' if ratio else '':>8}")
    if ratios:
        print(
            f"simulator {min(times):.1f} to {max(times):.0f} ms, median ratio {sorted(ratios)[len(ratios) // 2]:.0f} "
            f"of {len(ratios)} kernels"
        )


if __name__ == "__main__":
    main()
