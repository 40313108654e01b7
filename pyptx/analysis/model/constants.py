"""Constants of the performance model beyond the GPU table: at most thirteen numbers for each GPU generation.

Sources: P from ptxas' schedules; M published measurements (RRZE-HPC gpu-benches; the bandwidth and matrix product runs
named in the GPU table); A assumed until measured. `set_calibrated` replaces them for a GPU.
"""

from __future__ import annotations

from dataclasses import replace

from pyptx._frozen import frozen
from pyptx.isa import targets

__all__ = ["SOURCES", "Constants", "find_constants"]

SOURCES = {
    "shared_cycles": "A: L1's measured latency less its tag lookup",
    "special_cycles": "A: between P's first reader of a conversion and L1",
    "barrier_cycles": "A: two trips through the issue logic",
    "product_cycles": "A: latency of a chain of mma beyond its rate in P; M for tcgen05: from one product to the next after a "
    "commit and a wait, 303 to 388 cycles beyond those of 4 and 8 products of 128x128x16 on B200 (facebookexperimental/triton, "
    "#1219: 559 and 900 cycles), 237 to 367 on B300 (Antoniomv7/gb300-microbench, umma_throughput)",
    "copy_cycles": "A: latency of a tensor copy beyond a load",
    "copy_request_cycles": "A: one box, descriptor and address generation",
    "port_bytes": "M: bytes per cycle that one SM gets from L2 alone; B200 at least that (rhrnald/benchmark, 5.GEMM: "
    "all SMs read one tile, 48 KiB for 4.19 MFLOP at 1,754 TFLOP/s)",
    "dram_share": "M: 1898 of 2039 GB/s on A100, 3942 of 4000 on GH200, 3240 of 3350 on H100 (sum of 2**30, fast.cu)",
    "turnaround": "M: copies and triads over reads on A100 (0.92, 0.89), A40 (0.97), L40 (0.92, 0.98), "
    "H100 PCIe (0.86, 0.93), GH200 (triad 0.95), H100 (torch.clone, 3.0 of 3.24 TB/s) "
    "and B200 (CUB transform, 6.7 of 7.4 TB/s)",
    "write_wait_cycles": "M: copies by CTAs of 1024 threads with 1 to 4 bytes a thread on A100 and H100, streams on A100 and "
    "A40 (none); of B200 as of H100",
    "start_cycles": "M: gpu-benches gpu-stream on A100 and A40 with one warp per sub-core: 965 cycles from one CTA to the "
    "next, less the latency of its load",
    "isolated_seconds": "M: CUB transform of 2**16 elements on B200, 6.355 us between events and 2.015 us in a series; A for "
    "A100, H100 and H200; softmax on RTX 3090 shows at most 1 us beyond the interval of a series",
    "dram_unit_bytes": "M: H100 reads 32 of every 64 bytes at half the rate, both halves of a 64-byte unit at the full one "
    "(Dao-AILab/quack, global_memory_coalescing_notes); A for B200; 32, an L2 sector, elsewhere",
}


@frozen
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
        turnaround: fraction of the DRAM rate that is lost when reads and writes alternate equally.
        write_wait_cycles: wait of a read for DRAM that is busy with writes; in proportion to the time that writes take.
        start_cycles: from the end of one CTA to the first instruction of the next.
        isolated_seconds: additional time between two events around a single launch.
        dram_unit_bytes: bytes that L2 exchanges with DRAM at least.
    """

    shared_cycles: float = 26
    special_cycles: float = 22
    barrier_cycles: float = 24
    product_cycles: float = 32
    copy_cycles: float = 120
    copy_request_cycles: float = 8
    port_bytes: float = 64
    dram_share: float = 0.93
    turnaround: float = 0.04
    write_wait_cycles: float = 0
    start_cycles: float = 220
    isolated_seconds: float = 0.0
    dram_unit_bytes: int = 32


_GENERATIONS = {
    75: Constants(port_bytes=32),
    80: Constants(turnaround=0.1, write_wait_cycles=650, isolated_seconds=4.3e-6),
    86: Constants(dram_share=0.97),
    89: Constants(dram_share=0.92, turnaround=0.06),
    90: Constants(
        dram_share=0.967, turnaround=0.08, write_wait_cycles=1800, isolated_seconds=4.3e-6, dram_unit_bytes=64
    ),
    100: Constants(
        product_cycles=220,
        turnaround=0.1,
        port_bytes=71,
        write_wait_cycles=1800,
        isolated_seconds=4.3e-6,
        dram_unit_bytes=64,
    ),
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
