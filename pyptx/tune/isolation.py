"""A child process that runs trials, so that what a trial does to its process is a result and no crash.

It runs `pyptx.tune.worker` and needs neither the kernel's Python nor `if __name__ == "__main__"`.
What it is asked has a time limit; when that passes, or the process dies, it is ended and the next question starts a
new one.
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
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyptx._loc

__all__ = ["Child", "ChildError", "Died", "Fault", "Hang", "Stopped", "children"]

_START_S = 60.0
# The same pyptx as here, of the checkout or where the interpreter finds it by itself; nothing of the working folder.
_MAIN = ("import sys; folder = sys.argv.pop(1); folder.endswith('-packages') or sys.path.insert(0, folder); "
         "from pyptx.tune.worker import main; main()")
_POLL_S = 0.1


class ChildError(Exception):
    """What became of a question. `fault` is a word for tables, the message says it in words."""

    fault = "error"


class Fault(ChildError):
    """The trial's own fault, with the child alive: `fault` says which."""

    def __init__(self, fault: str, message: str, **more: Any):
        super().__init__(message)
        self.fault, self.more = fault, more


class Hang(ChildError):
    """It did not end in time."""

    fault = "hang"


class Died(ChildError):
    """The process ended."""

    fault = "killed"


class Stopped(ChildError):
    """Somebody stopped the sweep meanwhile."""

    fault = "stopped"


class Child:
    """One process at a time; made when first asked.

    Args:
        environment: added to the child's, such as CUDA_VISIBLE_DEVICES.
    """

    def __init__(self, environment: dict[str, str] | None = None):
        self.environment = dict(environment or {})
        self.setup: list[tuple] = []
        self.started, self._told = 0, False
        self._process: subprocess.Popen | None = None
        self._link: Connection | None = None
        self._lock = threading.RLock()
        self._stopping = threading.Event()

    @property
    def pid(self) -> int | None:
        """Of the process that runs now."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def generation(self) -> int:
        """How many processes there have been: what a process was told is forgotten when the number changes."""
        return self.started

    def prepare(self, *questions: tuple) -> None:
        """What every new process is asked first, and the one that runs now before anything else."""
        with self._lock:
            self.setup, self._told = [("forget",), *questions], False

    def ask(self, *question: Any, limit_s: float) -> Any:
        """The answer to a question.

        Raises:
            Fault: the trial did something that the child reports.
            Hang: no answer in `limit_s` seconds; the process is ended.
            Died: the process ended; says by which signal.
            Stopped: `stop` was called meanwhile.
        """
        with self._lock:
            if self.pid is None:
                self._start()
            if not self._told:
                for first in self.setup:
                    self._exchange(first, _START_S)
                self._told = True
            return self._exchange(question, limit_s)

    def stop(self) -> None:
        """End the process, whatever it does; a question that waits is answered with Stopped. `allow` lets it go on."""
        self._stopping.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()

    def allow(self) -> None:
        self._stopping.clear()

    def end(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            if self._process is not None:
                if self._process.poll() is None:
                    self._process.kill()
                self._process.wait()
                self._link.close()
                self._said.close()
                self._process = self._link = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()

    def _news(self) -> str:
        """What it wrote to its standard error since somebody looked."""
        size = os.fstat(self._said.fileno()).st_size
        if size == self._read:
            return ""
        text = os.pread(self._said.fileno(), size - self._read, self._read)
        self._read = size
        return text.decode(errors="replace")

    # the process ------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.end()
        ours, theirs = socket.socketpair()
        self._said, self._read = tempfile.TemporaryFile(), 0        # no terminal: it would draw over a bar of ours
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _MAIN, str(Path(pyptx._loc.PACKAGE_DIR).parent), str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stderr=self._said,
                env={**os.environ, **self.environment}, process_group=0)     # Ctrl-C is the parent's
        finally:
            theirs.close()
        self._link = Connection(ours.detach())
        self.started += 1
        self._told = False
        self._exchange(("hello",), _START_S)

    def _exchange(self, question: tuple, limit_s: float) -> Any:
        deadline = time.monotonic() + limit_s
        try:
            self._link.send(question)
            while not self._link.poll(min(_POLL_S, max(0.0, deadline - time.monotonic()))):
                if self._stopping.is_set():
                    self.end()
                    raise Stopped("the sweep was stopped")
                if time.monotonic() >= deadline:
                    self.end()
                    raise Hang(f"it did not end in {limit_s:g} s")
            good, answer = self._link.recv()
        except (EOFError, OSError):
            status = self._process.wait()
            last = self._news().strip().rpartition("\n")[2]
            self.end()
            if self._stopping.is_set():
                raise Stopped("the sweep was stopped") from None
            raise Died(f"its process was ended by {_signal(status)}" + (f": {last}" if last else "")) from None
        if news := self._news():
            _pass_on(news)
        if good:
            return answer
        raise Fault(**answer)


_passed_on: set[str] = set()


def _pass_on(text: str) -> None:
    """Show what children wrote, warnings mostly, each line once: there are several of them."""
    for line in text.splitlines():
        if line.strip() and line not in _passed_on:
            _passed_on.add(line)
            print(line, file=sys.stderr)


_idle: list[Child] = []
_idle_lock = threading.Lock()


@contextmanager
def children(count: int) -> Iterator[list[Child]]:
    """So many children, taken from those that an earlier sweep left; they wait for the next one afterwards."""
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


def _signal(status: int) -> str:
    if status >= 0:
        return f"itself, with status {status}"
    try:
        return f"signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"signal {-status}"
