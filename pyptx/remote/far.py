"""Processes on other machines, for launches one at a time and for sweeps: through SSH, and through a Dask cluster."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pyptx.errors import BackendError, RemoteError
from pyptx.remote.address import Address
from pyptx.remote.child import SshChild, show
from pyptx.remote.protocol import WORKER
from pyptx.tune.dask_cluster import DaskChild, WorkerLost, dask_children, dask_client
from pyptx.tune.isolation import ChildError, TrialFault

__all__ = ["DaskFar", "SshFar"]

_NO_LIMIT_S = 1e9


class _Far(ABC):
    """A process on another machine; its device is described once.

    Args:
        address: of the machine.
    """

    name: str
    streams = True  # output of kernels appears while they run

    def __init__(self, address: Address):
        self.address, self.name = address, str(address)
        self._lock = threading.RLock()
        self._about: Mapping[str, Any] | None = None

    def about(self) -> Mapping[str, Any]:
        """Return the description of its device; connects on first use."""
        with self._lock:
            found = self._about
            if found is None:
                found = self._about = self.request(("device", self.address.device))
            return found

    @abstractmethod
    def request(self, request: tuple[Any, ...]) -> Any:
        """Send a request and return the answer."""


class SshFar(_Far):
    """The process for launches on a machine that is reached by SSH.

    Args:
        address: of the machine.
    """

    def __init__(self, address: Address):
        super().__init__(address)
        self._child = SshChild(address, exclusive="once")
        self._transfer: dict[str, Any] = {}

    @property
    def generation(self) -> int:
        """Changes when the process was replaced."""
        return hash((self._child.generation, id(self._child.connection)))

    def about(self) -> Mapping[str, Any]:
        """Return the description of its device; connects on first use."""
        found = super().about()
        self._child.queue = found["queue"]
        return found

    def request(self, request: tuple[Any, ...]) -> Any:
        """Send a request and return the answer; Ctrl-C interrupts it there.

        Raises:
            RemoteError: the machine cannot be reached, the connection was lost, or the process there died.
            BackendError: the request failed.
        """
        with self._lock:
            stream = self._child.connection.stream
            before = stream.sent, stream.received
            try:
                answer = self._child.request(request, None)
            except ChildError as error:
                raise _failed(self.name, error) from error
            self._transfer = {
                "bytes_sent": stream.sent - before[0],
                "bytes_received": stream.received - before[1],
                "queued_seconds": self._child.queued_seconds,
            }
            return answer

    def end(self) -> None:
        """Kill the process; the next request starts a new one."""
        self._child.end()

    def transfer(self) -> Mapping[str, Any]:
        """Return bytes sent and received by the last request, and how long it waited for the device."""
        return self._transfer

    @contextmanager
    def children(self, count: int | None, *, measuring: bool) -> Iterator[Sequence[SshChild]]:
        """Provide processes for a sweep: one with the device to itself, or several that simulate.

        Args:
            count: number of those that simulate; None: the CPUs there.
        """
        about = self.about()
        number = 1 if measuring else count or self._child.connection.about["cpus"]
        where = self.address if measuring else replace(self.address, device="sim")
        found = [
            SshChild(where, queue=about["queue"] if measuring else None, exclusive="hold" if measuring else "no")
            for _ in range(number)
        ]
        try:
            yield found
        finally:
            for child in found:
                child.end()


class DaskFar(_Far):
    """The process for launches on the first worker of a Dask cluster; sweeps use all workers.

    Args:
        address: of the scheduler.
    """

    def __init__(self, address: Address):
        super().__init__(address)
        self.scheduler = f"tcp://{address.machine}"
        self._client: Any = None
        self._child: DaskChild | None = None

    @property
    def generation(self) -> int:
        """Changes when the process was replaced."""
        return 0 if self._child is None else self._child.generation

    def request(self, request: tuple[Any, ...]) -> Any:
        """Send a request to the first worker and return the answer; Ctrl-C ends the process there.

        Raises:
            RemoteError: there is no scheduler or no worker, or the worker is gone.
            BackendError: the request failed.
        """
        with self._lock:
            child = self._worker()
            try:
                return child.ask(*request, limit_s=_NO_LIMIT_S)
            except WorkerLost as lost:
                self._child = None
                raise RemoteError(f"{self.name}: {lost}", hint="the next launch uses another worker") from lost
            except ChildError as error:
                raise _failed(self.name, error) from error
            except KeyboardInterrupt:
                child.stop()
                child.allow()
                raise

    def _worker(self) -> DaskChild:
        if self._child is None:
            if self._client is None:
                try:
                    self._client = dask_client(self.scheduler)
                except ImportError as missing:
                    raise BackendError(
                        f"{self.name} needs Dask: {missing}", hint="pip install 'pyptx-workbench[cluster]'"
                    ) from None
                except OSError as refused:
                    raise RemoteError(f"cannot connect to {self.name}: {refused}", hint="check host and port") from None
            workers = sorted(self._client.nthreads())
            if not workers:
                raise RemoteError(f"{self.name} has no workers", hint="start one: dask worker HOST:PORT")
            self._child = DaskChild(self._client, workers[0], 0, module=WORKER)
            self._child.prepare(("device", self.address.device))
            self._child.heard = show
        return self._child

    def end(self) -> None:
        """Kill the process; the next request starts a new one."""
        if self._child is not None:
            self._child.end()

    def transfer(self) -> Mapping[str, Any]:
        """Return nothing: Dask does the transfers."""
        return {}

    @contextmanager
    def children(self, count: int | None, *, measuring: bool) -> Iterator[Sequence[DaskChild]]:
        """Provide one process on each worker; `count` is that of the workers."""
        self._worker()  # connects
        with dask_children(self._client, WORKER) as found:
            yield found


def _failed(name: str, error: ChildError) -> BackendError | RemoteError:
    """Return the error of a launch for that of a process."""
    if isinstance(error, TrialFault):
        return BackendError(f"{name}: {error}", hint=error.more.get("hint"))
    return RemoteError(f"{name}: {error}", hint="the next launch starts a new process there")
