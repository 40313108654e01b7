"""A process on a far machine, with the interface of `pyptx.tune.isolation.Child`."""

from __future__ import annotations

import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pyptx.errors import RemoteError
from pyptx.remote.address import Address
from pyptx.remote.connection import Connection, connect
from pyptx.remote.reply import Reply
from pyptx.tune.dask_cluster import ERRORS, WorkerLost
from pyptx.tune.isolation import ChildError, SweepStopped, TrialFault

__all__ = ["SshChild", "show"]

_POLL_S = 0.1
_INTERRUPT_S = 10.0  # for the far side to stop an interrupted request
_SILENT_S = 0.5  # in a queue before it is reported


class SshChild:
    """A process of a far machine, started by the first request and restarted when it died.

    Args:
        address: of the machine.
        queue: name of the queue for its device; None: it needs none.
        exclusive: the device is reserved for this process: "no", "once" (for each request), or "hold" (until `end`).
    Attributes:
        generation: number of processes started so far; a change means that a process has lost its state.
        queued_seconds: time that the last request waited for the device.
    """

    address: str
    ordinal: int
    queue: str | None
    generation: int
    queued_seconds: float

    def __init__(self, address: Address, *, queue: str | None = None, exclusive: str = "no"):
        self._to, self.address, self.queue, self._exclusive = address, str(address), queue, exclusive
        self.name, self.generation, self.queued_seconds = uuid.uuid4().hex, 0, 0.0
        number = address.device.removeprefix("cuda:")
        self.ordinal = int(number) if number.isdigit() else 0
        self._setup: tuple[tuple[Any, ...], ...] = ()
        self._token, self._sent = uuid.uuid4().hex, ("", 0)  # the setup that a connection has
        self._stopping = threading.Event()
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """The connection; a lost one is replaced.

        Raises:
            RemoteError: the machine cannot be reached.
        """
        self._connection = found = connect(self._to)
        return found

    def prepare(self, *requests: tuple[Any, ...]) -> None:
        """Set the requests that every process answers first."""
        self._setup, self._token = requests, uuid.uuid4().hex

    def ask(self, *request: Any, limit_s: float) -> Any:
        """Send a request and return the answer; raises as `Child.ask`, and WorkerLost when the connection is lost."""
        try:
            return self.request(request, limit_s)
        except RemoteError as error:
            if self._stopping.is_set():
                raise SweepStopped("the sweep was stopped") from None
            raise WorkerLost(str(error)) from error

    def request(self, request: tuple[Any, ...], limit_s: float | None) -> Any:
        """Send a request and return the answer; Ctrl-C interrupts it there.

        Raises:
            RemoteError: the machine cannot be reached, or the connection was lost.
            ChildError: as `Child.ask`.
        """
        while True:
            connection = self.connection
            setup = None if self._sent == (self._token, id(connection)) else list(self._setup)
            message = {
                "op": "ask",
                "child": self.name,
                "token": self._token,
                "limit": limit_s,
                "exclusive": self._exclusive,
                "queue": self.queue,
                "device": self._to.device,
            }
            reply = connection.ask(message, {"setup": setup, "request": request})
            self._await(connection, reply, self._reporter())
            kind = reply.message["kind"]
            if kind == "missing":  # evicted there
                connection.known.difference_update(reply.message["names"])
                self._sent = ("", 0)
                continue
            break
        self._sent = self._token, id(connection)
        self.generation, self.queued_seconds = reply.message["generation"], reply.message.get("queued", 0.0)
        value = connection.decoded(reply)
        if kind == "answer":
            return value
        if self._stopping.is_set() or kind == "SweepStopped":
            raise SweepStopped("the request was stopped")
        if kind == "Fault":
            raise TrialFault(**value)
        raise ERRORS.get(kind, ChildError)(value)

    def _await(self, connection: Connection, reply: Reply, report: Callable[[Mapping[str, Any]], None]) -> None:
        try:
            arrived = False
            while not arrived:
                arrived = reply.wait(_POLL_S)
                if not arrived and self._stopping.is_set():
                    raise SweepStopped("the sweep was stopped")
                while not reply.reports.empty():
                    report(reply.reports.get())
        except KeyboardInterrupt:
            with suppress(RemoteError):
                connection.tell({"op": "interrupt", "child": self.name})
                reply.wait(_INTERRUPT_S)
            raise

    def _reporter(self) -> Callable[[Mapping[str, Any]], None]:
        """Return a function that shows output of kernels, and the position in the queue for the device when it changes."""
        started, told = time.monotonic(), []

        def report(message: Mapping[str, Any]) -> None:
            if message["op"] == "printed":
                show(message["text"])
                return
            position, holder = message["position"], message["holder"]
            if told[-1:] != [position] and (told or position or time.monotonic() - started >= _SILENT_S):
                told.append(position)
                print(
                    f"pyptx: {self.address}: waiting for {message['device']}, {position} ahead; {holder}",
                    file=sys.stderr,
                )

        return report

    def stop(self) -> None:
        """Kill its process; a request in progress raises SweepStopped."""
        self._stopping.set()
        self._tell("stop")

    def allow(self) -> None:
        self._stopping.clear()

    def end(self) -> None:
        """Kill its process and give the device back; the next request starts a new one."""
        self._tell("end")
        self._sent = ("", 0)

    def _tell(self, what: str) -> None:
        if self._connection is not None and self._connection.is_open:
            with suppress(RemoteError):  # the far side ends its processes with the connection
                self._connection.tell({"op": what, "child": self.name})


def show(text: str) -> None:
    """Write output of a kernel while it runs."""
    sys.stdout.write(text)
    sys.stdout.flush()
