"""Constants of the performance model beyond the GPU table: at most ten numbers for each GPU generation.

Sources: P from ptxas' schedules; M published measurements (RRZE-HPC gpu-benches; the bandwidth and matrix product runs
named in the GPU table); A assumed until measured. `set_calibrated` replaces them for a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyptx.isa import targets

__all__ = ["SOURCES", "Constants", "find_constants"]

SOURCES = {
    "shared_cycles": "A: L1's measured latency less its tag lookup",
    "special_cycles": "A: between P's first reader of a conversion and L1",
    "barrier_cycles": "A: two trips through the issue logic",
    "product_cycles": "A: latency of a chain of mma beyond its rate in P",
    "copy_cycles": "A: latency of a tensor copy beyond a load",
    "copy_request_cycles": "A: one box, descriptor and address generation",
    "port_bytes": "M: bytes per cycle that one SM gets from L2 alone; B200 at least that (rhrnald/benchmark, 5.GEMM: "
    "all SMs read one tile, 48 KiB for 4.19 MFLOP at 1,754 TFLOP/s)",
    "dram_share": "M: 1898 of 2039 GB/s on A100, 3942 of 4000 on GH200",
    "sustained": "M: best matrix products over the published peak, normally distributed numbers (H100 and H200 bf16, "
    "795 of 989; A100 270 of 312; B200 1,928 of 2,250 in a loop of products alone on 0..1, and 0.89 of "
    "that for numbers of both signs: rhrnald/benchmark, 5.GEMM)",
    "start_cycles": "A: start of a CTA, and its last writes",
}


@dataclass(frozen=True, slots=True)
class Constants:
    """Latencies in cycles, rates in bytes per cycle, and fractions; `SOURCES` lists their origins.

    Attributes:
        shared_cycles: latency of a load from shared memory.
        special_cycles: latency of a special function, shuffle or conversion.
        barrier_cycles: from the last arrival at a barrier to the next instruction.
        product_cycles: from the end of an asynchronous matrix product's work to its result.
        copy_cycles: additional latency of a bulk or tensor copy over a load of the same data.
        copy_request_cycles: copy engine cycles for each copy.
        port_bytes: L2 rate of one SM when the others are idle.
        dram_share: attainable fraction of the DRAM rate.
        sustained: fraction of the clock that remains when the tensor cores are always busy.
        start_cycles: from the end of one CTA to the first instruction of the next.
    """

    shared_cycles: float = 26
    special_cycles: float = 22
    barrier_cycles: float = 24
    product_cycles: float = 32
    copy_cycles: float = 120
    copy_request_cycles: float = 8
    port_bytes: float = 64
    dram_share: float = 0.93
    sustained: float = 0.92
    start_cycles: float = 600


_GENERATIONS = {
    75: Constants(port_bytes=32),
    80: Constants(),
    89: Constants(dram_share=0.92),
    90: Constants(sustained=0.85),
    100: Constants(sustained=0.76, port_bytes=71),
    120: Constants(dram_share=0.92),
}
_calibrated: dict[str, Constants] = {}


def find_constants(gpu_name: str, target: str) -> Constants:
    """Return the calibrated constants of a GPU, or those of its generation."""
    if gpu_name in _calibrated:
        return _calibrated[gpu_name]
    number = targets.parse(target).number
    return _GENERATIONS[max((n for n in _GENERATIONS if n <= number), default=75)]


def set_calibrated(gpu_name: str, target: str, **values: float) -> Constants:
    """Replace constants of a GPU with measured values; return the result."""
    _calibrated[gpu_name] = replace(find_constants(gpu_name, target), **values)
    return _calibrated[gpu_name]
