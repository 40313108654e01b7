"""The processes that run a sweep: of this machine, of a Dask cluster, or of another machine that `pyptx.use` selects."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pyptx.runtime import Runtime, backend_of, selected_address
from pyptx.tune.dask_cluster import AnyChild, dask_children
from pyptx.tune.isolation import children

__all__ = ["OtherMachine", "available_cpus", "machine_of", "processes", "selected_machine"]

_ADDRESSES = ("ssh://", "dask://")


class OtherMachine(Protocol):
    """The backend of another machine, see `pyptx.remote.backend`."""

    name: str

    @property
    def measures(self) -> bool:
        """True if its device is a GPU."""
        ...

    def device(self) -> Mapping[str, Any]:
        """Return {"backend", "name"}, and of GPUs "driver" and "simulated"."""
        ...

    def ask(self, *request: Any) -> Any:
        """Send a request to the process for launches there and return the answer."""
        ...

    def children(self, count: int | None, *, measuring: bool) -> AbstractContextManager[Sequence[AnyChild]]:
        """Provide processes there: one or more with GPUs, or `count` that simulate (None: one for each CPU)."""
        ...


def machine_of(cluster: Any, runtime: Runtime) -> OtherMachine | None:
    """Return the machine that runs a sweep; None if it runs here or on the Dask cluster that was given.

    Args:
        cluster: as for a Study: an address such as "ssh://user@host", or a Dask cluster.
        runtime: that of the kernel's calls.
    """
    if isinstance(cluster, str) and cluster.startswith(_ADDRESSES):
        return _machine(backend_of(cluster))
    return _machine(runtime.backend) if cluster is None else None


def selected_machine() -> OtherMachine | None:
    """Return the machine that `pyptx.use` or PYPTX_BACKEND selects; None if it is this one."""
    name = selected_address()
    return None if name is None else _machine(backend_of(name))


def processes(
    machine: OtherMachine | None, cluster: Any, count: int | None, *, measuring: bool = False
) -> AbstractContextManager[Sequence[AnyChild]]:
    """Provide the processes of a sweep.

    Args:
        machine, cluster: where they run; both None: here.
        count: number of processes that simulate; None: the CPUs.
        measuring: with a GPU each; one if they run here.
    """
    if machine is not None:
        return machine.children(count, measuring=measuring)
    if cluster is not None:
        return dask_children(cluster)
    return children(1 if measuring else count or available_cpus())


def _machine(backend: Any) -> OtherMachine | None:
    return backend if hasattr(backend, "children") else None


def available_cpus() -> int:
    """Number of CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
