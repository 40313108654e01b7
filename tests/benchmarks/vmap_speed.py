"""Cost of a batch under vmap on the simulator: one launch, compared with a loop of launches.

    python tests/benchmarks/vmap_speed.py [batch]

The kernel multiplies a vector of 256 numbers; its work is small, so that the times are those of calls. Milliseconds of
a batch, medians over rounds that take the candidates in turn. The loops are those of kernels that cannot launch once.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
import torch
from runtime.kernels import scale

from pyptx import grid_batch

ROUNDS, SIZE = 15, 256


def doubled(x):
    return scale(x, factor=2.0)


def candidates(batch: int) -> dict[str, Callable[[], object]]:
    x = torch.arange(batch * SIZE, dtype=torch.float32).reshape(batch, SIZE)
    y = jax.numpy.asarray(x.numpy())
    once, in_torch = jax.jit(jax.vmap(doubled)), torch.vmap(doubled)
    looped = jax.jit(lambda y: jax.vmap(doubled)(y))

    def loop_of_torch():
        with mock.patch.object(grid_batch, "MAX_GRID_Z", 0):
            return in_torch(x)

    with mock.patch.object(grid_batch, "MAX_GRID_Z", 0):
        jax.block_until_ready(looped(y))  # decided when it is traced
    return {
        "torch.vmap, one launch": lambda: in_torch(x),
        "torch.vmap, loop": loop_of_torch,
        "jax.jit of jax.vmap, one launch": lambda: jax.block_until_ready(once(y)),
        "jax.jit of jax.vmap, loop": lambda: jax.block_until_ready(looped(y)),
        "one call of torch, one element": lambda: scale(x[0], factor=2.0),
    }


def main(batch: int) -> None:
    found = candidates(batch)
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(ROUNDS + 2):
        for name, call in found.items():
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) * 1e3)
    print(f"batch of {batch}, {SIZE} numbers each")
    for name, values in times.items():
        kept = values[2:]  # the first rounds warm up
        print(f"{name:34} {statistics.median(kept):8.3f} ms   ({min(kept):.3f} .. {max(kept):.3f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 64)
