"""Tuning on a Dask cluster: one child process on each Dask worker, each with its own device; requests are Dask tasks.

A Dask worker keeps a child process for each sweep, so that a trial that hangs or faults ends the child and never the
worker. Traced PTX is sent, never the kernel's Python.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyptx.errors import OptionError
from pyptx.tune.isolation import Child, ChildDied, ChildError, ChildTimeout, SweepStopped, TrialFault

__all__ = ["ERRORS", "AnyChild", "DaskChild", "WorkerLost", "dask_children", "dask_client"]

_POLL_S = 0.2
_SCATTER_S = 30.0  # time limit for sending the setup
_PRESENCE_S = 2.0  # interval of checks for the presence of the worker
ERRORS: dict[str, type[ChildError]] = {error.__name__: error for error in (ChildTimeout, ChildDied)}


class WorkerLost(ChildError):
    """The Dask worker is gone; the trial is not to blame and can run on another worker."""

    fault = "lost"


class DaskChild:
    """The child of one Dask worker, with the interface of `isolation.Child`.

    Args:
        client: a distributed.Client.
        address: address of the worker.
        ordinal: number of its GPU.
        module: the module that its process runs, see `isolation.Child`.
    Attributes:
        heard: called with output that its process sends before an answer; None: the output is dropped.
    """

    address: str
    client: Any
    ordinal: int
    name: str
    generation: int

    def __init__(self, client: Any, address: str, ordinal: int, module: str = "pyptx.tune.worker"):
        self.client, self.address, self.ordinal, self._module = client, address, ordinal, module
        self.name, self.generation = uuid.uuid4().hex, 0
        self._requests: tuple[Any, ...] = ()
        self._setup: Any = None
        self._token = ""
        self._stopping = threading.Event()
        self.heard: Callable[[str], None] | None = None
        self._pieces: queue.SimpleQueue[str] = queue.SimpleQueue()  # of output, filled by a thread of the client
        self._is_subscribed, self._passed_on = False, 0

    def prepare(self, *requests: tuple[Any, ...]) -> None:
        """Set the requests that its process answers first; the next request sends them to the worker, once."""
        self._requests, self._setup, self._token = requests, None, uuid.uuid4().hex

    def ask(self, *request: Any, limit_s: float) -> Any:
        """Send a request and return the answer; raises as Child.ask, and WorkerLost when the worker is gone."""
        try:
            if self.heard is not None and not self._is_subscribed:
                self.client.subscribe_topic(self.name, lambda event: self._pieces.put(event[1]))
                self._is_subscribed = True
            task = self._submit(request, limit_s)
            self._passed_on = 0
            kind, value, self.generation, sent = self._result(task)
            self._pass_on_all(sent)
        except ChildError:
            raise
        except Exception as error:  # a lost worker makes Dask cancel, time out, or close connections
            if self._stopping.is_set():
                raise SweepStopped("the sweep was stopped") from error
            raise self._lost() from error
        if kind == "answer":
            return value
        if self._stopping.is_set():
            raise SweepStopped("the sweep was stopped")
        if kind == "Fault":
            raise TrialFault(**value)
        raise ERRORS.get(kind, ChildError)(value)

    def _submit(self, request: tuple, limit_s: float) -> Any:
        if self._setup is None and self._requests:
            if not self._is_present():
                raise self._lost()
            (self._setup,) = self.client.scatter(
                [_Setup(self._requests)], workers=[self.address], hash=False, timeout=_SCATTER_S
            )
        return self.client.submit(
            _answer,
            self.name,
            self._token,
            self._setup,
            request,
            limit_s,
            self._module,
            self._is_subscribed,
            workers=[self.address],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )

    def _pass_on(self) -> None:
        """Pass on the output that has arrived."""
        while not self._pieces.empty():
            self._passed_on += 1
            if self.heard is not None:
                self.heard(self._pieces.get())

    def _pass_on_all(self, sent: int) -> None:
        """Pass on the rest of the output: it reaches the client through the scheduler, and may come after the answer."""
        until = time.monotonic() + _PRESENCE_S
        self._pass_on()
        while self._passed_on < sent and time.monotonic() < until:
            time.sleep(0.005)
            self._pass_on()

    def _result(self, task: Any) -> tuple[str, Any, int, int]:
        """Wait for a task; its result may be lost even after it has finished, while it is fetched."""
        started = checked = time.monotonic()
        while True:
            self._pass_on()
            if self._stopping.is_set():
                task.cancel()
                raise SweepStopped("the sweep was stopped")
            if task.done():
                if task.status != "finished":
                    raise self._lost()
                with suppress(TimeoutError):
                    return task.result(timeout=_PRESENCE_S)
            time.sleep(_POLL_S if time.monotonic() - started > _POLL_S else 0.005)
            if time.monotonic() - checked > _PRESENCE_S:
                checked = time.monotonic()
                if not self._is_present():
                    task.cancel()
                    raise self._lost()

    def _lost(self) -> WorkerLost:
        return WorkerLost(f"the Dask worker {self.address} is gone")

    def stop(self) -> None:
        """Kill its process; a request in progress raises SweepStopped."""
        self._stopping.set()
        with suppress(Exception):  # as in `end`
            if self._is_present():
                self.client.run(_end, self.name, workers=[self.address], on_error="ignore")

    def allow(self) -> None:
        self._stopping.clear()

    def end(self) -> None:
        """Kill its process; the next request starts a new one."""
        with suppress(Exception):  # the worker may die at any moment, and its children die with it
            if self._is_subscribed:
                self._is_subscribed = False
                self.client.unsubscribe_topic(self.name)
            if self._is_present():
                self.client.run(_end, self.name, workers=[self.address], on_error="ignore")

    def _is_present(self) -> bool:
        # Not `scheduler_info`: the client refreshes that periodically with a summary that lists no workers.
        return self.address in self.client.nthreads()


AnyChild = Child | DaskChild


def dask_client(cluster: Any) -> Any:
    """Return the client of a cluster: a distributed.Client, or a new one for a cluster object or a scheduler's address.

    Raises:
        ImportError: Dask's package distributed is not installed.
        OSError: there is no scheduler at the address.
    """
    from distributed import Client

    return cluster if isinstance(cluster, Client) else Client(cluster)


@contextmanager
def dask_children(cluster: Any, module: str = "pyptx.tune.worker") -> Iterator[list[DaskChild]]:
    """Provide the children of a cluster.

    Args:
        cluster: a distributed.Client, a cluster object, or the address of a scheduler.
        module: the module that their processes run, see `isolation.Child`.
    Raises:
        ImportError: Dask's package distributed is not installed.
        OSError: there is no scheduler at the address.
        OptionError: the cluster has no workers.
    """
    client = dask_client(cluster)
    try:
        children = [DaskChild(client, address, number, module) for address, number in _devices(client)]
        if not children:
            raise OptionError(f"the Dask cluster {client} has no workers")
        try:
            yield children
        finally:
            for child in children:
                child.end()
    finally:
        if client is not cluster:
            client.close()


def _devices(client: Any) -> Iterator[tuple[str, int]]:
    """Yield each worker's address and its number on its host, which is the number of its GPU."""
    from distributed.comm.addressing import get_address_host

    found: dict[str, int] = {}
    for address in sorted(client.nthreads()):
        host = get_address_host(address)
        yield address, found.setdefault(host, 0)
        found[host] += 1


# on a worker ----------------------------------------------------------------------------------------------------------


class _Setup:
    """Requests as one opaque value, which Dask does not traverse."""

    def __init__(self, requests: tuple):
        self.requests = requests


_children: dict[str, tuple[Child, str]] = {}  # by name of the sweep: the child and the token of its setup


def _answer(
    name: str, token: str, setup: _Setup | None, request: tuple, limit_s: float, module: str, streams: bool
) -> tuple[str, Any, int, int]:
    """Return the kind of an answer, the answer, the generation of the process, and how many pieces of output it sent."""
    from distributed import get_worker

    sent, worker = [], get_worker()

    def send(text: str) -> None:
        worker.log_event(name, text)
        sent.append(len(text))

    child, known = _children.get(name) or (Child(module=module), "")
    if known != token:
        child.prepare(*(setup.requests if setup is not None else ()))
        _children[name] = child, token
    child.heard = send if streams else None
    try:
        kind, value = "answer", child.ask(*request, limit_s=limit_s)
    except TrialFault as fault:
        kind, value = "Fault", {"fault": fault.fault, "message": str(fault), **fault.more}
    except ChildError as error:
        kind, value = type(error).__name__, str(error)
    return kind, value, child.generation, len(sent)


def _end(name: str) -> None:
    child, _ = _children.get(name, (None, ""))
    if child is not None:
        child.stop()
        child.allow()
