"""Unmodified programs under `pyptx exec`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cuda_programs import PROGRAMS, environment

from pyptx.analysis.gpus import gpu
from pyptx.cuda_device.build_client import HERE, LIBRARY, host_target
from pyptx.cuda_device.listener import Listener
from pyptx.errors import BackendError
from pyptx.sim.core import library


def children(parent: int) -> set[int]:
    return set(map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split()))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def cpu_ticks(process: int) -> int:
    """Return the processor time that a process has used, in hundredths of a second."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return int(user) + int(system)


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_a_program_of_cuda_bindings_runs_on_the_simulated_device(execute):
    done = execute("first_program.py")
    assert done.stdout == "done\n", done.stderr
    assert done.returncode == 0
    assert "kernel saxpy failed: ld.global.f32 %f2, [%rd4]" in done.stderr
    assert "hint: it was device memory #3, which has been freed" in done.stderr
    assert "CUDA_ERROR_NOT_FOUND: the module has no kernel absent; it has saxpy, count, factor" in done.stderr


@pytest.mark.slow
def test_invalid_arguments_are_refused_and_end_nothing(execute):
    done = execute("invalid_arguments.py")
    assert done.stdout == "every call was answered\n", done.stderr[-2000:]


def test_a_device_without_the_core_of_the_simulator_is_refused_at_the_start(monkeypatch):
    monkeypatch.setattr(library, "_load", lambda: (None, "the compiled core is missing from /nowhere"))
    with pytest.raises(BackendError, match="the compiled core is missing from /nowhere"):
        Listener(gpu("h200"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        "graphs.py",
        "arrays.py",
        "descriptors.py",
        "forked.py",
        "green_contexts.py",
        "older_calls.py",
        "virtual_memory.py",
    ],
)
def test_programs_check_themselves(execute, program: str):
    done = execute(program)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.slow
def test_cuda_core_launches_a_kernel_that_nvrtc_compiled(execute):
    done = execute("cuda_core.py")
    assert done.stdout == "done\n", done.stderr


@pytest.mark.slow
@pytest.mark.skipif(host_target() is None, reason="needs Linux with glibc")
def test_the_program_is_told_when_its_device_ends():
    program = [sys.executable, str(PROGRAMS / "endless.py")]
    running = subprocess.Popen(
        [sys.executable, "-m", "pyptx", "exec", *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert running.stdout is not None
    client = int(running.stdout.readline())
    (device,) = children(running.pid) - {client}
    os.kill(device, signal.SIGKILL)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "the process of the simulated device has ended" in errors
    assert "CUDA_ERROR_UNKNOWN" in errors


@pytest.mark.slow
@pytest.mark.skipif(host_target() is None, reason="needs Linux with glibc")
def test_a_signal_to_exec_reaches_the_program_and_nothing_is_left():
    program = [sys.executable, str(PROGRAMS / "endless.py")]
    running = subprocess.Popen(
        [sys.executable, "-m", "pyptx", "exec", *program], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert running.stdout is not None
    processes = {int(running.stdout.readline()), *children(running.pid)}
    running.terminate()
    assert running.wait(30) == 128 + signal.SIGTERM
    assert wait_until(lambda: not any(map(is_running, processes)))
    running.stdout.close()


@pytest.mark.slow
@pytest.mark.parametrize("inside", [False, True], ids=["ordinary process", "under exec"])
@pytest.mark.skipif(host_target() is None, reason="needs Linux with glibc")
def test_pyptx_device_simulates_a_gpu_in_its_process(execute, inside: bool):
    program = [sys.executable, str(PROGRAMS / "in_process.py")]
    done = (
        execute("in_process.py")
        if inside
        else subprocess.run(program, capture_output=True, text=True, timeout=120, env=environment())
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.slow
def test_eight_threads_launch_a_thousand_kernels(execute):
    done = execute("threads.py")
    assert done.stdout == f"{7 + 1000 * 32}\n", done.stderr


@pytest.mark.slow
@pytest.mark.skipif(host_target() is None, reason="needs Linux with glibc")
def test_the_device_ends_with_its_client_even_while_a_kernel_runs_and_writes_what_it_has(tmp_path: Path):
    trace = tmp_path / "trace.json"
    running = subprocess.Popen(
        [sys.executable, "-m", "pyptx", "exec", "--check", "--trace", trace, sys.executable, PROGRAMS / "endless.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert running.stdout is not None and running.stderr is not None
    client = int(running.stdout.readline())
    devices = children(running.pid) - {client}
    assert devices
    begun = max(map(cpu_ticks, devices))
    assert wait_until(lambda: max(map(cpu_ticks, devices)) > begun + 200), "the kernel is modeled, and runs"
    os.kill(client, signal.SIGKILL)
    assert running.wait(30) == 128 + signal.SIGKILL
    assert wait_until(lambda: not any(map(is_running, devices)))
    assert "1 launch of 1 kernel checked: no findings" in running.stderr.read()
    names = {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}
    assert "cuModuleLoadData" in names
    running.stdout.close()
    running.stderr.close()


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
    program = f"import ctypes; print(ctypes.CDLL({str(HERE / LIBRARY)!r}).cuInit(0))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "100\n"
    assert "pyptx exec PROGRAM" in done.stderr


@pytest.mark.slow
def test_a_trace_has_calls_copies_and_kernels(execute, tmp_path: Path):
    done = execute("first_program.py", "--trace", str(tmp_path / "trace.json"))
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    rows = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    shown = {(rows[event["pid"]].split(" of ")[0], event["name"]) for event in events if event["ph"] == "X"}
    assert ("calls (measured)", "cuLaunchKernel") in shown
    assert ("H200 SXM (modeled)", "saxpy (4, 1, 1) x (256, 1, 1)") in shown
    assert ("H200 SXM (modeled)", "copy of 4,000 bytes over the link") in shown
    failed = [e["args"]["status"] for e in events if e["ph"] == "X" and e["name"] == "cuMemAlloc_v2"]
    assert 700 in failed
