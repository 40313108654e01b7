"""The listener of a simulated device: a private socket, and a process for each client that connects.

Each client process has a device of its own, in a process forked from this one; it ends with its client.
"""

from __future__ import annotations

import array
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from pyptx.analysis.gpus import Gpu
from pyptx.cuda_device.entry_points import identity
from pyptx.cuda_device.server.checking import LaunchChecks, collect_checks
from pyptx.cuda_device.server.connection import Connection
from pyptx.cuda_device.server.device_memory import BASE, DeviceMemory
from pyptx.cuda_device.server.dispatch import handle, serve
from pyptx.cuda_device.server.progress import never_waited_for
from pyptx.cuda_device.server.session import Options, Session
from pyptx.cuda_device.server.tracing import joined
from pyptx.sim.core.library import core

__all__ = ["VARIABLE", "Listener"]

VARIABLE = "PYPTX_DEVICE_SOCKET"
_IDENTITY_BYTES = 16
_WELCOME, _IS_LATE = struct.Struct("<3Q"), 1  # of src/connection.c: address and bytes of the memory, flags
_PATIENCE = 0.5  # seconds
_PATIENCE_S = 5.0  # for devices that are ending when the program has ended


class Listener:
    """A simulated device that programs connect to; a context manager.

    Args:
        gpu: the simulated GPU.
        schedule, check, trace: as in `Options`.
    Raises:
        BackendError: the compiled core of the simulator is absent, or was built from other sources.
    """

    def __init__(self, gpu: Gpu, schedule: str = "eager", check: bool = False, trace: bool = False):
        core()  # where it is missing, programs are not started
        self.gpu = gpu
        self._folder = tempfile.TemporaryDirectory(prefix="pyptx-device-")  # readable by its owner only
        self.options = Options(schedule, check, Path(self._folder.name), trace)
        self.path = self.options.folder / "socket"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(self.path))
        self._socket.listen(64)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._folder.cleanup()

    def serve_until(self, process: subprocess.Popen[bytes]) -> int:
        """Serve clients until a process ends; return its exit status, 128 + n if signal n ended it."""
        ended = os.pidfd_open(process.pid)
        try:
            self.serve_until_ready(ended, process.pid)
        finally:
            os.close(ended)
        status = process.wait()
        return status if status >= 0 else 128 - status

    def serve_until_ready(self, file: int, program: int = 0) -> None:
        """Serve clients until a file descriptor is readable; the exit status of `program` is left to the caller."""
        while True:
            ready, _, _ = select.select([self._socket, file], [], [])
            if self._socket in ready:
                self.accept()
            if file in ready:
                return
            _reap(program)

    def wait_for_devices(self) -> None:
        """Wait a little for the devices that are ending, as their clients have ended."""
        ends = time.monotonic() + _PATIENCE_S
        while time.monotonic() < ends:
            try:
                if os.waitpid(-1, os.WNOHANG) == (0, 0):
                    time.sleep(0.01)
            except ChildProcessError:
                break

    def checks(self) -> LaunchChecks:
        """Return the findings of the devices of all clients that have ended; after `wait_for_devices`."""
        return collect_checks(self.options.folder)

    def trace(self) -> dict[str, Any]:
        """Return the trace of all clients that have ended, as JSON; after `wait_for_devices`."""
        return joined(self.options.folder)

    def accept(self) -> None:
        """Accept a client and fork the process of its device."""
        stream, _ = self._socket.accept()
        sys.stdout.flush()
        sys.stderr.flush()
        if os.fork():
            stream.close()
            return
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client decides what an interrupt means
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            self._socket.close()
            _serve_client(stream, self.gpu, self.options)
            status = 0
        except Exception as error:
            sys.excepthook(type(error), error, error.__traceback__)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)


def _serve_client(stream: socket.socket, gpu: Gpu, options: Options) -> None:
    received = b""
    while len(received) < _IDENTITY_BYTES:
        part = stream.recv(_IDENTITY_BYTES - len(received))
        if not part:
            return
        received += part
    if received != identity().encode():
        stream.sendall(_WELCOME.pack(0, 0, 0))
        return
    try:
        memory = DeviceMemory(gpu.dram_bytes)
    except OSError as error:
        what = f"{4 * gpu.dram_bytes >> 30:,} GiB of addresses for the memory of the device"
        hint = "raise the limit of addresses (ulimit -v), or choose a GPU with less memory (--arch)"
        print(f"pyptx: cannot map {what}: {error.strerror}\nhint: {hint}", file=sys.stderr, flush=True)
        return
    files = array.array("i", [memory.file])
    welcome = _WELCOME.pack(BASE, memory.size, _IS_LATE * (options.schedule == "late"))
    stream.sendmsg([welcome], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    session = Session(gpu, options, memory)
    threading.Thread(target=_end_with, args=(stream, session, options), daemon=True).start()
    credentials = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    session.process = struct.unpack("3i", credentials)[0]
    session.connection = Connection(stream, lambda request: handle(session, request))
    try:
        serve(session, session.connection)
        never_waited_for(session)
    finally:
        _write_results(session, options)


def _write_results(session: Session, options: Options) -> None:
    """Write the findings and the trace of a client, for `Listener.checks` and `Listener.trace`."""
    if session.checks is not None:
        session.checks.write(options.folder, session.process, session.left())
    if session.trace is not None:
        session.trace.write(options.folder)


def _end_with(stream: socket.socket, session: Session, options: Options) -> None:
    """End this process when the client has ended while a kernel runs; otherwise `serve` notices.

    The findings and the trace have the launches that ended.
    """
    poll = select.poll()
    poll.register(stream, select.POLLRDHUP)
    poll.poll()
    while not session.runs_kernel:
        time.sleep(_PATIENCE)
    time.sleep(_PATIENCE)  # a short kernel ends, and `serve` with it
    _write_results(session, options)
    sys.stdout.flush()
    os._exit(0)


def _reap(keep: int) -> None:
    """Collect the exit statuses of devices whose clients have ended."""
    try:
        while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if found.si_pid == keep:
                return
            os.waitpid(found.si_pid, 0)
    except ChildProcessError:
        return
