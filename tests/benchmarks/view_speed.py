"""CPU time of a linked view, cold and warm, for kernels of about 1,000 and 20,000 machine instructions.

    python tests/benchmarks/view_speed.py [COMMIT]

Every figure is the least of several fresh processes; time of subprocesses is included. Cold: the cubin is cached, its
disassembly is not. Warm: both are. The view is built and its data is written as JSON. With a commit, its checkout is
measured alternately with this one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from checkouts import checkouts, compiled_once

SIZES = (890, 13_400)  # PTX instructions
REPEATS = 3
GOALS = {(0, "cold"): 700, (0, "warm"): 60, (1, "cold"): 3000, (1, "warm"): 1000}  # ms

# Executed in each checkout, with its pyptx.
CHILD = """
import json, resource, sys, warnings
import numpy as np
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

n = int(sys.argv[1])

@kernel(arch="sm_90a", in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=(1,), block=(32,))
def chain(p, o):
    (at,) = ptx.global_ptrs(p)
    held = [reg.scalar(f32) for _ in range(16)]
    for i in range(n // 4):
        a, b = held[i % 16], held[(i * 7 + 3) % 16]
        ptx.inst.ld.global_.f32(a, ptx.addr(at, 4 * i))
        ptx.inst.fma.rn.f32(b, a, a, b)
        ptx.inst.mul.f32(a, a, b)
        ptx.inst.st.global_.f32(ptx.addr(at, 4 * i), a)

def cpu_ms():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1e3 * sum(one.ru_utime + one.ru_stime for one in used)

warnings.simplefilter("ignore")
compiled = chain.compile(np.zeros(n, np.float32))
start = cpu_ms()
view = compiled.view()
json.dumps(view.to_json())
print(json.dumps([cpu_ms() - start, len(compiled.sass)]))
"""


def sample(checkout: Path, size: int, state: str, cache: str) -> tuple[float, int]:
    """Milliseconds and machine instructions of one process."""
    environment = compiled_once() | {"PYTHONPATH": str(checkout), "PYPTX_CACHE_DIR": cache}
    if state == "cold":
        for path in Path(cache).glob("*.sass"):
            path.unlink()
    script = Path(cache) / "child.py"
    script.write_text(CHILD)
    run = subprocess.run(
        [sys.executable, str(script), str(size)],
        env=environment,
        cwd=checkout,
        text=True,
        capture_output=True,
        check=True,
    )
    milliseconds, count = json.loads(run.stdout)
    return milliseconds, count


def main() -> None:
    with checkouts(sys.argv[1] if len(sys.argv) > 1 else None) as measured, tempfile.TemporaryDirectory() as caches:
        print(
            f"{'instructions':>14} {'':6}" + "".join(f"{name:>14}" for name in measured) + f"{'goal':>12}   ms of CPU"
        )
        for number, size in enumerate(SIZES):
            for state in ("cold", "warm"):
                least = dict.fromkeys(measured, float("inf"))
                count = 0
                for _ in range(REPEATS):
                    for name, checkout in measured.items():
                        cache = Path(caches) / name
                        cache.mkdir(exist_ok=True)
                        milliseconds, count = sample(checkout, size, state, str(cache))
                        least[name] = min(least[name], milliseconds)
                figures = "".join(f"{one:14.0f}" for one in least.values())
                print(f"{count:14,} {state:6}{figures}{GOALS[number, state]:12}")


if __name__ == "__main__":
    main()
