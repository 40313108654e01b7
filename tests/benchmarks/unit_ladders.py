"""Published rates of an SM: arithmetic beside reads, units of CUDA cores, steps of a sum in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rungs import Ladder, Rung, device, zeros

FMA_LOOP = "github.com/RRZE-HPC/gpu-benches, gpu-roofline (f32, CTAs of 256, as many as fit on the GPU at once)"
PEAKS = "README of github.com/ProjectPhysX/OpenCL-Benchmark (best of 256 launches of 2^24 threads, CTAs of 64)"
SUMS = "github.com/R100001/Programming-Massively-Parallel-Processors, NVBench logs (u32, CTAs of 512)"


def fma_loops() -> Iterator[Ladder]:
    """Two streams and a number of FMAs for each pair of elements: GB/s. A tenth of the measured iterations.

    The logs call a GPU H200 that reaches 3.94 TB/s in all of their measurements: a GH200 with 96 GB.
    """
    pairs = 400
    rates = {  # FMAs: GB/s; operations per byte are a quarter of the FMAs and one
        "A100 SXM 40GB": {0: 1372, 24: 1322, 48: 1238, 72: 933, 96: 722, 128: 553, 160: 452, 256: 290, 488: 156},
        "A40": {0: 679, 24: 679, 48: 677, 72: 675, 96: 672, 128: 630, 160: 519, 256: 344, 488: 191},
        "L40": {0: 845, 24: 845, 48: 844, 72: 844, 96: 843, 128: 822, 160: 708, 256: 511, 488: 318},
        "L40S without ECC": {0: 844, 24: 845, 48: 843, 72: 844, 96: 843, 128: 841, 160: 839, 256: 724, 488: 413},
        "GH200": {0: 3759, 24: 3629, 48: 2323, 72: 2002, 96: 1578, 128: 1213, 160: 989, 256: 642, 368: 456},
    }
    for on, by_fmas in rates.items():
        ctas = device(on).sms * (device(on).limits.warps_per_sm // 8)
        rungs = []
        for fmas, rate in by_fmas.items():
            count = ctas * 256 * pairs
            args, seconds = zeros(count, count, ctas), 8 * count / (rate * 1e9)
            entry = f"fma_loop_{fmas}"
            rungs.append(Rung(f"{fmas} FMAs", on, seconds, "rates.ptx", entry, (ctas,), (256,), args))
        yield Ladder(f"FMA loop by intensity, {on}", FMA_LOOP, tuple(rungs))


def peaks() -> Iterator[Ladder]:
    """Tera-operations per second of units, and GB/s of neighbors' words and of rows of 16 words of each thread."""
    threads = 1 << 24
    units = {"f64": 512, "f32": 2048, "f16": 4096, "i32": 2048, "dp4a": 1024}  # operations of a thread
    rates = {
        "B200": ((34.292, 69.464, 72.909, 36.508, 117.962), (6668.71, 6502.72, 2280.05, 937.78)),
        "B300": ((None, 71.452, 75.201, 37.736, 118.743), (6543.01, 6887.38, 2355.5, 969.95)),
    }  # f64 of B300 is left out: the relative it is modeled as, B200, has another rate
    for on, (of_units, of_memory) in rates.items():
        rungs = []
        for (unit, operations), rate in zip(units.items(), of_units, strict=True):
            if rate is not None:
                seconds, args = operations * threads / (rate * 1e12), zeros(threads)
                rungs.append(Rung(unit, on, seconds, "rates.ptx", f"peak_{unit}", (threads // 64,), (64,), args))
        for name, rate in zip(
            ("read_coalesced", "write_coalesced", "read_strided", "write_strided"), of_memory, strict=True
        ):
            # reads are published without the time of their one write
            words = 17 if name.startswith("read") else 16
            seconds, args = 4 * threads * words / (rate * 1e9), zeros(16 * threads)
            rungs.append(Rung(name, on, seconds, "rates.ptx", name, (threads // 64,), (64,), args))
        yield Ladder(f"peak rates, {on}", PEAKS, tuple(rungs))


def sums() -> Iterator[Ladder]:
    """Milliseconds of 2^25 words: 2^26 less 2^25, so that what does not depend on the size is not in it.

    RTX 2060 of the same source is left out: its sum of two arrays reaches 60 % of the rate of its DRAM, others 86 to 92 %.
    """
    count = 1 << 25
    steps = {"divergent": 1, "conflicts": 1, "sequential": 1, "two_loads": 2, "last_warp": 2, "unrolled": 2}
    steps |= {"many_loads": 2}  # loads of a thread
    times = {
        "GTX 1650": (5.688453, 3.246926, 2.959473, 1.666082, 1.115833, 1.082698, 1.119816),
        "RTX 3060 Ti": (1.66531, 0.856548, 0.772127, 0.519464, 0.332692, 0.331111, 0.339301),
    }
    for on, of_steps in times.items():
        rungs = []
        for (step, loads), ms in zip(steps.items(), of_steps, strict=True):
            ctas = count // (512 * loads)

            def args(ctas: int = ctas) -> Sequence[Any]:
                return [np.zeros(count, np.uint32), count, np.zeros(ctas, np.uint32)]

            rungs.append(Rung(step, on, ms / 1e3, "sums.ptx", f"sum_{step}", (ctas,), (512,), args, 2048))
        yield Ladder(f"sums in steps, {on}", SUMS, tuple(rungs))


def ladders() -> Iterator[Ladder]:
    """Yield the ladders of this file."""
    for of in (fma_loops, peaks, sums):
        yield from of()
