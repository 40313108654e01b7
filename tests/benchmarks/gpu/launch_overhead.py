"""Time to launch a small kernel:  python tests/benchmarks/gpu/launch_overhead.py [rounds]

Host microseconds of one launch on a GPU, of candidates that run in one process and in a new random order each round:
pyptx (a call on torch tensors, and `launch` with given outputs), cuda.bindings' cuLaunchKernelEx with everything made
before, torch.add, Triton where it is installed, and pyptx in a CUDA graph (of 100 launches, per launch). Medians over
the rounds; each round issues 200 launches and then waits, so that the queue never fills.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

LAUNCHES, IN_GRAPH = 200, 100


def candidates(torch) -> dict[str, tuple[Callable[[], object], int]]:
    """Name -> what issues work once, and how many launches that is."""
    from runtime.kernels import scale

    from pyptx.runtime.cuda import BACKEND
    from pyptx.runtime.cuda.launch import PreparedLaunch
    from pyptx.runtime.plan import LaunchPlan

    x = torch.ones(1024, device="cuda")
    y = torch.empty_like(x)
    found: dict[str, tuple[Callable[[], object], int]] = {
        "pyptx call": (lambda: scale(x, factor=2.0, out=y), 1),
        "pyptx launch": (lambda: scale.launch(16, 64, x, y, 2.0, 1024, N=1024), 1),
        "torch.add": (lambda: torch.add(x, x, out=y), 1),
    }
    scale(x, factor=2.0, out=y)
    specialization = scale.specialize(N=1024)
    program, device = specialization._programs["cuda"], BACKEND.driver.device(x.device.index)
    plan = LaunchPlan(specialization.entry, (16, 1, 1), (64, 1, 1))
    with BACKEND.driver.on(device):
        prepared = PreparedLaunch(BACKEND.driver, program.on(device), plan, program.slots)
    for slot, value in zip(program.slots, (x.data_ptr(), y.data_ptr(), 0x40000000, 1024), strict=True):
        prepared.block[slot.offset : slot.offset + slot.size] = value.to_bytes(slot.size, "little")
    stream = torch.cuda.current_stream().cuda_stream
    found["cuda.bindings"] = lambda: prepared.launch(stream), 1
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(IN_GRAPH):
            scale(x, factor=2.0, out=y)
    found["pyptx in a graph"] = graph.replay, IN_GRAPH
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return found

    @triton.jit
    def double(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, 2 * tl.load(x + i, i < n), i < n)

    found["triton"] = lambda: double[(16,)](x, y, 1024, BLOCK=64), 1
    return found


def main(rounds: int) -> int:
    from pyptx.runtime.cuda.probe import probe

    for name, _, finding, _ in probe():
        print(f"{name:10} {finding}")
    try:
        import torch
    except ImportError:
        print("no torch: the benchmark needs it")
        return 0
    if not torch.cuda.is_available():
        print("no GPU: nothing is measured")
        return 0
    found = {}
    for name, (issue, launches) in candidates(torch).items():
        try:
            issue()
            torch.cuda.synchronize()
        except Exception as fault:  # of a candidate, ours or another's: told
            print(f"{name:18} failed: {type(fault).__name__}: {fault}"[:400])
        else:
            found[name] = issue, launches
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds + 3):
        for name in random.sample(list(found), len(found)):
            issue, launches = found[name]
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(LAUNCHES // launches):
                issue()
            times[name].append((time.perf_counter() - start) / LAUNCHES * 1e6)
            torch.cuda.synchronize()
    for name, values in times.items():
        kept = values[3:]  # the first rounds warm up
        print(f"{name:18} {statistics.median(kept):7.2f} us   ({min(kept):.2f} .. {max(kept):.2f})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
