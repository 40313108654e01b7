"""Published times of kernels that work on rows and vectors, beside examples of ours that are built most like them.

Norms and softmax of other authors (CuTe DSL, Triton) are not redistributed here: the rungs are the examples of this
repository, which read and write each row once, too. Each source was assigned to a half before it was modeled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.prediction import Prediction
from pyptx.kernel import Kernel
from pyptx.types import bf16, f32

QUACK = "github.com/Dao-AILab/quack, README and benchmarks (do_bench, L2 cleared; H100 read off a plot)"
LIGER = "github.com/linkedin/Liger-Kernel, benchmark data (Triton, do_bench median, L2 cleared)"
CUB = "github.com/NVIDIA/cccl, DeviceTransform binary f32 in its pull requests (nvbench, cold)"
THREADS = 256  # of a CTA of the examples
DTYPES = {"bf16": (bf16, np.dtype(ml_dtypes.bfloat16)), "f32": (f32, np.dtype(np.float32))}


@dataclass(frozen=True)
class ExampleRung:
    """One published measurement, modeled with an example; see `foreign.Rung`."""

    name: str
    gpu: str
    seconds: float
    kernel: Kernel
    args: Callable[[], Sequence[Any]]
    params: Mapping[str, Any] = field(default_factory=dict)

    def predicted(self) -> Prediction:
        """All sources of this file time each launch by itself, between two events."""
        found = estimate(self.kernel, *self.args(), device=self.gpu, **self.params)
        return replace(found, seconds=found.isolated_seconds)


@cache
def kernel_of(name: str, dtype: str, arch: str) -> Kernel:
    """An example for a type; from "sm_90" on, clusters share long rows."""
    from examples import layer_norm, rms_norm, softmax, vector_add

    module = {"layer_norm": layer_norm, "rms_norm": rms_norm, "softmax": softmax, "vector_add": vector_add}[name]
    of, kind = getattr(module, f"{name}_of"), DTYPES[dtype][0]
    return of(kind) if name == "vector_add" else of(kind, arch)


def rows(name: str, dtype: str, on: str, arch: str, m: int, n: int, seconds: float) -> ExampleRung:
    """A rung that reads and writes m rows of n columns; norms have n weights, layer norms as many biases.

    As the measured kernels do, threads keep their part of a row in registers, up to 16 vectors of 16 bytes.
    """
    kind, columns = DTYPES[dtype][1], {"softmax": 0, "rms_norm": 1, "layer_norm": 2}[name]
    kept = min(16, max(8, -(-n * kind.itemsize // (16 * THREADS))))

    def args() -> Sequence[Any]:
        return [np.zeros((m, n), kind), *(np.zeros(n, kind) for _ in range(columns))]

    return ExampleRung(f"{name} {dtype} {m} x {n}", on, seconds, kernel_of(name, dtype, arch), args, {"KEPT": kept})


def by_bandwidth(name: str, dtype: str, on: str, arch: str, m: int, rates: Mapping[int, float]) -> list[ExampleRung]:
    """Rungs by the length of rows, from GB/s of one read and one write."""
    size = DTYPES[dtype][1].itemsize
    return [rows(name, dtype, on, arch, m, n, 2 * m * n * size / (rate * 1e9)) for n, rate in rates.items()]


def by_time(name: str, dtype: str, on: str, arch: str, m: int, times: Mapping[int, float]) -> list[ExampleRung]:
    """Rungs by the length of rows, from microseconds."""
    return [rows(name, dtype, on, arch, m, n, us / 1e6) for n, us in times.items()]


def development() -> Iterator[tuple[str, str, list[ExampleRung]]]:
    """Yield name, source and rungs of the ladders the model may be developed on."""
    rates = {256: 1913, 1024: 2581, 4096: 2900, 16384: 2960, 65536: 3020}
    yield "RMS norm by length, H100 SXM", QUACK, by_bandwidth("rms_norm", "bf16", "H100 SXM", "sm_90", 32768, rates)
    times = {1024: 30.27, 2048: 49.92, 4096: 88.16, 8192: 165.22, 16384: 322.3}
    yield (
        "layer norm by length, A100 SXM 80GB",
        LIGER,
        by_time("layer_norm", "f32", "A100 SXM 80GB", "sm_80", 4096, times),
    )
    single, half = {1024: 21.5, 2048: 40.96, 4096: 79.87}, {1024: 13.31, 2048: 22.53, 4096: 40.96}
    yield (
        "softmax by length, RTX 3090",
        LIGER,
        [
            *by_time("softmax", "f32", "RTX 3090", "sm_80", 2048, single),
            *by_time("softmax", "bf16", "RTX 3090", "sm_80", 2048, half),
        ],
    )
    sums = []
    for on, size, us in (
        ("B200", 28, 454.642),
        ("B200", 24, 37.709),
        ("RTX 5090", 28, 2055),
        ("RTX 5090", 24, 131.337),
    ):

        def args(size: int = size) -> Sequence[Any]:
            return [np.zeros(1 << size, np.float32) for _ in range(2)]

        sums.append(ExampleRung(f"2**{size}, {on}", on, us / 1e6, kernel_of("vector_add", "f32", "sm_80"), args))
    yield "sums of vectors, B200 and RTX 5090", CUB, sums


def held() -> Iterator[tuple[str, str, list[ExampleRung]]]:
    """Yield the same of the ladders that are only reported."""
    times = {1024: 13.6, 2048: 20.0, 4096: 31.07, 8192: 51.74, 16384: 95.26, 32768: 182.24}
    yield (
        "RMS norm by length, A100 SXM 80GB",
        LIGER,
        by_time("rms_norm", "bf16", "A100 SXM 80GB", "sm_80", 2048, times),
    )
    times = {1024: 18.85, 2048: 29.15, 4096: 51.04, 8192: 94.75, 16384: 184.77}
    yield "layer norm by length, H100 SXM", LIGER, by_time("layer_norm", "f32", "H100 SXM", "sm_90", 4096, times)
    of_5090 = {
        ("softmax", "bf16"): {4096: 1552, 16384: 1504, 65536: 1528, 131072: 1531},
        ("rms_norm", "f32"): {4096: 1488, 16384: 1521, 65536: 1525, 131072: 1530},
    }
    yield (
        "softmax and RMS norm by length, RTX 5090",
        QUACK,
        [
            rung
            for (name, dtype), rates in of_5090.items()
            for rung in by_bandwidth(name, dtype, "RTX 5090", "sm_80", 4096, rates)
        ],
    )
