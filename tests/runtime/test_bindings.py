"""The real cuda.bindings over a substitute libcuda: the driver reads the values that the backend passes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

nvidia = pytest.importorskip("nvidia.cu13")
HEADERS = Path(next(iter(nvidia.__path__))) / "include"
TESTS = Path(__file__).resolve().parents[1]

PROGRAM = """
import numpy as np, pyptx
from runtime.kernels import scale
from runtime.test_tensor_maps import copy
x = np.arange(100, dtype=np.float32)
pyptx.use("cuda")
assert np.array_equal(scale(x, factor=3.0), 3 * x)
y = np.zeros_like(x)
result = scale.launch(2, 64, x, y, 0.5, 100, N=100, cluster=2, smem_bytes=4096, stream=0x55, timed=True)
assert np.array_equal(y, x / 2) and result.seconds == 0.0025, result
try:
    copy(np.zeros((24, 32), np.float32))
except pyptx.errors.DeviceError as refused:
    print(str(refused).splitlines()[0])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-shared",
            "-fPIC",
            "-w",
            "-I",
            str(HEADERS),
            str(TESTS / "support" / "fake_libcuda.c"),
            "-o",
            str(folder / "libcuda.so.1"),
        ],
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return folder


@pytest.mark.slow  # zig's first compilation takes half a minute
def test_arguments_sizes_attributes_and_maps_arrive(folder):
    paths = [str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(folder), "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert not done.returncode, done.stderr
    lines = sorted(done.stdout.splitlines())
    assert lines == sorted(
        [
            "launch grid 2 1 1 block 64 1 1 smem 0 stream (nil) attributes 0",
            "attribute 8 = 4096",  # MAX_DYNAMIC_SHARED_SIZE_BYTES
            "launch grid 2 1 1 block 64 1 1 smem 4096 stream 0x55 attributes 1 id 4: 2 1 1",
            "map type 7 rank 2 dims 32 24 stride 128 box 32 8 swizzle 3",
            "map type 7 rank 2 dims 32 24 stride 128 box 32 8 swizzle 3",
            "launch grid 3 1 1 block 32 1 1 smem 0 stream (nil) attributes 0",
            "map bytes a5 a5 aligned 0",
            "copy on cuda:0 (Fake GPU, sm_90), grid (3, 1, 1), block (32, 1, 1), 0 bytes of dynamic shared memory: "
            "CUDA_ERROR_LAUNCH_FAILED: words of the driver",
        ]
    )
