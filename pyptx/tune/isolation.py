"""Process isolation: a child process runs trials, so that a crash is a result of the trial.

The child runs `pyptx.tune.worker`; it needs neither the kernel's Python nor `if __name__ == "__main__"`. Requests have
a time limit. When it expires, or the process dies, the process is killed and the next request starts a new one.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

import pyptx._loc
from pyptx.errors import PtxError

__all__ = ["Child", "ChildError", "ChildDied", "TrialFault", "ChildTimeout", "SweepStopped", "children"]

_START_S = 60.0
# Import the pyptx of this process, from a checkout or as installed, and nothing from the working directory.
_MAIN = (
    "import sys; folder = sys.argv.pop(1); folder.endswith('-packages') or sys.path.insert(0, folder); "
    "from importlib import import_module; import_module(sys.argv.pop(1)).main()"
)
_POLL_S = 0.1


class ChildError(PtxError, RuntimeError):
    """A request failed. `fault` is a keyword for tables."""

    fault = "error"


class TrialFault(ChildError):
    """The trial failed and the child survived; `fault` names the kind."""

    fault: str
    more: dict[str, Any]

    def __init__(self, fault: str, message: str, **more: Any):
        super().__init__(message)
        self.fault, self.more = fault, more


class ChildTimeout(ChildError):
    """The request exceeded its time limit."""

    fault = "hang"


class ChildDied(ChildError):
    """The process died."""

    fault = "killed"


class SweepStopped(ChildError):
    """The sweep was stopped while the request was in progress."""

    fault = "stopped"


class Child:
    """A child process, started by the first request and restarted when it died.

    Args:
        environment: variables added to the child's environment, such as CUDA_VISIBLE_DEVICES.
        module: the module whose `main` the process runs, as that of `pyptx.tune.worker`.
    Attributes:
        generation: number of processes started so far; a change means that a process has lost its state.
        heard: called with output of a request before its answer, see `worker.serve`.
    """

    environment: dict[str, str]
    generation: int
    heard: Callable[[str], None] | None = None

    def __init__(self, environment: dict[str, str] | None = None, module: str = "pyptx.tune.worker"):
        self.environment, self._module = dict(environment or {}), module
        self.setup: list[tuple] = []
        self.generation, self._is_set_up = 0, False
        self._stderr: IO[bytes]
        self._read = 0  # bytes of standard error read so far
        self._process: subprocess.Popen[bytes] | None = None
        self._link: Connection | None = None
        self._lock = threading.RLock()
        self._stopping = threading.Event()

    @property
    def pid(self) -> int | None:
        """Identifier of the running process; None when there is none."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def prepare(self, *requests: tuple[Any, ...]) -> None:
        """Set the requests that every process answers first, the running one included."""
        with self._lock:
            self.setup, self._is_set_up = [("forget",), *requests], False

    def ask(self, *request: Any, limit_s: float) -> Any:
        """Send a request and return the answer.

        Args:
            request: name of a method of `pyptx.tune.worker.Worker`, and its arguments.
            limit_s: time limit in seconds.
        Raises:
            TrialFault: the child reports a fault of the trial.
            ChildTimeout: no answer within `limit_s` seconds; the process was killed.
            ChildDied: the process died; the message names the signal.
            SweepStopped: `stop` was called during the request.
        """
        with self._lock:
            if self.pid is None:
                self._start()
            if not self._is_set_up:
                for first in self.setup:
                    self._exchange(first, _START_S)
                self._is_set_up = True
            return self._exchange(request, limit_s)

    def stop(self) -> None:
        """Kill the process; a request in progress raises SweepStopped. `allow` permits new requests."""
        self._stopping.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()

    def allow(self) -> None:
        self._stopping.clear()

    def end(self) -> None:
        """Kill the process, if there is one."""
        with self._lock:
            if self._process is not None:
                if self._process.poll() is None:
                    self._process.kill()
                self._process.wait()
                if self._link is not None:
                    self._link.close()
                self._stderr.close()
                self._process = self._link = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()

    def _new_stderr(self) -> str:
        """Return the standard error output since the last call."""
        size = os.fstat(self._stderr.fileno()).st_size
        if size == self._read:
            return ""
        text = os.pread(self._stderr.fileno(), size - self._read, self._read)
        self._read = size
        return text.decode(errors="replace")

    # the process ------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.end()
        ours, theirs = socket.socketpair()
        self._stderr, self._read = tempfile.TemporaryFile(), 0  # not the terminal: output would garble progress bars
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-c",
                    _MAIN,
                    str(Path(pyptx._loc.PACKAGE_DIR).parent),
                    self._module,
                    str(theirs.fileno()),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stderr=self._stderr,
                env={**os.environ, **self.environment},
                process_group=0,
            )  # Ctrl-C reaches only the parent
        finally:
            theirs.close()
        self._link = Connection(ours.detach())
        self.generation += 1
        self._is_set_up = False
        self._exchange(("hello",), _START_S)

    def _exchange(self, request: tuple, limit_s: float) -> Any:
        assert self._process is not None and self._link is not None, "no process was started"
        deadline = time.monotonic() + limit_s
        try:
            self._link.send(request)
            succeeded = None
            while succeeded is None:  # output comes before the answer
                while not self._link.poll(min(_POLL_S, max(0.0, deadline - time.monotonic()))):
                    if self._stopping.is_set():
                        self.end()
                        raise SweepStopped("the sweep was stopped")
                    if time.monotonic() >= deadline:
                        self.end()
                        raise ChildTimeout(f"no result within {limit_s:g} s")
                succeeded, answer = self._link.recv()
                if succeeded is None and self.heard is not None:
                    self.heard(answer)
        except (EOFError, OSError):
            status = self._process.wait()
            last = self._new_stderr().strip().rpartition("\n")[2]
            self.end()
            if self._stopping.is_set():
                raise SweepStopped("the sweep was stopped") from None
            raise ChildDied(
                f"the process was ended by {_exit_reason(status)}" + (f": {last}" if last else "")
            ) from None
        if output := self._new_stderr():
            _forward(output)
        if succeeded:
            return answer
        raise TrialFault(**answer)


_forwarded: set[str] = set()


def _forward(text: str) -> None:
    """Print output of children to stderr, each line once: several children emit the same warnings."""
    for line in text.splitlines():
        if line.strip() and line not in _forwarded:
            _forwarded.add(line)
            print(line, file=sys.stderr)


_idle: list[Child] = []
_idle_lock = threading.Lock()


@contextmanager
def children(count: int) -> Iterator[list[Child]]:
    """Provide children, reusing idle ones of earlier sweeps; they are kept idle afterwards."""
    with _idle_lock:
        taken = [_idle.pop() if _idle else Child() for _ in range(count)]
    for child in taken:
        child.allow()
    try:
        yield taken
    finally:
        for child in taken:
            child.prepare()
        with _idle_lock:
            _idle.extend(taken)


@atexit.register
def _end_all() -> None:
    for child in _idle:
        child.end()


def _exit_reason(status: int) -> str:
    if status >= 0:
        return f"itself, with status {status}"
    try:
        return f"signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"signal {-status}"
