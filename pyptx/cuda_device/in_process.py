"""A simulated GPU in this process: `with pyptx.device("h200"):`."""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyptx.analysis.gpus import Gpu, gpu
from pyptx.cuda_device.environment import GPU_VARIABLE, client_library
from pyptx.cuda_device.listener import VARIABLE
from pyptx.errors import BackendError

__all__ = ["device"]

_LIBRARY = re.compile(r"\s(/\S*/libcuda\.so\S*)$", re.MULTILINE)


@contextmanager
def device(name: str | Gpu | None = None, *, schedule: str = "eager") -> Iterator[Gpu]:
    """Use a simulated GPU in this process, through the CUDA driver: cuda.bindings, cuda.core, pyptx's own CUDA backend.

    The first use in a process loads pyptx's `libcuda.so.1`, which later loads of the driver find, and starts the device.
    The library stays loaded until the process ends. Linux only.

    Args:
        name: GPU ("h200", "b200") or target ("sm_90a"), as for `pyptx.analysis.gpus.gpu`; None: that of `pyptx exec`, or
            the H200.
        schedule: schedule of asynchronous operations in kernels: "eager", "late" or "random"; with "late", the work of
            streams runs when the host waits for it.
    Yields:
        the simulated GPU.
    Raises:
        BackendError: NVIDIA's driver is loaded in this process, or it has a simulated GPU of another name.
        ShapeError: the name is unknown.
    Examples:
        >>> with pyptx.device("h200") as simulated:
        ...     simulated.sms
        132
    """
    running = os.environ.get(GPU_VARIABLE) if os.environ.get(VARIABLE) else None
    wanted = gpu(running if name is None and running is not None else name)
    if running is None:
        _start(wanted, schedule)
    elif wanted.name != running:
        raise BackendError(
            f"this process has a simulated {running}; it cannot have a {wanted.name}, too",
            hint="run the program for each GPU in a process of its own: pyptx exec --arch GPU PROGRAM",
        )
    yield wanted


def _start(wanted: Gpu, schedule: str) -> None:
    library = client_library()
    loaded = [path for path in _LIBRARY.findall(Path("/proc/self/maps").read_text()) if Path(path) != library]
    if loaded:
        raise BackendError(
            f"the CUDA driver {loaded[0]} is loaded in this process already",
            hint="call pyptx.device before anything uses CUDA, or start the program with pyptx exec",
        )
    command = [sys.executable, "-m", "pyptx.cuda_device.serve", wanted.name, schedule]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])}
    listener = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert listener.stdin is not None and listener.stdout is not None
    path = listener.stdout.readline().decode().rstrip("\n")
    if not path:
        raise BackendError(f"the simulated device could not be started (exit status {listener.wait()})")
    atexit.register(listener.stdin.close)
    os.environ[VARIABLE], os.environ[GPU_VARIABLE] = path, wanted.name
    _KEPT.extend([listener, ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)])


_ROOT = Path(__file__).parents[2]
_KEPT: list[object] = []  # the listener, which ends when its standard input is closed, and the library
