"""Occupancy, compared with NVIDIA's calculator `cuda_occupancy.h`, compiled here."""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pyptx.analysis import occupancy
from pyptx.errors import ShapeError
from pyptx.isa import targets

TARGETS = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90a", "sm_100a", "sm_103", "sm_110a", "sm_120a", "sm_121"]

ORACLE = r"""
#include <limits.h>
#include <string.h>
#include "cuda_occupancy.h"

// out: blocks, by registers, by shared memory, by warps, by blocks, registers and shared bytes of a block
extern "C" int oracle(int major, int minor, int threads_sm, size_t smem_sm, size_t smem_cta, size_t reserved,
                      int threads, int registers, size_t fixed, size_t dynamic, int *out) {
    cudaOccDeviceProp device;
    device.computeMajor = major; device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024; device.maxThreadsPerMultiprocessor = threads_sm;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32; device.numSms = 1;
    device.sharedMemPerBlock = 49152; device.sharedMemPerMultiprocessor = smem_sm;
    device.sharedMemPerBlockOptin = smem_cta; device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = INT_MAX; function.numRegs = registers; function.sharedSizeBytes = fixed;
    function.partitionedGCConfig = PARTITIONED_GC_OFF; function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = dynamic; function.numBlockBarriers = 1;
    cudaOccDeviceState state;
    cudaOccResult result;
    int status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads, dynamic);
    out[0] = result.activeBlocksPerMultiprocessor;
    out[1] = result.blockLimitRegs; out[2] = result.blockLimitSharedMem;
    out[3] = result.blockLimitWarps; out[4] = result.blockLimitBlocks;
    out[5] = result.allocatedRegistersPerBlock; out[6] = (int)result.allocatedSharedMemPerBlock;
    return status;
}
"""


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """The header's function in a library: with g++, or with the compiler that the test extra brings."""
    nvidia = find_spec("nvidia")
    headers = [
        header.parent
        for root in (nvidia.submodule_search_locations if nvidia else ())
        for header in Path(root).glob("*/include/cuda_occupancy.h")
    ]
    if not headers:
        pytest.skip("cuda_occupancy.h is not here: pip install nvidia-cuda-runtime")
    folder = tmp_path_factory.mktemp("oracle")
    (folder / "oracle.cpp").write_text(ORACLE)
    compiler = [shutil.which("g++")] if shutil.which("g++") else [sys.executable, "-m", "ziglang", "c++"]
    library = folder / "oracle.so"
    subprocess.run(
        [*compiler, "-O1", "-shared", "-fPIC", f"-I{headers[0]}", folder / "oracle.cpp", "-o", library],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    function = ctypes.CDLL(str(library)).oracle
    function.argtypes = (
        [ctypes.c_int] * 3
        + [ctypes.c_size_t] * 3
        + [ctypes.c_int] * 2
        + [ctypes.c_size_t] * 2
        + [ctypes.POINTER(ctypes.c_int)]
    )

    def ask(target: str, threads: int, registers: int, fixed: int, dynamic: int) -> list[int]:
        parsed = targets.parse(target)
        has, out = parsed.limits, (ctypes.c_int * 7)()
        status = function(
            *parsed.capability,
            has.threads_per_sm,
            has.smem_per_sm,
            has.smem_per_cta,
            has.smem_reserved,
            threads,
            registers,
            fixed,
            dynamic,
            out,
        )
        assert status == 0
        return list(out)

    return ask


def test_agrees_with_nvidias_calculator(oracle):
    draw, unlimited = random.Random(0), 2**31 - 1
    for _ in range(4000):
        target, threads, registers = draw.choice(TARGETS), draw.randint(1, 1056), draw.randint(0, 255)
        fixed, dynamic = draw.randint(0, 49152), draw.choice((0, draw.randint(0, 235_000)))
        asked = target, threads, registers, fixed, dynamic
        ours = occupancy(target, threads=threads, registers=registers, shared_bytes=fixed, dynamic_shared_bytes=dynamic)
        limits = ours.limits
        assert oracle(*asked) == [
            ours.blocks,
            limits.get("registers", unlimited),
            limits.get("shared memory", unlimited),
            limits["warps"],
            limits["blocks"],
            ours.registers_per_block,
            ours.shared_bytes_per_block,
        ], asked


def test_a_hopper_gemm_is_limited_by_shared_memory():
    found = occupancy("sm_90a", threads=384, registers=168, dynamic_shared_bytes=200 * 1024)
    assert (found.blocks, found.warps, found.limiters) == (1, 12, ("registers", "shared memory"))
    assert found.fraction == 12 / 64
    assert "168 a thread, 64512 a block of 65536 on an SM" in found.why
    assert "205824 B a block" in found.why and "233472 B on an SM" in found.why


@pytest.mark.parametrize(
    "resources, limiter, why",
    [
        (dict(threads=1024, registers=80), "registers", "81920 for a block of 32 warps; the limit is 65536"),
        (dict(threads=1056, registers=8), "warps", "a block of 1056 threads; the limit is 1024"),
        (dict(threads=128, registers=32, dynamic_shared_bytes=228 * 1024), "shared memory", "the limit is 233472 B"),
        (dict(threads=32, registers=256), "registers", "256 a thread; the limit is 255"),
    ],
)
def test_what_cannot_be_launched_says_why(resources, limiter, why):
    found = occupancy("sm_90", **resources)
    assert found.blocks == found.warps == 0
    assert found.limiter == limiter
    assert why in found.why


def test_small_blocks_are_limited_by_their_number():
    found = occupancy("sm_80", threads=32, registers=16)
    assert (found.blocks, found.limiter, found.fraction) == (32, "blocks", 0.5)
    assert str(found) == "50% (32 of 64 warps, 32 blocks): limited by blocks: 32 blocks on an SM"


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ShapeError, match="threads is 0; expected at least 1"):
        occupancy("sm_90", threads=0, registers=10)
    with pytest.raises(ValueError, match="unknown target 'sm_91'"):
        occupancy("sm_91", threads=32, registers=10)
