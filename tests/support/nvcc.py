"""Programs built by the nvcc of the wheels, with the shared runtime library."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from pyptx.errors import MissingToolError
from pyptx.toolchain.locate import find

__all__ = ["build"]

SHARED = ("-cudart", "shared")
CODE = ("-lineinfo", "-gencode", "arch=compute_90,code=compute_90")


def build(
    output: Path,
    sources: Sequence[Path],
    *options: str,
    code: Sequence[str] = CODE,
    runtime: Sequence[str] = SHARED,
) -> Path:
    """Compile sources to the program `output` and return its path; skip the test where nvcc or a C++ compiler is absent."""
    try:
        nvcc = find("ptxas").with_name("nvcc")
    except MissingToolError as missing:
        pytest.skip(str(missing))
    libraries = nvcc.parents[1] / "lib"
    if not nvcc.exists() or not (libraries / "libcudart.so.13").exists() or shutil.which("g++") is None:
        pytest.skip("needs the wheels nvidia-cuda-nvcc and nvidia-cuda-runtime, and g++")
    link = output.parent / "libcudart.so"  # the name that -cudart shared looks for, which the wheels do not have
    if not link.exists():
        link.symlink_to(libraries / "libcudart.so.13")
    command = [nvcc, "-std=c++17", *code, *options, *sources, "-o", output, f"-L{link.parent}", *runtime]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return output
