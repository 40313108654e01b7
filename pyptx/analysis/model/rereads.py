"""Repeated reads of data that only one cluster reads: as when a row is too long for registers and is read twice.

They count for the buffer they are of: a row of weights that all clusters read again and again stays in L2, whatever passes
through it of the rows that each cluster reads twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from pyptx.analysis.work.footprint import Footprint
from pyptx.analysis.work.instruction_work import LINE, InstructionWork
from pyptx.analysis.work.sample import Sample

__all__ = ["COPIED", "Reads", "Rereads", "reads_of", "rereads_of"]

PASSES = 4  # maximum number of passes of a cluster over its own data; further reads are of shared data
COPIED = ""  # stands for the buffers that bulk copies read, and loads from further buffers than a profile has names for


@dataclass(frozen=True, slots=True)
class Reads:
    """Reads of a buffer that a cluster requests from L2.

    Attributes:
        requested: bytes.
        recent: bytes of sectors that the warp has loaded before.
        between: bytes that the warp has loaded since then, on average.
    """

    requested: float
    recent: float = 0.0
    between: float = 0.0


@dataclass(frozen=True, slots=True)
class Rereads:
    """Bytes of its own data that a cluster reads again.

    Attributes:
        size: bytes.
        recent: those that the warp which reads them has loaded before.
        between: bytes that it has loaded since then, on average.
    """

    size: float = 0.0
    recent: float = 0.0
    between: float = 0.0


def reads_of(sample: Sample, work: Sequence[InstructionWork], misses: np.ndarray) -> dict[str, Reads]:
    """Return what a cluster requests of each buffer from L2.

    Args:
        sample: the simulated clusters.
        work: work of each PTX instruction.
        misses: fraction of the bytes of each instruction that miss L1.
    """
    counts, (_, _, known, since) = sample.cluster, sample.fresh_loads
    found: dict[str, Reads] = {}
    for k, item in enumerate(work):
        if item.writes:
            continue
        loaded = 32 * float(counts.global_sectors[k] * misses[k]) if item.space in ("global", "generic") else 0.0
        names = sorted(sample.buffers[k]) or [COPIED]
        for name in names if loaded else ():
            before = found.get(name, Reads(0.0))
            recent = min(loaded, 32 * float(known[k] * counts.executed[k])) / len(names)
            apart = LINE * float(since[k] / known[k]) if known[k] else 0.0
            total = before.recent + recent
            between = (before.between * before.recent + apart * recent) / total if total else 0.0
            found[name] = Reads(before.requested + loaded / len(names), total, between)
        if copied := float(counts.tma_bytes[k]):
            found[COPIED] = Reads(found.get(COPIED, Reads(0.0)).requested + copied)
    return found


def rereads_of(
    footprints: Sequence[Footprint], extent: Sequence[int], reads: Mapping[str, Reads], touched: Mapping[str, int]
) -> Rereads:
    """Return the private data that a cluster reads repeatedly.

    Args:
        footprints: of its reads.
        extent: clusters along each axis.
        reads: what it requests of each buffer from L2.
        touched: buffer -> bytes that all clusters read from it.
    """
    own = [one for one in footprints if _is_private(one, extent, touched)]
    found = [(one.own.sectors, one.own.sectors, reads[one.buffer]) for one in own if one.buffer in reads]
    if COPIED in reads:
        others = sum(one.own.sectors for one in footprints if one.buffer not in reads)
        private = sum(one.own.sectors for one in own if one.buffer not in reads)
        found.append((others, private, reads[COPIED]))
    size = recent = between = 0.0
    for once, private, requests in found:
        more = max(0.0, requests.requested - once)
        if more < PASSES * private:
            near = min(more, requests.recent)
            size, recent, between = size + more, recent + near, between + near * requests.between
    return Rereads(size, recent, between / recent if recent else 0.0)


def _is_private(footprint: Footprint, extent: Sequence[int], touched: Mapping[str, int]) -> bool:
    """Return True if no other cluster reads what a footprint has."""
    apart = all(
        new_bytes == footprint.bytes for new_bytes, count in zip(footprint.new_bytes, extent, strict=True) if count > 1
    )
    return apart and footprint.bytes * prod(extent) <= 1.01 * touched[footprint.buffer]
