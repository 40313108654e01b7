"""Counters of a launch, per instruction."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

__all__ = ["Counters"]


@dataclass(frozen=True, eq=False)
class Counters:
    """Counters as arrays indexed by the number of the instruction.

    Attributes:
        issues: warp instructions issued, including predicated-off ones.
        lanes: lanes that executed it (active and guard true).
        branches_divergent: branches that split a warp.
        shared_conflicts: extra shared memory wavefronts (0 without bank conflicts).
        global_requests: warp-wide requests to global or constant memory.
        global_sectors: 32-byte sectors of those requests.
        global_excess: sectors beyond the minimum for the bytes of the lanes (0 if coalesced).
        waits: turns in which lanes waited: for a barrier, an mbarrier, the other CTAs of a cluster.
        async_operations: asynchronous operations started, one per thread.
        tma_bytes: bytes of bulk and tensor copies.
        tensor_flops: floating-point (or integer) operations of tensor cores, two per multiply-add.
    """

    issues: np.ndarray
    lanes: np.ndarray
    branches_divergent: np.ndarray
    shared_conflicts: np.ndarray
    global_requests: np.ndarray
    global_sectors: np.ndarray
    global_excess: np.ndarray
    waits: np.ndarray
    async_operations: np.ndarray
    tma_bytes: np.ndarray
    tensor_flops: np.ndarray

    @classmethod
    def zeros(cls, n: int) -> Counters:
        """Return counters of zero: rows of one array, in the order of the attributes."""
        return cls(*np.zeros((_COUNT, n), np.uint64))

    @property
    def warp_instructions(self) -> int:
        """Warp instructions issued, in total."""
        return int(self.issues.sum())

    @property
    def thread_instructions(self) -> int:
        """Thread instructions executed, in total."""
        return int(self.lanes.sum())

    @property
    def totals(self) -> dict[str, int]:
        """Sums over all instructions, by name; counters that stayed 0 are absent."""
        sums = {f.name: int(getattr(self, f.name).sum()) for f in fields(self)}
        return {name: value for name, value in sums.items() if value}

    def row(self, index: int) -> dict[str, int]:
        """Return the counters of an instruction, by name."""
        return {f.name: int(getattr(self, f.name)[index]) for f in fields(self)}

    @property
    def by_line(self) -> dict[int, dict[str, int]]:
        """Counters of every instruction that was issued, by its number."""
        return {int(i): self.row(int(i)) for i in np.flatnonzero(self.issues)}

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counters) and all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    def __repr__(self) -> str:
        totals = ", ".join(f"{name}={value:,}" for name, value in self.totals.items())
        return f"<Counters of {self.issues.size} instructions{': ' if totals else ''}{totals}>"


_COUNT = len(fields(Counters))
