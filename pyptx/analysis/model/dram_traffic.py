"""DRAM traffic: data shared by a wave of CTAs is read once; data that L2 evicts before the next wave is read again.

CTAs start in the order of their numbers, x first. A wave is a box of the grid; its footprint follows from that of one
cluster and from the part that is new relative to its neighbors (`sampling.Footprint`). L2 keeps what fits from one wave
to the next, and from one pass of a cluster over its own data to the next, as when a row that is too long for registers
is read twice: all resident clusters read theirs in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.work.count import Work
from pyptx.analysis.work.sampling import Footprint

__all__ = ["Traffic", "reread_bytes", "estimate_traffic", "wave_bytes"]

PASSES = 4  # maximum number of passes of a cluster over its own data; further reads are of shared data
KEPT = 0.7  # fraction of L2 up to which a working set keeps its rate (gpu-benches, A100, H100)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of a launch between L2 and DRAM; `again`: repeated reads among them."""

    read: float
    written: float
    again: float


def estimate_traffic(work: Work, gpu: Gpu, resident: int, requested: float) -> Traffic:
    """Estimate the DRAM traffic of a launch.

    Args:
        work: counted work of the launch.
        gpu: the GPU.
        resident: CTAs resident on the GPU.
        requested: bytes that all CTAs together read from L2.
    """
    sample = work.sample
    cluster = prod(sample.plan.cluster)
    extent = tuple(g // c for g, c in zip(sample.plan.grid, sample.plan.cluster, strict=True))
    wave = max(1, min(sample.clusters, resident // cluster))
    waves = sample.clusters / wave
    once = sum(size * _waste(sample.footprints, buffer, False) for buffer, size in sample.read.items())
    written = sum(size * _waste(sample.footprints, buffer, True) for buffer, size in sample.written.items())
    holds = gpu.l2_fast_bytes or KEPT * gpu.l2_bytes
    reads = [footprint for footprint in sample.footprints if not footprint.writes]
    per_wave = sum(wave_bytes(footprint, extent, wave) for footprint in reads)
    stores = sum(wave_bytes(footprint, extent, wave) for footprint in sample.footprints if footprint.writes)
    if per_wave + stores <= 0:
        return Traffic(once, written, 0.0)
    lost = max(
        0.0, 1 - holds / (per_wave + stores)
    )  # fraction of shared data that L2 evicts before the next wave or pass
    again = max(0.0, per_wave * waves - once) * lost if waves > 1 else 0.0
    again += sample.clusters * reread_bytes(reads, extent, requested / sample.clusters, sample.read) * lost
    return Traffic(once + again, written, again)


def reread_bytes(
    reads: Sequence[Footprint], extent: Sequence[int], requested: float, touched: Mapping[str, int]
) -> float:
    """Return the bytes of a cluster's private data that it reads repeatedly.

    Args:
        reads: footprints of its reads.
        extent: clusters along each axis.
        requested: bytes that one cluster reads from L2.
        touched: buffer -> bytes that all clusters read from it.
    """
    own = sum(
        footprint.sectors
        for footprint in reads
        if all(
            new_bytes == footprint.bytes
            for new_bytes, count in zip(footprint.new_bytes, extent, strict=True)
            if count > 1
        )
        and footprint.bytes * prod(extent) <= 1.01 * touched[footprint.buffer]
    )
    more = requested - sum(footprint.sectors for footprint in reads)
    return max(0.0, more) if more < PASSES * own else 0.0


def _waste(footprints: tuple[Footprint, ...], buffer: str, writes: bool) -> float:
    """Return the bytes of touched sectors relative to the used bytes of a buffer."""
    own = [one for one in footprints if one.buffer == buffer and one.writes == writes and one.bytes]
    return sum(one.sectors for one in own) / sum(one.bytes for one in own) if own else 1.0


def wave_bytes(footprint: Footprint, extent: Sequence[int], clusters: int) -> float:
    """Return the bytes of a buffer's sectors that consecutive clusters touch together."""
    if not footprint.bytes:
        return 0.0
    left, size = clusters, float(footprint.sectors)
    for count, new_bytes in zip(extent, footprint.new_bytes, strict=True):
        here = min(left, count)
        size *= 1 + (here - 1) * new_bytes / footprint.bytes
        left = -(-left // count)
    return size
