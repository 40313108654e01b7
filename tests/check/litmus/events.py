"""Events of litmus programs: what a thread does, and where the threads of a program are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

__all__ = ["SCOPES", "Event", "Place", "Program", "Thread", "atomic", "fence", "load", "reduction", "store"]

SCOPES = ("cta", "cluster", "gpu", "sys")


@dataclass(frozen=True)
class Event:
    """An operation of a thread.

    Attributes:
        kind: "load", "store", "atomic", "red", "fence", "proxy fence"; the barriers "bar.sync", "bar.arrive", "bar.warp.sync",
            "cluster.arrive", "cluster.wait"; "arrive" and "wait" on an mbarrier; "cp.async" and its wait "cp.async.wait";
            "bulk load" to a location of shared memory, and "bulk fetch" from one of global memory, both complete on an mbarrier;
            "bulk store" from a location to its copy in global memory, and its waits "bulk.wait" and "bulk.wait.read".
        location: the memory, or the mbarrier.
        sem: "weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", or "" for the default of an mbarrier.
        scope: "" if the instruction does not name it, which means "cta" for an mbarrier.
        value: the value written; an atomic adds it.
        expect: the value that a read must return, because the thread waits for it.
    """

    kind: str
    location: str = ""
    sem: str = "weak"
    scope: str = ""
    value: int = 0
    expect: int | None = None

    def waiting(self, value: int = 1) -> Event:
        """Return the read in a loop that ends when it returns `value`."""
        return replace(self, expect=value)


def store(location: str, sem: str = "weak", scope: str = "", value: int = 1) -> Event:
    return Event("store", location, sem, scope, value)


def load(location: str, sem: str = "weak", scope: str = "") -> Event:
    return Event("load", location, sem, scope)


def atomic(location: str, sem: str = "relaxed", scope: str = "gpu", value: int = 1) -> Event:
    return Event("atomic", location, sem, scope, value)


def reduction(location: str, sem: str = "relaxed", scope: str = "gpu", value: int = 1) -> Event:
    return Event("red", location, sem, scope, value)


def fence(sem: str, scope: str) -> Event:
    return Event("fence", "", sem, scope)


class Place(NamedTuple):
    """Position of a thread in the grid."""

    cluster: int = 0
    cta: int = 0  # of the cluster
    warp: int = 0
    lane: int = 0

    def reaches(self, other: Place, scope: str) -> bool:
        """Return whether a scope of a thread here includes a thread there."""
        if scope == "cta":
            return self[:2] == other[:2]
        return scope != "cluster" or self.cluster == other.cluster


Thread = Sequence[Event]


@dataclass(frozen=True)
class Program:
    """Threads at places; locations are in global memory, or in the shared memory of the first thread's CTA.

    An mbarrier belongs to the CTA of the thread that waits for it.
    """

    name: str
    threads: tuple[tuple[Event, ...], ...]
    places: tuple[Place, ...]
    space: str = "global"

    def __str__(self) -> str:
        return f"{self.name}, {self.space}, " + " ".join("".join(map(str, place)) for place in self.places)
