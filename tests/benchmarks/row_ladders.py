"""Published times of kernels that work on rows and vectors, beside examples of ours that are built most like them.

Norms and softmax of other authors (CuTe DSL, Triton) are not redistributed here: the rungs are the examples of this
repository, which read and write each row once, too. Left out:
cross entropy of Liger, which also writes gradients; gradients of norms, whose sources do not say which bytes they count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
from rungs import ExampleRung, Ladder

from pyptx.kernel import Kernel
from pyptx.types import bf16, f16, f32

QUACK = "github.com/Dao-AILab/quack, README and benchmarks (do_bench, L2 cleared; H100 read off a plot)"
LIGER = "github.com/linkedin/Liger-Kernel, benchmark data (Triton, do_bench median, L2 cleared)"
QUACK_5090 = "github.com/Dao-AILab/quack, benchmarks/sm120_cluster_benchmark.md (do_bench, L2 cleared)"
ATTENTION = "github.com/ROCm/flash-attention issue 27: FlashAttention-2, f16, 16384 tokens, 32 heads of 64 (30 repeats)"
CUB = "github.com/NVIDIA/cccl, DeviceTransform binary f32 in its pull requests (nvbench, cold)"
THREADS = 256  # of a CTA of the examples
DTYPES = {"bf16": (bf16, np.dtype(ml_dtypes.bfloat16)), "f32": (f32, np.dtype(np.float32))}


@cache
def kernel_of(name: str, dtype: str, arch: str) -> Kernel:
    """An example for a type; from "sm_90" on, clusters share long rows."""
    of, kind = getattr(import_module(f"examples.{name}"), f"{name}_of"), DTYPES[dtype][0]
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


def by_bandwidth(
    name: str, dtype: str, on: str, arch: str, m: int, rates: Mapping[int, float]
) -> tuple[ExampleRung, ...]:
    """Rungs by the length of rows, from GB/s of one read and one write."""
    size = DTYPES[dtype][1].itemsize
    return tuple(rows(name, dtype, on, arch, m, n, 2 * m * n * size / (rate * 1e9)) for n, rate in rates.items())


def by_time(name: str, dtype: str, on: str, arch: str, m: int, times: Mapping[int, float]) -> tuple[ExampleRung, ...]:
    """Rungs by the length of rows, from microseconds."""
    return tuple(rows(name, dtype, on, arch, m, n, us / 1e6) for n, us in times.items())


def cross_entropies(dtype: str, on: str, arch: str, m: int, rates: Mapping[int, float]) -> Iterator[ExampleRung]:
    """Yield rungs by the length of rows, from GB/s of one read."""
    kind = DTYPES[dtype][1]
    for n, rate in rates.items():

        def args(n: int = n) -> Sequence[Any]:
            return [np.zeros((m, n), kind), np.zeros(m, np.int32)]

        seconds, kernel = m * n * kind.itemsize / (rate * 1e9), kernel_of("cross_entropy", dtype, arch)
        yield ExampleRung(f"cross_entropy {dtype} {m} x {n}", on, seconds, kernel, args)


def swiglus() -> Iterator[ExampleRung]:
    from examples.swiglu import kernels_of

    m, milliseconds = 8192, {1024: 0.02333, 2048: 0.03958, 4096: 0.07251, 8192: 0.13709, 16384: 0.26701, 32768: 0.5275}
    kernel = kernels_of(bf16)[0]
    for n, ms in milliseconds.items():

        def args(n: int = n) -> Sequence[Any]:
            return [np.zeros((m, n), DTYPES["bf16"][1]) for _ in range(2)]

        yield ExampleRung(f"swiglu bf16 {m} x {n}", "H100 SXM", ms / 1e3, kernel, args)


def attentions() -> Iterator[ExampleRung]:
    from examples.ampere.attention import attention_of

    heads, width, tokens = 32, 64, 16384
    rates = {512: 150.9, 1024: 154.49, 2048: 171.8, 4096: 172.81, 8192: 172.96, 16384: 173.04}  # TFLOP/s
    kernel = attention_of(f16)
    for length, rate in rates.items():
        shape = (tokens // length, heads, length, width)

        def args(shape: tuple[int, ...] = shape) -> Sequence[Any]:
            return [np.zeros(shape, np.float16) for _ in range(3)]

        seconds = 4 * tokens * heads * length * width / (rate * 1e12)
        yield ExampleRung(f"attention {length}", "RTX 4090", seconds, kernel, args, isolated=False)


def first() -> Iterator[Ladder]:
    """Yield the first ladders of this file."""
    rates = {256: 1913, 1024: 2581, 4096: 2900, 16384: 2960, 65536: 3020}
    yield Ladder(
        "RMS norm by length, H100 SXM", QUACK, by_bandwidth("rms_norm", "bf16", "H100 SXM", "sm_90", 32768, rates)
    )
    times = {1024: 30.27, 2048: 49.92, 4096: 88.16, 8192: 165.22, 16384: 322.3}
    yield Ladder(
        "layer norm by length, A100 SXM 80GB",
        LIGER,
        by_time("layer_norm", "f32", "A100 SXM 80GB", "sm_80", 4096, times),
    )
    single, half = {1024: 21.5, 2048: 40.96, 4096: 79.87}, {1024: 13.31, 2048: 22.53, 4096: 40.96}
    yield Ladder(
        "softmax by length, RTX 3090",
        LIGER,
        (
            *by_time("softmax", "f32", "RTX 3090", "sm_80", 2048, single),
            *by_time("softmax", "bf16", "RTX 3090", "sm_80", 2048, half),
        ),
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
    yield Ladder("sums of vectors, B200 and RTX 5090", CUB, tuple(sums))
    times = {1024: 13.6, 2048: 20.0, 4096: 31.07, 8192: 51.74, 16384: 95.26, 32768: 182.24}
    yield Ladder(
        "RMS norm by length, A100 SXM 80GB",
        LIGER,
        by_time("rms_norm", "bf16", "A100 SXM 80GB", "sm_80", 2048, times),
    )
    times = {1024: 18.85, 2048: 29.15, 4096: 51.04, 8192: 94.75, 16384: 184.77}
    yield Ladder(
        "layer norm by length, H100 SXM", LIGER, by_time("layer_norm", "f32", "H100 SXM", "sm_90", 4096, times)
    )
    of_5090 = {
        ("softmax", "bf16"): {4096: 1552, 16384: 1504, 65536: 1528, 131072: 1531},
        ("rms_norm", "f32"): {4096: 1488, 16384: 1521, 65536: 1525, 131072: 1530},
    }
    yield Ladder(
        "softmax and RMS norm by length, RTX 5090",
        QUACK,
        tuple(
            rung
            for (name, dtype), rates in of_5090.items()
            for rung in by_bandwidth(name, dtype, "RTX 5090", "sm_120", 4096, rates)
        ),
    )


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    yield from first()
    of = "RMS norm by width, H100 SXM"
    times = {1024: 12.16, 2048: 17.57, 4096: 29.18, 8192: 50.91, 16384: 95.01}
    yield Ladder(of, LIGER, by_time("rms_norm", "bf16", "H100 SXM", "sm_90", 4096, times))
    rates = {256: 1900, 1024: 2630, 4096: 2889, 16384: 2974, 65536: 3004}
    of = "softmax by length, H100 SXM"
    yield Ladder(of, QUACK, by_bandwidth("softmax", "bf16", "H100 SXM", "sm_90", 32768, rates))
    rates = {256: 1113, 1024: 1902, 4096: 2692, 16384: 3061, 65536: 3182}
    of = "cross entropy by length, H100 SXM"
    yield Ladder(of, QUACK, tuple(cross_entropies("bf16", "H100 SXM", "sm_90", 32768, rates)))
    half = {4096: 1289, 16384: 1453, 65536: 1579, 131072: 1617}
    single = {4096: 1373, 16384: 1517, 65536: 1610, 131072: 1642}
    rungs = [
        rung
        for dtype, rates in (("bf16", half), ("f32", single))
        for rung in cross_entropies(dtype, "RTX 5090", "sm_80", 4096, rates)
    ]
    yield Ladder("cross entropy by length, RTX 5090", QUACK_5090, tuple(rungs))
    yield Ladder("SwiGLU by width, H100 SXM", LIGER, tuple(swiglus()))
    yield Ladder("attention by length, RTX 4090", ATTENTION, tuple(attentions()))
