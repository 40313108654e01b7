"""Children on the workers of a Dask cluster: one a worker, each with its own device. Questions go there as tasks.

A Dask worker keeps a child process of its own for each sweep, so that a trial that hangs or faults costs the child and
never the worker. Kernels do not travel, only what they were traced to.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyptx.tune.isolation import Child, ChildError, Died, Fault, Hang, Stopped

__all__ = ["ClusterChild", "Lost", "connected"]

_POLL_S = 0.2
_MISSING_S = 2.0                                        # between two looks whether the worker is still there
_ERRORS = {"Hang": Hang, "Died": Died}


class Lost(ChildError):
    """The Dask worker is gone; what it was asked is nobody's fault."""

    fault = "lost"


class ClusterChild:
    """The child of one Dask worker, asked as a Child is.

    Args:
        client: a distributed.Client.
        address: of the worker.
        ordinal: the number of its GPU.
    """

    def __init__(self, client: Any, address: str, ordinal: int):
        self.client, self.address, self.ordinal = client, address, ordinal
        self.name, self.generation = uuid.uuid4().hex, 0
        self._setup: Any = None
        self._token = ""
        self._stopping = threading.Event()

    def prepare(self, *questions: tuple) -> None:
        """What its process is asked first; sent to the worker once."""
        self._token = uuid.uuid4().hex
        (self._setup,) = self.client.scatter([_Setup(questions)], workers=[self.address], hash=False)

    def ask(self, *question: Any, limit_s: float) -> Any:
        """The answer to a question; raises as Child.ask, and Lost when the worker is gone."""
        task = self.client.submit(_answer, self.name, self._token, self._setup, question, limit_s,
                                  workers=[self.address], allow_other_workers=False, pure=False, retries=0)
        looked = time.monotonic()
        while not task.done():
            if self._stopping.is_set():
                task.cancel()
                raise Stopped("the sweep was stopped")
            time.sleep(_POLL_S if time.monotonic() - looked > _POLL_S else 0.005)
            if time.monotonic() - looked > _MISSING_S:
                looked = time.monotonic()
                if not self._there():
                    task.cancel()
                    raise Lost(f"the Dask worker {self.address} is gone")
        if task.status != "finished":
            if self._stopping.is_set():
                raise Stopped("the sweep was stopped")
            raise Lost(f"the Dask worker {self.address} is gone")
        kind, value, self.generation = task.result()
        if kind == "answer":
            return value
        if self._stopping.is_set():
            raise Stopped("the sweep was stopped")
        if kind == "Fault":
            raise Fault(**value)
        raise _ERRORS.get(kind, ChildError)(value)

    def stop(self) -> None:
        """End its process, whatever it does."""
        self._stopping.set()
        if self._there():
            self.client.run(_end, self.name, workers=[self.address], wait=False, on_error="ignore")

    def allow(self) -> None:
        self._stopping.clear()

    def end(self) -> None:
        """End its process; the next question starts a new one."""
        if self._there():
            self.client.run(_end, self.name, workers=[self.address], on_error="ignore")

    def _there(self) -> bool:
        return self.address in self.client.scheduler_info(n_workers=-1)["workers"]


@contextmanager
def connected(cluster: Any) -> Iterator[list[ClusterChild]]:
    """The children of a cluster: of a distributed.Client, of a cluster object, or of the scheduler at an address.

    Raises:
        ImportError: Dask's package distributed is not installed.
        OSError: nobody answers at the address.
        ValueError: the cluster has no workers.
    """
    from distributed import Client

    client = cluster if isinstance(cluster, Client) else Client(cluster)
    try:
        children = [ClusterChild(client, address, number) for address, number in _devices(client)]
        if not children:
            raise ValueError(f"the Dask cluster at {client.scheduler.address} has no workers")
        try:
            yield children
        finally:
            for child in children:
                child.end()
    finally:
        if client is not cluster:
            client.close()


def _devices(client: Any) -> Iterator[tuple[str, int]]:
    """Each worker's address, and its number among those of its host: the number of its GPU."""
    found: dict[str, int] = {}
    workers: Mapping[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    for address, about in sorted(workers.items()):
        host = about.get("host", address)
        yield address, found.setdefault(host, 0)
        found[host] += 1


# on a worker ----------------------------------------------------------------------------------------------------------

class _Setup:
    """Questions as one value, which Dask does not look into."""

    def __init__(self, questions: tuple):
        self.questions = questions


_children: dict[str, tuple[Child, str]] = {}            # by the name the sweep gave it; what it was told last


def _answer(name: str, token: str, setup: _Setup | None, question: tuple, limit_s: float) -> tuple[str, Any, int]:
    child, told = _children.get(name) or (Child(), "")
    if told != token:
        child.prepare(*(setup.questions if setup is not None else ()))
        _children[name] = child, token
    try:
        return "answer", child.ask(*question, limit_s=limit_s), child.generation
    except Fault as fault:
        return "Fault", {"fault": fault.fault, "message": str(fault), **fault.more}, child.generation
    except ChildError as error:
        return type(error).__name__, str(error), child.generation


def _end(name: str) -> None:
    child, _ = _children.get(name, (None, ""))
    if child is not None:
        child.stop()
        child.allow()
