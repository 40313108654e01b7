"""What the performance model takes from outside the table of GPUs: at most ten numbers for each generation.

Sources: P read from ptxas' schedules; M measured by others (RRZE-HPC gpu-benches; the public bandwidth and matrix-
product runs that the table of GPUs names); A assumed, to be replaced when somebody measures: `calibrated` takes a
GPU's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyptx.isa import targets

__all__ = ["SOURCES", "Constants", "constants_of"]

SOURCES = {
    "shared_cycles": "A: L1's measured latency less its tag lookup",
    "special_cycles": "A: between P's first reader of a conversion and L1",
    "barrier_cycles": "A: two trips through the issue logic",
    "product_cycles": "A: what a chain of mma has beyond its rate in P",
    "copy_cycles": "A: what a tensor copy needs beyond a load",
    "copy_request_cycles": "A: one box, descriptor and address generation",
    "port_bytes": "M: what one SM gets from L2 alone, bytes a clock; B200 at least that (rhrnald/benchmark, 5.GEMM: "
                  "all SMs read one tile, 48 KiB for 4.19 MFLOP at 1,754 TFLOP/s)",
    "dram_share": "M: 1898 of 2039 GB/s on A100, 3942 of 4000 on GH200",
    "sustained": "M: best matrix products over the published peak, normally distributed numbers (H100 and H200 bf16, "
                 "795 of 989; A100 270 of 312; B200 1,928 of 2,250 in a loop of products alone on 0..1, and 0.89 of "
                 "that for numbers of both signs: rhrnald/benchmark, 5.GEMM)",
    "start_cycles": "A: a CTA's start, and its last writes",
}


@dataclass(frozen=True, slots=True)
class Constants:
    """Cycles, bytes a clock, and shares; where each is from: `SOURCES`.

    Attributes:
        shared_cycles: from a load of shared memory to its result.
        special_cycles: from a special function, shuffle or conversion to its result.
        barrier_cycles: from the last arrival at a barrier to the next instruction.
        product_cycles: from the end of a matrix product's work to its result, asynchronous ones.
        copy_cycles: that a bulk or tensor copy lasts longer than a load of the same data.
        copy_request_cycles: of the copy engine for each copy.
        port_bytes: that one SM can take from L2 in a clock, when others do not.
        dram_share: of DRAM's rate that is reached.
        sustained: of the clock of the tensor cores when they never rest.
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


_GENERATIONS = {75: Constants(port_bytes=32), 80: Constants(), 89: Constants(dram_share=0.92),
                90: Constants(sustained=0.85), 100: Constants(sustained=0.76, port_bytes=71),
                120: Constants(dram_share=0.92)}
_calibrated: dict[str, Constants] = {}


def constants_of(gpu_name: str, target: str) -> Constants:
    """Those of a GPU, or else of its generation."""
    if gpu_name in _calibrated:
        return _calibrated[gpu_name]
    number = targets.parse(target).number
    return _GENERATIONS[max((n for n in _GENERATIONS if n <= number), default=75)]


def calibrated(gpu_name: str, target: str, **values: float) -> Constants:
    """Use measured values for a GPU from now on."""
    _calibrated[gpu_name] = replace(constants_of(gpu_name, target), **values)
    return _calibrated[gpu_name]
