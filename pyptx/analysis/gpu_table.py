"""The numbers of `pyptx.analysis.gpus` with their sources.

A number is written as its class and its value, `O(132)`. The classes:

* O  read in an NVIDIA source, or in a file that quotes one by name (CCCL, XLA's `cuda_core_info_table.cc`, the Best
  Practices Guide, the Blackwell data sheets).
* R  remembered from the data sheet or white paper of that GPU, checked against the published peaks by arithmetic.
* D  derived by arithmetic from O and R.
* M  measured by others: RRZE-HPC gpu-benches for A100, H100 PCIe, GH200 and L40, a report on an RTX 4090, Jia et al.
  2019 for the T4; for latencies of the B200 chipsandcheese.com, "Nvidia's B200" (L1 39 cycles, L2 about 150 ns) and, less
  the latency of the copy, tensor copies of 0.5 and 4 KiB (197 ns from L2, 492 and 546 ns from DRAM), of RTX 5090 and RTX PRO 6000 markdewing/AI_kernels (latency/README.md), whose clocks
  are assumed; for L2 of the B200 what a matrix product was seen to take at least (rhrnald/benchmark, 5.GEMM: tiles
  of 256 x 256 x 64 at 1,777 TFLOP/s ask for 13.9 TB/s, at about 1.75 GHz).
  Clocks of GeForce GPUs beyond the rated one: decoding on an RTX 4090 (club-3090, #697, 247 W), products on an RTX 5090
  (kekzl/imp, pull request 606).
  GDDR6 with ECC, which the driver enables on T4, L4 and L40S and which takes a sixteenth of the memory and of the transfers or
  more: reads on L4 (weights of a product with a vector, 64 MiB in 0.275 ms) and, by OpenCL-Benchmark, reads and writes on T4
  (github.com/kreier/benchmark: 15102 MB, 245 to 261 and 216 GB/s) and L40 (log of the Klone cluster: 45457 MB, 713 and 473 GB/s; of
  the 864 without ECC gpu-benches reads 845 and writes 847). Writes on L4 follow from lattices that read and write as much
  (FluidX3D, 228 GB/s in f32 and 220 in f16), which are no ladder. bandwidthTest copies 240 GB/s on T4; lattices move 592 to 612 GB/s on
  L40: the times of reads and writes add up.
* P  read from the stall counts that `ptxas` 13.5 schedules.
* A  assumed: no number was available; that of the nearest measured GPU, scaled by SMs and clock.

Tensor rates are dense floating-point (or integer) operations for each SM and clock, an FMA counted as two, with a
32-bit accumulator.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CORES", "ENERGIES", "LATENCY_CLOCKS", "REGISTER_READS", "ROWS", "SOURCES", "Energy", "Number", "Row"]

SOURCES = {"O": "read in an NVIDIA source", "R": "from the GPU's data sheet, not read again here",
           "D": "derived by arithmetic", "M": "measured by others", "P": "read from ptxas' schedule",
           "A": "assumed from a similar GPU", "H": "measured on this GPU"}


class Number(NamedTuple):
    value: float
    source: str


def O(value: float) -> Number:  # noqa: E743 - the letters are the classes
    return Number(value, "O")


def R(value: float) -> Number:
    return Number(value, "R")


def D(value: float) -> Number:
    return Number(value, "D")


def M(value: float) -> Number:
    return Number(value, "M")


def P(value: float) -> Number:
    return Number(value, "P")


def A(value: float) -> Number:
    return Number(value, "A")


# GHz at which latencies were measured
LATENCY_CLOCKS = {
    "A100 SXM 80GB": M(1.41), "A40": M(1.74), "L40": M(2.49), "GH200": M(1.98), "B200 SXM": M(1.965), "RTX 5090": A(2.85), "RTX PRO 6000": A(2.617),
}


class Row(NamedTuple):
    """One product. GHz, GB/s of 10**9 bytes, sizes in GiB and MiB; `l2` in bytes a clock of the whole GPU, latencies in
    cycles, `reached` is what a read of all of DRAM was seen to get, `written` a write where that is less."""

    name: str
    target: str
    sms: Number
    clock: Number
    dram: Number
    dram_gib: Number
    l2_mib: Number
    l2: Number
    watts: Number
    tensor: dict[str, Number]
    tensor_clock: Number | None = None          # where the published tensor peaks imply another clock
    max_clock: Number | None = None             # where GPU Boost exceeds the rated clock until power limits it
    reached: Number | None = None
    written: Number | None = None
    l2_fast_mib: Number | None = None           # data that all SMs read in turn of which half misses L2
    latency: tuple[int, int, int, int] | None = None     # L1, near L2, far L2, DRAM; class M
    measured_on: str = ""                       # the GPU whose latencies they are, where that is another


_ADA = {"mma.s8": O(2048), "mma.s4": R(4096)}
_HOPPER = {"wgmma.f16": O(4096), "wgmma.tf32": O(2048), "wgmma.f8": O(8192), "wgmma.s8": O(8192),
           "mma.f16": P(4096 * 2 / 3), "mma.tf32": D(2048 * 2 / 3), "mma.s8": D(8192 * 2 / 3),
           "mma.f8": P(4096 * 2 / 3),           # mma.sync of fp8 is emulated with that of f16
           "mma.f64": D(256)}

ROWS = (
    Row("T4", "sm_75", R(40), R(1.59), R(320), R(16), R(4), M(799), R(70),
        {"mma.f16": R(1024), "mma.s8": R(2048), "mma.s4": R(4096)}, reached=M(253), written=M(216)),
    Row("A100 SXM 40GB", "sm_80", O(108), O(1.41), R(1555), R(40), O(40), M(3830), O(400),
        {"mma.f16": O(2048), "mma.tf32": O(1024), "mma.s8": O(4096), "mma.s4": R(8192), "mma.f64": O(128)},
        reached=M(1538), l2_fast_mib=M(32.5), latency=(33, 205, 405, 538), measured_on="A100 SXM 80GB"),
    Row("A100 SXM 80GB", "sm_80", O(108), O(1.41), R(2039), R(80), O(40), M(3830), O(400),
        {"mma.f16": O(2048), "mma.tf32": O(1024), "mma.s8": O(4096), "mma.s4": R(8192), "mma.f64": O(128)},
        reached=M(1898), l2_fast_mib=M(32.5), latency=(33, 205, 405, 538)),
    Row("RTX 3090", "sm_86", R(82), R(1.695), R(936), R(24), R(6), A(1296), R(350),
        {"mma.f16": D(512), "mma.tf32": D(256), "mma.s8": R(2048), "mma.s4": R(4096)},
        latency=(33, 250, 250, 551), measured_on="A40"),
    Row("L4", "sm_89", R(58), R(2.04), R(300), R(24), R(48), A(1044), R(72),
        {"mma.f16": D(1024), "mma.tf32": D(512), "mma.f8": D(2048), **_ADA},
        reached=M(244), written=D(207), latency=(34, 274, 277, 612), measured_on="L40"),
    Row("L40S", "sm_89", R(142), R(2.52), R(864), R(48), R(96), A(2088), R(350),
        {"mma.f16": D(1024), "mma.tf32": D(512), "mma.f8": D(2048), **_ADA},
        tensor_clock=D(2.49), reached=M(713), written=M(473), l2_fast_mib=M(102), latency=(34, 274, 277, 612), measured_on="L40"),
    Row("RTX 4090", "sm_89", O(128), R(2.52), R(1008), R(24), O(72), M(2024), R(450),
        {"mma.f16": O(512), "mma.tf32": O(256), "mma.f8": O(1024), **_ADA},
        max_clock=M(2.82), reached=M(925), latency=(34, 274, 277, 612), measured_on="L40"),
    Row("H100 PCIe", "sm_90a", R(114), R(1.755), O(2000), R(80), R(50), M(3960), R(350), _HOPPER, tensor_clock=D(1.62),
        reached=M(2016), l2_fast_mib=M(38), latency=(32, 254, 402, 670), measured_on="GH200"),
    Row("H100 SXM", "sm_90a", O(132), O(1.98), O(3350), R(80), O(50), M(4899), O(700), _HOPPER, tensor_clock=O(1.83),
        l2_fast_mib=M(47), latency=(32, 254, 402, 670), measured_on="GH200"),
    Row("H200 SXM", "sm_90a", O(132), O(1.98), O(4800), R(141), O(50), M(4899), O(700), _HOPPER, tensor_clock=O(1.83),
        l2_fast_mib=M(47), latency=(32, 254, 402, 670), measured_on="GH200"),
    Row("B200 SXM", "sm_100a", O(148), O(1.965), O(8000), R(180), O(126), M(7900), O(1000),
        {"tcgen05.f16": O(8192), "tcgen05.tf32": O(4096), "tcgen05.f8": O(16384), "tcgen05.f4": O(32768),
         "tcgen05.s8": R(16384), "mma.f16": P(2048), "mma.tf32": D(1024), "mma.s8": D(4096),
         "mma.f8": P(2048),                     # emulated, as on Hopper
         "mma.f64": O(128)}, tensor_clock=D(1.86), latency=(39, 295, 295, 900)),
    Row("RTX 5090", "sm_120a", O(170), O(2.407), R(1792), R(32), R(96), A(2688), R(575),
        {"mma.f16": O(512), "mma.tf32": O(256), "mma.f8": O(1024), "mma.f4": D(4096), "mma.s8": O(2048)},
        max_clock=M(2.85), latency=(44, 360, 360, 936)),
    Row("RTX PRO 6000", "sm_120a", O(188), R(2.617), R(1792), R(96), R(128), A(2973), O(600),
        {"mma.f16": D(1024), "mma.tf32": D(512), "mma.f8": D(2048), "mma.f4": D(4096), "mma.s8": D(2048)},
        latency=(44, 352, 352, 864)),
)

# Results for each clock and SM of the CUDA cores, by compute capability times ten. CUDA Programming Guide 12.6,
# "Arithmetic Instructions"; 12.0 from the Best Practices Guide 13.4; checked against what ptxas schedules.
_NAMES = ("f32", "f16", "f64", "i32.add", "i32.mul", "f32.minmax", "mufu", "cvt.pack", "cvt", "shuffle", "redux")
CORES: dict[int, dict[str, Number]] = {
    capability: {name: O(value) for name, value in zip(_NAMES, row, strict=True) if value} for capability, row in {
        75: (64, 128, 2, 64, 64, 64, 16, 0, 16, 32, 0),
        80: (64, 256, 32, 64, 64, 64, 16, 64, 16, 32, 16),
        86: (128, 128, 2, 64, 64, 64, 16, 64, 16, 32, 16),
        89: (128, 128, 2, 64, 64, 64, 16, 64, 16, 32, 16),
        90: (128, 256, 64, 64, 64, 64, 16, 64, 16, 32, 16),
        100: (128, 128, 64, 64, 64, 128, 16, 64, 16, 32, 16),
        120: (128, 128, 2, 128, 64, 64, 16, 16, 16, 32, 0)}.items()}
CORES[86]["f16"] = P(128)                       # the guide says 256; ptxas and the 1:1 ratio of GA102 say 128

# Operands of a warp that the register file of a sub-core delivers per clock: two banks with a port each. Measured on RTX
# A6000 (Huerta et al. 2025, arXiv 2503.20481); ptxas gives no FFMA three operands of one bank, from sm_75 to sm_100a.
REGISTER_READS = M(2)


class Energy(NamedTuple):
    """Energies of a generation at the boost clock, in pJ; `idle` is the fraction of the power limit that an SM without
    events takes, clocks running.

    `fma`, `mufu` and `instruction` are per lane and include issue and registers; `tensor_cycle` is a cycle in which the
    tensor cores of an SM are busy, whatever the type. `dram_byte` is that of the DRAM devices, `path_byte` that of the way of
    DRAM traffic across the GPU, beyond that of L2.

    Sources: gpu-benches' gpu-roofline logs of power against rate on A100, A40, L40 and H200 give `idle`, `fma` and the sum of
    `dram_byte`, `path_byte` and `l2_byte`, since what they read from DRAM passes L2 (+-15 %); `dram_byte` is that of the devices
    (Micron: 6 pJ a bit of HBM2E, 7.5 of GDDR6, 7.25 of GDDR6X; assumed for HBM3, HBM3E and GDDR7);
    `tensor_cycle`, at the full rate of tensor cores, is what is left at the power limit of the best published matrix products
    (A100 271, H100 795, B200 1,745 TFLOP/s) and of attention on RTX 4090 (173 TFLOP/s at half rate); for sm_120 of products from registers on an RTX PRO 6000 Max-Q (427 TFLOP/s at
    300 W and 2.25 GHz; waynehacking8/blackwell-tensorcore-kernels, mma_rate_probe), and `l2_byte` of products there (1.5 GHz at
    300 W) and attention on an RTX 5090 (196 TFLOP/s at 400 W, 210 at 600 W; gau-nernst/learn-cuda), which sm_89, of the same
    process, shares; the others are those of Arunkumar et al. 2019 for a
    28 nm GPU (shared memory 5.3, L2 15.5 pJ a bit), scaled to about a sixth, and assumed elsewhere.
    """

    idle: float
    fma: float
    instruction: float
    mufu: float
    tensor_cycle: float
    shared_byte: float
    l2_byte: float
    dram_byte: float
    path_byte: float


ENERGIES: dict[int, Energy] = {       # by compute capability times ten
    75: Energy(0.30, 12, 7, 20, 900, 7, 30, 60, 30),
    80: Energy(0.165, 10.4, 6, 20, 1150, 7, 30, 48, 40),
    86: Energy(0.43, 12.6, 6, 20, 1000, 5, 25, 58, 29),
    89: Energy(0.33, 10.7, 6, 20, 1000, 5, 10, 60, 42),
    90: Energy(0.15, 11.6, 6, 20, 2000, 5, 25, 48, 49),
    100: Energy(0.15, 11.6, 6, 20, 3080, 5, 25, 48, 49),
    120: Energy(0.30, 10.7, 6, 20, 500, 5, 10, 60, 42),
}
