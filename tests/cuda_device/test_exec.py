"""Unmodified programs under `pyptx exec`."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_a_program_of_cuda_bindings_runs_on_the_simulated_device(execute):
    done = execute("first_program.py")
    assert done.stdout == "done\n", done.stderr
    assert done.returncode == 0
    assert "kernel saxpy failed: ld.global.f32 %f2, [%rd4]" in done.stderr
    assert "hint: it was device memory #3, which has been freed" in done.stderr
    assert "CUDA_ERROR_NOT_FOUND: the module has no kernel absent; it has saxpy, count, factor" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "command, status",
    [
        ([sys.executable, "-c", "raise SystemExit(3)"], 3),
        ([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"], 128 + 15),
        (["/nonexistent/program"], 127),
    ],
    ids=["status", "signal", "absent"],
)
def test_the_exit_status_is_that_of_the_program(execute, command: list[str], status: int):
    assert execute(command).returncode == status


@pytest.mark.slow
def test_a_client_without_a_device_is_told_how_to_start_one(execute):
    from pyptx.cuda_device.build_client import HERE, LIBRARY

    program = f"import ctypes; print(ctypes.CDLL({str(HERE / LIBRARY)!r}).cuInit(0))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "100\n"
    assert "pyptx exec PROGRAM" in done.stderr
